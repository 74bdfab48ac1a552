// Elements chosen by value: nonzero, masks, triangles.
#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "hotaru/backend/common/index/index.h"
#include "hotaru/backend/cpu/indexing.h"
#include "hotaru/backend/cpu/lines.h"
#include "hotaru/backend/cpu/words.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/runtime/kernel.h"

namespace hotaru::cpu {
namespace {

/// f(offsets, n, steps) for each row, a run along the last dimension, of
/// tensors of one shape, in row-major order. Until f returns false.
template <size_t N, class F>
void for_rows(const std::array<const Tensor*, N>& tensors, const F& f) {
  const Tensor& first = *tensors[0];
  if (first.numel() == 0) return;
  const size_t outer = size_t(std::max<int64_t>(1, first.dim()) - 1);
  const int64_t n = first.dim() ? first.sizes()[outer] : 1;
  std::array<IntSpan, N> strides;
  std::array<int64_t, N> steps;
  for (size_t k = 0; k < N; ++k) {
    strides[k] = tensors[k]->strides().first(outer);
    steps[k] = first.dim() ? tensors[k]->strides()[outer] : 1;
  }
  Walk<N> walk(first.sizes().first(outer), strides);
  for (int64_t row = first.numel() / n; row > 0; --row, walk.next())
    if (!f(walk.at, n, steps)) return;
}

/// Which words stand for numbers that are not zero: those with one of `bits`.
template <class Word>
struct Truth {
  Word bits;
  bool operator()(Word x) const { return (x & bits) != 0; }
};
template <>
struct Truth<Word16> {
  Word16 bits;
  bool operator()(const Word16& x) const {
    return ((x.low & bits.low) | (x.high & bits.high)) != 0;
  }
};

/// The bits of a dtype: all but the signs of floats and their parts.
template <class Word>
Truth<Word> truth_of(DType dtype) {
  const bool complex = is_complex(dtype);
  if (!complex && !is_floating_point(dtype)) return {Word(~Word(0))};
  const size_t part = sizeof(Word) / (complex ? 2 : 1);
  Word bits = Word(~Word(0));
  for (size_t at = part; at <= sizeof(Word); at += part)
    bits = Word(bits & ~(Word(1) << (8 * at - 1)));
  return {bits};
}
template <>
Truth<Word16> truth_of(DType) {
  constexpr uint64_t kPart = std::numeric_limits<int64_t>::max();
  return {{kPart, kPart}};
}

/// 1 for each element that is not 0, 0 for the others; returns how many are 1.
template <class Word>
int64_t truth_numbers(const Word* x, int64_t step, int64_t n,
                      const Truth<Word>& truth, uint8_t* out) {
  if (step == 1)
    for (int64_t i = 0; i < n; ++i) out[i] = truth(x[i]);
  else
    for (int64_t i = 0; i < n; ++i) out[i] = truth(x[i * step]);
  return std::accumulate(out, out + n, int64_t{0});
}

// Elements whose truth numbers are made together.
constexpr int64_t kTruthBlock = 256;

/// Positions of nonzero elements of a line, at most as far as `end`.
template <class Word>
int64_t* positions_of(const Word* x, int64_t step, int64_t n,
                      const Truth<Word>& truth, int64_t* to,
                      const int64_t* end) {
  uint8_t ones[kTruthBlock];
  for (int64_t from = 0; from < n && to < end; from += kTruthBlock) {
    const int64_t count = std::min(kTruthBlock, n - from);
    const int64_t found =
        truth_numbers(x + from * step, step, count, truth, ones);
    if (found == count && end - to >= count) {
      std::iota(to, to + count, from);
      to += count;
    } else if (found > 0) {
      for (int64_t i = 0; i < count && to < end; ++i) {
        // Written always, kept if nonzero: a branch would be mispredicted.
        *to = from + i;
        to += ones[i];
      }
    }
  }
  return to;
}

/// Rows of a tensor, runs along its last dimension.
template <class Word>
class NonzeroRows {
 public:
  explicit NonzeroRows(const Tensor& in)
      : in_(in),
        truth_(truth_of<Word>(in.dtype())),
        outer_(size_t(in.dim()) - 1),
        n_(in.sizes()[outer_]),
        step_(in.strides()[outer_]) {}

  int64_t rows() const { return in_.numel() / n_; }

  /// Nonzero elements of some rows.
  int64_t count(int64_t begin, int64_t end) const {
    uint8_t ones[kTruthBlock];
    int64_t total = 0;
    Walk<1> walk = from(begin);
    for (int64_t row = begin; row < end; ++row, walk.next())
      for (int64_t i = 0; i < n_; i += kTruthBlock)
        total += truth_numbers(in_.data<Word>() + walk.at[0] + i * step_, step_,
                               std::min(kTruthBlock, n_ - i), truth_, ones);
    return total;
  }

  /// Their positions, from number `first` to before number `last` of `columns`,
  /// which have `length` each.
  void find(int64_t begin, int64_t end, int64_t* columns, int64_t length,
            int64_t first, int64_t last) const {
    const auto dims = int64_t(outer_) + 1;
    Dims index(outer_, 0);
    for (int64_t d = dims - 1, left = begin; d-- > 0;) {
      index[size_t(d)] = left % in_.sizes()[size_t(d)];
      left /= in_.sizes()[size_t(d)];
    }
    Walk<1> walk = from(begin);
    for (int64_t row = begin; row < end && first < last; ++row, walk.next()) {
      const Word* x = in_.data<Word>() + walk.at[0];
      first = outer_ == 1 ? row_of<1>(x, index, columns, length, first, last)
                          : row_of<0>(x, index, columns, length, first, last);
      for (int64_t d = dims - 1; d-- > 0;) {
        if (++index[size_t(d)] < in_.sizes()[size_t(d)]) break;
        index[size_t(d)] = 0;
      }
    }
  }

 private:
  /// The positions of one row from number k on; gives the number behind them.
  /// kOuter: dimensions but for the last one, where that is known.
  template <size_t kOuter>
  int64_t row_of(const Word* x, const Dims& index, int64_t* columns,
                 int64_t length, int64_t k, int64_t last) const {
    constexpr int64_t kShort = 64;
    const size_t outer = kOuter ? kOuter : outer_;
    int64_t* const inner = columns + int64_t(outer) * length;
    if (n_ > kShort) {
      const int64_t end =
          positions_of(x, step_, n_, truth_, inner + k, inner + last) - inner;
      for (size_t d = 0; d < outer; ++d)
        std::fill(columns + int64_t(d) * length + k,
                  columns + int64_t(d) * length + end, index[d]);
      return end;
    }
    for (int64_t i = 0; i < n_ && k < last; ++i) {
      // Written always, kept if nonzero: a branch would be mispredicted.
      for (size_t d = 0; d < outer; ++d)
        columns[int64_t(d) * length + k] = index[d];
      inner[k] = i;
      k += truth_(x[i * step_]);
    }
    return k;
  }
  Walk<1> from(int64_t row) const {
    return {in_.sizes().first(outer_), {in_.strides().first(outer_)}, row};
  }

  const Tensor& in_;
  const Truth<Word> truth_;
  size_t outer_;
  int64_t n_, step_;
};

/// Operands: positions [n, dims], column by column, and input with n nonzero
/// elements. Threads count what is theirs first, as that says where it goes.
void nonzero(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1);
  const auto dims = int64_t(in.sizes().size());
  if (dims == 0 || in.numel() == 0) return;
  int64_t* const to = out.data<int64_t>();
  const int64_t length = out.sizes()[0];
  visit_word(in.dtype(), [&]<class Word>() {
    if (dims == 1) {
      positions_of(in.data<Word>(), in.stride(0), in.numel(),
                   truth_of<Word>(in.dtype()), to, to + length);
      return;
    }
    const NonzeroRows<Word> all(in);
    const int64_t rows = all.rows(), chunk = row_grain(in.size(-1));
    if (rows <= chunk || get_num_threads() == 1 || in_parallel_region())
      return all.find(0, rows, to, length, 0, length);
    const auto each = [&](const auto& f) {
      parallel_for(0, (rows + chunk - 1) / chunk, 1,
                   [&](int64_t i, int64_t end) {
                     for (; i < end; ++i)
                       f(size_t(i), i * chunk, std::min(rows, (i + 1) * chunk));
                   });
    };
    std::vector<int64_t> begins(size_t((rows + chunk - 1) / chunk) + 1);
    each([&](size_t i, int64_t begin, int64_t end) {
      begins[i + 1] = all.count(begin, end);
    });
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    each([&](size_t i, int64_t begin, int64_t end) {
      all.find(begin, end, to, length, std::min(begins[i], length),
               std::min(begins[i + 1], length));
    });
  });
}

/// Appends the chosen ones of n elements at y, where there is room for all.
/// Elements are written always and kept if chosen: a branch would be
/// mispredicted. But masks often have long runs, which eight at a time find.
template <class Word>
Word* append_dense(Word* y, const Word* x, const uint8_t* ones, int64_t n) {
  constexpr int64_t kEight = 8;
  int64_t i = 0;
  for (; i + kEight <= n; i += kEight) {
    uint64_t eight;
    std::memcpy(&eight, ones + i, sizeof(eight));
    if (eight == 0) continue;
    if (eight == 0x0101010101010101) {
      y = std::copy_n(x + i, kEight, y);
      continue;
    }
    for (int64_t k = i; k < i + kEight; ++k) {
      *y = x[k];
      y += ones[k];
    }
  }
  for (; i < n; ++i) {
    *y = x[i];
    y += ones[i];
  }
  return y;
}

/// The same, at most as far as `end`.
template <class Word>
Word* append(Word* y, const Word* end, const Word* x, int64_t x_step,
             const Bool* chosen, int64_t step, int64_t n) {
  uint8_t ones[kTruthBlock];
  for (int64_t from = 0; from < n; from += kTruthBlock) {
    const int64_t count = std::min(kTruthBlock, n - from);
    const int64_t found =
        truth_numbers(chosen + from * step, step, count, {255}, ones);
    if (found == 0) continue;
    const Word* in = x + from * x_step;
    if (x_step == 1 && end - y >= count && found == count)
      y = std::copy_n(in, count, y);
    else if (x_step == 1 && end - y >= count)
      y = append_dense(y, in, ones, count);
    else
      for (int64_t i = 0; i < count && y < end; ++i) {
        *y = in[i * x_step];
        y += ones[i];
      }
  }
  return y;
}

/// Operands: result [n], input, mask of the input's shape with n ones.
void masked_select(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1),
               &mask = call.tensor(2);
  visit_word(in.dtype(), [&]<class Word>() {
    Word* y = out.data<Word>();
    const Word* end = y + out.numel();
    for_rows<2>({&in, &mask},
                [&](const auto& at, int64_t n, const auto& steps) {
                  y = append(y, end, in.data<Word>() + at[0], steps[0],
                             mask.data<Bool>() + at[1], steps[1], n);
                  return y < end;
                });
  });
}

/// Operands: target, mask of its shape, row-major source.
void masked_scatter(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &mask = call.tensor(1),
               &source = call.tensor(2);
  visit_word(out.dtype(), [&]<class Word>() {
    Word* y = out.data<Word>();
    const Word* x = source.data<Word>();
    const Word* end = x + source.numel();
    const Bool* chosen = mask.data<Bool>();
    Walk<2> walk(out.sizes(), {out.strides(), mask.strides()});
    for (int64_t i = out.numel(); i > 0; --i, walk.next()) {
      if (!chosen[walk.at[1]]) continue;
      HOTARU_CHECK(x < end,
                   "Number of elements of source < number of ones in mask");
      y[walk.at[0]] = *x++;
    }
  });
}

/// Operands: result, input, which may be the same.
void triangle(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1);
  const auto& attributes = call.attributes<TriangleAttributes>();
  const size_t batch = in.sizes().size() - 2;
  const int64_t rows = in.size(-2), columns = in.size(-1);
  const int64_t x_row = in.stride(-2), x_step = in.stride(-1);
  const int64_t y_row = out.stride(-2), y_step = out.stride(-1);
  const IntSpan sizes = in.sizes().first(batch);
  visit_word(in.dtype(), [&]<class Word>() {
    parallel_for(0, numel_of(sizes), row_grain(rows * columns),
                 [&](int64_t begin, int64_t end) {
                   Walk<2> walk(
                       sizes,
                       {out.strides().first(batch), in.strides().first(batch)},
                       begin);
                   for (int64_t b = begin; b < end; ++b, walk.next()) {
                     for (int64_t r = 0; r < rows; ++r) {
                       Word* y = out.data<Word>() + walk.at[0] + r * y_row;
                       const Word* x = in.data<Word>() + walk.at[1] + r * x_row;
                       // Columns [first, last) stay.
                       const int64_t edge = std::clamp<int64_t>(
                           r + attributes.diagonal + (attributes.upper ? 0 : 1),
                           0, columns);
                       const int64_t first = attributes.upper ? edge : 0;
                       const int64_t last = attributes.upper ? columns : edge;
                       for (int64_t c = 0; c < first; ++c)
                         y[c * y_step] = Word{};
                       for (int64_t c = first; c < last; ++c)
                         y[c * y_step] = x[c * x_step];
                       for (int64_t c = last; c < columns; ++c)
                         y[c * y_step] = Word{};
                     }
                   }
                 });
  });
}

void triangle_indices(const KernelCall& call) {
  const Tensor& out = call.tensor(0);
  const auto& a = call.attributes<TriangleIndicesAttributes>();
  visit_index(out, [&]<class I>() {
    I *row = out.data<I>(), *column = row + out.size(1);
    for (int64_t r = 0; r < a.rows; ++r) {
      const int64_t edge =
          std::clamp<int64_t>(r + a.diagonal + (a.upper ? 0 : 1), 0, a.columns);
      const int64_t first = a.upper ? edge : 0;
      const int64_t n = (a.upper ? a.columns : edge) - first;
      row = std::fill_n(row, n, I(r + a.first_row));
      for (int64_t i = 0; i < n; ++i) column[i] = I(first + a.first_column + i);
      column += n;
    }
  });
}

HOTARU_KERNEL(kCPU, "triangle_indices", triangle_indices);
HOTARU_KERNEL(kCPU, "nonzero", nonzero);
HOTARU_KERNEL(kCPU, "masked_select", masked_select);
HOTARU_KERNEL(kCPU, "masked_scatter", masked_scatter);
HOTARU_KERNEL(kCPU, "triangle", triangle);

}  // namespace
}  // namespace hotaru::cpu
