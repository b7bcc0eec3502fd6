#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrakis/error.hpp"
#include "arrakis/publish.hpp"
#include "client/client_impl.hpp"
#include "client/partition_exchange.hpp"
#include "core/quote.hpp"

namespace arrakis::inline v1 {

namespace {

constexpr const char* kBootstrap = "bootstrap.servers";

}

/// What the server says of a publisher, and how it is asked.
class Publisher::Impl {
 public:
  Impl(std::string id, ClientOptions client, std::optional<std::string> replay_id,
       PublisherOptions options)
      : id_(std::move(id)),
        replay_id_(std::move(replay_id)),
        options_(std::move(options)),
        calls_(std::make_shared<Client::Impl>(std::move(client),
                                              fmt::format("arrakis.create:/{}", id_))),
        client_(calls_) {
    if (id_.empty()) throw Error(Errc::invalid_argument, "the publisher's id is empty");
  }

  void register_channels(const std::optional<ChannelSet>& wanted) {
    ChannelSet known = registered();
    if (wanted) {
      const std::vector<Channel> unknown = to_register(*wanted, known);
      if (!unknown.empty()) {
        exchange_partitions(*calls_, {id_, replay_id_}, unknown);
        known = registered();
      }
      for (const Channel& channel : *wanted) {
        if (!known.contains(channel.name())) {
          throw Error(Errc::not_found,
                      fmt::format("channel {} was not properly registered: {} does not list it "
                                  "under publisher ID {}",
                                  channel.name(), client_.url(), quoted(id_)));
        }
      }
    }
    if (known.empty()) {
      throw Error(
          Errc::not_found,
          fmt::format("no channels registered for publisher ID {}{} at {}", quoted(id_),
                      replay_id_ ? " under replay " + quoted(*replay_id_) : "", client_.url()));
    }
    PublisherOptions options = options_;
    const std::string bootstrap = take_properties(options);
    // Before the one that there is goes: it may be refused.
    auto publisher = std::make_unique<KafkaPublisher>(bootstrap, known, std::move(options));
    publisher_ = std::move(publisher);
  }

  [[nodiscard]] KafkaPublisher& publisher() {
    if (!publisher_) {
      throw Error(Errc::failed_precondition,
                  "publication interface not initialized: call register_channels() first");
    }
    return *publisher_;
  }
  [[nodiscard]] const KafkaPublisher* opened() const { return publisher_.get(); }
  void close() { publisher_.reset(); }

 private:
  ChannelSet registered() {
    Query query;
    query.publishers = {id_};
    query.replay_id = replay_id_;
    std::vector<Channel> channels;
    ChannelListing listing = client_.find(query);
    for (const Channel& channel : listing) channels.push_back(channel);
    return ChannelSet(std::move(channels));
  }

  static std::vector<Channel> to_register(const ChannelSet& wanted, const ChannelSet& known) {
    std::vector<Channel> unknown;
    for (const Channel& channel : wanted) {
      const auto found = known.find(channel.name());
      if (found && matches(channel, known[*found])) continue;
      unknown.push_back(channel);
    }
    return unknown;
  }

  /// Puts what the server says under what the program says; returns where the brokers are.
  std::string take_properties(PublisherOptions& options) {
    std::map<std::string, std::string> properties = publish_properties(*calls_, {id_, replay_id_});
    std::string bootstrap;
    if (const auto found = properties.find(kBootstrap); found != properties.end()) {
      bootstrap = found->second;
      properties.erase(found);
    }
    if (const auto own = options.properties.find(kBootstrap); own != options.properties.end()) {
      bootstrap = own->second;
      options.properties.erase(own);
    }
    if (bootstrap.empty()) {
      throw Error(Errc::protocol, fmt::format("{} does not say where publisher {} should publish",
                                              client_.url(), quoted(id_)));
    }
    options.properties.merge(properties);
    return bootstrap;
  }

  std::string id_;
  std::optional<std::string> replay_id_;
  PublisherOptions options_;
  std::shared_ptr<Client::Impl> calls_;
  Client client_;
  std::unique_ptr<KafkaPublisher> publisher_;
};

Publisher::Publisher(std::string publisher_id, ClientOptions client,
                     std::optional<std::string> replay_id, PublisherOptions options)
    : impl_(std::make_unique<Impl>(std::move(publisher_id), std::move(client), std::move(replay_id),
                                   std::move(options))) {}
Publisher::~Publisher() = default;

Publisher& Publisher::register_channels(const std::optional<ChannelSet>& channels) {
  impl_->register_channels(channels);
  return *this;
}

const ChannelSet& Publisher::channels() const {
  static const ChannelSet none;
  return impl_->opened() == nullptr ? none : impl_->opened()->channels();
}
Duration Publisher::stride() const {
  return impl_->opened() == nullptr ? Duration::zero() : impl_->opened()->stride();
}

void Publisher::publish(const SeriesBlock& block) { impl_->publisher().publish(block); }
void Publisher::publish_async(const SeriesBlock& block, Completion done) {
  impl_->publisher().publish_async(block, std::move(done));
}
bool Publisher::flush(Duration timeout) {
  return impl_->opened() == nullptr || impl_->publisher().flush(timeout);
}
void Publisher::close() { impl_->close(); }
PublisherStats Publisher::stats() const {
  return impl_->opened() == nullptr ? PublisherStats{} : impl_->opened()->stats();
}

}
