#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace arrakis::inline v1 {

/// Holds a T that is never destroyed, for function-local statics: threads that still run while the
/// process ends must find it whole.
template <typename T>
class Immortal {
 public:
  template <typename... Args>
  explicit Immortal(Args&&... args)
      : object_(std::construct_at(reinterpret_cast<T*>(storage_), std::forward<Args>(args)...)) {}
  Immortal(const Immortal&) = delete;
  Immortal& operator=(const Immortal&) = delete;

  T& operator*() { return *object_; }
  const T& operator*() const { return *object_; }

 private:
  alignas(T) std::byte storage_[sizeof(T)];
  T* object_;
};

}  // namespace arrakis::inline v1
