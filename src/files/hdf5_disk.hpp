#pragma once

/// How the HDF5 library reaches a file that it writes.
///
/// The library (1.10 at least) can't let go of a file that it failed to write to, and crashes over
/// it when the process ends. So a failure is kept here instead of told to it; from then on nothing
/// more goes to the disk, and what it writes while it closes the file is remembered for it to read.

#include <hdf5.h>

#include "files/hdf5_library.hpp"

namespace arrakis::inline v1 {

class Hdf5Disk {
 public:
  /// The errno of the first failure; 0: none.
  [[nodiscard]] int error() const { return error_; }
  void fail(int error) {
    if (error_ == 0) error_ = error;
  }

 private:
  int error_ = 0;
};

/// Makes files that are opened with the property list `access` go through `disk`, which must
/// outlive them. Negative, as the library's calls, when that fails. Called within a session.
herr_t use_disk(hid_t access, Hdf5Disk& disk);

}  // namespace arrakis::inline v1
