#include "request_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "arrakis/error.hpp"
#include "channel_arguments.hpp"
#include "kafka_properties.hpp"

namespace arrakis::cli {
namespace {

constexpr const char* kGapPolicyVariable = "ARRAKIS_ONGAP";
constexpr const char* kDropPolicyVariable = "ARRAKIS_ONDROP";
constexpr std::string_view kStandardInput = "-";

template <typename Parse>
auto policy_argument(std::string_view argument, std::string_view text, Parse&& parse) {
  try {
    return parse(text);
  } catch (const Error& error) {
    refuse(argument, error.what());
  }
}

GapPolicy gap_policy(const std::optional<std::string>& given, const ArgumentReader& read) {
  if (given) return policy_argument("--on-gap", *given, parse_gap_policy);
  const std::string_view text = read.variable(kGapPolicyVariable);
  if (text.empty()) return GapPolicy::fill;
  return policy_argument(kGapPolicyVariable, text, parse_gap_policy);
}

DropPolicy drop_policy(const ArgumentReader& read) {
  const std::string_view text = read.variable(kDropPolicyVariable);
  if (text.empty()) return DropPolicy::ignore;
  return policy_argument(kDropPolicyVariable, text, parse_drop_policy);
}

/// GPS seconds; a replay has no use for "now" or dates.
std::optional<GpsTime> gps_argument(std::string_view argument,
                                    const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  try {
    const Duration since_epoch = parse_duration(*text);
    if (since_epoch < Duration::zero()) refuse(argument, "is before the GPS epoch");
    return GpsTime() + since_epoch;
  } catch (const Error& error) {
    refuse(argument, error.what());
  }
}

}  // namespace

void RequestOptions::add_to(OptionAdder& add) {
  add.positionals("CHANNEL", channels_, OptionAdder::Need::required, kChannelHelp);
  add.group("What");
  add.value("--start", start_, "TIME", "First instant (default: now)");
  add.value("--end", end_, "TIME", "Instant to stop at, exclusive (default: none)");
  add.value("--duration", duration_, "SPAN",
            "Length, from --start or else from now; not with --end");
  add.value("--stride", stride_, "SPAN",
            "Length of a block, a multiple of the channels' own (default)");
  if (gaps_ == Gaps::chosen) {
    add.value(
        "--on-gap", on_gap_, "fill|skip|raise",
        "What to do where no channel has data: fill (nulls, the default), skip (leave the block "
        "out) or raise (stop with an error)");
  }
  add.value("--replay-id", replay_id_, "ID", "Data of this replay");
  add.value("--replay-start", replay_start_, "GPS",
            "Data from here to --replay-end, over and over, as if they were now");
  add.value("--replay-end", replay_end_, "GPS", "End of the replayed data");
  add.group("From where");
  add.value("--kafka-url", kafka_url_, "HOST:PORT",
            "Read everything from these Kafka brokers, separated by commas");
  add.value("--metadata", metadata_, "FILE",
            "Channels as JSON, one a line, as 'find --json' prints them; '-' is standard input. No "
            "server is asked; needs --kafka-url");
  add.flag("--no-fast-forward", no_fast_forward_,
           "Never skip data when reading from Kafka falls behind (it never does with --start)");
  add.flag("--no-reconnect", no_reconnect_, "Stop at the first failure instead of going on");
  add.value("--give-up-after", give_up_after_, "SPAN",
            "Stop when a failure lasts longer (default: never)");
  add.values("-X", properties_, "KEY=VALUE",
             "Property for librdkafka, such as fetch.wait.max.ms=5; may be repeated");
}

StreamRequest RequestOptions::request(const ArgumentReader& read) const {
  StreamRequest request;
  request.channels = channels_;
  read_span(request, read);
  read_replay(request);
  check_metadata();
  if (kafka_url_ && kafka_url_->empty()) refuse("--kafka-url", "is empty");
  request.kafka_url = kafka_url_;
  request.stride = ArgumentReader::span("--stride", stride_);
  request.on_gap = gaps_ == Gaps::chosen ? gap_policy(on_gap_, read) : GapPolicy::fill;
  request.on_drop = drop_policy(read);
  request.fast_forward = !no_fast_forward_;
  request.reconnect = !no_reconnect_;
  request.give_up_after = ArgumentReader::span("--give-up-after", give_up_after_);
  request.kafka_properties = kafka_properties(properties_);
  return request;
}

void RequestOptions::read_span(StreamRequest& request, const ArgumentReader& read) const {
  if (end_ && duration_) refuse("--duration", "not allowed with --end");
  request.start = read.time("--start", start_);
  request.end = read.time("--end", end_);
  request.duration = ArgumentReader::span("--duration", duration_);
  if (request.end && request.start && *request.end <= *request.start) {
    refuse("--end", "is not after --start");
  }
}

void RequestOptions::read_replay(StreamRequest& request) const {
  if (replay_id_ && (replay_start_ || replay_end_)) {
    refuse(replay_start_ ? "--replay-start" : "--replay-end", "not allowed with --replay-id");
  }
  request.replay_id = replay_id_;
  const std::optional<GpsTime> begin = gps_argument("--replay-start", replay_start_);
  const std::optional<GpsTime> end = gps_argument("--replay-end", replay_end_);
  if (begin && !end) refuse("--replay-start", "requires --replay-end");
  if (end && !begin) refuse("--replay-end", "requires --replay-start");
  if (!begin) return;
  if (*end <= *begin) refuse("--replay-end", "is not after --replay-start");
  request.replay_window = ReplayWindow{*begin, *end};
}

void RequestOptions::check_metadata() const {
  if (!metadata_) return;
  if (metadata_->empty()) refuse("--metadata", "is empty");
  if (!kafka_url_) refuse("--metadata", "requires --kafka-url");
  if (*metadata_ == kStandardInput &&
      std::count(channels_.begin(), channels_.end(), kStandardInput) > 0) {
    refuse("--metadata", "and CHANNEL can't both be read from standard input");
  }
}

}
