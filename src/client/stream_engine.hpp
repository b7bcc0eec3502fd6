#pragma once

/// What runs behind a BlockStream.

#include <optional>
#include <string>

#include "arrakis/stream.hpp"

namespace arrakis::inline v1 {

/// As BlockStream's functions of the same names, which call these.
class StreamEngine {
 public:
  virtual ~StreamEngine() = default;
  virtual BlockStream::Next next(std::optional<Duration> wait) = 0;
  virtual void cancel() = 0;
  virtual void close() = 0;
  [[nodiscard]] virtual StreamStats stats() const = 0;
  [[nodiscard]] virtual const ChannelSet& channels() const = 0;
  [[nodiscard]] virtual Duration stride() const = 0;
  [[nodiscard]] virtual std::string resume_token() const { return {}; }
};

}  // namespace arrakis::inline v1
