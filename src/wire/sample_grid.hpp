#pragma once

/// The times of samples: sample i of a run that starts at `start` is at start + round(i * 1e9 /
/// hz).

#include <cstddef>

#include "arrakis/channel.hpp"
#include "arrakis/time.hpp"

namespace arrakis::inline v1 {

/// From a run's start to its sample i.
Duration sample_offset(SampleRate rate, std::size_t i);
/// The first of `count` samples at or after `t`; `count` when all are before it.
std::size_t first_sample_from(SampleRate rate, GpsTime start, GpsTime t, std::size_t count);

}  // namespace arrakis::inline v1
