#pragma once

/// Everything but arrow.hpp.

#include "arrakis/block.hpp"           // IWYU pragma: export
#include "arrakis/channel.hpp"         // IWYU pragma: export
#include "arrakis/client.hpp"          // IWYU pragma: export
#include "arrakis/client_options.hpp"  // IWYU pragma: export
#include "arrakis/error.hpp"           // IWYU pragma: export
#include "arrakis/files.hpp"           // IWYU pragma: export
#include "arrakis/json.hpp"            // IWYU pragma: export
#include "arrakis/kafka.hpp"           // IWYU pragma: export
#include "arrakis/log.hpp"             // IWYU pragma: export
#include "arrakis/mux.hpp"             // IWYU pragma: export
#include "arrakis/publish.hpp"         // IWYU pragma: export
#include "arrakis/source.hpp"          // IWYU pragma: export
#include "arrakis/stream.hpp"          // IWYU pragma: export
#include "arrakis/time.hpp"            // IWYU pragma: export
#include "arrakis/version.hpp"         // IWYU pragma: export
