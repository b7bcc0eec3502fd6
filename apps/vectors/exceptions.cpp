#include "vectors/exceptions.hpp"

#include <algorithm>
#include <array>

namespace arrakis::vectors {
namespace {

using When = ExceptionRule::When;

constexpr std::string_view kAbsentIsGap =
    "a channel that a message lacks is a gap of that slot, whatever is joined with it";
constexpr std::string_view kWholeSpan =
    "a request is answered to its end and not beyond: a source that stops early leaves gaps, what "
    "starts at the end is not delivered, what is buffered is not lost";

constexpr std::array kRules = {
    ExceptionRule{"stream.json", "bounded-skip-past-end", When::always, kWholeSpan},
    ExceptionRule{"stream.json", "bounded-source-short", When::always, kWholeSpan},
    ExceptionRule{"stream.json", "channel-missing-in-block", When::always, kAbsentIsGap},
    ExceptionRule{"stream.json", "channel-missing-aggregated", When::always, kAbsentIsGap},
    ExceptionRule{"stream.json", "random", When::vector_is_wrong, kWholeSpan},
    ExceptionRule{"kafka/null_list.json", "", When::always,
                  "a null list is a gap of the right length"},
    ExceptionRule{"kafka/length_mismatch.json", "", When::always,
                  "a row of the wrong length is dropped, the message's other rows are used"},
    ExceptionRule{"durations.json", "gaps", When::vector_is_wrong,
                  "a gap has the number of samples that makes up its duration, where there is one"},
    ExceptionRule{"durations.json", "consistency", When::vector_is_wrong,
                  "a series without samples does not fit one with samples"},
    ExceptionRule{"time.json", "time_as_ns", When::vector_is_wrong,
                  "a double of seconds means its shortest decimal, exactly"},
    ExceptionRule{"time.json", "kafka_offset_lookup", When::vector_is_wrong,
                  "times to look up are computed in whole numbers"},
    ExceptionRule{"descriptors.json", "validation", When::vector_is_wrong,
                  "a request that is refused is answered with the reason"},
    ExceptionRule{"urls.json", "client", When::vector_is_wrong,
                  "an IPv6 address gets the default port, too"},
    ExceptionRule{"urls.json", "kafka_bootstrap", When::vector_is_wrong,
                  "a broker without a port is refused by name"},
};

}  // namespace

const ExceptionRule* find_exception(std::string_view file, std::string_view family) {
  const auto* const found = std::ranges::find_if(kRules, [&](const ExceptionRule& rule) {
    return rule.file == file && (rule.family.empty() || rule.family == family);
  });
  return found == kRules.end() ? nullptr : found;
}

}  // namespace arrakis::vectors
