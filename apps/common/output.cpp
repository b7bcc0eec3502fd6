#include "common/output.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "arrakis/error.hpp"

namespace arrakis::console {

void Output::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd_, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
      continue;
    }
    switch (errno) {
      case EINTR:
        break;
      case EAGAIN: {  // somebody else made the terminal or pipe non-blocking
        pollfd ready{fd_, POLLOUT, 0};
        ::poll(&ready, 1, -1);
        break;
      }
      case EPIPE:
        throw OutputClosed{};
      default:
        throw Error(Errc::io, fmt::format("the output can't be written: {}",
                                          std::generic_category().message(errno)));
    }
  }
}

}
