#include "kafka/loan.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kafka/embedded_broker.hpp"

namespace arrakis {
namespace {

constexpr std::size_t kMessageBytes = 10'000;
constexpr std::size_t kMessages = 50;

/// Fifty messages that one answer of the broker brings.
class LenderTest : public ::testing::Test {
 protected:
  LenderTest() {
    broker_.create_topic("T");
    const auto producer =
        Handle::create(HandleKind::producer, broker_.bootstrap(), {{"linger.ms", "1000"}}, {});
    rd_kafka_topic_t* topic = rd_kafka_topic_new(producer->get(), "T", nullptr);
    for (std::size_t i = 0; i < kMessages; ++i) {
      std::string bytes(kMessageBytes, static_cast<char>('a' + i % 26));
      rd_kafka_produce(topic, 0, RD_KAFKA_MSG_F_COPY, bytes.data(), bytes.size(), nullptr, 0,
                       nullptr);
    }
    rd_kafka_topic_destroy(topic);
    rd_kafka_flush(producer->get(), 60'000);
    const PartitionList list = one_partition("T", 0, 0);
    rd_kafka_assign(handle_->get(), list.get());
  }
  MessagePtr next() {
    MessagePtr message(rd_kafka_consumer_poll(handle_->get(), 60'000));
    if (message == nullptr || message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      throw std::runtime_error("no message");
    }
    return message;
  }

  EmbeddedBroker broker_;
  std::shared_ptr<Handle> handle_ =
      Handle::create(HandleKind::consumer, broker_.bootstrap(), {{"group.id", "loan"}}, {});
};

TEST_F(LenderTest, OneMessageThatIsKeptCountsForAllThatCameWithIt) {
  const auto lender = std::make_shared<Lender>(handle_, std::size_t{100} << 20);
  std::vector<Lender::Loan> kept;
  for (std::size_t i = 0; i < kMessages; ++i) {
    Lender::Loan loan = lender->lend(next());
    EXPECT_FALSE(loan.copied);
    if (i == kMessages / 2) kept.push_back(std::move(loan));
  }
  // What came before it as well as what came after it.
  EXPECT_GE(lender->bytes(), kMessages * kMessageBytes * 9 / 10);
  kept.clear();
  EXPECT_EQ(lender->bytes(), 0U);
}

TEST_F(LenderTest, WhatIsLetGoAtOnceIsNeverCopied) {
  const auto lender = std::make_shared<Lender>(handle_, 2 * kMessages * kMessageBytes);
  for (std::size_t i = 0; i < kMessages; ++i) EXPECT_FALSE(lender->lend(next()).copied) << i;
  EXPECT_EQ(lender->bytes(), 0U);
}

TEST_F(LenderTest, BeyondTheLimitMessagesAreCopiedAndWhatIsPinnedStaysBelowIt) {
  constexpr std::size_t kLimit = 10 * kMessageBytes;
  const auto lender = std::make_shared<Lender>(handle_, kLimit);
  std::vector<Lender::Loan> kept;
  std::size_t copied = 0;
  for (std::size_t i = 0; i < kMessages; ++i) {
    kept.push_back(lender->lend(next()));
    if (kept.back().copied) ++copied;
    EXPECT_LE(lender->bytes(), kLimit);
    EXPECT_EQ(kept.back().message.bytes.size(), kMessageBytes);
    EXPECT_EQ(kept.back().message.bytes[0], static_cast<std::byte>('a' + i % 26));
  }
  EXPECT_GE(copied, kMessages - kLimit / kMessageBytes);
  EXPECT_LT(copied, kMessages);
}

}
}
