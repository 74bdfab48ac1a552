// Where the result of the running operator goes, if its caller has a tensor for
// it (`out=`): operators that end in one kernel then write straight into it.
#pragma once

#include <atomic>

#include "hotaru/runtime/backend.h"

namespace hotaru {

/// While it lives, the first result of this thread that lies in memory as
/// `out` does is `out`'s memory. Operators need not know: who gets another
/// result copies it. Nothing that runs meanwhile may read `out`.
class ResultPlace {
 public:
  explicit ResultPlace(const Tensor& out);
  ~ResultPlace();
  ResultPlace(const ResultPlace&) = delete;
  ResultPlace& operator=(const ResultPlace&) = delete;

 private:
  const Tensor* previous_;
};

namespace detail {
// Whether there ever was a place: else results cost one load, not a thread's
// local.
extern constinit std::atomic<bool> places;
Tensor place_result(IntSpan sizes, DType dtype, Device device);
Tensor place_result(IntSpan sizes, IntSpan strides, DType dtype, Device device);
}  // namespace detail

/// As allocate(), for what an operator returns; at most once for a place.
inline Tensor allocate_result(IntSpan sizes, DType dtype, Device device) {
  if (detail::places.load(std::memory_order_relaxed)) [[unlikely]]
    return detail::place_result(sizes, dtype, device);
  return allocate(sizes, dtype, device);
}
inline Tensor allocate_result(IntSpan sizes, IntSpan strides, DType dtype,
                              Device device) {
  if (detail::places.load(std::memory_order_relaxed)) [[unlikely]]
    return detail::place_result(sizes, strides, dtype, device);
  return allocate(sizes, strides, dtype, device);
}

}  // namespace hotaru
