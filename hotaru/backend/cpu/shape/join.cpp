// Copies that join or reverse tensors; only the size of an element matters.
#include "hotaru/backend/common/shape/join.h"

#include <algorithm>
#include <cstring>

#include "hotaru/backend/cpu/create/move_simd.h"
#include "hotaru/backend/cpu/lines.h"
#include "hotaru/backend/cpu/words.h"
#include "hotaru/runtime/kernel.h"

namespace hotaru::cpu {
namespace {

void cat(const KernelCall& call) {
  const Tensor& out = call.tensor(0);
  const auto dim = size_t(call.attributes<CatAttributes>().dim);
  const auto item = int64_t(itemsize(out.dtype()));
  const int64_t outer = numel_of(out.sizes().first(dim));
  const int64_t inner = numel_of(out.sizes().subspan(dim + 1)) * item;
  const int64_t row = out.sizes()[dim] * inner;
  char* const target = out.data<char>();
  const int64_t grain = row_grain(1) * int64_t(sizeof(float));
  parallel_for(0, outer * row, grain, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      // What of a row is to be written, taken from inputs in turn.
      const int64_t o = begin / row;
      int64_t from = begin - o * row;
      const int64_t until = std::min(row, from + end - begin);
      begin += until - from;
      int64_t offset = 0;
      for (size_t i = 1; from < until; ++i) {
        const Tensor& in = call.tensor(i);
        const int64_t bytes = in.sizes()[dim] * inner;
        const int64_t n = std::min(until, offset + bytes) - from;
        if (n > 0) {
          std::memcpy(target + o * row + from,
                      in.data<char>() + o * bytes + from - offset, size_t(n));
          from += n;
        }
        offset += bytes;
      }
    }
  });
}

/// to[i] = from[-i].
template <class Word>
void reverse_line(const Word* from, Word* to, int64_t n) {
  if constexpr (sizeof(Word) == 4) return reverse_words(from - (n - 1), to, n);
  std::reverse_copy(from - (n - 1), from + 1, to);
}

template <class Word>
void flip_words(const Tensor& out, const Tensor& in, uint64_t dims) {
  const size_t count = in.sizes().size();
  Dims strides(in.strides());
  const Word* x = in.data<Word>();
  for (size_t d = 0; d < count; ++d) {
    if (!(dims >> d & 1)) continue;
    x += (in.sizes()[d] - 1) * strides[d];
    strides[d] = -strides[d];
  }
  const size_t outer = count - 1;
  const int64_t n = in.sizes()[outer];
  const int64_t x_step = strides[outer], y_step = out.strides()[outer];
  Word* y = out.data<Word>();
  const IntSpan sizes = in.sizes().first(outer);
  parallel_for(
      0, numel_of(sizes), row_grain(n), [&](int64_t begin, int64_t end) {
        Walk<2> walk(
            sizes, {out.strides().first(outer), IntSpan(strides).first(outer)},
            begin);
        for (int64_t row = begin; row < end; ++row, walk.next()) {
          Word* to = y + walk.at[0];
          const Word* from = x + walk.at[1];
          if (y_step == 1 && x_step == -1)
            reverse_line(from, to, n);
          else if (y_step == 1 && x_step == 1)
            std::copy_n(from, n, to);
          else
            for (int64_t i = 0; i < n; ++i) to[i * y_step] = from[i * x_step];
        }
      });
}

/// Operands: result, input; of at least one element and dimension.
void flip(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1);
  visit_word(in.dtype(), [&]<class Word>() {
    flip_words<Word>(out, in, call.attributes<FlipAttributes>().dims);
  });
}

HOTARU_KERNEL(kCPU, "cat", cat);
HOTARU_KERNEL(kCPU, "flip", flip);

}  // namespace
}  // namespace hotaru::cpu
