#include "arrakis/version.hpp"

namespace arrakis::inline v1 {

std::string_view version() { return ARRAKIS_VERSION_STRING; }

}  // namespace arrakis::inline v1
