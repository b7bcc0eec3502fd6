#include "kafka/pipeline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "core/logging.hpp"

namespace arrakis::inline v1 {

namespace {

constexpr const char* kLog = "publisher";
/// More failures than this are counted, not quoted.
constexpr std::size_t kQuotedFailures = 4;

std::string quote_some(const std::vector<std::string>& failures) {
  const auto end =
      failures.begin() + static_cast<std::ptrdiff_t>(std::min(failures.size(), kQuotedFailures));
  std::string text = fmt::format("{}", fmt::join(failures.begin(), end, "; "));
  if (failures.size() > kQuotedFailures) {
    text += fmt::format("; and {} more", failures.size() - kQuotedFailures);
  }
  return text;
}

void call(const InFlight& flight, const std::optional<Error>& outcome) {
  try {
    flight.completion(flight.block, outcome);
  } catch (const std::exception& error) {
    log::error(kLog, "the completion of the block at GPS {} threw: {}", format_time(flight.time),
               error.what());
  } catch (...) {
    log::error(kLog, "the completion of the block at GPS {} threw", format_time(flight.time));
  }
}

}

std::optional<Error> InFlight::outcome() const {
  if (failures.empty()) return std::nullopt;
  return Error(Errc::delivery_failed,
               fmt::format("delivery failed for {} message(s) of the block at GPS {}: {}",
                           failures.size(), format_time(time), quote_some(failures)));
}

InFlight& Pipeline::add(GpsTime time, InFlight::Teller teller) {
  flights_.push_back(std::make_unique<InFlight>());
  flights_.back()->time = time;
  flights_.back()->teller = teller;
  note_depth();
  return *flights_.back();
}

void Pipeline::complete() {
  while (!flights_.empty()) {
    const InFlight& front = *flights_.front();
    if (front.unconfirmed > 0 || front.teller == InFlight::Teller::caller) return;
    const std::unique_ptr<InFlight> flight = std::move(flights_.front());
    flights_.pop_front();
    note_depth();
    if (flight->teller == InFlight::Teller::told) continue;
    settle(*flight);
    const std::optional<Error> outcome = flight->outcome();
    if (flight->teller == InFlight::Teller::completion) {
      completing_ = true;
      call(*flight, outcome);
      completing_ = false;
    } else if (outcome) {
      late_failures_.emplace_back(outcome->what());
    }
  }
}

std::optional<Error> Pipeline::take(InFlight& flight) {
  settle(flight);
  flight.teller = InFlight::Teller::told;
  std::optional<Error> outcome = flight.outcome();
  complete();
  return outcome;
}

void Pipeline::fail_all(const std::string& reason) {
  for (const std::unique_ptr<InFlight>& flight : flights_) {
    for (; flight->unconfirmed > 0; --flight->unconfirmed) flight->failures.push_back(reason);
  }
  bytes_ = 0;
  note_depth();
}

void Pipeline::settle(const InFlight& flight) {
  if (!flight.failures.empty()) {
    count(&PublisherStats::failed_blocks);
    return;
  }
  count(&PublisherStats::blocks);
  last_confirmed_ = std::max(last_confirmed_.value_or(flight.time), flight.time);
}

void Pipeline::sent(InFlight& flight, std::size_t bytes) {
  ++flight.unconfirmed;
  bytes_ += bytes;
  note_depth();
}

void Pipeline::reported(InFlight& flight, std::size_t bytes, const std::string& failure) {
  --flight.unconfirmed;
  bytes_ -= bytes;
  note_depth();
  if (!failure.empty()) {
    flight.failures.push_back(failure);
    return;
  }
  count(&PublisherStats::messages);
  count(&PublisherStats::bytes, bytes);
}

void Pipeline::gave_up(InFlight& flight) {
  flight.teller = InFlight::Teller::next_call;
  count(&PublisherStats::timeouts);
}

bool Pipeline::has_unconfirmed() const {
  return std::any_of(flights_.begin(), flights_.end(),
                     [](const auto& flight) { return flight->unconfirmed > 0; });
}

std::optional<GpsTime> Pipeline::newest() const {
  // What publish() gave up may be published again.
  const auto counts = [](const std::unique_ptr<InFlight>& flight) {
    return flight->teller == InFlight::Teller::caller ||
           flight->teller == InFlight::Teller::completion;
  };
  const auto last = std::find_if(flights_.rbegin(), flights_.rend(), counts);
  if (last == flights_.rend()) return last_confirmed_;
  const GpsTime time = (*last)->time;
  return std::max(last_confirmed_.value_or(time), time);
}

std::optional<Error> Pipeline::take_late_failure() {
  if (late_failures_.empty()) return std::nullopt;
  return Error(Errc::delivery_failed, quote_some(std::exchange(late_failures_, {})));
}

void Pipeline::count(std::uint64_t PublisherStats::*counter, std::uint64_t by) {
  const std::lock_guard lock(mutex_);
  stats_.*counter += by;
}

void Pipeline::note_depth() {
  const std::lock_guard lock(mutex_);
  stats_.in_flight = flights_.size();
  stats_.in_flight_bytes = bytes_;
}

PublisherStats Pipeline::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

}
