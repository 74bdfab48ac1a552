// Host code's one way to a tensor's bytes, outside kernels: items, lists,
// printing, files, other libraries' arrays.
#pragma once

#include "hotaru/core/checks/check.h"
#include "hotaru/core/tensor.h"

namespace hotaru {

/// First element's address for `reader`, the operator that errors name. Waits
/// until queued streams are done with the memory. Throws where the host cannot
/// look: at values that are only being recorded in a graph, and at another
/// device's memory. The address holds until the tensor is resized or moved;
/// whoever keeps it says Storage::expose() or lend().
inline void* host_bytes(const Tensor& t, const char* reader) {
  HOTARU_CHECK(t.device().type == DeviceType::kCPU, reader,
               ": the host cannot reach memory of ", t.device(),
               "; copy the tensor with .cpu() first");
  return t.raw_data();
}

/// The same for elements of type T.
template <class T>
T* host_data(const Tensor& t, const char* reader) {
  return static_cast<T*>(host_bytes(t, reader));
}

}  // namespace hotaru
