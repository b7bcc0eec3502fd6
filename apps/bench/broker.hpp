#pragma once

/// The broker that a benchmark talks to, and the topics that it makes there for itself.

#include <memory>
#include <string>
#include <vector>

#include "kafka/embedded_broker.hpp"
#include "kafka/handle.hpp"

namespace arrakis::bench {

/// What consumers of an embedded broker have to set.
KafkaProperties embedded_consumer_properties();

/// Deletes its topics when it goes. Not safe from several threads at once, except bootstrap().
class Broker {
 public:
  /// One in this process when `bootstrap` is empty. Throws Error(unsupported) when it can't start.
  explicit Broker(std::string bootstrap);
  ~Broker();
  Broker(const Broker&) = delete;
  Broker& operator=(const Broker&) = delete;

  [[nodiscard]] const std::string& bootstrap() const { return bootstrap_; }
  [[nodiscard]] bool is_embedded() const { return embedded_ != nullptr; }
  /// "embedded" or "real".
  [[nodiscard]] const char* kind() const { return is_embedded() ? "embedded" : "real"; }
  /// What its consumers have to set.
  [[nodiscard]] KafkaProperties consumer_properties() const;

  /// Of one partition each; messages may be as large as Arrakis'. Throws Error that names the
  /// topic, or the broker when it does not answer.
  void create_topics(const std::vector<std::string>& names);

 private:
  std::unique_ptr<EmbeddedBroker> embedded_;
  std::string bootstrap_;
  std::vector<std::string> topics_;  // made on a broker that stays
};

/// A name that no other run uses: "<what><8 characters>".
std::string unique_prefix(const std::string& what);

}
