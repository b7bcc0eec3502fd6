#pragma once

/// Received messages lent to parts. A lent message pins its whole fetch response and its handle, so
/// the bytes on loan are counted, and beyond a limit messages are copied instead.

#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "kafka/handle.hpp"
#include "wire/row_decoder.hpp"

namespace arrakis::inline v1 {

/// Lends the messages of one handle. Parts may outlive the reader: the last one lets the handle go.
/// lend() is for one thread; bytes are given back from any.
class Lender : public std::enable_shared_from_this<Lender> {
 public:
  Lender(std::shared_ptr<Handle> handle, std::size_t limit_bytes)
      : handle_(std::move(handle)), limit_(limit_bytes) {}

  [[nodiscard]] const std::shared_ptr<Handle>& handle() const { return handle_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

  struct Loan {
    ReceivedBytes message;
    bool copied;
  };
  Loan lend(MessagePtr message) {
    const auto* payload = static_cast<const std::byte*>(message->payload);
    const std::size_t size = payload == nullptr ? 0 : message->len;
    if (bytes() + size > limit_) {
      auto copy = std::make_shared<std::vector<std::byte>>(payload, payload + size);
      return {{*copy, copy}, true};
    }
    bytes_.fetch_add(size, std::memory_order_relaxed);
    return {{{payload, size}, std::make_shared<Borrowed>(shared_from_this(), std::move(message))},
            false};
  }

 private:
  struct Borrowed {
    Borrowed(std::shared_ptr<Lender> from, MessagePtr lent)
        : lender(std::move(from)), message(std::move(lent)) {}
    ~Borrowed() {
      if (message->payload != nullptr)
        lender->bytes_.fetch_sub(message->len, std::memory_order_relaxed);
    }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;

    std::shared_ptr<Lender> lender;  // declared first: goes after the message
    MessagePtr message;
  };

  std::shared_ptr<Handle> handle_;
  std::size_t limit_;
  std::atomic<std::size_t> bytes_{0};
};

}
