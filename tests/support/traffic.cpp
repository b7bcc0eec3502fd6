#include "testing/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "wire/part.hpp"

namespace arrakis::testing {

using namespace std::chrono_literals;

Writer::Writer(const std::string& bootstrap, const ChannelSet& channels, GpsTime first,
               PublisherOptions options)
    : publisher_(bootstrap, channels, std::move(options)),
      first_(first),
      thread_([this] { run(); }) {}

void Writer::run() {
  const auto begin = std::chrono::steady_clock::now();
  try {
    for (int i = 0; !stopping_; ++i) {
      publisher_.publish_async(make_block(first_ + i * kStride, publisher_.channels(), i),
                               [this](const SeriesBlock&, const std::optional<Error>& error) {
                                 if (error) {
                                   failures_.emplace_back(error->what());
                                 } else {
                                   ++confirmed_;
                                 }
                               });
      ++sent_;
      // Until the next one is due, confirmations are taken.
      const auto due = begin + (i + 1) * kStride;
      while (!stopping_ && std::chrono::steady_clock::now() < due) {
        publisher_.flush(due - std::chrono::steady_clock::now());
        std::this_thread::sleep_until(std::min(due, std::chrono::steady_clock::now() + 5ms));
      }
    }
  } catch (const Error& error) {
    failures_.emplace_back(error.what());
  }
}

bool Writer::stop(Duration limit) {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
  return publisher_.flush(limit) && confirmed_ == sent_;
}

void Ledger::arrived(std::size_t stream, GpsTime time) {
  const std::unique_lock lock(mutex_);
  Stream& state = streams_.at(stream);
  state.last = Steady::now();
  const auto number = static_cast<int>((time - first_) / kStride);
  if (number != state.next) {
    faults_.push_back(
        fmt::format("stream {}: block {} where {} was due", stream, number, state.next));
  }
  state.next = std::max(state.next, number + 1);
}

void Ledger::fault(std::string what) {
  const std::unique_lock lock(mutex_);
  faults_.push_back(std::move(what));
}

int Ledger::least() const {
  const std::unique_lock lock(mutex_);
  int least = streams_.front().next;
  for (const Stream& stream : streams_) least = std::min(least, stream.next);
  return least;
}

bool Ledger::all_since(Steady::time_point t) const {
  const std::unique_lock lock(mutex_);
  return std::all_of(streams_.begin(), streams_.end(),
                     [&](const Stream& stream) { return stream.last >= t; });
}

std::string Ledger::faults() const {
  constexpr std::size_t kShown = 10;
  const std::unique_lock lock(mutex_);
  std::string text;
  for (std::size_t i = 0; i < std::min(faults_.size(), kShown); ++i) text += faults_[i] + "\n";
  if (faults_.size() > kShown) text += fmt::format("… {} in all\n", faults_.size());
  return text;
}

ReaderThread::ReaderThread(const std::string& bootstrap, const ChannelSet& channels, GpsTime first,
                           ReaderOptions options)
    : reader_(bootstrap, channels, std::move(options)), ledger_(reader_.streams().size(), first) {
  reader_.open({});
  thread_ = std::thread([this] { run(); });
}

void ReaderThread::run() {
  struct Sink final : Source::Sink {
    explicit Sink(ReaderThread& owner) : reader(owner) {}
    bool on_part(std::size_t stream, BlockPartPtr part) override {
      reader.ledger_.arrived(stream, part->time());
      return true;
    }
    void on_event(const Event& event) override { reader.events_.push_back(event); }
    ReaderThread& reader;
  } sink(*this);
  try {
    while (!stopping_) {
      reader_.poll(sink);
      reader_.wait(50ms);
    }
  } catch (const Error& error) {
    ledger_.fault(error.what());
  }
}

void ReaderThread::stop() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
}

StreamThread::StreamThread(const std::string& bootstrap, const ChannelSet& channels, GpsTime first)
    : first_(first), ledger_(1, first) {
  StreamOptions options;
  options.start = first;
  options.timeout = std::chrono::hours(1);
  stream_ = std::make_unique<BlockStream>(std::make_unique<KafkaReader>(bootstrap, channels),
                                          std::move(options));
  thread_ = std::thread([this] { run(); });
}

void StreamThread::run() {
  try {
    while (!stopping_) {
      const BlockStream::Next next = stream_->next(50ms);
      if (next.status == BlockStream::Status::end) {
        ledger_.fault("the stream has ended");
        return;
      }
      if (next) check(next.block);
    }
  } catch (const Error& error) {
    ledger_.fault(error.what());
  }
}

void StreamThread::check(const SeriesBlock& block) {
  const auto number = (block.time() - first_) / kStride;
  for (std::size_t c = 0; c < block.channels().size(); ++c) {
    const Series series = block[block.channels()[c].name()];
    if (series.has_gaps()) {
      ledger_.fault(fmt::format("block {}: {} is a gap", number, block.channels()[c].name()));
    } else if (const float value = series.values<float>()[0];
               value != static_cast<float>(number + 1000 * static_cast<std::int64_t>(c))) {
      ledger_.fault(
          fmt::format("block {}: {} holds {}", number, block.channels()[c].name(), value));
    }
  }
  ledger_.arrived(0, block.time());
}

void StreamThread::stop() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
}

}
