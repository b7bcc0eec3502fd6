#pragma once

/// What a program may do to malloc, and a library may not.

#include <malloc.h>

namespace arrakis::bench {

/// Keeps large buffers that are given back: page faults on new ones cost as much as decoding.
inline void tune_allocator() {
  constexpr int kMmapThreshold = 32 << 20;
  constexpr int kTrimThreshold = 512 << 20;
  mallopt(M_MMAP_THRESHOLD, kMmapThreshold);
  mallopt(M_TRIM_THRESHOLD, kTrimThreshold);
}

}
