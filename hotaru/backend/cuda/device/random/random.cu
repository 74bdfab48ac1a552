// Random draws, PyTorch's on CUDA for the same generator state: which words a
// thread draws and what becomes of them. See params/random/random.h for how
// they are launched.
#include <limits>

#include "hotaru/backend/cuda/device/block.h"
#include "hotaru/backend/cuda/device/random/draws.h"
#include "hotaru/backend/cuda/params/random/random.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

__device__ inline uint64_t thread_number() {
  return uint64_t{blockIdx.x} * kBlock + threadIdx.x;
}

/// Rounded to T.
template <class T>
__device__ OpMath<T> rounded(double x) {
  return widen<T>(narrow<T>(OpMath<T>(x)));
}

/// Numbers that a thread makes of four words (`raw`), and of each of these
/// (`make`).
template <class T>
struct Uniform {
  using Raw = OpMath<T>;
  Raw from, to, range;
  __device__ explicit Uniform(const DrawParams& p)
      : from(rounded<T>(p.a)),
        to(rounded<T>(p.b)),
        range(widen<T>(narrow<T>(to - from))) {}
  __device__ static void raw(const Words4& w, Raw (&out)[kDrawn<Raw>]) {
    uniforms(w, out);
  }
  /// The upper bound is drawn in the lower one's place.
  __device__ Stored<T> make(Raw u) const {
    const Stored<T> x = narrow<T>(std::fma(u, range, from));
    return widen<T>(x) == to ? narrow<T>(from) : x;
  }
};
template <class T>
struct Normal {
  using Raw = OpMath<T>;
  Raw mean, deviation;
  __device__ explicit Normal(const DrawParams& p)
      : mean(Raw(p.a)), deviation(Raw(p.b)) {}
  __device__ static void raw(const Words4& w, Raw (&out)[kDrawn<Raw>]) {
    normals(w, out);
  }
  __device__ Stored<T> make(Raw x) const {
    return narrow<T>(std::fma(x, deviation, mean));
  }
};
template <class T>
struct Exponential {
  using Raw = OpMath<T>;
  Raw scale;
  __device__ explicit Exponential(const DrawParams& p)
      : scale(Raw(-1) / Raw(p.a)) {}
  __device__ static void raw(const Words4& w, Raw (&out)[kDrawn<Raw>]) {
    uniforms(w, out);
  }
  /// Never 0.
  __device__ Stored<T> make(Raw u) const {
    constexpr Raw kHalf = std::numeric_limits<Raw>::epsilon() / 2;
    return narrow<T>(scale * (u >= Raw(1) - kHalf ? -kHalf : fast_log(u)));
  }
};
template <class T>
struct Cauchy {
  using Raw = OpMath<T>;
  Raw median, sigma;
  __device__ explicit Cauchy(const DrawParams& p)
      : median(Raw(p.a)), sigma(Raw(p.b)) {}
  __device__ static void raw(const Words4& w, Raw (&out)[kDrawn<Raw>]) {
    uniforms(w, out);
  }
  /// In float the ends are left out, where the fast tangent overflows.
  __device__ Stored<T> make(Raw u) const {
    if constexpr (sizeof(Raw) == 4) {
      constexpr Raw kEnd = std::numeric_limits<Raw>::epsilon();
      u = u > 1 - kEnd ? 1 - kEnd : u < kEnd ? kEnd : u;
    }
    constexpr Raw kPi = Raw(3.14159265358979323846);
    return narrow<T>(median + sigma * fast_tan(kPi * (u - Raw(0.5))));
  }
};
template <class T>
struct LogNormal : Normal<T> {
  using Raw = OpMath<T>;
  __device__ explicit LogNormal(const DrawParams& p) : Normal<T>(p) {}
  __device__ Stored<T> make(Raw x) const {
    return narrow<T>(fast_exp(std::fma(x, this->deviation, this->mean)));
  }
};
/// Type that PyTorch computes draws of integers and flags in.
template <class T>
using DiscreteMath =
    std::conditional_t<std::is_same_v<T, double>, double, float>;
template <class T>
struct Geometric {
  using Raw = DiscreteMath<T>;
  Raw scale;
  __device__ explicit Geometric(const DrawParams& p)
      : scale(std::log1p(-Raw(p.a))) {}
  __device__ static void raw(const Words4& w, Raw (&out)[kDrawn<Raw>]) {
    uniforms(w, out);
  }
  __device__ Stored<T> make(Raw u) const {
    return narrow<T>(OpMath<T>(std::ceil(fast_log(u) / scale)));
  }
};
template <class T>
struct Bernoulli {
  using Raw = DiscreteMath<T>;
  Raw p;
  __device__ explicit Bernoulli(const DrawParams& d) : p(Raw(d.a)) {}
  __device__ static void raw(const Words4& w, Raw (&out)[kDrawn<Raw>]) {
    uniforms(w, out);
  }
  __device__ Stored<T> make(Raw u) const { return narrow<T>(OpMath<T>(u < p)); }
};
template <class T>
struct Integer {
  using Raw = uint32_t;
  uint32_t range;
  int64_t base;
  __device__ explicit Integer(const DrawParams& p)
      : range(uint32_t(p.range)), base(p.base) {}
  __device__ static void raw(const Words4& w, Raw (&out)[4]) {
    out[0] = w.x, out[1] = w.y, out[2] = w.z, out[3] = w.w;
  }
  __device__ Stored<T> make(Raw word) const {
    return narrow<T>(OpMath<T>(int64_t(word % range) + base));
  }
};
template <class T>
struct WideInteger {
  using Raw = uint64_t;
  uint64_t range;
  int64_t base;
  __device__ explicit WideInteger(const DrawParams& p)
      : range(p.range), base(p.base) {}
  __device__ static void raw(const Words4& w, Raw (&out)[2]) {
    out[0] = uint64_t{w.x} << 32 | w.y;
    out[1] = uint64_t{w.z} << 32 | w.w;
  }
  __device__ Stored<T> make(Raw word) const {
    const uint64_t value = (range ? word % range : word) + uint64_t(base);
    return narrow<T>(OpMath<T>(int64_t(value)));
  }
};

/// Calls put(element, raw value) for all elements: a thread's values go to
/// elements that are all threads apart.
template <class D, class F>
__device__ void for_draws(const DrawParams& p, const F& put) {
  using Raw = typename D::Raw;
  constexpr uint32_t kValues = kDrawn<Raw>;
  const uint64_t threads = gridDim.x * kBlock, thread = thread_number();
  const PhiloxState state = p.state.here();
  uint32_t n = 0;
  HOTARU_NO_UNROLL
  for (uint64_t first = thread; first < p.numel; first += threads * kValues) {
    Raw raw[kValues];
    D::raw(state.words(thread, n++), raw);
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kValues; ++j)
      if (first + j * threads < p.numel) put(first + j * threads, raw[j]);
  }
}

template <class T, class D>
__device__ void draw(const DrawParams& p) {
  const D d(p);
  for_draws<D>(p, [&](uint64_t i, typename D::Raw raw) {
    uint32_t element[1] = {uint32_t(i)};
    int64_t at[1][1];
    p.index.find(element, at);
    *reinterpret_cast<Stored<T>*>(static_cast<char*>(p.out) + at[0][0]) =
        d.make(raw);
  });
}

template <class T>
__device__ void draw_integer(const DrawParams& p) {
  if (p.wide)
    draw<T, WideInteger<T>>(p);
  else
    draw<T, Integer<T>>(p);
}

template <class T>
__device__ void draw_slopes(const DrawParams& p) {
  using U = Uniform<T>;
  const double range = p.b - p.a;
  for_draws<U>(p, [&](uint64_t i, typename U::Raw u) {
    const double slope = double(rounded<T>(u)) * range + p.a;
    const auto x = widen<T>(static_cast<const Stored<T>*>(p.in)[i]);
    static_cast<Stored<T>*>(p.out)[i] =
        narrow<T>(x <= 0 ? OpMath<T>(slope) : OpMath<T>(1));
  });
}

/// Dropout's own order. With two elements a thread four words last two rounds.
template <class T>
__device__ void draw_kept(const DrawParams& p) {
  const uint64_t threads = gridDim.x * kBlock, thread = thread_number();
  const auto put = [&](uint64_t i, float u) {
    static_cast<Stored<T>*>(p.out)[i] =
        narrow<T>(OpMath<T>(p.wide ? double(u) < p.a : u < float(p.a)));
  };
  const PhiloxState state = p.state.here();
  float u[4];
  if (p.vector == 1) {
    uint32_t n = 0;
    for (uint64_t i = thread; i < p.numel; i += 4 * threads) {
      uniforms(state.words(thread, n++), u);
      HOTARU_UNROLL
      for (uint32_t j = 0; j < 4; ++j)
        if (i + j * threads < p.numel) put(i + j * threads, u[j]);
    }
    return;
  }
  uint32_t used = 0;
  for (uint64_t i = thread * p.vector; i < p.numel; i += threads * p.vector)
    for (uint32_t j = 0; j < p.vector; j += 2, used += 2) {
      if (used % 4 == 0) uniforms(state.words(thread, used / 4), u);
      put(i + j, used % 4 ? u[2] : u[0]);
      put(i + j + 1, used % 4 ? u[3] : u[1]);
    }
}

/// PyTorch compares with doubles where the result is double only.
template <class T>
__device__ void draw_each(const DrawParams& p) {
  using Raw = typename Bernoulli<T>::Raw;
  const uint64_t thread = thread_number();
  float u[4];
  uniforms(p.state.here().words(thread, 0), u);
  HOTARU_UNROLL
  for (uint32_t j = 0; j < 4; ++j) {
    const uint64_t i = thread * 4 + j;
    if (i >= p.numel) return;
    const Raw chance = p.wide ? Raw(static_cast<const double*>(p.in)[i])
                              : Raw(static_cast<const float*>(p.in)[i]);
    static_cast<Stored<T>*>(p.out)[i] =
        narrow<T>(OpMath<T>(Raw(u[j]) <= chance));
  }
}

}  // namespace

#define HOTARU_DRAW_REALS(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(DrawUniform_##suffix, DrawParams, draw<T, Uniform<T>>) \
  HOTARU_CUDA_KERNEL(DrawNormal_##suffix, DrawParams, draw<T, Normal<T>>) \
  HOTARU_CUDA_KERNEL(DrawExponential_##suffix, DrawParams, \
                     draw<T, Exponential<T>>) \
  HOTARU_CUDA_KERNEL(DrawCauchy_##suffix, DrawParams, draw<T, Cauchy<T>>) \
  HOTARU_CUDA_KERNEL(DrawLogNormal_##suffix, DrawParams, \
                     draw<T, LogNormal<T>>) \
  HOTARU_CUDA_KERNEL(DrawSlopes_##suffix, DrawParams, draw_slopes<T>)
HOTARU_DEVICE_TYPES_FloatingTypes(HOTARU_DRAW_REALS, )

#define HOTARU_DRAW_COUNTS(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(DrawGeometric_##suffix, DrawParams, draw<T, Geometric<T>>)
    HOTARU_DEVICE_TYPES_RealTypes(HOTARU_DRAW_COUNTS, )

#define HOTARU_DRAW_ALL(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(DrawBernoulli_##suffix, DrawParams, \
                     draw<T, Bernoulli<T>>) \
  HOTARU_CUDA_KERNEL(DrawInteger_##suffix, DrawParams, draw_integer<T>) \
  HOTARU_CUDA_KERNEL(DrawKept_##suffix, DrawParams, draw_kept<T>) \
  HOTARU_CUDA_KERNEL(DrawEach_##suffix, DrawParams, draw_each<T>)
        HOTARU_DEVICE_TYPES_RealAndBoolTypes(HOTARU_DRAW_ALL, )

}  // namespace hotaru::cuda
