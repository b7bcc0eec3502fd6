#pragma once

/// The Kafka broker of the demo.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace arrakis::demo {

/// Runs from construction to destruction.
class Broker {
 public:
  virtual ~Broker() = default;
  [[nodiscard]] virtual std::string bootstrap() const = 0;
  /// What it really is, in a line of at most 70 characters.
  [[nodiscard]] virtual std::string description() const = 0;
  /// What a reader should set for it.
  [[nodiscard]] virtual std::map<std::string, std::string> reader_properties() const { return {}; }
};

/// librdkafka's mock cluster inside this process, with these topics.
std::unique_ptr<Broker> start_embedded_broker(const std::vector<std::string>& topics);

/// A real one, by `scripts`/start.sh, on free ports of the loopback interface and in a temporary
/// folder; `scripts`/stop.sh ends it. Throws Error with what the script said when it does not
/// start. nullptr when `stopped` answered true meanwhile; it is asked several times a second.
std::unique_ptr<Broker> start_real_broker(const std::string& scripts,
                                          const std::function<bool()>& stopped);

}
