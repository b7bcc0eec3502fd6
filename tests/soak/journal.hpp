#pragma once

/// What happened in a soak and when: acts, measurements, and the first thing that was wrong.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "arrakis/time.hpp"

namespace arrakis::soak {

/// Safe from any thread.
class Journal {
 public:
  /// With `is_loud` acts are printed as they happen.
  explicit Journal(bool is_loud) : is_loud_(is_loud) {}

  /// Seconds since the journal began.
  [[nodiscard]] double now() const;
  /// Something that was done to the broker, a topic or a reader. `kind` is counted.
  void act(const std::string& kind, const std::string& details);
  /// Something that is not an act.
  void note(const std::string& text);
  /// Something that must not be. Only the first is kept; from then on has_failed().
  void violation(const std::string& text);
  [[nodiscard]] bool has_failed() const { return failed_; }
  [[nodiscard]] std::optional<std::string> failure() const;

  /// The age of a block when it was delivered.
  void age(Duration age);
  /// Takes a measurement of memory and of the ages since the last one.
  void measure();
  /// How long it took until everything flowed again.
  void recovered(const std::string& after, Duration took);

  /// Writes acts.log, memory.csv, latency.csv and soak.svg.
  void write(const std::filesystem::path& folder) const;
  /// Lines for people: counts, memory and ages as a plot of characters.
  [[nodiscard]] std::string summary() const;
  [[nodiscard]] std::string log() const;

  /// A second of the soak.
  struct Measurement {
    double at = 0;          ///< seconds
    double memory = 0;      ///< resident, MB
    double median_age = 0;  ///< ms; NaN: no block came
    double greatest_age = 0;
  };
  struct Line {
    double at;
    std::string kind;  ///< empty: a note
    std::string text;
  };

 private:
  void add(const std::string& kind, const std::string& text);

  const bool is_loud_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::atomic<bool> failed_{false};
  mutable std::mutex mutex_;
  std::optional<std::string> failure_;
  std::vector<Line> lines_;
  std::map<std::string, std::size_t> counts_;
  std::vector<Measurement> measurements_;
  std::vector<double> ages_;  // of all, in ms
  std::size_t measured_ = 0;  // of ages_
  std::optional<std::pair<std::string, Duration>> slowest_recovery_;
};

/// Resident memory of this process, in bytes.
std::size_t resident_memory();

/// A drawing of the measurements with a mark at every act.
std::string draw_svg(const std::vector<Journal::Measurement>& measurements,
                     const std::vector<Journal::Line>& lines);

}
