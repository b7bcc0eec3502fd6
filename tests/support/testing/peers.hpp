#pragma once

/// Peers that no client can work with.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

namespace arrakis::testing {

/// A port of the loopback interface that nobody else gets while this lives. Nobody listens there:
/// connections are refused. Or, when it is `mute`, they are taken and nothing is ever answered.
class Peer {
 public:
  enum class Kind { dead, mute };

  explicit Peer(Kind kind) : descriptor_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    constexpr int kBacklog = 1024;  // the kernel accepts them
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (bind(descriptor_, generic, size) != 0 || getsockname(descriptor_, generic, &size) != 0 ||
        (kind == Kind::mute && listen(descriptor_, kBacklog) != 0)) {
      close(descriptor_);
      throw std::runtime_error("no port to listen at");
    }
    address_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  ~Peer() { close(descriptor_); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  [[nodiscard]] const std::string& address() const { return address_; }

 private:
  int descriptor_;
  std::string address_;
};

}
