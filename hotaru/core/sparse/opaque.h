// Tensors without memory of their own: a shape and a dtype whose elements
// somebody else keeps.
#pragma once

#include <atomic>

#include "hotaru/core/tensor.h"

namespace hotaru {

/// Whoever asks for its bytes gets an error, so every kernel without code for
/// such tensors does.
class OpaqueStorage : public Storage {
 public:
  OpaqueStorage(size_t nbytes, Device device);
  ~OpaqueStorage() override;
};

namespace detail {
extern std::atomic<bool> opaque_made;
}

/// True once there was such a tensor, in any thread.
inline bool opaque_made() {
  return detail::opaque_made.load(std::memory_order_relaxed);
}

/// True if the tensor has no memory of its own. Two loads where it has.
inline bool is_opaque(const Tensor& tensor) {
  const Storage* storage = tensor.storage().get();
  return storage->pending() && dynamic_cast<const OpaqueStorage*>(storage);
}

/// Notice before the first such tensor is made, in any thread. Set once.
void set_opaque_notice(void (*notice)());

/// The sum of two tensors that other code keeps, asked by the backward pass.
/// Set once by whoever makes such tensors.
using OpaqueSum = Tensor (*)(const Tensor&, const Tensor&);
void set_opaque_sum(OpaqueSum sum);
/// Throws NotImplementedError where nobody has set one.
Tensor opaque_sum(const Tensor& a, const Tensor& b);

/// Sets what is told when a tensor goes that still has an object of another
/// language (TensorImpl::python_object). Set once.
void set_object_release(void (*release)(void*));

}  // namespace hotaru
