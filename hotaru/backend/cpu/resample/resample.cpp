#include "hotaru/backend/common/resample/resample.h"

#include <cmath>
#include <numbers>
#include <vector>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/pointwise/arithmetic.h"
#include "hotaru/backend/common/resample/cubic.h"
#include "hotaru/backend/common/resample/lanczos.h"
#include "hotaru/backend/cpu/resample/nearest.h"
#include "hotaru/backend/cpu/resample/resample_bytes.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

/// Integers wrap.
template <class A>
HOTARU_INLINE void add_product(A& sum, A weight, A x) {
  using W = formulas::Wrapping<A>;
  sum = A(W(sum) + W(weight) * W(x));
}

// For each output position of a dimension: which inputs, with which weights.
template <class A>
struct Axis {
  int64_t in = 1, out = 1;
  std::vector<int64_t> first{0, 1};  // taps of o are [first[o], first[o + 1])
  std::vector<int64_t> index{0};
  std::vector<A> weight{A(1)};
  std::vector<A> divisor{A(1)};

  void begin(int64_t in_size, int64_t out_size) {
    in = in_size;
    out = out_size;
    first.assign(1, 0);
    index.clear();
    weight.clear();
    divisor.clear();
  }
  void tap(int64_t i, A w = A(1)) {
    index.push_back(std::clamp<int64_t>(i, 0, in - 1));
    weight.push_back(w);
  }
  void window(int64_t from, int64_t to, int64_t count) {
    for (int64_t i = from; i < to; ++i) tap(i);
    end(A(count));
  }
  void end(A count = A(1)) {
    first.push_back(int64_t(index.size()));
    divisor.push_back(count);
  }
  /// True if each output has two inputs and is divided by 1.
  bool of_pairs() const {
    for (int64_t o = 0; o < out; ++o)
      if (first[o + 1] != 2 * (o + 1) || divisor[o] != A(1)) return false;
    return true;
  }
};

template <class A>
void average_axis(Axis<A>& axis, const ResampleAttributes& a, size_t d) {
  for (int64_t o = 0; o < axis.out; ++o) {
    const int64_t start = o * a.stride[d] - a.padding[d];
    const int64_t stop = std::min(start + a.kernel[d], axis.in + a.padding[d]);
    const int64_t from = std::max<int64_t>(start, 0);
    const int64_t to = std::max(from, std::min(stop, axis.in));
    const int64_t count = a.include_pad ? stop - start : to - from;
    axis.window(from, to, a.divisor != 0 ? 1 : std::max<int64_t>(count, 1));
  }
}

template <class A>
void adaptive_axis(Axis<A>& axis) {
  for (int64_t o = 0; o < axis.out; ++o) {
    // floor(o in / out) without overflow of o * in.
    const int64_t q = axis.in / axis.out, r = axis.in % axis.out;
    const int64_t from = o * q + o * r / axis.out;
    const int64_t to = (o + 1) * q + detail::divide_up((o + 1) * r, axis.out);
    axis.window(from, to, to - from);
  }
}

// The filters of antialias reach so many input positions on either side.
template <class P>
P reach(ResampleMode mode) {
  return mode == ResampleMode::kLinear  ? P(1)
         : mode == ResampleMode::kCubic ? P(2)
                                        : P(3);
}
template <class P>
P lanczos(P x) {
  const P t = x * std::numbers::pi_v<P>;
  return hotaru::lanczos(x, std::sin(t), std::sin(t / P(3)));
}
template <class P>
P filter(ResampleMode mode, P x) {
  return mode == ResampleMode::kLinear  ? std::max(P(0), 1 - std::abs(x))
         : mode == ResampleMode::kCubic ? cubic(x, P(-0.5))
                                        : lanczos(x);
}

// Weights add up to 1 where the filter reaches beyond the picture, too.
template <class A, class P>
void antialias_axis(Axis<A>& axis, ResampleMode mode, P scale) {
  const P stretch = std::max(scale, P(1));
  const P support = reach<P>(mode) * stretch;
  for (int64_t o = 0; o < axis.out; ++o) {
    const P center = scale * (P(o) + P(0.5));
    const auto edge = [&](P at) {
      return std::clamp<int64_t>(int64_t(at + P(0.5)), 0, axis.in);
    };
    const size_t first = axis.weight.size();
    P total = 0;
    for (int64_t i = edge(center - support); i < edge(center + support); ++i) {
      const P w = filter<P>(mode, (P(i) - center + P(0.5)) / stretch);
      axis.tap(i, A(w));
      total += w;
    }
    for (size_t k = first; total != 0 && k < axis.weight.size(); ++k)
      axis.weight[k] /= A(total);
    axis.end();
  }
}

bool is_nearest(ResampleMode mode) {
  return mode == ResampleMode::kNearest || mode == ResampleMode::kNearestExact;
}

// Interpolation computes positions in float even for integers, as PyTorch.
template <class A>
void interpolation_axis(Axis<A>& axis, const ResampleAttributes& a, size_t d) {
  using P = std::conditional_t<std::is_same_v<A, double>, double, float>;
  const auto plain = [&]<class R>(R) {
    return a.scales[d] > 0 ? R(1.0 / a.scales[d]) : R(axis.in) / R(axis.out);
  };
  if (is_nearest(a.mode)) {
    const float scale = plain(0.0f);
    const float shift = a.mode == ResampleMode::kNearestExact ? 0.5f : 0.0f;
    for (int64_t o = 0; o < axis.out; ++o) {
      const bool twice = shift == 0 && axis.out == 2 * axis.in;
      if (axis.out == axis.in)
        axis.tap(o);
      else
        axis.tap(twice ? o / 2
                       : int64_t(std::floor((float(o) + shift) * scale)));
      axis.end();
    }
    return;
  }
  const P scale = !a.align_corners ? plain(P(0))
                  : axis.out > 1   ? P(axis.in - 1) / P(axis.out - 1)
                                   : P(0);
  if (a.antialias) return antialias_axis(axis, a.mode, scale);
  for (int64_t o = 0; o < axis.out; ++o) {
    P at = a.align_corners ? scale * P(o) : scale * (P(o) + P(0.5)) - P(0.5);
    if (a.mode == ResampleMode::kLinear) at = std::max(at, P(0));
    const P whole = std::floor(at);
    const int64_t i = std::min(int64_t(whole), axis.in - 1);
    const P part = std::clamp(at - P(i), P(0), P(1));
    if (a.mode == ResampleMode::kLinear) {
      axis.tap(i, A(P(1) - part));
      if (axis.in != axis.out) axis.tap(i + 1, A(part));
    } else {
      const P t = at - whole;
      for (int64_t k = -1; k <= 2; ++k)
        axis.tap(int64_t(whole) + k, A(cubic(t - P(k), P(-0.75))));
    }
    axis.end();
  }
}

template <class A>
struct Plan {
  Axis<A> axes[3];
  int64_t planes = 1, in = 1, out = 1;
  A divisor = A(1);

  Plan(IntSpan in_sizes, IntSpan out_sizes, const ResampleAttributes& a) {
    const size_t total = in_sizes.size(), dims = size_t(a.dims);
    for (size_t i = 0; i < total - dims; ++i) planes *= in_sizes[i];
    for (size_t d = 0; d < dims; ++d) {
      Axis<A>& axis = axes[3 - dims + d];
      axis.begin(in_sizes[total - dims + d], out_sizes[total - dims + d]);
      in *= axis.in;
      out *= axis.out;
      if (axis.in == 0 || axis.out == 0) continue;
      if (a.mode == ResampleMode::kAverage)
        average_axis(axis, a, d);
      else if (a.mode == ResampleMode::kAdaptive)
        adaptive_axis(axis);
      else
        interpolation_axis(axis, a, d);
    }
    if (a.divisor != 0) divisor = A(a.divisor);
  }

  // f(output row, input row, weight) for each pair that a plane has, and
  // done(output row, divisor) after the last of an output row.
  template <class F, class Done>
  void rows(const F& f, const Done& done) const {
    const Axis<A>&z = axes[0], &y = axes[1];
    for (int64_t od = 0; od < z.out; ++od)
      for (int64_t oh = 0; oh < y.out; ++oh) {
        const int64_t row = od * y.out + oh;
        for (int64_t i = z.first[od]; i < z.first[od + 1]; ++i)
          for (int64_t j = y.first[oh]; j < y.first[oh + 1]; ++j)
            f(row, z.index[i] * y.in + y.index[j], z.weight[i] * y.weight[j]);
        done(row, row_divisor(row));
      }
  }
  /// NearestPlan of a plan whose outputs are the nearest inputs.
  NearestPlan nearest() const {
    return {{axes[0].in, axes[1].in, axes[2].in},
            {axes[0].index, axes[1].index, axes[2].index}};
  }
  A row_divisor(int64_t row) const {
    const int64_t n = axes[1].out;
    return divisor * axes[0].divisor[row / n] * axes[1].divisor[row % n];
  }
  template <class F>
  void for_planes(const F& f) const {
    const int64_t work = std::max<int64_t>(1, std::max(in, out));
    parallel_for(0, planes, std::max<int64_t>(1, kGrainSize / work),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t p = begin; p < end; ++p) f(p);
                 });
  }
};

/// An output row from the sums of input rows.
template <class T, class A>
void resample_row(const Axis<A>& axis, const A* row, A divisor, T* to) {
  for (int64_t o = 0, k = 0; o < axis.out; ++o) {
    A sum = A(0);
    for (; k < axis.first[o + 1]; ++k)
      add_product(sum, axis.weight[k], row[axis.index[k]]);
    to[o] = T(sum / (divisor * axis.divisor[o]));
  }
}

/// The same of two inputs each, divided by 1, as linear interpolation has them:
/// the division took most of the time.
template <class T, class A>
void interpolate_row(const Axis<A>& axis, const A* row, T* to) {
  const int64_t* index = axis.index.data();
  const A* weight = axis.weight.data();
  for (int64_t o = 0; o < axis.out; ++o, index += 2, weight += 2) {
    A sum = A(0);
    add_product(sum, weight[0], row[index[0]]);
    add_product(sum, weight[1], row[index[1]]);
    to[o] = T(sum);
  }
}

// Each output row is first the weighted sum of its input rows, which
// vectorises, and then resampled along the row.
template <class T, class A>
void resample_planes(const Plan<A>& plan, T* out, const T* x) {
  const Axis<A>& last = plan.axes[2];
  const bool pairs = last.of_pairs();
  plan.for_planes([&](int64_t p) {
    std::vector<A> row(size_t(last.in), A(0));
    plan.rows(
        [&](int64_t, int64_t from_row, A weight) {
          const T* from = x + p * plan.in + from_row * last.in;
          for (int64_t i = 0; i < last.in; ++i)
            add_product(row[i], weight, A(from[i]));
        },
        [&](int64_t to_row, A divisor) {
          T* to = out + p * plan.out + to_row * last.out;
          if (pairs && divisor == A(1))
            interpolate_row(last, row.data(), to);
          else
            resample_row(last, row.data(), divisor, to);
          std::fill(row.begin(), row.end(), A(0));
        });
  });
}

template <class T, class A>
void transposed_planes(const Plan<A>& plan, T* x, const T* out) {
  const Axis<A>& last = plan.axes[2];
  plan.for_planes([&](int64_t p) {
    std::vector<A> sums(size_t(plan.in), A(0)), row(size_t(last.in));
    int64_t ready = -1;  // the output row that `row` was made from
    plan.rows(
        [&](int64_t from_row, int64_t to_row, A weight) {
          if (from_row != ready) {
            const T* from = out + p * plan.out + from_row * last.out;
            const A divisor = plan.row_divisor(from_row);
            std::fill(row.begin(), row.end(), A(0));
            for (int64_t o = 0, k = 0; o < last.out; ++o) {
              const A g = A(from[o]) / (divisor * last.divisor[o]);
              for (; k < last.first[o + 1]; ++k)
                add_product(row[last.index[k]], last.weight[k], g);
            }
            ready = from_row;
          }
          A* to = sums.data() + to_row * last.in;
          for (int64_t i = 0; i < last.in; ++i) to[i] += weight * row[i];
        },
        [](int64_t, A) {});
    T* to = x + p * plan.in;
    for (size_t i = 0; i < sums.size(); ++i) to[i] = T(sums[i]);
  });
}

using Types = TypeList<float, double, Half, BFloat16, uint8_t, int64_t>;

template <class Types>
struct ResampleTypes {
  size_t operand;

  template <class F>
  void visit(const KernelCall& call, F&& f) const {
    const ResampleMode mode = call.attributes<ResampleAttributes>().mode;
    visit_dtype(Types{}, call.tensor(operand).dtype(),
                mode == ResampleMode::kAverage    ? "avg_pool2d"
                : mode == ResampleMode::kAdaptive ? "adaptive_avg_pool2d"
                                                  : "upsample",
                f);
  }
};
constexpr ResampleTypes<Types> kForwardTypes{1};
constexpr ResampleTypes<FloatingTypes> kBackwardTypes{0};

// Pooling divides integers as integers; interpolation weighs them in float.
template <class T>
using Weight = std::conditional_t<std::is_same_v<T, uint8_t>, float, OpMath<T>>;

void resample(const KernelCall& call) {
  const auto& a = call.attributes<ResampleAttributes>();
  const Tensor &out = call.tensor(0), &x = call.tensor(1);
  kForwardTypes.visit(call, [&]<class T>() {
    if (out.numel() == 0) return;
    if constexpr (std::is_same_v<T, uint8_t>)
      if (resamples_bytes(a))
        return resample_bytes(a, x.sizes(), out.sizes(), x.data<T>(),
                              out.data<T>());
    const Plan<Weight<T>> plan(x.sizes(), out.sizes(), a);
    if (is_nearest(a.mode))
      return nearest_planes(plan.nearest(), plan.planes, out.data<T>(),
                            x.data<T>());
    resample_planes(plan, out.data<T>(), x.data<T>());
  });
}

void resample_transposed(const KernelCall& call) {
  const auto& a = call.attributes<ResampleAttributes>();
  const Tensor &x = call.tensor(0), &out = call.tensor(1);
  kBackwardTypes.visit(call, [&]<class T>() {
    if (out.numel() == 0) {
      std::fill_n(x.data<T>(), x.numel(), T(0));
      return;
    }
    using A = OpMath<T>;
    const Plan<A> plan(x.sizes(), out.sizes(), a);
    if (is_nearest(a.mode))
      return nearest_transposed<A>(plan.nearest(), plan.planes, x.data<T>(),
                                   out.data<T>());
    transposed_planes(plan, x.data<T>(), out.data<T>());
  });
}

HOTARU_KERNEL(kCPU, "resample", resample, check_types<kForwardTypes>);
HOTARU_KERNEL(kCPU, "resample_transposed", resample_transposed,
              check_types<kBackwardTypes>);

}  // namespace
}  // namespace hotaru::cpu
