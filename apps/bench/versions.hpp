#pragma once

/// What figures depend on.

#include <string>

namespace arrakis::bench {

/// The versions of Arrakis, librdkafka, Arrow and the compiler, as one line of JSON.
std::string versions();

}
