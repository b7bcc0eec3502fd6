#include "soak/journal.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <span>
#include <stdexcept>

#include "common/sparkline.hpp"

namespace arrakis::soak {

namespace {

constexpr std::size_t kPlotWidth = 60;  // characters

double in_ms(Duration d) { return std::chrono::duration<double, std::milli>(d).count(); }

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto rank = static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<std::size_t>(rank)];
}

/// The greatest value of each of `width` equal parts.
std::vector<double> condense(const std::vector<double>& values, std::size_t width) {
  if (values.size() <= width) return values;
  std::vector<double> parts(width, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < values.size(); ++i) {
    double& part = parts[i * width / values.size()];
    if (std::isnan(part) || values[i] > part) part = values[i];
  }
  return parts;
}

std::string line_of(const Journal::Line& line) {
  return fmt::format("{:8.2f} s  {:10} {}", line.at, line.kind, line.text);
}

std::ofstream open(const std::filesystem::path& file) {
  std::ofstream stream(file);
  if (!stream) throw std::runtime_error("can't write " + file.string());
  return stream;
}

}

std::size_t resident_memory() {
  std::ifstream file("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  file >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

double Journal::now() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

void Journal::add(const std::string& kind, const std::string& text) {
  lines_.push_back({now(), kind, text});
  if (!is_loud_) return;
  std::printf("%s\n", line_of(lines_.back()).c_str());
  std::fflush(stdout);
}

void Journal::act(const std::string& kind, const std::string& details) {
  const std::lock_guard lock(mutex_);
  ++counts_[kind];
  add(kind, details);
}

void Journal::note(const std::string& text) {
  const std::lock_guard lock(mutex_);
  add("", text);
}

void Journal::violation(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = text;
  failed_ = true;
  add("VIOLATION", text);
}

std::optional<std::string> Journal::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void Journal::age(Duration age) {
  const std::lock_guard lock(mutex_);
  ages_.push_back(in_ms(age));
}

void Journal::measure() {
  const std::lock_guard lock(mutex_);
  const std::vector<double> recent(ages_.begin() + static_cast<std::ptrdiff_t>(measured_),
                                   ages_.end());
  measured_ = ages_.size();
  measurements_.push_back({.at = now(),
                           .memory = static_cast<double>(resident_memory()) / 1e6,
                           .median_age = quantile(recent, 0.5),
                           .greatest_age = quantile(recent, 1)});
}

void Journal::recovered(const std::string& after, Duration took) {
  const std::lock_guard lock(mutex_);
  if (!slowest_recovery_ || took > slowest_recovery_->second) slowest_recovery_ = {after, took};
}

std::string Journal::log() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const Line& line : lines_) text += line_of(line) + '\n';
  return text;
}

std::string Journal::summary() const {
  const std::lock_guard lock(mutex_);
  std::vector<double> memory;
  std::vector<double> ages;
  for (const Measurement& m : measurements_) {
    memory.push_back(m.memory);
    ages.push_back(m.greatest_age > 0 ? std::log10(m.greatest_age) : m.greatest_age);
  }
  std::string text = " acts    ";
  for (const auto& [kind, count] : counts_) text += fmt::format(" {} {}", count, kind);
  text += fmt::format("\n memory   {}  {:.0f} MB at most, {:.0f} MB at the end\n",
                      console::sparkline(condense(memory, kPlotWidth)), quantile(memory, 1),
                      memory.empty() ? 0 : memory.back());
  text += fmt::format(" age      {}  p50 {:.1f} ms, p99 {:.1f} ms, max {:.0f} ms (logarithmic)\n",
                      console::sparkline(condense(ages, kPlotWidth)), quantile(ages_, 0.5),
                      quantile(ages_, 0.99), quantile(ages_, 1));
  if (slowest_recovery_) {
    text += fmt::format(" recovery {} at most, after {}\n",
                        format_duration(slowest_recovery_->second), slowest_recovery_->first);
  }
  return text;
}

void Journal::write(const std::filesystem::path& folder) const {
  std::filesystem::create_directories(folder);
  open(folder / "acts.log") << log();
  const std::lock_guard lock(mutex_);
  std::ofstream memory = open(folder / "memory.csv");
  std::ofstream latency = open(folder / "latency.csv");
  memory << "seconds,resident_mb\n";
  latency << "seconds,median_ms,greatest_ms\n";
  for (const Measurement& m : measurements_) {
    memory << fmt::format("{:.2f},{:.1f}\n", m.at, m.memory);
    if (std::isnan(m.median_age)) continue;
    latency << fmt::format("{:.2f},{:.2f},{:.2f}\n", m.at, m.median_age, m.greatest_age);
  }
  open(folder / "soak.svg") << draw_svg(measurements_, lines_);
}

}
