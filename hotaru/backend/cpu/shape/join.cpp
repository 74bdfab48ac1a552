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

/// Inputs whose part of a row is so short that a call of memcpy takes longer
/// than to move it.
constexpr int64_t kShortPart = 32;

/// Joins such inputs: of a stretch of rows one input's columns at a time, so
/// that the rows stay near. `steps`: bytes of a row of each input.
template <class Word>
void cat_columns(const KernelCall& call, const Dims& steps, int64_t outer,
                 int64_t row) {
  constexpr auto kWord = int64_t(sizeof(Word));
  constexpr int64_t kRows = 256;
  Word* const target = call.tensor(0).data<Word>();
  const int64_t to_step = row / kWord;
  const auto columns = [&](int64_t begin, int64_t end) {
    Word* to = target + begin * to_step;
    for (size_t i = 0; i < steps.size(); ++i) {
      const int64_t step = steps[i] / kWord;
      const Word* from = call.tensor(i + 1).data<Word>() + begin * step;
      for (int64_t k = 0; k < step; ++k, ++to)
        for (int64_t r = 0; r < end - begin; ++r)
          to[r * to_step] = from[r * step + k];
    }
  };
  parallel_for(0, outer, row_grain(to_step), [&](int64_t begin, int64_t end) {
    for (; begin < end; begin += kRows)
      columns(begin, std::min(end, begin + kRows));
  });
}

void cat(const KernelCall& call) {
  const Tensor& out = call.tensor(0);
  const auto dim = size_t(call.attributes<CatAttributes>().dim);
  const auto item = int64_t(itemsize(out.dtype()));
  const int64_t outer = numel_of(out.sizes().first(dim));
  const int64_t inner = numel_of(out.sizes().subspan(dim + 1)) * item;
  const int64_t row = out.sizes()[dim] * inner;
  Dims steps(call.operands().size() - 1, 0);
  for (size_t i = 0; i < steps.size(); ++i)
    steps[i] = call.tensor(i + 1).sizes()[dim] * inner;
  if (row < int64_t(steps.size()) * kShortPart && outer > 8)
    return visit_word(out.dtype(), [&]<class Word>() {
      cat_columns<Word>(call, steps, outer, row);
    });
  char* const target = out.data<char>();
  const int64_t grain = row_grain(1) * int64_t(sizeof(float));
  parallel_for(0, outer * row, grain, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      // Part of a row to be written, taken from inputs in turn.
      const int64_t o = begin / row;
      int64_t from = begin - o * row;
      const int64_t until = std::min(row, from + end - begin);
      begin += until - from;
      int64_t offset = 0;
      for (size_t i = 1; from < until; ++i) {
        const Tensor& in = call.tensor(i);
        const int64_t bytes = steps[i - 1];
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
  Dims sizes(in.sizes()), from(in.strides()), to(out.strides());
  const Word* x = in.data<Word>();
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!(dims >> d & 1)) continue;
    x += (sizes[d] - 1) * from[d];
    from[d] = -from[d];
  }
  const size_t outer = sizes.size() - 1;
  // Results are written one after another, whichever dimension that is.
  for (size_t d = 0; d < outer && to[outer] != 1; ++d)
    if (to[d] == 1)
      for (Dims* one : {&sizes, &from, &to})
        std::swap((*one)[d], (*one)[outer]);
  const int64_t n = sizes[outer], x_step = from[outer], y_step = to[outer];
  Word* y = out.data<Word>();
  const IntSpan above = IntSpan(sizes).first(outer);
  parallel_for(
      0, numel_of(above), row_grain(n), [&](int64_t begin, int64_t end) {
        Walk<2> walk(above,
                     {IntSpan(to).first(outer), IntSpan(from).first(outer)},
                     begin);
        for (int64_t row = begin; row < end; ++row, walk.next()) {
          Word* target = y + walk.at[0];
          const Word* source = x + walk.at[1];
          if (y_step == 1 && x_step == -1)
            reverse_line(source, target, n);
          else if (y_step == 1 && x_step == 1)
            std::copy_n(source, n, target);
          else
            for (int64_t i = 0; i < n; ++i)
              target[i * y_step] = source[i * x_step];
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
