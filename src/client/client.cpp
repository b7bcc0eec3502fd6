#include "arrakis/client.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "client/channel_listing.hpp"
#include "client/client_impl.hpp"
#include "client/pattern_check.hpp"
#include "client/server_answers.hpp"
#include "core/quote.hpp"
#include "wire/metadata_rows.hpp"
#include "wire/request.hpp"

namespace arrakis::inline v1 {
namespace {

[[noreturn]] void throw_invalid(const std::string& message) {
  throw Error(Errc::invalid_argument, message);
}

void check_data_types(const std::vector<DataType>& types) {
  for (const DataType type : types) {
    if (std::ranges::find(kQueryDataTypes, to_string(type)) != std::end(kQueryDataTypes)) continue;
    throw_invalid(fmt::format("servers can't be asked for channels of type {}, only for {}",
                              to_string(type), fmt::join(kQueryDataTypes, ", ")));
  }
}

void check_rates(const Query& query) {
  if (query.min_rate < 0) {
    throw_invalid(fmt::format("the least rate must not be negative, but is {}", query.min_rate));
  }
  if (query.min_rate > query.max_rate) {
    throw_invalid(fmt::format("the least rate, {}, is above the greatest, {}", query.min_rate,
                              query.max_rate));
  }
}

/// The arguments of a request from what a program asks; Request is FindRequest or CountRequest.
template <typename QueryRequest>
QueryRequest request_of(const Query& query) {
  check_data_types(query.data_types);
  check_rates(query);
  if (const auto fault = pattern_fault(query.pattern)) {
    throw_invalid(
        fmt::format("{} is no regular expression: {}", arrakis::quoted(query.pattern), *fault));
  }
  QueryRequest request;
  request.pattern = query.pattern;
  for (const DataType type : query.data_types) request.data_type.emplace_back(to_string(type));
  request.min_rate = query.min_rate;
  request.max_rate = query.max_rate;
  request.publisher = query.publishers;
  request.time = query.time;
  request.replay_id = query.replay_id;
  return request;
}

/// The names for a message, not too many.
std::string list_of(const std::vector<std::string>& names) {
  constexpr std::size_t kMaxNames = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMaxNames); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", arrakis::quoted(names[i]));
  }
  if (names.size() > kMaxNames) text += fmt::format(" and {} more", names.size() - kMaxNames);
  return text;
}

/// The descriptions that arrive, until each of the channels asked for has one.
class Descriptions {
 public:
  void add(MetadataRows&& rows) {
    for (Channel& channel : rows.channels) {
      std::string name = channel.name();
      found_.try_emplace(std::move(name), std::move(channel));
    }
    for (RefusedRow& row : rows.refused) refused_.push_back(std::move(row));
  }

  /// In the order asked for.
  ChannelSet in_order(const std::vector<std::string>& names) && {
    std::vector<Channel> channels;
    std::vector<std::string> missing;
    for (const std::string& name : names) {
      const auto found = found_.find(name);
      if (found == found_.end()) {
        check_refused(name);
        missing.push_back(name);
      } else {
        channels.push_back(std::move(found->second));
      }
    }
    if (!missing.empty()) {
      throw Error(Errc::not_found, fmt::format("no server describes {}", list_of(missing)));
    }
    return ChannelSet(std::move(channels));
  }

 private:
  void check_refused(const std::string& name) const {
    const auto row = std::ranges::find(refused_, name, &RefusedRow::name);
    if (row == refused_.end()) return;
    throw Error(Errc::unsupported,
                fmt::format("channel {} can't be used: {}", arrakis::quoted(name), row->reason));
  }

  std::unordered_map<std::string, Channel> found_;
  std::vector<RefusedRow> refused_;
};

/// Asks one home server after the other for the endpoints of a request, and hands every batch that
/// they give to `take`; `begin` is called before, for each server anew.
template <typename Begin, typename Take>
void read_all(ServerCalls& calls, std::string_view what, const Request& request, Begin&& begin,
              Take&& take) {
  const CallDeadline deadline = calls.deadline();
  calls.ask_homes(what, deadline, [&](const ServerUrl& server, const CallDeadline& limit) {
    begin();
    const FlightEndpoints info = calls.get_info(server, request, limit);
    for (const FlightEndpoint& endpoint : info.endpoints) {
      const auto rows = calls.open(endpoint, info.asked, what, limit);
      while (const auto batch = rows->next()) take(*batch, rows->what());
    }
    return true;
  });
}

}  // namespace

std::vector<std::string> checked_channels(const std::vector<std::string>& names) {
  if (names.empty()) throw_invalid("no channel is named");
  std::unordered_set<std::string_view> seen;
  std::vector<std::string> distinct;
  for (const std::string& name : names) {
    if (!parse_channel_name(name)) {
      throw_invalid(
          fmt::format("{} is no channel name: it needs the form "
                      "'<domain>:<subsystem>[(-|_)<rest>]'",
                      arrakis::quoted(name)));
    }
    if (seen.insert(name).second) distinct.push_back(name);
  }
  return distinct;
}

Client::Client(std::string url)
    : Client([&] {
        ClientOptions options;
        options.urls = {std::move(url)};
        return options;
      }()) {}
Client::Client(ClientOptions options) : impl_(std::make_shared<Impl>(std::move(options))) {}
Client::Client(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

ChannelListing Client::find(const Query& query) const {
  const Request request = request_of<FindRequest>(query);
  auto listing = std::make_unique<ChannelListing::Impl>(impl_);
  impl_->ask_homes("find", impl_->deadline(),
                   [&](const ServerUrl& server, const CallDeadline& limit) {
                     listing->open(impl_->get_info(server, request, limit), limit);
                     return true;
                   });
  return ChannelListing(std::move(listing));
}

std::uint64_t Client::count(const Query& query) const {
  std::uint64_t sum = 0;
  read_all(
      *impl_, "count", request_of<CountRequest>(query), [&] { sum = 0; },
      [&](const arrow::RecordBatch& batch, const std::string& what) {
        sum += read_count(batch, what);
      });
  return sum;
}

ChannelSet Client::describe(const std::vector<std::string>& channels, std::optional<GpsTime> time,
                            const std::optional<std::string>& replay_id) const {
  const std::vector<std::string> names = checked_channels(channels);
  Descriptions descriptions;
  read_all(
      *impl_, "describe", DescribeRequest{.channels = names, .time = time, .replay_id = replay_id},
      [&] { descriptions = Descriptions(); },
      [&](const arrow::RecordBatch& batch, const std::string& what) {
        descriptions.add(read_metadata(batch, what));
      });
  return std::move(descriptions).in_order(names);
}

ServerInfo Client::server_info() const { return parse_server_info(impl_->act("server-info").text); }

std::string Client::scope_map() const { return impl_->act("scope-map").text; }

std::map<std::string, ReplayWindow> Client::replays() const {
  return parse_replays(impl_->act("replays").text);
}

std::vector<std::string> Client::domains() const { return parse_domains(scope_map()); }

std::vector<std::string> Client::endpoints() const {
  const ServerCalls::Answer answer = impl_->act("scope-map");
  return parse_endpoints(answer.text, answer.asked.text);
}

const std::string& Client::url() const { return impl_->connector()->home_urls().front().text; }

}  // namespace arrakis::inline v1
