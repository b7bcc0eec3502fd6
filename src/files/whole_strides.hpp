#pragma once

#include "arrakis/block.hpp"

namespace arrakis::inline v1 {

/// The block itself where every channel's samples fill it: then its time is that of all their first
/// samples. Else, as at the ends of a request that is not on the channels' grid: the whole strides
/// that it lies in, with gaps around its samples. Throws Error(precondition) when its samples lie
/// on no grid of whole strides (of whole seconds, where strides are not known).
SeriesBlock in_whole_strides(const SeriesBlock& block);

}  // namespace arrakis::inline v1
