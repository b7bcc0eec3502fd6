#include "kafka/handle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>

#include "arrakis/kafka.hpp"
#include "core/logging.hpp"

namespace arrakis::inline v1 {

namespace {

constexpr int kSyslogCritical = 2;
constexpr std::size_t kErrorTextBytes = 512;
constexpr const char* kDebugVariable = "ARRAKIS_KAFKA_DEBUG";

/// How every handle of ours reconnects and looks for leaders. librdkafka's defaults wait up to ten
/// seconds before they try a broker again that has just come back.
KafkaProperties common_properties() {
  return {
      {"reconnect.backoff.ms", "50"},
      {"reconnect.backoff.max.ms", "500"},
      {"retry.backoff.ms", "50"},
      {"retry.backoff.max.ms", "500"},
      {"topic.metadata.refresh.interval.ms", "5000"},
      {"topic.metadata.refresh.fast.interval.ms", "100"},
      {"socket.keepalive.enable", "true"},
      {"socket.connection.setup.timeout.ms", "3000"},
      {"log.connection.close", "false"},
      {"client.id", "arrakis"},
  };
}

void set(rd_kafka_conf_t* conf, const std::string& name, const std::string& value) {
  std::array<char, kErrorTextBytes> error{};
  if (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), error.data(), error.size()) !=
      RD_KAFKA_CONF_OK) {
    throw Error(Errc::invalid_argument,
                fmt::format("Kafka property {}={}: {}", name, value, error.data()));
  }
}

}

/// The C callbacks; librdkafka hands them the Handle.
struct HandleHooks {
  static void on_log(const rd_kafka_t* /*handle*/, int level, const char* facility,
                     const char* text) {
    // Its connection errors repeat without end; ours say the same once an episode.
    log::line(level <= kSyslogCritical ? LogLevel::error : LogLevel::debug, "librdkafka", "{}: {}",
              facility, text);
  }
  static void on_error(rd_kafka_t* /*handle*/, int error, const char* reason, void* opaque) {
    const auto& callbacks = static_cast<Handle*>(opaque)->callbacks_;
    if (callbacks.on_error) callbacks.on_error(static_cast<rd_kafka_resp_err_t>(error), reason);
  }
  static void on_delivery(rd_kafka_t* /*handle*/, const rd_kafka_message_t* message, void* opaque) {
    const auto& callbacks = static_cast<Handle*>(opaque)->callbacks_;
    if (callbacks.on_delivery) callbacks.on_delivery(*message);
  }
};

Handle::Handle(std::string bootstrap, Callbacks callbacks)
    : bootstrap_(std::move(bootstrap)), callbacks_(std::move(callbacks)) {}

std::shared_ptr<Handle> Handle::create(HandleKind kind, const std::string& bootstrap,
                                       const KafkaProperties& defaults,
                                       const KafkaProperties& properties, Callbacks callbacks) {
  struct ConfDeleter {
    void operator()(rd_kafka_conf_t* conf) const { rd_kafka_conf_destroy(conf); }
  };
  std::unique_ptr<rd_kafka_conf_t, ConfDeleter> conf(rd_kafka_conf_new());
  for (const auto& [name, value] : common_properties()) set(conf.get(), name, value);
  for (const auto& [name, value] : defaults) set(conf.get(), name, value);
  set(conf.get(), "bootstrap.servers", bootstrap);
  if (const char* debug = std::getenv(kDebugVariable); debug != nullptr && *debug != '\0') {
    set(conf.get(), "debug", debug);
  }
  for (const auto& [name, value] : properties) set(conf.get(), name, value);

  const bool reports_delivery = static_cast<bool>(callbacks.on_delivery);
  // Not make_shared: the constructor is private.
  std::shared_ptr<Handle> handle(new Handle(bootstrap, std::move(callbacks)));
  handle->kind_ = kind;
  rd_kafka_conf_set_opaque(conf.get(), handle.get());
  rd_kafka_conf_set_log_cb(conf.get(), &HandleHooks::on_log);
  rd_kafka_conf_set_error_cb(conf.get(), &HandleHooks::on_error);
  if (reports_delivery) rd_kafka_conf_set_dr_msg_cb(conf.get(), &HandleHooks::on_delivery);

  std::array<char, kErrorTextBytes> error{};
  const rd_kafka_type_t type = kind == HandleKind::consumer ? RD_KAFKA_CONSUMER : RD_KAFKA_PRODUCER;
  handle->handle_ = rd_kafka_new(type, conf.get(), error.data(), error.size());
  if (handle->handle_ == nullptr) {
    throw Error(Errc::invalid_argument,
                fmt::format("no Kafka client for '{}': {}", bootstrap, error.data()));
  }
  static_cast<void>(conf.release());  // rd_kafka_new owns it now
  return handle;
}

Handle::~Handle() {
  if (handle_ == nullptr) return;
  if (kind_ == HandleKind::producer) {
    // Messages that were not confirmed by now are given up; their owner was told.
    rd_kafka_purge(handle_, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT |
                                RD_KAFKA_PURGE_F_NON_BLOCKING);
  }
  rd_kafka_destroy_flags(handle_, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
}

int timeout_ms(Duration timeout) {
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(timeout).count();
  return static_cast<int>(std::clamp<std::int64_t>(ms, 0, std::numeric_limits<int>::max()));
}

}
