#include "files/hdf5_library.hpp"

#include <string_view>

namespace arrakis::inline v1 {
namespace {

std::mutex& library_lock() {
  static std::mutex lock;
  return lock;
}

// The innermost entry of the error stack knows most.
herr_t take_first(unsigned /*depth*/, const H5E_error2_t* entry, void* text) {
  *static_cast<std::string*>(text) = entry->desc == nullptr ? "" : entry->desc;
  return 1;  // no more of them
}

// The system's own words, where the entry holds them between other things.
std::string system_message(const std::string& entry) {
  constexpr std::string_view kBefore = "error message = '";
  const std::size_t begin = entry.find(kBefore);
  if (begin == std::string::npos) return entry;
  const std::size_t first = begin + kBefore.size();
  return entry.substr(first, entry.find('\'', first) - first);
}

}  // namespace

Hdf5Session::Hdf5Session() : lock_(library_lock()) {
  H5Eget_auto2(H5E_DEFAULT, &report_, &report_data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Hdf5Session::~Hdf5Session() { H5Eset_auto2(H5E_DEFAULT, report_, report_data_); }

std::string Hdf5Session::reason() {
  std::string entry;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &entry);
  return entry.empty() ? "the HDF5 library does not say why" : system_message(entry);
}

}  // namespace arrakis::inline v1
