#pragma once

/// Where this implementation deliberately answers otherwise than the vectors.

#include <string_view>

namespace arrakis::vectors {

struct ExceptionRule {
  enum class When {
    always,           ///< the whole family: the vectors never state the right answer
    vector_is_wrong,  ///< the cases whose right answer is known and is not the vector's
  };
  std::string_view file;
  std::string_view family;  ///< of the trace, or the section; empty: the whole file
  When when;
  std::string_view rule;  ///< what is right
};

/// The exception that holds for a family of a file, or nullptr. An excepted case must differ from
/// its vector: an exception that is no longer needed is a failure.
const ExceptionRule* find_exception(std::string_view file, std::string_view family);

}  // namespace arrakis::vectors
