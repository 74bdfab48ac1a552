#include "hotaru/ops/shape/slice_shift.h"

#include "hotaru/core/checks/check.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {

namespace {

// One entry a level of mapping, the innermost last.
thread_local std::vector<SliceShifts> levels;

}  // namespace

void begin_slice(SliceShifts shifts) {
  levels.push_back(std::move(shifts));
}

void end_slice() {
  levels.pop_back();
}

int64_t slice_shift(const Tensor& self) {
  int64_t sum = 0;
  for (const SliceShifts& level : levels) {
    const int64_t* found = nullptr;
    for (const auto& [tensor, shift] : level) {
      if (tensor.storage() != self.storage()) continue;
      HOTARU_CHECK(!found || *found == shift,
                   "an offset within vmap, of a tensor whose memory several "
                   "mapped arguments share in different ways: map one of "
                   "them, or ask for no offset");
      found = &shift;
    }
    if (found) sum += *found;
  }
  return sum;
}

Optional<int64_t> offset_in_slice(const Tensor& self,
                                  Optional<int64_t> offset) {
  if (offset) *offset += slice_shift(self);
  return offset;
}

Tensor as_strided_in_slice(const Tensor& self, IntSpan size, IntSpan stride,
                           Optional<int64_t> offset) {
  return as_strided(self, size, stride, offset_in_slice(self, offset));
}

}  // namespace hotaru
