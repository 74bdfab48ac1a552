#include "hotaru/backend/cpu/create/block_copy.h"

#include <algorithm>
#include <cstring>

#include "hotaru/core/tensor.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

constexpr int64_t kFewElements = 1024;
// Least line; of shorter ones a LoopNest may have other dimensions innermost.
constexpr int64_t kLeastLine = 5;

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

/// Lines of other sizes, from one word to two: their first and their last word,
/// which may overlap. The context is their size.
template <size_t kWord>
void move_ends(const void* context, char* const* p, const int64_t* s,
               int64_t n) {
  const auto last = size_t(*static_cast<const int64_t*>(context)) - kWord;
  char* out = p[0];
  const char* x = p[1];
  for (int64_t i = 0; i < n; ++i, out += s[0], x += s[1]) {
    char head[kWord], tail[kWord];
    std::memcpy(head, x, kWord);
    std::memcpy(tail, x + last, kWord);
    std::memcpy(out, head, kWord);
    std::memcpy(out + last, tail, kWord);
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
      break;
  }
  if (bytes < 4 || bytes > 128) return nullptr;
  return bytes < 8    ? &move_ends<4>
         : bytes < 16 ? &move_ends<8>
         : bytes < 32 ? &move_ends<16>
         : bytes < 64 ? &move_ends<32>
                      : &move_ends<64>;
}

/// Elements of the innermost line that both have dense.
int64_t dense_line(const Tensor& out, const Tensor& x) {
  const size_t lead = size_t(out.dim() - x.dim());
  int64_t line = 1;
  for (bool grows = true; grows;) {
    grows = false;
    for (size_t d = lead; d < out.sizes().size(); ++d) {
      const int64_t size = out.sizes()[d];
      if (size == 1 || x.sizes()[d - lead] != size ||
          out.strides()[d] != line || x.strides()[d - lead] != line)
        continue;
      line *= size;
      grows = true;
    }
  }
  return line;
}

}  // namespace

std::optional<BlockCopy> BlockCopy::of(const Tensor& out, const Tensor& x) {
  if (out.dim() < 2 || out.numel() < kFewElements) return {};
  const int64_t line = dense_line(out, x);
  const int64_t bytes = line * int64_t(itemsize(out.dtype()));
  const LoopNest::Inner inner = mover_of_lines(bytes);
  if (!inner || line < kLeastLine || line == out.numel()) return {};
  return BlockCopy(inner, line, bytes);
}

void BlockCopy::run(const Tensor& out, const Tensor& x) const {
  const Tensor* const operands[] = {&out, &x};
  LoopNest(operands).lines().run(std::max<int64_t>(1, kGrainSize / size_),
                                 inner_, &bytes_);
}

}  // namespace hotaru::cpu
