#pragma once

/// The parts that vectors are made of - times, channels, samples, blocks - from and to JSON.
///
/// Reading throws std::exception with a text that says what is malformed.

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "arrakis/block.hpp"
#include "arrakis/channel.hpp"
#include "arrakis/source.hpp"
#include "arrakis/time.hpp"
#include "wire/part.hpp"

namespace arrakis::vectors {

using Json = nlohmann::json;

std::int64_t integer_of(const Json& value);
std::int64_t integer_at(const Json& object, const char* key);
/// Nothing when the key is absent or null.
std::optional<std::int64_t> optional_integer_at(const Json& object, const char* key);
GpsTime time_at(const Json& object, const char* key);
std::optional<GpsTime> optional_time_at(const Json& object, const char* key);
Duration duration_at(const Json& object, const char* key);
/// A duration above zero.
Duration positive_duration_at(const Json& object, const char* key);
std::optional<Duration> optional_duration_at(const Json& object, const char* key);
std::string string_at(const Json& object, const char* key);
std::optional<std::string> optional_string_at(const Json& object, const char* key);
bool bool_at(const Json& object, const char* key);
/// A rate, in the form (integer or real) it is written in.
SampleRate rate_of(const Json& value);

Json optional_ns(std::optional<GpsTime> time);

ChannelSet channels_of(const Json& list);

/// Sets the channel's samples from a list; null is a gap.
void set_samples(BlockBuilder& builder, const Channel& channel, const Json& samples);
Json samples_json(const Series& series);
/// {"time_ns", "duration_ns", "data": {NAME: [samples]}}
Json block_json(const SeriesBlock& block);
/// The same without the channels that the part lacks.
Json part_json(const BlockPartPtr& part, const ChannelSet& channels);
/// Removes from `block` the channels that are gaps throughout and that `expected` doesn't list:
/// vectors leave out what a message lacks.
void drop_absent_channels(Json& block, const Json& expected);

/// Whether `expect` states that the call must fail.
bool expects_failure(const Json& expect);
/// {"raises": name}
Json raises(const char* name);

}  // namespace arrakis::vectors
