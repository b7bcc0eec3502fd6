#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "arrakis/client.hpp"
#include "arrakis/error.hpp"
#include "arrakis/kafka.hpp"
#include "client/client_impl.hpp"
#include "client/muxed_stream.hpp"
#include "client/stream_request.hpp"
#include "client/surviving_stream.hpp"
#include "client/transport_plan.hpp"
#include "core/budget.hpp"
#include "core/logging.hpp"
#include "flight/flight_error.hpp"
#include "flight/flight_reader.hpp"

namespace arrakis::inline v1 {

namespace {

constexpr std::string_view kLog = "client";

const char* environment(const char* name) { return std::getenv(name); }

bool is_broker_failure(const std::optional<Error>& error) {
  return error &&
         (error->code() == Errc::broker_unavailable || error->code() == Errc::broker_fatal);
}

void require_strides(const ChannelSet& channels) {
  for (const Channel& channel : channels) {
    if (channel.stride && *channel.stride > Duration::zero()) continue;
    throw Error(Errc::precondition,
                fmt::format("channel {} can't be streamed: its server gives no stride for it",
                            channel.name()));
  }
}

/// Makes the engines of one request.
class EngineMaker {
 public:
  EngineMaker(std::shared_ptr<const Client> client, std::shared_ptr<ServerCalls> calls,
              StreamRequest request)
      : client_(std::move(client)), calls_(std::move(calls)), request_(std::move(request)) {}

  std::unique_ptr<StreamEngine> operator()(const StreamSpan& span) const {
    // What was missed during an outage may be older than what any server keeps.
    const bool resumes = span.after.has_value() && span.from != request_.start;
    if (resumes && says_time_is_gone(*span.after)) return make(span, {});
    try {
      return make(span, span.from);
    } catch (const Error& error) {
      if (!resumes || !says_time_is_gone(error)) throw;
      return make(span, {});
    }
  }

 private:
  /// `ask_from` is the start that servers are asked for; what of the span they leave out is a gap.
  std::unique_ptr<StreamEngine> make(const StreamSpan& span,
                                     std::optional<GpsTime> ask_from) const {
    const ChannelSet channels =
        client_->describe(request_.channels, describe_time(ask_from), request_.replay_id);
    require_strides(channels);
    if (ask_from) ask_from = before_the_present(*ask_from, channels);
    return std::make_unique<MuxedStream>(sources(channels, span, ask_from),
                                         options(channels, span));
  }

  /// Servers take a start of the last two seconds for "from now on", and leave out what was before
  /// they were asked. So they are asked for a little more, by whole strides, and what is too much
  /// is passed over.
  [[nodiscard]] GpsTime before_the_present(GpsTime from, const ChannelSet& channels) const {
    constexpr Duration kPresent = std::chrono::seconds(4);
    const GpsTime now = calls_->connector()->clock().now();
    const Duration excess = from - (now - kPresent);
    if (from > now || excess <= Duration::zero()) return from;
    const Duration stride = common_stride(channels.channels()).value_or(Duration(1));
    return from - (excess / stride + 1) * stride;
  }

  [[nodiscard]] std::optional<GpsTime> describe_time(std::optional<GpsTime> from) const {
    if (!request_.replay_window) return from;
    const GpsTime now = calls_->connector()->clock().now().floor_to(std::chrono::seconds(1));
    return archive_time(*request_.replay_window, from.value_or(now));
  }

  [[nodiscard]] std::vector<std::unique_ptr<Source>> sources(
      const ChannelSet& channels, const StreamSpan& span, std::optional<GpsTime> ask_from) const {
    std::vector<std::unique_ptr<Source>> made;
    if (request_.kafka_url) {
      made.push_back(reader(*request_.kafka_url, channels));
      return made;
    }
    StreamTicket ticket;
    ticket.channels = request_.channels;
    ticket.start = ask_from;
    ticket.end = span.end;
    ticket.replay_id = request_.replay_id;
    if (request_.replay_window) {
      ticket.replay_start = request_.replay_window->start;
      ticket.replay_end = request_.replay_window->end;
    }
    TransportPlan plan =
        plan_transport(calls_->get_info(ticket), channels, is_broker_failure(span.after));
    for (const DirectRead& direct : plan.direct) {
      made.push_back(reader(direct.bootstrap, direct.channels));
    }
    if (!plan.relayed.empty()) {
      made.push_back(std::make_unique<FlightReader>(calls_->connector(), std::move(plan.relayed)));
    }
    return made;
  }

  [[nodiscard]] std::unique_ptr<Source> reader(const std::string& bootstrap,
                                               const ChannelSet& channels) const {
    ReaderOptions options;
    // Who asked for the past wants all of it.
    options.fast_forward = request_.fast_forward && !request_.start;
    options.properties = request_.kafka_properties;
    return std::make_unique<KafkaReader>(bootstrap, channels, std::move(options));
  }

  [[nodiscard]] StreamOptions options(const ChannelSet& channels, const StreamSpan& span) const {
    StreamOptions options;
    options.start = span.from;
    options.end = span.end;
    options.duration = span.duration;
    options.on_gap = *request_.on_gap;
    options.on_drop = *request_.on_drop;
    options.stride = request_.stride;
    options.whole_blocks = request_.whole_blocks;
    options.buffer_bytes = request_.buffer_bytes;
    options.on_event = request_.on_event;
    options.clock = &calls_->connector()->clock();
    // A channel without a latency of its own waits as long as the others do.
    const Duration longest = relay_timeout(channels.channels());
    if (longest > Duration::zero()) options.fallback_timeout = longest;
    return options;
  }

  std::shared_ptr<const Client> client_;
  std::shared_ptr<ServerCalls> calls_;
  StreamRequest request_;
};

std::unique_ptr<SurvivingStream> make_stream(EngineMaker maker, const std::string& url,
                                             const Clock& clock, const StreamRequest& request) {
  SurvivingStream::Settings settings;
  settings.request = digest_of(request);
  settings.span.from = request.start;
  settings.span.end = request.end;
  settings.span.duration = request.duration;
  if (!request.resume.empty()) {
    settings.span.from = parse_resume_token(request.resume, settings.request);
    if (request.end && *settings.span.from >= *request.end) {
      throw Error(Errc::invalid_argument,
                  fmt::format("nothing is left to resume: the end is GPS {} and everything up to "
                              "GPS {} was delivered",
                              format_time(*request.end), format_time(*settings.span.from)));
    }
  }
  settings.name = fmt::format("stream of {} channel(s) from {}", request.channels.size(), url);
  settings.connect = std::move(maker);
  settings.reconnect = request.reconnect;
  settings.give_up_after = request.give_up_after;
  settings.on_event = request.on_event;
  settings.clock = &clock;
  log::info(kLog, "streaming {} channel(s), {}", request.channels.size(), span_text(request));
  return std::make_unique<SurvivingStream>(std::move(settings));
}

/// Everything that the stream gives, as one block; the first one alone when `one` is enough.
SeriesBlock collect(BlockStream& stream, bool one) {
  std::vector<SeriesBlock> blocks;
  for (const SeriesBlock& block : stream) {
    if (one) return block;
    blocks.push_back(block);
  }
  if (blocks.empty()) throw Error(Errc::no_data, "the stream ended before its first block");
  return concatenate(blocks);
}

}

BlockStream Client::stream(const StreamRequest& request) const {
  return stream_of(checked_stream(request, environment));
}

BlockStream Client::stream_of(const StreamRequest& checked) const {
  const std::shared_ptr<const Client> self(new Client(impl_));
  return BlockStream(
      make_stream(EngineMaker(self, impl_, checked), url(), impl_->connector()->clock(), checked));
}

SeriesBlock Client::fetch(const StreamRequest& request) const {
  const StreamRequest checked = checked_fetch(request, environment);
  BlockStream stream = stream_of(checked);
  const bool one = !checked.end && !checked.duration;
  SeriesBlock block = collect(stream, one);
  std::optional<Duration> wanted = checked.duration;
  if (checked.end) {
    const GpsTime from = checked.resume.empty()
                             ? *checked.start
                             : parse_resume_token(checked.resume, digest_of(checked));
    wanted = *checked.end - from;
  }
  if (wanted && block.duration() < *wanted) {
    throw Error(Errc::no_data,
                fmt::format("the stream ended after {} of the {} that were asked for",
                            format_duration(block.duration()), format_duration(*wanted)));
  }
  return block;
}

}
