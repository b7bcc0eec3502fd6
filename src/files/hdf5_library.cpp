#include "files/hdf5_library.hpp"

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

}  // namespace

Hdf5Session::Hdf5Session() : lock_(library_lock()) {
  H5Eget_auto2(H5E_DEFAULT, &report_, &report_data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Hdf5Session::~Hdf5Session() { H5Eset_auto2(H5E_DEFAULT, report_, report_data_); }

std::string Hdf5Session::reason() {
  std::string entry;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &entry);
  return entry.empty() ? "the HDF5 library does not say why" : entry;
}

}  // namespace arrakis::inline v1
