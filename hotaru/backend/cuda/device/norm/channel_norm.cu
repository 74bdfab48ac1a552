// Channels normalised over everything else (batch norm), and the sums over all
// rows that the gradients of weights are. See params/norm.h for how they are
// launched.
#include <cmath>

#include "hotaru/backend/cuda/device/block.h"
#include "hotaru/backend/cuda/device/norm/channel.h"
#include "hotaru/backend/cuda/device/norm/parameter.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

template <class T>
__device__ OpMath<T> at(const void* base, int64_t i) {
  return widen<T>(static_cast<const Stored<T>*>(base)[i]);
}
template <class T>
__device__ OpMath<T>* values(void* base) {
  return static_cast<OpMath<T>*>(base);
}

/// Moments of each channel. What a thread sees it sums up less its first
/// element; joined as in cpu/reduce/moments.cpp.
template <class T>
struct Moments {
  using A = OpMath<T>;
  struct Acc {
    double n, mean, m2;
  };
  struct Part {
    A first = 0, sum = 0, squares = 0;
    uint32_t n = 0;
  };
  __device__ static Acc identity() { return {0, 0, 0}; }
  __device__ static Acc combine(const Acc& a, const Acc& b) {
    if (a.n == 0) return b;
    if (b.n == 0) return a;
    const double n = a.n + b.n, delta = b.mean - a.mean;
    return {n, a.mean + delta * (b.n / n),
            a.m2 + b.m2 + delta * delta * (a.n * b.n / n)};
  }
  __device__ static void take(const NormParams& p, Part& part, int64_t i,
                              uint32_t) {
    const A x = at<T>(p.x, i);
    if (part.n++ == 0) part.first = x;
    const A d = x - part.first;
    part.sum += d;
    part.squares += d * d;
  }
  __device__ static Acc total(const Part& part) {
    if (part.n == 0) return identity();
    const double n = part.n, shift = double(part.sum) / n;
    const double m2 = double(part.squares) - shift * double(part.sum);
    return {n, double(part.first) + shift, m2 < 0 ? 0 : m2};
  }
  __device__ static void store(const NormParams& p, uint32_t c, const Acc& s) {
    const double nan = std::nan("");
    const double mean = s.n > 0 ? s.mean : nan;
    values<T>(p.mean)[c] = A(mean);
    values<T>(p.rstd)[c] =
        A(1 / std::sqrt((s.n > 0 ? s.m2 / s.n : nan) + p.eps));
    if (s.n == 0) return;
    const auto move = [&](void* running, bool wide, double to) {
      const Parameter<T> old{running, wide, A(0)};
      Parameter<T>::put(running, wide, c,
                        A(p.momentum * to + (1 - p.momentum) * double(old[c])));
    };
    move(p.running_mean, (p.wide & kWideRunningMean) != 0, mean);
    move(p.running_var, (p.wide & kWideRunningVar) != 0, s.m2 / (s.n - 1));
  }
};

/// Sums of gradients, and of gradients times what the input was normalised to.
template <class T>
struct Sums {
  using A = OpMath<T>;
  struct Acc {
    double sum, dot;
  };
  struct Part {
    A sum = 0, dot = 0;
  };
  __device__ static Acc identity() { return {0, 0}; }
  __device__ static Acc combine(const Acc& a, const Acc& b) {
    return {a.sum + b.sum, a.dot + b.dot};
  }
  __device__ static void take(const NormParams& p, Part& part, int64_t i,
                              uint32_t r) {
    const A g = at<T>(p.grad, i);
    part.sum += g;
    part.dot +=
        g * (at<T>(p.x, i) - values<T>(p.mean)[r]) * values<T>(p.rstd)[r];
  }
  __device__ static Acc total(const Part& part) {
    return {double(part.sum), double(part.dot)};
  }
  __device__ static void store(const NormParams& p, uint32_t w, const Acc& s) {
    Parameter<T>::put(p.weight_grad, (p.wide & kWideWeightGrad) != 0, w,
                      A(s.dot));
    Parameter<T>::put(p.bias_grad, (p.wide & kWideBiasGrad) != 0, w, A(s.sum));
    if (!p.sums) return;
    values<T>(p.sums)[2 * w] = A(s.sum);
    values<T>(p.sums)[2 * w + 1] = A(s.dot);
  }
};

template <class R>
__device__ void sum_up(const NormParams& p) {
  using Acc = typename R::Acc;
  static_assert(sizeof(Acc) <= kNormAccumulator);
  alignas(16) __shared__ unsigned char memory[kBlock * sizeof(Acc)];
  auto* shared = reinterpret_cast<Acc*>(memory);
  const Team team{p.lanes, p.across};
  const uint32_t lane = team.lane();
  const uint32_t w = blockIdx.x * team.rows() + team.row();
  Acc acc = R::identity();
  if (w < p.weights) {
    const uint32_t group = p.step ? w / p.step : 0;
    const int64_t inside = int64_t(w - group * p.step) * p.inner.divisor;
    const uint32_t begin = blockIdx.y * p.chunk, rest = p.count - begin;
    const uint32_t end = begin + (rest < p.chunk ? rest : p.chunk);
    typename R::Part part;
    for (uint32_t t = begin + lane; t < end; t += p.lanes) {
      const uint32_t above = p.inner.divide(t);
      const uint32_t row = group + above * p.period.divisor;
      R::take(p, part,
              int64_t(row) * p.columns + inside + (t - above * p.inner.divisor),
              p.sums ? w : row);
    }
    acc = R::total(part);
  }
  acc = p.across ? combine_column<R>(acc, p.lanes, shared)
                 : combine_group<R>(acc, p.lanes, shared);
  if (lane != 0 || w >= p.weights) return;
  if (p.splits == 1)
    R::store(p, w, acc);
  else
    static_cast<Acc*>(p.workspace)[int64_t(blockIdx.y) * p.weights + w] = acc;
}

/// From the partial results.
template <class R>
__device__ void sum_up_second(const NormParams& p) {
  using Acc = typename R::Acc;
  alignas(16) __shared__ unsigned char memory[kBlock / kWarp * sizeof(Acc)];
  const Team team{second_weight_lanes(p), false};
  const uint32_t w = blockIdx.x * team.rows() + team.row();
  Acc acc = R::identity();
  if (w < p.weights)
    for (uint32_t s = team.lane(); s < p.splits; s += team.lanes)
      acc = R::combine(acc, static_cast<const Acc*>(
                                p.workspace)[int64_t(s) * p.weights + w]);
  acc = combine_group<R>(acc, team.lanes, reinterpret_cast<Acc*>(memory));
  if (team.lane() == 0 && w < p.weights) R::store(p, w, acc);
}

template <class T>
__device__ void channel_running(const NormParams& p) {
  using A = OpMath<T>;
  const uint32_t c = blockIdx.x * kBlock + threadIdx.x;
  if (c >= p.weights) return;
  const Parameter<T> mean{p.running_mean, (p.wide & kWideRunningMean) != 0,
                          A(0)};
  const Parameter<T> var{p.running_var, (p.wide & kWideRunningVar) != 0, A(0)};
  values<T>(p.mean)[c] = mean[c];
  values<T>(p.rstd)[c] = running_rstd(var[c], p.eps);
}

/// Calls f(channel) for what to do with each of its elements, and that with the
/// places of those which this thread has: f(c)(x, g), g as read is, too.
template <class T, bool kGrad, class F>
__device__ void for_elements(const NormParams& p, const F& f) {
  using A = OpMath<T>;
  constexpr uint32_t kLength = 16 / sizeof(Stored<T>);
  using V = Vector<T, kLength>;
  const uint32_t numel = p.rows * p.columns;
  const auto channel = [&](uint32_t i) {
    const uint32_t row = p.inner.divide(i);
    return row - p.period.divide(row) * p.period.divisor;
  };
  const uint32_t first = blockIdx.x * (kBlock * kNormItems);
  auto* out = static_cast<Stored<T>*>(p.out);
  const auto* x = static_cast<const Stored<T>*>(p.x);
  const auto* g = static_cast<const Stored<T>*>(kGrad ? p.grad : p.x);
  if (p.vectors) {
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kNormItems / kLength; ++j) {
      const uint32_t i = first + (j * kBlock + threadIdx.x) * kLength;
      if (i >= numel) return;
      const auto change = f(channel(i));
      const V xs = load_vector<V>(x + i), gs = load_vector<V>(g + i);
      V ys;
      HOTARU_UNROLL
      for (uint32_t k = 0; k < kLength; k += 2)
        narrow_pair<T>(ys, k, change(widen<T>(xs.at[k]), widen<T>(gs.at[k])),
                       change(widen<T>(xs.at[k + 1]), widen<T>(gs.at[k + 1])));
      store_vector(out + i, ys);
    }
    return;
  }
  HOTARU_UNROLL
  for (uint32_t j = 0; j < kNormItems; ++j) {
    const uint32_t i = first + j * kBlock + threadIdx.x;
    if (i >= numel) return;
    const A value = f(channel(i))(widen<T>(x[i]), widen<T>(g[i]));
    out[i] = narrow<T>(value);
  }
}

template <class T>
__device__ void channel_scale(const NormParams& p) {
  using A = OpMath<T>;
  const auto weight = weight_of<T>(p), bias = bias_of<T>(p);
  for_elements<T, false>(p, [&](uint32_t c) {
    const ChannelScale<A> scale(values<T>(p.mean)[c], values<T>(p.rstd)[c],
                                weight[c], bias[c]);
    return [=](A x, A) { return scale(x); };
  });
}

template <class T>
__device__ void channel_grad(const NormParams& p) {
  using A = OpMath<T>;
  const auto weight = weight_of<T>(p);
  const A n = A(p.count);
  for_elements<T, true>(p, [&](uint32_t c) {
    const A rstd = values<T>(p.rstd)[c], mean = values<T>(p.mean)[c];
    const A scale = weight[c] * rstd;
    A shift = 0, slope = 0;
    if (p.training) {
      shift = values<T>(p.sums)[2 * c] / n;
      slope = values<T>(p.sums)[2 * c + 1] * rstd / n;
    }
    // Without training x has no part in it: it may be infinite.
    const bool fixed = !p.training;
    return [=](A x, A g) {
      return scale * (fixed ? g : g - shift - (x - mean) * slope);
    };
  });
}

}  // namespace

#define HOTARU_CHANNEL_NORM(unused, T, suffix) \
  HOTARU_CUDA_BLOCK_KERNEL(ChannelMoments_##suffix, NormParams, \
                           sum_up<Moments<T>>) \
  HOTARU_CUDA_BLOCK_KERNEL(ChannelMoments_##suffix##_2, NormParams, \
                           sum_up_second<Moments<T>>) \
  HOTARU_CUDA_BLOCK_KERNEL(ChannelSums_##suffix, NormParams, sum_up<Sums<T>>) \
  HOTARU_CUDA_BLOCK_KERNEL(ChannelSums_##suffix##_2, NormParams, \
                           sum_up_second<Sums<T>>) \
  HOTARU_CUDA_KERNEL(ChannelRunning_##suffix, NormParams, channel_running<T>) \
  HOTARU_CUDA_KERNEL(ChannelScale_##suffix, NormParams, channel_scale<T>) \
  HOTARU_CUDA_KERNEL(ChannelGrad_##suffix, NormParams, channel_grad<T>)
HOTARU_DEVICE_TYPES_FloatingTypes(HOTARU_CHANNEL_NORM, )

}  // namespace hotaru::cuda
