#include "stream_source.hpp"

#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <utility>

#include "arrakis/error.hpp"
#include "arrakis/kafka.hpp"
#include "channel_arguments.hpp"

namespace arrakis::cli {

StreamSource::StreamSource(Session& session, StreamRequest request,
                           const std::optional<std::string>& metadata)
    : session_(session), request_(std::move(request)) {
  if (metadata) {
    const ChannelSet known = read_metadata(*metadata);
    described_ = known.select(expand_names(request_.channels, std::cin));
    if (described_->empty()) throw Error(Errc::invalid_argument, "no channel was named");
    return;
  }
  client_.emplace(session.client);
  request_.channels = resolve_names(*client_, expand_names(request_.channels, std::cin),
                                    request_.start, request_.replay_id);
}

ChannelSet StreamSource::channels() const {
  if (described_) return *described_;
  return client_->describe(request_.channels, request_.start, request_.replay_id);
}

BlockStream StreamSource::open() const {
  return client_ ? client_->stream(request_) : open_kafka(*described_);
}

BlockStream StreamSource::open(const ChannelSet& some) const {
  if (!client_) return open_kafka(some);
  StreamRequest request = request_;
  request.channels.clear();
  for (const Channel& channel : some) request.channels.push_back(channel.name());
  return client_->stream(request);
}

BlockStream StreamSource::open_kafka(const ChannelSet& channels) const {
  ReaderOptions reader_options;
  // Who asked for the past wants all of it.
  reader_options.fast_forward = request_.fast_forward && !request_.start;
  reader_options.properties = request_.kafka_properties;
  auto reader = std::make_unique<KafkaReader>(*request_.kafka_url, channels, reader_options);
  session_.log.write(LogLevel::info, fmt::format("streaming {} channel(s), {}", channels.size(),
                                                 span_text(request_)));
  StreamOptions options;
  options.start = request_.start;
  options.end = request_.end;
  options.duration = request_.duration;
  options.on_gap = request_.on_gap.value_or(GapPolicy::fill);
  options.on_drop = request_.on_drop.value_or(DropPolicy::ignore);
  options.stride = request_.stride;
  return BlockStream(std::move(reader), options);
}

}
