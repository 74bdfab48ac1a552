// Integers used as positions.
#pragma once

#include "hotaru/core/tensor.h"

namespace hotaru::cpu {

/// Calls f.template operator()<I>() for int64 and int32 indices.
template <class F>
void visit_index(const Tensor& index, F&& f) {
  if (index.dtype() == DType::kInt32) return f.template operator()<int32_t>();
  f.template operator()<int64_t>();
}

template <class E = Error>
[[noreturn]] inline void index_out_of_bounds(int64_t index, int64_t dim,
                                             int64_t size) {
  fail<E>("index ", index, " is out of bounds for dimension ", dim,
          " with size ", size);
}

/// Sums of integers wrap around instead of overflowing.
template <class T>
T plus(T a, T b) {
  if constexpr (kIsBool<T>)
    return a || b;
  else if constexpr (std::is_integral_v<T>)
    return T(uint64_t(a) + uint64_t(b));
  else if constexpr (kIsReduced<T>)
    return T(float(a) + float(b));
  else
    return a + b;
}
template <class T>
T times(T a, T b) {
  if constexpr (kIsBool<T>)
    return a && b;
  else if constexpr (std::is_integral_v<T>)
    return T(uint64_t(a) * uint64_t(b));
  else if constexpr (kIsReduced<T>)
    return T(float(a) * float(b));
  else
    return a * b;
}

}  // namespace hotaru::cpu
