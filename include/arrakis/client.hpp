#pragma once

/// The client of an Arrakis server: find channels, describe them, stream and fetch their data.
///
///     arrakis::Client client;  // ARRAKIS_SERVER, else grpc://localhost:31206
///     for (const arrakis::Channel& channel : client.find({.pattern = "H1:CAL-"})) use(channel);
///     for (const arrakis::SeriesBlock& block : client.stream({.channels = {"H1:CAL-A"}}))
///     use(block);
///
/// Every call throws Error: what was asked, which server, what it answered; request_id() is the
/// server's own number of the request, where it gave one. @since 0.2

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arrakis/block.hpp"
#include "arrakis/channel.hpp"
#include "arrakis/client_options.hpp"
#include "arrakis/error.hpp"
#include "arrakis/export.hpp"
#include "arrakis/mux.hpp"
#include "arrakis/source.hpp"
#include "arrakis/stream.hpp"
#include "arrakis/time.hpp"

namespace arrakis::inline v1 {

/// Which channels are wanted.
struct Query {
  /// Regular expression (Python's), matched from the beginning of the name, not necessarily to its
  /// end. Case matters.
  std::string pattern = ".*";
  /// Any of these; empty: every type. uint32, uint64, int32, int64, float32, float64 only.
  std::vector<DataType> data_types;
  /// Inclusive, Hz.
  std::int64_t min_rate = 0;
  std::int64_t max_rate = 4294967295;
  /// Any of these; empty: every publisher.
  std::vector<std::string> publishers;
  /// The server that holds data of this time answers; none: the present.
  std::optional<GpsTime> time;
  /// Channels of this replay; none: those of none.
  std::optional<std::string> replay_id;
};

/// Channels as they arrive, in no particular order; servers that answer together may give one
/// channel twice. Holds one batch of the answer in memory. Use from one thread; cancel() from any.
class ARRAKIS_API ChannelListing {
 public:
  ChannelListing(ChannelListing&&) noexcept;
  ChannelListing& operator=(ChannelListing&&) noexcept;
  ~ChannelListing();

  /// The next channels, at most a thousand or so; empty at the end. Throws Error.
  std::vector<Channel> next();
  /// Makes a waiting or later next() throw Error(cancelled).
  void cancel();

  /// Input iteration over the channels.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Channel;
    using difference_type = std::ptrdiff_t;
    using pointer = const Channel*;
    using reference = const Channel&;

    Iterator() = default;
    reference operator*() const { return batch_[index_]; }
    pointer operator->() const { return &batch_[index_]; }
    Iterator& operator++() {
      if (++index_ == batch_.size()) refill();
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& it, std::default_sentinel_t /*end*/) {
      return it.batch_.empty();
    }

   private:
    friend class ChannelListing;
    explicit Iterator(ChannelListing* listing) : listing_(listing) { refill(); }
    void refill() {
      batch_ = listing_->next();
      index_ = 0;
    }
    ChannelListing* listing_ = nullptr;
    std::vector<Channel> batch_;
    std::size_t index_ = 0;
  };
  Iterator begin() { return Iterator(this); }
  [[nodiscard]] std::default_sentinel_t end() const { return {}; }

 private:
  friend class Client;
  class Impl;
  explicit ChannelListing(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// What a server says of itself. A field that it leaves out is empty.
struct ServerInfo {
  std::string server_version;
  std::string arrakis_version;
  std::string schema_version;
  std::optional<std::string> backend;  ///< none: it answers questions only
  std::optional<std::string> backend_version;
  std::vector<std::string> capabilities;
  std::vector<std::string> domains;
  bool auth = false;
  std::optional<std::string> auth_mode;
  std::vector<std::string> auth_methods;
  std::string json;  ///< the answer as it came
};

/// A span of archived data that is served, over and over, as if it were now.
struct ReplayWindow {
  GpsTime start;
  GpsTime end;  ///< exclusive
};

/// A span of data of some channels. Times: neither start nor end: live from now. A start in the
/// future is waited for.
struct StreamRequest {
  std::vector<std::string> channels;  ///< names; one that comes twice counts once
  std::optional<GpsTime> start;
  std::optional<GpsTime> end;  ///< exclusive; not with duration
  /// From `start` or, without one, from the first block.
  std::optional<Duration> duration;
  /// Data of this window as if they were now; not with replay_id.
  std::optional<ReplayWindow> replay_window;
  std::optional<std::string> replay_id;
  /// Read everything from this broker; the server is asked for the channels' description only.
  std::optional<std::string> kafka_url;
  /// None: the environment's ARRAKIS_ONGAP, else fill.
  std::optional<GapPolicy> on_gap;
  /// None: the environment's ARRAKIS_ONDROP, else ignore.
  std::optional<DropPolicy> on_drop;
  /// Length of a block; a positive multiple of the channels' common stride, which is the default.
  std::optional<Duration> stride;
  /// Skip a backlog that can't be caught up on; only where Kafka is read and there is no start.
  bool fast_forward = true;
  /// Deliver whole blocks also where they reach beyond [start, end).
  bool whole_blocks = false;
  /// After a failure that may pass: go on, from the end of the last block, as soon as a server can
  /// be reached. False: throw it.
  bool reconnect = true;
  /// Give up when a failure lasts longer; none: never.
  std::optional<Duration> give_up_after;
  /// Go on where BlockStream::resume_token() was taken. Empty: from the beginning. The rest of the
  /// request must be as it was.
  std::string resume;
  /// Bytes of samples held for the slowest of several streams; see StreamOptions.
  std::size_t buffer_bytes = std::size_t{64} << 20U;
  /// Receives events on the thread that calls next(). May be empty; must not throw; may cancel().
  std::function<void(const Event&)> on_event;
  /// Further librdkafka properties, where Kafka is read.
  std::map<std::string, std::string> kafka_properties;
};

/// "live", "live for 10s", "live until GPS 1400000000", "from GPS 1400000000",
/// "GPS [1400000000, 1400000010)", each with ", replay X" or ", replay window [a, b)": for logs.
ARRAKIS_API std::string span_text(const StreamRequest& request);

/// Calls of one or several equivalent Arrakis servers. Cheap to make: it connects when it is asked
/// something first. Safe from several threads at once; its streams may outlive it.
class ARRAKIS_API Client {
 public:
  Client() : Client(ClientOptions{}) {}
  explicit Client(std::string url);
  /// Throws Error(invalid_argument) for a URL that can't be read and Error(unauthenticated) when a
  /// token is required and none is found.
  explicit Client(ClientOptions options);
  ~Client();
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;

  /// The channels that fit. Asks at once, reads as the listing is read.
  [[nodiscard]] ChannelListing find(const Query& query = {}) const;
  /// How many find() would list.
  [[nodiscard]] std::uint64_t count(const Query& query = {}) const;
  /// Descriptions of the channels named, in their order. Error(not_found) names unknown ones.
  [[nodiscard]] ChannelSet describe(const std::vector<std::string>& channels,
                                    std::optional<GpsTime> time = {},
                                    const std::optional<std::string>& replay_id = {}) const;

  [[nodiscard]] ServerInfo server_info() const;
  /// Which servers hold what, as the JSON text that the server answers.
  [[nodiscard]] std::string scope_map() const;
  /// The named replays, by name.
  [[nodiscard]] std::map<std::string, ReplayWindow> replays() const;
  /// The domains that any server holds, sorted.
  [[nodiscard]] std::vector<std::string> domains() const;
  /// The URLs of all servers that this one knows, sorted; its own included.
  [[nodiscard]] std::vector<std::string> endpoints() const;

  /// Streams. Throws Error(invalid_argument) for what contradicts itself before any server is
  /// asked; also what describe() throws. Reads Kafka itself where the server names a broker.
  [[nodiscard]] BlockStream stream(const StreamRequest& request) const;
  /// One block of all that was asked. Without end and duration: one stride, from start or of now.
  /// Error(no_data) when less came; Error(invalid_argument) for GapPolicy::skip, and for an end
  /// without a start. Waits as long as it takes; a program that can't uses stream().
  [[nodiscard]] SeriesBlock fetch(const StreamRequest& request) const;

  /// The URL asked first, complete with scheme and port.
  [[nodiscard]] const std::string& url() const;

 private:
  friend class Publisher;
  class Impl;
  explicit Client(std::shared_ptr<Impl> impl);
  [[nodiscard]] BlockStream stream_of(const StreamRequest& checked) const;
  std::shared_ptr<Impl> impl_;
};

}  // namespace arrakis::inline v1
