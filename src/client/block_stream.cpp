#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrakis/stream.hpp"
#include "client/muxed_stream.hpp"
#include "client/stream_engine.hpp"

namespace arrakis::inline v1 {

namespace {

std::vector<std::unique_ptr<Source>> one(std::unique_ptr<Source> source) {
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(std::move(source));
  return sources;
}

}

BlockStream::BlockStream(std::unique_ptr<Source> source, StreamOptions options)
    : BlockStream(one(std::move(source)), std::move(options)) {}
BlockStream::BlockStream(std::vector<std::unique_ptr<Source>> sources, StreamOptions options)
    : BlockStream(std::make_unique<MuxedStream>(std::move(sources), std::move(options))) {}
BlockStream::BlockStream(std::unique_ptr<StreamEngine> engine) : engine_(std::move(engine)) {}
BlockStream::~BlockStream() = default;
BlockStream::BlockStream(BlockStream&&) noexcept = default;
BlockStream& BlockStream::operator=(BlockStream&&) noexcept = default;

BlockStream::Next BlockStream::next(std::optional<Duration> wait) { return engine_->next(wait); }
void BlockStream::cancel() { engine_->cancel(); }
void BlockStream::close() { engine_->close(); }
StreamStats BlockStream::stats() const { return engine_->stats(); }
std::string BlockStream::resume_token() const { return engine_->resume_token(); }
const ChannelSet& BlockStream::channels() const { return engine_->channels(); }
Duration BlockStream::stride() const { return engine_->stride(); }

}
