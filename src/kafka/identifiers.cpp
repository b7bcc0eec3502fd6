#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "arrakis/error.hpp"
#include "arrakis/kafka.hpp"
#include "kafka/limits.hpp"

namespace arrakis::inline v1 {

std::string random_alphanum(std::size_t length) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  // Bytes at or above the greatest multiple of 36 are thrown away, so that every character is as
  // likely as any other.
  constexpr unsigned kFair = 256 - 256 % kAlphabet.size();

  std::string text;
  text.reserve(length);
  std::array<unsigned char, 64> random{};
  while (text.size() < length) {
    if (getentropy(random.data(), random.size()) != 0) {
      throw Error(Errc::unsupported,
                  std::string("the system has no random numbers: ") + std::strerror(errno));
    }
    for (const unsigned char byte : random) {
      if (byte < kFair && text.size() < length) text.push_back(kAlphabet[byte % kAlphabet.size()]);
    }
  }
  return text;
}

std::string generate_groupid() { return random_alphanum(kGroupIdLength); }

}
