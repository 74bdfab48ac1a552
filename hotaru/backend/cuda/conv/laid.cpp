#include "hotaru/backend/cuda/conv/laid.h"

#include "hotaru/backend/cuda/clear.h"
#include "hotaru/backend/cuda/create/move.h"

namespace hotaru::cuda {
namespace {

Sides sides_of(const Tensor& t) {
  Sides out{};
  const auto dims = size_t(t.dim());
  for (size_t d = 2; d < dims; ++d) out[d + 3 - dims] = t.strides()[d];
  return out;
}

}  // namespace

Laid picture_of(const Tensor& t, int64_t channels) {
  const IntSpan s = t.strides();
  return {static_cast<char*>(device_address(t)), s[0], channels * s[1], s[1],
          sides_of(t)};
}

Laid weight_of(const Tensor& t, int64_t out) {
  const IntSpan s = t.strides();
  return {static_cast<char*>(device_address(t)), s[0], out * s[0], s[1],
          sides_of(t)};
}

LaidCopy::LaidCopy(const Laid& from, const Extent& extent, int64_t room,
                   const Sides& before, const Sides& after, int64_t item) {
  const Sides& sides = extent.sides;
  laid_.channel = 1;
  laid_.group = room;
  int64_t step = room * extent.groups, first = 0;
  for (size_t d = 3; d-- > 0; step *= before[d] + sides[d] + after[d]) {
    laid_.side[d] = step;
    first += before[d] * step;
  }
  laid_.outer = step;
  const int64_t bytes = step * extent.outer * item;
  memory_.emplace(size_t(bytes));
  laid_.at = static_cast<char*>(memory_->data());
  const std::array shape{extent.outer, sides[0],      sides[1],
                         sides[2],     extent.groups, extent.channels};
  if (numel_of(shape) * item != bytes) clear(laid_.at, size_t(bytes));
  Geometry<2>::Steps steps{};
  steps[0] = {laid_.outer * item, from.outer * item};
  for (size_t d = 0; d < 3; ++d)
    steps[1 + d] = {laid_.side[d] * item, from.side[d] * item};
  steps[4] = {laid_.group * item, from.group * item};
  steps[5] = {item, from.channel * item};
  move_elements(
      Geometry<2>::over({laid_.at + first * item, from.at}, shape, steps),
      size_t(item));
}

bool lies_in_chunks(const Laid& a, const Extent& e) {
  bool out = a.channel == 1 && e.channels % 8 == 0 &&
             reinterpret_cast<uintptr_t>(a.at) % 16 == 0 &&
             (e.outer == 1 || a.outer % 8 == 0) &&
             (e.groups == 1 || a.group % 8 == 0);
  for (size_t d = 0; d < 3; ++d)
    out = out && (e.sides[d] == 1 || a.side[d] % 8 == 0);
  return out;
}

}  // namespace hotaru::cuda
