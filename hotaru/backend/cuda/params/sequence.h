// Parameters of the kernels that count, and how they are launched.
//
//   Arange_<suffix>, Linspace_<suffix>   SequenceParams; suffixes of
//                                        params/types.h without bool
//
// Blocks have kBlock threads and kStridedItems elements, no shared memory;
// threads do not wait for each other.
#pragma once

#include <cstring>

#include "hotaru/backend/cuda/params/pointwise.h"

namespace hotaru::cuda {

struct SequenceParams {
  void* out = nullptr;
  uint32_t numel = 0;
  /// Number of the first element, and of all that there are.
  int64_t first = 0, count = 0;
  /// Numbers: of Arange start and step in what it counts in, of Linspace start
  /// and end as elements.
  alignas(8) std::byte a[8] = {};
  alignas(8) std::byte b[8] = {};

  template <class V>
  void set(V first_value, V second_value) {
    static_assert(sizeof(V) <= sizeof(a));
    std::memcpy(a, &first_value, sizeof(V));
    std::memcpy(b, &second_value, sizeof(V));
  }
};

}  // namespace hotaru::cuda
