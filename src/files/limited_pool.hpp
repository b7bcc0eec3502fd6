#pragma once

#include <arrow/type_fwd.h>

namespace arrakis::inline v1 {

/// Arrow's memory for what is read from files: refuses a piece that no honest file needs, so that a
/// few bytes that claim to unfold to gigabytes are an error. Lives for ever, as what it gave out
/// may.
arrow::MemoryPool* limited_pool();

}  // namespace arrakis::inline v1
