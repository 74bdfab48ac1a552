// Running sums, products and extremes along a dimension. The result may be the
// input itself.
#include <cmath>
#include <limits>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/reduce/line.h"
#include "hotaru/backend/cpu/lines.h"
#include "hotaru/backend/cpu/number.h"

namespace hotaru::cpu {
namespace {

/// What running sums are kept in: as in PyTorch one size above the elements.
template <class T>
struct Wide {
  using type = uint64_t;
};
template <>
struct Wide<float> {
  using type = double;
};
template <>
struct Wide<double> {
  using type = double;
};
template <class T>
requires kIsReduced<T>
struct Wide<T> {
  using type = float;
};
template <class R>
struct Wide<std::complex<R>> {
  using type = std::complex<double>;
};

/// Operands: result, input, of one dtype. step(acc, x) gives the next acc.
template <class T, class Acc, class Step>
void scan(const KernelCall& call, Acc first, const Step& step) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1);
  const int64_t dim = call.attributes<LineAttributes>().dim;
  const int64_t n = line_size(in, dim);
  const int64_t in_stride = line_stride(in, dim);
  const int64_t out_stride = line_stride(out, dim);
  const T* x = in.data<T>();
  T* y = out.data<T>();
  for_lines(
      dim, n,
      [&](const auto& at) {
        Acc acc = first;
        for (int64_t i = 0; i < n; ++i) {
          acc = step(acc, Acc(x[at[1] + i * in_stride]));
          y[at[0] + i * out_stride] = static_cast<T>(acc);
        }
      },
      out, in);
}

void cumsum(const KernelCall& call) {
  visit_dtype(AllTypes{}, call.tensor(0).dtype(), "cumsum_out_cpu",
              [&]<class T>() {
                using Acc = typename Wide<T>::type;
                scan<T>(call, Acc(0), [](Acc a, Acc x) { return a + x; });
              });
}

void cumprod(const KernelCall& call) {
  visit_dtype(AllTypes{}, call.tensor(0).dtype(), "cumprod_out_cpu",
              [&]<class T>() {
                using Acc = typename Wide<T>::type;
                scan<T>(call, Acc(1), [](Acc a, Acc x) { return a * x; });
              });
}

constexpr KernelTypes<FloatingTypes> kLogTypes{0, "logcumsumexp_out_cpu"};

void logcumsumexp(const KernelCall& call) {
  kLogTypes.visit(call, [&]<class T>() {
    using Acc = typename Wide<T>::type;
    constexpr Acc kNone = -std::numeric_limits<Acc>::infinity();
    scan<T>(call, kNone, [](Acc a, Acc x) {
      const Acc low = std::min(a, x), high = std::max(a, x);
      if (std::isnan(a) || std::isnan(x)) return a + x;
      if (low == high && std::isinf(low)) return high;
      return high + std::log1p(std::exp(low - high));
    });
  });
}

template <bool kLargest>
constexpr KernelTypes<RealAndBoolTypes> kExtremeTypes{
    2, kLargest ? "cummax_helper_cpu" : "cummin_helper_cpu"};

/// Operands: values, indices, input.
template <bool kLargest>
void extremes(const KernelCall& call) {
  const Tensor &values = call.tensor(0), &indices = call.tensor(1),
               &in = call.tensor(2);
  const int64_t dim = call.attributes<LineAttributes>().dim;
  const int64_t n = line_size(in, dim);
  const int64_t in_stride = line_stride(in, dim);
  const int64_t value_stride = line_stride(values, dim);
  const int64_t index_stride = line_stride(indices, dim);
  kExtremeTypes<kLargest>.visit(call, [&]<class T>() {
    const T* x = in.data<T>();
    T* value = values.data<T>();
    int64_t* index = indices.data<int64_t>();
    for_lines(
        dim, n,
        [&](const auto& at) {
          T best{};
          int64_t where = 0;
          for (int64_t i = 0; i < n; ++i) {
            const T v = clean(x[at[2] + i * in_stride]);
            const bool wins = kLargest ? v >= best : v <= best;
            if (i == 0 || is_nan(v) || (wins && !is_nan(best))) {
              best = v;
              where = i;
            }
            value[at[0] + i * value_stride] = best;
            index[at[1] + i * index_stride] = where;
          }
        },
        values, indices, in);
  });
}

HOTARU_KERNEL(kCPU, "cumsum", cumsum);
HOTARU_KERNEL(kCPU, "cumprod", cumprod);
HOTARU_KERNEL(kCPU, "logcumsumexp", logcumsumexp, check_types<kLogTypes>);
HOTARU_KERNEL(kCPU, "cummax", extremes<true>, check_types<kExtremeTypes<true>>);
HOTARU_KERNEL(kCPU, "cummin", extremes<false>,
              check_types<kExtremeTypes<false>>);

}  // namespace
}  // namespace hotaru::cpu
