#include "wire/channel_json_exercise.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "arrakis/json.hpp"
#include "core/exercise.hpp"

namespace arrakis::inline v1 {
namespace {

bool equal(const Channel& a, const Channel& b) {
  return a.name() == b.name() && a.data_type() == b.data_type() &&
         a.sample_rate() == b.sample_rate() &&
         a.sample_rate().is_integer_form() == b.sample_rate().is_integer_form() &&
         a.time == b.time && a.publisher == b.publisher && a.partition_id == b.partition_id &&
         a.partition_index == b.partition_index && a.stride == b.stride &&
         a.max_latency == b.max_latency && a.replay_id == b.replay_id;
}

void check_channel(const Channel& channel, std::string_view input) {
  for (const NullFields nulls : {NullFields::omitted, NullFields::written}) {
    const std::string text = to_json(channel, nulls);
    require(std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; }),
            "JSON is one line of ASCII", input);
    try {
      const Channel again = channel_from_json(text);
      require(equal(again, channel), "a channel reads back equal", input);
      require(to_json(again, nulls) == text, "a channel is written the same again", input);
    } catch (const Error& error) {
      require(false, error.what(), input);
    }
  }
}

}  // namespace

void exercise_channel_json(std::string_view input) {
  try {
    check_channel(channel_from_json(input), input);
  } catch (const Error& error) {
    require_refusal(error, "", input);
    require(error.what()[0] != '\0', "an error has a reason", input);
  }
  try {
    std::istringstream lines{std::string(input)};
    for (const Channel& channel : read_channels(lines, "file")) check_channel(channel, input);
  } catch (const Error& error) {
    require_refusal(error, "file:", input);
  }
}

}  // namespace arrakis::inline v1
