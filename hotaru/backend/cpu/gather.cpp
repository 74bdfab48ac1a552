// Single elements at indices along a dimension.
#include "hotaru/backend/common/gather.h"

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cpu/indexing.h"
#include "hotaru/backend/cpu/lines.h"
#include "hotaru/backend/cpu/number.h"
#include "hotaru/backend/cpu/words.h"

namespace hotaru::cpu {
namespace {

/// f(position, index) for each index of a line, checked against the size.
template <class I, class F>
void for_indices(const I* index, int64_t n, int64_t stride, int64_t dim,
                 int64_t size, const F& f) {
  if (stride == 1) {
    // The check of a whole line first: a loop without branches.
    bool inside = true;
    for (int64_t i = 0; i < n; ++i)
      inside &= uint64_t(int64_t(index[i])) < uint64_t(size);
    if (inside) [[likely]] {
      for (int64_t i = 0; i < n; ++i) f(i, int64_t(index[i]));
      return;
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = index[i * stride];
    if (uint64_t(at) >= uint64_t(size)) [[unlikely]]
      index_out_of_bounds(at, dim, size);
    f(i, at);
  }
}

/// Operands: result, input, index.
void gather(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1),
               &index = call.tensor(2);
  const int64_t dim = call.attributes<ScatterAttributes>().dim;
  const int64_t n = line_size(index, dim), size = line_size(in, dim);
  const int64_t out_stride = line_stride(out, dim);
  const int64_t in_stride = line_stride(in, dim);
  const int64_t index_stride = line_stride(index, dim);
  visit_word(in.dtype(), [&]<class Word>() {
    visit_index(index, [&]<class I>() {
      for_lines(
          dim, n,
          [&](const auto& at) {
            Word* y = out.data<Word>() + at[1];
            const Word* x = in.data<Word>() + at[2];
            const I* line = index.data<I>() + at[0];
            if (out_stride == 1 && in_stride == 1)
              return for_indices(
                  line, n, index_stride, dim, size,
                  [=](int64_t i, int64_t from) { y[i] = x[from]; });
            for_indices(line, n, index_stride, dim, size,
                        [=](int64_t i, int64_t from) {
                          y[i * out_stride] = x[from * in_stride];
                        });
          },
          index, out, in);
    });
  });
}

/// One element into another. Each line of the target belongs to one line of
/// the index, so lines may run in parallel.
template <class T, class F>
void scatter_with(const KernelCall& call, const F& f) {
  const Tensor &out = call.tensor(0), &index = call.tensor(1),
               &source = call.tensor(2);
  const int64_t dim = call.attributes<ScatterAttributes>().dim;
  const int64_t n = line_size(index, dim), size = line_size(out, dim);
  const int64_t out_stride = line_stride(out, dim);
  const int64_t source_stride = line_stride(source, dim);
  const int64_t index_stride = line_stride(index, dim);
  visit_index(index, [&]<class I>() {
    for_lines(
        dim, n,
        [&](const auto& at) {
          T* y = out.data<T>() + at[1];
          const T* x = source.data<T>() + at[2];
          for_indices(index.data<I>() + at[0], n, index_stride, dim, size,
                      [&](int64_t i, int64_t to) {
                        T& target = y[to * out_stride];
                        target = f(target, x[i * source_stride]);
                      });
        },
        index, out, source);
  });
}

constexpr KernelTypes<RealAndBoolTypes> kExtremumTypes{0, "scatter_reduce"};

/// Operands: target, index, source.
void scatter(const KernelCall& call) {
  const WriteMode mode = call.attributes<ScatterAttributes>().mode;
  const DType dtype = call.tensor(0).dtype();
  if (mode == WriteMode::kAssign)
    return visit_word(dtype, [&]<class Word>() {
      scatter_with<Word>(call, [](Word, Word x) { return x; });
    });
  if (mode == WriteMode::kAdd || mode == WriteMode::kMultiply)
    return visit_dtype(AllTypes{}, dtype, "scatter_add", [&]<class T>() {
      if (mode == WriteMode::kAdd)
        scatter_with<T>(call, [](T a, T x) { return plus(a, x); });
      else
        scatter_with<T>(call, [](T a, T x) { return times(a, x); });
    });
  kExtremumTypes.visit(call, [&]<class T>() {
    if (mode == WriteMode::kMax)
      scatter_with<T>(call, [](T a, T x) { return greater(x, a) ? x : a; });
    else
      scatter_with<T>(call, [](T a, T x) {
        return is_nan(a) || (!is_nan(x) && x >= a) ? a : x;
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
