#include "hotaru/backend/cpu/create/block_copy.h"

#include <algorithm>
#include <cstring>

#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

constexpr int64_t kFewElements = 1024;

template <size_t kBytes>
void move_lines(const void*, char* const* p, const int64_t* s, int64_t n) {
  char* out = p[0];
  const char* x = p[1];
  for (int64_t i = 0; i < n; ++i, out += s[0], x += s[1]) {
    // By way of registers, as out may be x.
    char line[kBytes];
    std::memcpy(line, x, kBytes);
    std::memcpy(out, line, kBytes);
  }
}

LoopNest::Inner mover_of_lines(int64_t bytes) {
  switch (bytes) {
    case 16:
      return &move_lines<16>;
    case 32:
      return &move_lines<32>;
    case 64:
      return &move_lines<64>;
    case 128:
      return &move_lines<128>;
    default:
      return nullptr;
  }
}

}  // namespace

std::optional<BlockCopy> BlockCopy::of(const Tensor& out, const Tensor& x) {
  if (out.dim() < 2 || out.numel() < kFewElements ||
      (out.is_contiguous() && x.is_contiguous() && x.numel() == out.numel()))
    return {};
  const Tensor* const operands[] = {&out, &x};
  const LoopNest nest(operands);
  const auto item = int64_t(itemsize(out.dtype()));
  const auto& steps = nest.inner_strides();
  const LoopNest::Inner inner = mover_of_lines(nest.inner_size() * item);
  if (!inner || nest.dims() < 2 || steps[0] != item || steps[1] != item)
    return {};
  return BlockCopy(nest.lines(), inner, nest.inner_size());
}

void BlockCopy::run() const {
  lines_.run(std::max<int64_t>(1, kGrainSize / size_), inner_, nullptr);
}

}  // namespace hotaru::cpu
