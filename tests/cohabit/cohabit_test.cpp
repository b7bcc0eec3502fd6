/// Our library and confluent_kafka, each with its own librdkafka, in one Python process.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "arrakis/kafka.hpp"
#include "arrakis/time.hpp"
#include "testing/channels.hpp"
#include "testing/real_broker.hpp"

namespace arrakis {
namespace {

class Cohabitation : public ::testing::TestWithParam<const char*> {};

TEST_P(Cohabitation, TwoStreamsAndConfluentKafkaReadTheSameInOneProcess) {
  testing::RealBroker& broker = testing::RealBroker::get();
  const std::string partition = random_alphanum(8);
  broker.create_topic("arrakis-" + partition);
  const GpsTime start = testing::on_grid(system_clock().now()) - std::chrono::seconds(60);
  const std::string output = testing::run(fmt::format(
      "PYTHONDONTWRITEBYTECODE=1 timeout 240 '{}' '{}/tests/cohabit/cohabit.py' {} '{}' {} {} {} "
      "2>&1",
      testing::python(), ARRAKIS_SOURCE_DIR, broker.bootstrap(), COHABIT_SHIM, partition,
      start.ns(), GetParam()));
  EXPECT_EQ(output, "both read 64\n");
}

INSTANTIATE_TEST_SUITE_P(LoadedFirst, Cohabitation, ::testing::Values("early", "late"));

}
}
