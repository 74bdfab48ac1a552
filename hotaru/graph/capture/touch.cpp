#include "hotaru/graph/capture/touch.h"

#include <algorithm>

#include "hotaru/runtime/operand.h"

namespace hotaru::graph {

Touch touch_of(const Operand& operand) {
  if (operand.object) return {operand.object, 0, UINTPTR_MAX, true};
  const Tensor& t = *operand.tensor;
  const Storage& storage = *t.storage();
  const uintptr_t item = itemsize(t.dtype());
  uintptr_t begin = uintptr_t(t.storage_offset()) * item, nbytes = item;
  for (size_t d = 0; d < size_t(t.dim()); ++d) {
    if (t.sizes()[d] == 0) nbytes = 0;
    if (nbytes > 0)
      nbytes += uintptr_t((t.sizes()[d] - 1) * t.strides()[d]) * item;
  }
  const bool pending = storage.pending();
  if (!pending) begin += reinterpret_cast<uintptr_t>(storage.data());
  return {pending ? &storage : nullptr, begin, begin + nbytes,
          operand.writes()};
}

Touches touches_of(const KernelCall& call) {
  Touches out;
  for (const Operand& operand : call.operands())
    if (ordered_of(operand)) out.push_back(touch_of(operand));
  return out;
}

bool conflict(const Touches& a, const Touches& b) {
  return std::any_of(a.begin(), a.end(), [&](const Touch& x) {
    return std::any_of(b.begin(), b.end(),
                       [&](const Touch& y) { return x.conflicts(y); });
  });
}

bool whole(const Tensor& t) {
  return t.defined() && t.is_contiguous() && t.storage_offset() == 0 &&
         size_t(t.numel()) * itemsize(t.dtype()) == t.storage()->nbytes();
}

}  // namespace hotaru::graph
