#pragma once

/// The little of the HDF5 library's C interface that files need: handles that close themselves, and
/// failures with their reason.

#include <hdf5.h>

#include <mutex>
#include <string>
#include <utility>

namespace arrakis::inline v1 {

/// To be held around every call: the library is built without threads in mind, and prints what goes
/// wrong unless told not to. What the program set for itself holds again afterwards.
class Hdf5Session {
 public:
  Hdf5Session();
  ~Hdf5Session();
  Hdf5Session(const Hdf5Session&) = delete;
  Hdf5Session& operator=(const Hdf5Session&) = delete;

  /// What went wrong in the last call that failed.
  [[nodiscard]] static std::string reason();

 private:
  std::lock_guard<std::mutex> lock_;
  H5E_auto2_t report_ = nullptr;
  void* report_data_ = nullptr;
};

/// A handle and the function that closes it. Destroyed within a session.
class Hdf5Handle {
 public:
  using Closer = herr_t (*)(hid_t);

  Hdf5Handle() = default;
  Hdf5Handle(hid_t id, Closer closer) : id_(id), closer_(closer) {}
  ~Hdf5Handle() { close(); }
  Hdf5Handle(Hdf5Handle&& other) noexcept
      : id_(std::exchange(other.id_, H5I_INVALID_HID)), closer_(other.closer_) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(closer_, other.closer_);
    return *this;
  }

  [[nodiscard]] hid_t get() const { return id_; }
  /// Negative when closing fails.
  herr_t close() {
    const hid_t id = std::exchange(id_, H5I_INVALID_HID);
    return id < 0 ? 0 : closer_(id);
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Closer closer_ = nullptr;
};

}  // namespace arrakis::inline v1
