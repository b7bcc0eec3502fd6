/// A C door to a BlockStream, for processes that are not written in C++.

#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <sstream>

#include "arrakis/arrakis.hpp"

#define SHIM_API extern "C" __attribute__((visibility("default")))

/// Opens a stream of the channels, a JSON object a line, from GPS `start_ns` on. Null: failed, and
/// says why on standard error.
SHIM_API void* shim_open(const char* broker, const char* channels, long long start_ns) try {
  std::istringstream lines(channels);
  const arrakis::ChannelSet set(arrakis::read_channels(lines, "channels"));
  arrakis::StreamOptions options;
  options.start = arrakis::GpsTime::from_ns(start_ns);
  options.timeout = std::chrono::hours(1);  // late is not lost
  return std::make_unique<arrakis::BlockStream>(std::make_unique<arrakis::KafkaReader>(broker, set),
                                                options)
      .release();
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return nullptr;
}

/// The next block's time in ns, and the first sample of its first channel; -1: none in a minute.
SHIM_API long long shim_next(void* stream, double* first_sample) try {
  const auto next = static_cast<arrakis::BlockStream*>(stream)->next(std::chrono::minutes(1));
  if (!next) return -1;
  *first_sample = next.block.at(0).value_as_double(0);
  return next.block.time().ns();
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return -1;
}

SHIM_API void shim_close(void* stream) {
  const std::unique_ptr<arrakis::BlockStream> owner(static_cast<arrakis::BlockStream*>(stream));
}
