#include "kafka/embedded_broker.hpp"

#include <gtest/gtest.h>

#include <string>

namespace arrakis {
namespace {

TEST(EmbeddedBroker, MakesHundredsOfTopicsInARow) {
  EmbeddedBroker broker;
  // At a second for every fourth, as it was once, this exceeds the test's limit.
  for (int i = 0; i < 500; ++i) broker.create_topic("arrakis-" + std::to_string(i));
  EXPECT_THROW(broker.create_topic("arrakis-0"), Error);
}

}
}
