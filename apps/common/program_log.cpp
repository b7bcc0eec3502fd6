#include "common/program_log.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <chrono>
#include <utility>

#include "arrakis/error.hpp"
#include "common/output.hpp"
#include "common/text.hpp"

namespace arrakis::console {
namespace {

constexpr std::array<std::pair<std::string_view, int>, 8> kLevelNames{{
    {"NOTSET", 0},
    {"DEBUG", 10},
    {"INFO", 20},
    {"WARN", 30},
    {"WARNING", 30},
    {"ERROR", 40},
    {"FATAL", 50},
    {"CRITICAL", 50},
}};

std::optional<int> level_number(std::string_view text) {
  int number = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error == std::errc() && end == last && number >= 0) return number;
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  for (const auto& [name, value] : kLevelNames) {
    if (upper == name) return value;
  }
  return std::nullopt;
}

std::string_view upper_name(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return "DEBUG";
    case LogLevel::info:
      return "INFO";
    case LogLevel::warning:
      return "WARNING";
    case LogLevel::error:
      return "ERROR";
  }
  return "ERROR";
}

}  // namespace

std::optional<LogThreshold> parse_log_threshold(std::string_view text) {
  const std::optional<int> number = level_number(text);
  if (!number) return std::nullopt;
  if (*number <= 10) return LogThreshold{LogLevel::debug};
  if (*number <= 20) return LogThreshold{LogLevel::info};
  if (*number <= 30) return LogThreshold{LogLevel::warning};
  if (*number <= 40) return LogThreshold{LogLevel::error};
  return LogThreshold{std::nullopt};
}

std::string log_line(LogLevel level, std::string_view message) {
  using std::chrono::milliseconds;
  const auto now = std::chrono::floor<milliseconds>(std::chrono::system_clock::now());
  const auto second = std::chrono::floor<std::chrono::seconds>(now);
  return fmt::format("{:%Y-%m-%d %H:%M:%S},{:03d} {} {}",
                     fmt::localtime(std::chrono::system_clock::to_time_t(second)),
                     (now - second).count(), upper_name(level), printable(message));
}

ProgramLog::ProgramLog(LogThreshold threshold) : threshold_(threshold) {
  if (!threshold_.least) return;
  set_log_sink([this](LogLevel level, std::string_view /*component*/,
                      std::string_view message) { write(level, message); },
               *threshold_.least);
}

ProgramLog::~ProgramLog() { set_log_sink({}); }

void ProgramLog::write(LogLevel level, std::string_view message) {
  if (!threshold_.least || level < *threshold_.least) return;
  const std::string line = log_line(level, message);
  const std::lock_guard lock(mutex_);
  try {
    if (screen_ != nullptr) {
      screen_->print_above(line);
    } else {
      Output(STDERR_FILENO).write(line + "\n");
    }
  } catch (const OutputClosed&) {  // nobody reads it, and there is nowhere to say so
  } catch (const Error&) {
  }
}

void ProgramLog::set_screen(Screen* screen) {
  const std::lock_guard lock(mutex_);
  screen_ = screen;
}

}
