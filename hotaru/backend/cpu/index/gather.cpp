// Single elements at indices along a dimension.
#include "hotaru/backend/common/index/gather.h"

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cpu/independent.h"
#include "hotaru/backend/cpu/index/narrow_sums.h"
#include "hotaru/backend/cpu/indexing.h"
#include "hotaru/backend/cpu/lines.h"
#include "hotaru/backend/cpu/number.h"
#include "hotaru/backend/cpu/words.h"

namespace hotaru::cpu {
namespace {

/// The dimension along which loops run fastest: the last one in which the
/// index has more than one element.
int64_t innermost(const Tensor& index) {
  for (int64_t d = index.dim(); d-- > 0;)
    if (index.sizes()[size_t(d)] > 1) return d;
  return std::max<int64_t>(0, index.dim() - 1);
}

/// A row of indices along the innermost dimension, and how far apart are the
/// elements that they name: `step` for each index, `slide` for each position
/// (0 along the indexed dimension itself).
template <class I>
struct Row {
  const I* index;
  int64_t n, stride, step, slide, dim, size;

  int64_t checked(int64_t at) const {
    if (uint64_t(at) >= uint64_t(size)) [[unlikely]]
      index_out_of_bounds(at, dim, size);
    return at;
  }
  /// f(j, offset of the element that the j-th index names). The strides that
  /// nearly all calls have are constants of their loops.
  template <class F>
  void visit(const F& f) const {
    if (stride == 0) {  // an index that was expanded names one slice
      const int64_t start = checked(*index) * step;
      for (int64_t j = 0; j < n; ++j) f(j, start + j * slide);
    } else if (stride == 1 && step == 1 && slide == 0) {
// Four loads in flight: the check of each index would else wait its turn.
#pragma GCC unroll 4
      for (int64_t j = 0; j < n; ++j) f(j, checked(index[j]));
    } else {
      for (int64_t j = 0; j < n; ++j)
        f(j, checked(index[j * stride]) * step + j * slide);
    }
  }
};

/// Strides of a tensor whose coordinate along `dim` the index gives.
Dims strides_beside(const Tensor& t, int64_t dim) {
  Dims out(t.strides());
  if (!out.empty()) out[size_t(dim)] = 0;
  return out;
}

/// Operands: result, input, index.
void gather(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1),
               &index = call.tensor(2);
  const int64_t dim = call.attributes<ScatterAttributes>().dim;
  const int64_t inner = innermost(index);
  const int64_t n = line_size(index, inner), stride = line_stride(out, inner);
  const Dims sizes = without(index.sizes(), inner);
  const std::array<Dims, 3> strides{without(index.strides(), inner),
                                    without(out.strides(), inner),
                                    without(strides_beside(in, dim), inner)};
  const std::array<IntSpan, 3> spans{strides[0], strides[1], strides[2]};
  visit_word(in.dtype(), [&]<class Word>() {
    visit_index(index, [&]<class I>() {
      Row<I> row{nullptr,
                 n,
                 line_stride(index, inner),
                 line_stride(in, dim),
                 inner == dim ? 0 : line_stride(in, inner),
                 dim,
                 line_size(in, dim)};
      // Positions in row-major order: a share may begin and end in a row.
      parallel_for(
          0, index.numel(), kGrainSize, [&, row](int64_t p, int64_t end) {
            Row<I> part = row;
            Walk<3> walk(sizes, spans, p / n);
            for (int64_t j = p % n; p < end; p += part.n, j = 0, walk.next()) {
              part.n = std::min(n - j, end - p);
              part.index = index.data<I>() + walk.at[0] + j * row.stride;
              Word* y = out.data<Word>() + walk.at[1] + j * stride;
              const Word* x = in.data<Word>() + walk.at[2] + j * row.slide;
              if (stride == 1)
                part.visit([=](int64_t k, int64_t at) { y[k] = x[at]; });
              else
                part.visit(
                    [=](int64_t k, int64_t at) { y[k * stride] = x[at]; });
            }
          });
    });
  });
}

/// The same of an index that was expanded, which moves whole rows: row i of the
/// source, x_step elements apart, to the row that index[i * i_step] names.
/// Threads share out targets, and each looks at all indices.
template <class W, class T, class I, class F>
void scatter_rows(const Row<I>& row, int64_t rows, const I* index,
                  int64_t i_step, W* out, const T* source, int64_t x_step,
                  const F& f) {
  constexpr int64_t kAhead = 8, kLine = 64 / int64_t{sizeof(T)};
  const int64_t each =
      detail::divide_up(rows * row.n, std::max<int64_t>(1, row.size));
  parallel_for(0, row.size, row_grain(each), [&](int64_t begin, int64_t end) {
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t at = row.checked(index[i * i_step]);
      if (at < begin || at >= end) continue;
      const T* x = source + i * x_step;
      for (int64_t k = 0; i + kAhead < rows && k < row.n; k += kLine)
        __builtin_prefetch(x + kAhead * x_step + k);
      W* y = out + at * row.step;
      HOTARU_INDEPENDENT
      for (int64_t k = 0; k < row.n; ++k) f(y[k], x[k]);
    }
  });
}

/// f(an element of out, of type W; one of the source, of type T). Elements that
/// differ in another coordinate than that along `dim` have different targets:
/// these are shared out to threads.
template <class W, class T, class F>
void scatter_into(const Tensor& out, const KernelCall& call, const F& f) {
  const Tensor &index = call.tensor(1), &source = call.tensor(2);
  const int64_t dim = call.attributes<ScatterAttributes>().dim;
  const int64_t inner = innermost(index);
  const bool along = inner == dim;
  const auto beside = [&](IntSpan values) {
    const Dims rest = without(values, std::max(dim, inner));
    return along ? rest : without(rest, std::min(dim, inner));
  };
  const Dims sizes = beside(index.sizes());
  const std::array<Dims, 3> strides{
      beside(index.strides()), beside(out.strides()), beside(source.strides())};
  const std::array<IntSpan, 3> spans{strides[0], strides[1], strides[2]};
  // Row by row along `dim`, unless the rows themselves lie along it.
  const int64_t rows = along ? 1 : line_size(index, dim);
  const int64_t n = line_size(index, inner), columns = along ? 1 : n;
  const int64_t stride = line_stride(source, inner);
  visit_index(index, [&]<class I>() {
    const Row<I> row{nullptr,
                     n,
                     line_stride(index, inner),
                     line_stride(out, dim),
                     along ? 0 : line_stride(out, inner),
                     dim,
                     line_size(out, dim)};
    // Messages to nodes: their indices are of 64 bits, as a rule.
    if constexpr (sizeof(I) == 8)
      if (!along && numel_of(sizes) == 1 && row.stride == 0 && row.slide == 1 &&
          stride == 1)
        return scatter_rows(row, rows, index.data<I>(), line_stride(index, dim),
                            out.data<W>(), source.data<T>(),
                            line_stride(source, dim), f);
    const auto share = [&](int64_t p, int64_t end) {
      Row<I> part = row;
      Walk<3> walk(sizes, spans, p / columns);
      for (int64_t j = p % columns; p < end; j = 0, walk.next()) {
        part.n = along ? n : std::min(n - j, end - p);
        for (int64_t i = 0; i < rows; ++i) {
          part.index = index.data<I>() + walk.at[0] + j * row.stride +
                       i * line_stride(index, dim);
          W* y = out.data<W>() + walk.at[1] + j * row.slide;
          const T* x = source.data<T>() + walk.at[2] + j * stride +
                       i * line_stride(source, dim);
          part.visit([=](int64_t k, int64_t at) { f(y[at], x[k * stride]); });
        }
        p += along ? 1 : part.n;
      }
    };
    parallel_for(0, numel_of(sizes) * columns, row_grain(along ? n : rows),
                 share);
  });
}

template <class T, class F>
void scatter_with(const KernelCall& call, const F& f) {
  scatter_into<T, T>(call.tensor(0), call, f);
}

template <class T, class F>
void scatter_sums(const KernelCall& call, const F& combine) {
  const auto visit = [&](const Tensor& target, const auto& f) {
    scatter_into<Combined<T>, T>(target, call, f);
  };
  combine_at<T>(call.tensor(0), call.tensor(1).numel(), visit, combine);
}

constexpr KernelTypes<RealAndBoolTypes> kExtremumTypes{0, "scatter_reduce"};

/// Operands: target, index, source.
void scatter(const KernelCall& call) {
  const WriteMode mode = call.attributes<ScatterAttributes>().mode;
  const DType dtype = call.tensor(0).dtype();
  if (mode == WriteMode::kAssign)
    return visit_word(dtype, [&]<class Word>() {
      scatter_with<Word>(call, [](Word& a, Word x) { a = x; });
    });
  if (mode == WriteMode::kAdd || mode == WriteMode::kMultiply)
    return visit_dtype(AllTypes{}, dtype, "scatter_add", [&]<class T>() {
      if (mode == WriteMode::kAdd)
        scatter_sums<T>(call, AddOne());
      else
        scatter_sums<T>(call, MultiplyOne());
    });
  kExtremumTypes.visit(call, [&]<class T>() {
    if (mode == WriteMode::kMax)
      scatter_with<T>(call, [](T& a, T x) { a = greater(x, a) ? x : a; });
    else
      scatter_with<T>(call, [](T& a, T x) {
        a = is_nan(a) || (!is_nan(x) && x >= a) ? a : x;
      });
  });
}

void check_scatter(const KernelCall& call) {
  const WriteMode mode = call.attributes<ScatterAttributes>().mode;
  if (mode == WriteMode::kMax || mode == WriteMode::kMin)
    check_types<kExtremumTypes>(call);
}

HOTARU_KERNEL(kCPU, "gather", gather);
HOTARU_KERNEL(kCPU, "scatter", scatter, check_scatter);

}  // namespace
}  // namespace hotaru::cpu
