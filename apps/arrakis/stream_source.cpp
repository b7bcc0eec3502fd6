#include "stream_source.hpp"

#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <utility>

#include "arrakis/error.hpp"
#include "arrakis/kafka.hpp"
#include "channel_arguments.hpp"

namespace arrakis::cli {
namespace {

BlockStream kafka_stream(Session& session, const StreamRequest& request,
                         const std::string& metadata) {
  const ChannelSet channels =
      read_metadata(metadata).select(expand_names(request.channels, std::cin));
  if (channels.empty()) throw Error(Errc::invalid_argument, "no channel was named");
  ReaderOptions reader_options;
  // Who asked for the past wants all of it.
  reader_options.fast_forward = request.fast_forward && !request.start;
  reader_options.properties = request.kafka_properties;
  auto reader = std::make_unique<KafkaReader>(*request.kafka_url, channels, reader_options);
  session.log.write(LogLevel::info, fmt::format("streaming {} channel(s), {}", channels.size(),
                                                span_text(request)));
  StreamOptions options;
  options.start = request.start;
  options.end = request.end;
  options.duration = request.duration;
  options.on_gap = request.on_gap.value_or(GapPolicy::fill);
  options.on_drop = request.on_drop.value_or(DropPolicy::ignore);
  options.stride = request.stride;
  return BlockStream(std::move(reader), options);
}

}  // namespace

BlockStream open_stream(Session& session, StreamRequest request,
                        const std::optional<std::string>& metadata) {
  if (metadata) return kafka_stream(session, request, *metadata);
  const Client client(session.client);
  request.channels = resolve_names(client, expand_names(request.channels, std::cin), request.start,
                                   request.replay_id);
  return client.stream(request);
}

}
