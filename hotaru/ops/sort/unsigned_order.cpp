#include "hotaru/ops/sort/unsigned_order.h"

#include <limits>

#include "hotaru/core/rare.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/pointwise/elementwise.h"
#include "hotaru/ops/pointwise/pointwise.h"

namespace hotaru {
namespace {

/// Turns the first bit, since of 64 bits the upper half is negative in the
/// carrier.
Tensor turned(const Tensor& bits) {
  constexpr int64_t kFirst = std::numeric_limits<int64_t>::min();
  return bitwise_xor(bits, elementwise::operand(kFirst, bits));
}

}  // namespace

Tensor in_signed_order(const Tensor& self) {
  const Tensor bits = to(self, carrier(self.dtype()));
  return self.dtype() == DType::kUInt64 ? turned(bits) : bits;
}

Tensor from_signed_order(const Tensor& ordered, DType dtype) {
  return to(dtype == DType::kUInt64 ? turned(ordered) : ordered, dtype);
}

}  // namespace hotaru
