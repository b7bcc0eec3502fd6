#include "testing/processes.hpp"

#include "testing/eventually.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>

namespace arrakis::testing {

namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

bool is_free(int port) {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  const bool free =
      bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(descriptor);
  return free;
}

/// A descriptor that holds the name; -1 when somebody else does.
int try_claim(int port) {
  const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // A first byte of zero: a name of the kernel's, without a file.
  const std::string name = fmt::format("arrakis-test-port-{}", port);
  std::copy(name.begin(), name.end(), address.sun_path + 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (bind(descriptor, reinterpret_cast<const sockaddr*>(&address), size) == 0) return descriptor;
  close(descriptor);
  return -1;
}

}

PortPair::PortPair() {
  constexpr int kLowest = 20'000;
  constexpr int kCount = 5'000;  // below the range of outgoing connections
  for (int attempt = 0; attempt < kCount; ++attempt) {
    const int port = kLowest + 2 * ((getpid() + attempt) % kCount);
    claim_ = try_claim(port);
    if (claim_ < 0) continue;
    if (is_free(port) && is_free(port + 1)) {
      port_ = port;
      return;
    }
    close(claim_);
  }
  throw std::runtime_error("no two free ports in a row");
}

PortPair::~PortPair() { close(claim_); }

bool is_listened_to(int port) {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  const bool answered =
      connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(descriptor);
  return answered;
}

namespace {

/// Its state in a letter, as proc(5) lists them; none: there is no such process.
std::optional<char> state_of(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  const std::size_t name_end = line.rfind(')');  // a name may hold anything
  if (name_end + 2 >= line.size()) return std::nullopt;
  return line[name_end + 2];
}

}  // namespace

bool is_running(pid_t pid) {
  const std::optional<char> state = state_of(pid);
  return state && *state != 'Z' && *state != 'X';
}

void freeze(pid_t pid) {
  ::kill(pid, SIGSTOP);
  // On a busy machine it may do something yet.
  eventually([pid] { return !is_running(pid) || state_of(pid) == 'T'; });
}

}  // namespace arrakis::testing
