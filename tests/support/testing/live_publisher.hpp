#pragma once

/// Publishes in real time, as a detector does.

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "arrakis/kafka.hpp"
#include "testing/channels.hpp"

namespace arrakis::testing {

/// Publishes a block of every channel at its time, or a while later, until it goes.
class LivePublisher {
 public:
  LivePublisher(const std::string& bootstrap, const ChannelSet& channels, Duration late_by = {})
      : publisher_(bootstrap, channels), late_by_(late_by), thread_([this] { run(); }) {}
  ~LivePublisher() {
    stopping_ = true;
    thread_.join();
  }
  LivePublisher(const LivePublisher&) = delete;
  LivePublisher& operator=(const LivePublisher&) = delete;

 private:
  void run() {
    GpsTime next = on_grid(system_clock().now() - late_by_);
    for (int i = 0; !stopping_; ++i, next += kStride) {
      while (!stopping_ && system_clock().now() < next + kStride + late_by_) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
      publisher_.publish(make_block(next, publisher_.channels(), i));
    }
  }

  KafkaPublisher publisher_;
  const Duration late_by_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}
