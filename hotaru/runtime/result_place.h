// Where the result of the running operator goes, if its caller has a tensor for
// it (`out=`): operators that end in one kernel then write straight into it.
#pragma once

#include <atomic>
#include <string_view>

#include "hotaru/core/tensor.h"
#include "hotaru/runtime/backend.h"

namespace hotaru {

namespace detail {
struct Place {
  const Tensor* out;
  bool elements;
  std::string_view op;
};
// Set if there ever was a place: else results cost one load, not a thread's
// local.
extern constinit std::atomic<bool> places;
Tensor place_result(IntSpan sizes, DType dtype, Device device);
Tensor place_result(IntSpan sizes, IntSpan strides, DType dtype, Device device);
Tensor place_elements(std::string_view kernel, IntSpan sizes, DType dtype,
                      Device device);
}  // namespace detail

/// While it lives, the first result of this thread that lies in memory as
/// `out` does is `out`'s memory. Operators need not know: who gets another
/// result copies it. Nothing that runs meanwhile may read `out`, but see
/// kElements.
class ResultPlace {
 public:
  /// kElements: only for an elementwise kernel that is all of the operator. It
  /// writes with any strides, and may read each element before it writes it.
  enum class For { kAny, kElements };

  /// op: the operator's name, which lives as long.
  ResultPlace(const Tensor& out, For what, std::string_view op);
  ~ResultPlace();
  ResultPlace(const ResultPlace&) = delete;
  ResultPlace& operator=(const ResultPlace&) = delete;

 private:
  const detail::Place* previous_;
  detail::Place place_;
};

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

/// The place, for the result of that elementwise kernel; undefined if there is
/// none.
inline Tensor result_of_elements(std::string_view kernel, IntSpan sizes,
                                 DType dtype, Device device) {
  if (detail::places.load(std::memory_order_relaxed)) [[unlikely]]
    return detail::place_elements(kernel, sizes, dtype, device);
  return {};
}

}  // namespace hotaru
