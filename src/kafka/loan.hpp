#pragma once

/// Received messages lent to parts. A lent message pins its whole fetch response and its handle, so
/// the bytes pinned are counted, and beyond a limit messages are copied instead.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "kafka/handle.hpp"
#include "kafka/limits.hpp"
#include "wire/row_decoder.hpp"

namespace arrakis::inline v1 {

/// Lends the messages of one handle. Parts may outlive the reader: the last one lets the handle go.
/// lend() is for one thread; bytes are given back from any.
///
/// What a message pins is known by its address only: messages of a response lie one after the other
/// in memory, and are lent in that order. So a run of such messages is taken for a response, and
/// all of it counts as lent while any message of it is. Two responses that happen to lie side by
/// side count as one, which errs on the safe side, and no further than kMaxResponseBytes.
class Lender : public std::enable_shared_from_this<Lender> {
 public:
  Lender(std::shared_ptr<Handle> handle, std::size_t limit_bytes)
      : handle_(std::move(handle)), limit_(limit_bytes) {}

  [[nodiscard]] const std::shared_ptr<Handle>& handle() const { return handle_; }
  /// What is pinned at present.
  [[nodiscard]] std::size_t bytes() const { return bytes_->load(std::memory_order_relaxed); }

  struct Loan {
    ReceivedBytes message;
    bool copied;
  };
  Loan lend(MessagePtr message) {
    const auto* payload = static_cast<const std::byte*>(message->payload);
    const std::size_t size = payload == nullptr ? 0 : message->len;
    const std::optional<std::size_t> gap = gap_in_run(payload, size);
    const std::size_t further = gap.value_or(0) + size;
    run_bytes_ = gap ? run_bytes_ + further : further;
    run_end_ = payload == nullptr ? nullptr : payload + size;
    std::shared_ptr<Run> run = gap ? run_.lock() : nullptr;
    // With the first message of a response that is lent, what came before it is pinned too.
    const std::size_t pinned = run ? further : run_bytes_;
    if (bytes() + pinned > limit_) {
      auto copy = std::make_shared<std::vector<std::byte>>(payload, payload + size);
      return {{*copy, copy}, true};
    }
    if (!run) run_ = run = std::make_shared<Run>(bytes_);
    run->grow(pinned);
    return {{{payload, size},
             std::make_shared<Borrowed>(shared_from_this(), std::move(run), std::move(message))},
            false};
  }

 private:
  /// The bytes of a response of which a message is lent.
  class Run {
   public:
    explicit Run(std::shared_ptr<std::atomic<std::size_t>> total) : total_(std::move(total)) {}
    ~Run() { total_->fetch_sub(bytes_, std::memory_order_relaxed); }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    void grow(std::size_t bytes) {
      bytes_ += bytes;
      total_->fetch_add(bytes, std::memory_order_relaxed);
    }

   private:
    std::shared_ptr<std::atomic<std::size_t>> total_;
    std::size_t bytes_ = 0;
  };
  struct Borrowed {
    Borrowed(std::shared_ptr<Lender> from, std::shared_ptr<Run> of, MessagePtr lent)
        : lender(std::move(from)), run(std::move(of)), message(std::move(lent)) {}

    std::shared_ptr<Lender> lender;  // declared first: goes after the message
    std::shared_ptr<Run> run;
    MessagePtr message;
  };

  /// The bytes between the last message and this one, when both lie in the same response.
  [[nodiscard]] std::optional<std::size_t> gap_in_run(const std::byte* payload,
                                                      std::size_t size) const {
    if (payload == nullptr || run_end_ == nullptr) return std::nullopt;
    // As numbers: they may belong to different pieces of memory.
    const auto begin = reinterpret_cast<std::uintptr_t>(payload);
    const auto end = reinterpret_cast<std::uintptr_t>(run_end_);
    if (begin < end || begin - end > kMaxGapInResponse) return std::nullopt;
    const std::size_t gap = begin - end;
    if (run_bytes_ + gap + size > kMaxResponseBytes) return std::nullopt;
    return gap;
  }

  std::shared_ptr<Handle> handle_;
  std::size_t limit_;
  std::shared_ptr<std::atomic<std::size_t>> bytes_ = std::make_shared<std::atomic<std::size_t>>(0);

  // The run that the last message belongs to.
  const std::byte* run_end_ = nullptr;
  std::size_t run_bytes_ = 0;
  std::weak_ptr<Run> run_;
};

}
