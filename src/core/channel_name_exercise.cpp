#include "core/channel_name_exercise.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "arrakis/channel.hpp"
#include "core/exercise.hpp"

namespace arrakis::inline v1 {
namespace {

bool holds_no(std::string_view text, std::string_view characters) {
  return text.find_first_of(characters) == std::string_view::npos;
}

std::string joined(const ChannelName& parts) {
  std::string name = std::string(parts.domain) + ':' + std::string(parts.subsystem);
  if (parts.delimiter) name += *parts.delimiter;
  if (parts.rest) name += *parts.rest;
  return name;
}

void check_parts(const ChannelName& parts, std::string_view name) {
  const std::string whole = joined(parts);
  require(whole == name || (parts.rest && whole + '\n' == name), "the parts make up the name",
          name);
  require(holds_no(parts.domain, "\n"), "a domain is one line", name);
  const std::string_view behind = name.substr(parts.domain.size() + 1);
  require(holds_no(behind.substr(0, behind.find('\n')), ":"), "a domain ends at the last colon",
          name);
  require(holds_no(parts.subsystem, "_-"), "a subsystem ends at the first delimiter", name);
  require(parts.delimiter.has_value() == parts.rest.has_value(), "a delimiter and a rest", name);
  if (!parts.rest) return;
  require(*parts.delimiter == '-' || *parts.delimiter == '_', "a delimiter is '-' or '_'", name);
  require(holds_no(*parts.rest, "\n"), "a rest is one line", name);
}

void exercise_name(std::string_view name) {
  const std::optional<ChannelName> parts = parse_channel_name(name);
  if (parts) check_parts(*parts, name);
  if (!parts && holds_no(name, "\n")) require(holds_no(name, ":"), "a colon is enough", name);
  try {
    const Channel channel(std::string(name), DataType::int8, SampleRate(1));
    require(parts.has_value(), "a channel has a name that can be parsed", name);
    require(joined(channel.name_parts()) == joined(*parts), "a channel keeps its name", name);
    require(ChannelSet({channel}).find(name) == 0U, "a channel is found by its name", name);
    require(describe(channel).find(name) == 1, "a description begins with the name", name);
  } catch (const Error& error) {
    require(!parts, "a name that can be parsed makes a channel", name);
    require_refusal(error, "invalid channel name", name);
  }
}

void check_rate(const SampleRate& rate, std::string_view input) {
  const std::string text = rate.to_string();
  double read = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), read);
  require(fault == std::errc() && end == text.data() + text.size() && read == rate.hz(),
          "a rate reads back equal", input);
  require(holds_no(text, ".e") == rate.is_integer_form(), "a rate keeps its form", input);

  // Where durations are exact: a double has 53 bits.
  constexpr std::uint64_t kMaxSamples = std::uint64_t{1} << 40U;
  constexpr Duration kMaxExact{std::int64_t{1} << 52U};
  const std::uint64_t samples =
      leading<std::uint64_t>(input.substr(input.size() / 2)) % kMaxSamples;
  const Duration span = rate.duration_of(samples);
  require(span >= Duration(0), "a duration is not negative", input);
  if (span > kMaxExact) return;
  const std::uint64_t found = rate.samples_in(span);
  require(rate.duration_of(found) == span || span == Duration(0),
          "samples that fill their own duration are found", input);
}

void exercise_rate(std::string_view input) {
  const auto hz = leading<double>(input);
  try {
    check_rate(SampleRate(hz), input);
    require(std::isfinite(hz) && hz > 0, "a rate is above zero", input);
  } catch (const Error& error) {
    require(!(std::isfinite(hz) && hz > 0), "a rate above zero is taken", input);
    require_refusal(error, "a sample rate must be", input);
  }
  const auto whole = leading<std::uint64_t>(input);
  if (whole != 0) check_rate(SampleRate(whole), input);
}

}  // namespace

void exercise_channel_name(std::string_view input) {
  exercise_name(input);
  if (const std::optional<DataType> type = parse_data_type(input)) {
    require(parse_data_type(to_string(*type)) == type, "a type's name reads back equal", input);
  }
  exercise_rate(input);
}

}  // namespace arrakis::inline v1
