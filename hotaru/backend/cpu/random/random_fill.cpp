#include "hotaru/backend/cpu/random/random_fill.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numbers>
#include <type_traits>
#include <utility>

#include "hotaru/backend/cpu/random/box_muller.h"
#include "hotaru/core/boolean.h"
#include "hotaru/core/half.h"

namespace hotaru {

static void box_muller_16(double* values, double mean, double std) {
  for (int j = 0; j < 8; ++j) {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - values[j]));
    const double angle = 2.0 * std::numbers::pi * values[j + 8];
    values[j] = std::fma(radius * std::cos(angle), std, mean);
    values[j + 8] = std::fma(radius * std::sin(angle), std, mean);
  }
}

namespace {

/// Bits of precision.
template <class T>
constexpr int kDigits = std::numeric_limits<T>::digits;
template <>
constexpr int kDigits<Half> = 11;
template <>
constexpr int kDigits<BFloat16> = 8;

template <class T>
constexpr bool kIsReduced =
    std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <class T>
constexpr bool kIsFloating = std::is_floating_point_v<T> || kIsReduced<T>;

/// sink(i, draw) for n 32-bit draws.
template <class Sink>
void draw32(int64_t n, CpuGenerator& gen, const Sink& sink) {
  for (int64_t done = 0; done < n;) {
    int64_t count = n - done;
    const uint32_t* words = gen.take(count);
    for (int64_t i = 0; i < count; ++i)
      sink(done + i, Mt19937::temper(words[i]));
    done += count;
  }
}

/// Type that a type's draws are computed in.
template <class T>
using Compute = std::conditional_t<kIsReduced<T>, float, T>;

/// sink(i, u) for n uniform draws of float or double in [0, 1).
template <class T, class Sink>
void draw_uniform(int64_t n, CpuGenerator& gen, const Sink& sink) {
  if constexpr (std::is_same_v<T, double>) {
    for (int64_t i = 0; i < n; ++i) sink(i, gen.uniform_double());
  } else {
    draw32(n, gen, [&](int64_t i, uint32_t draw) {
      // Through int: SIMD converts int, and 24 bits fit.
      sink(i, float(int32_t(draw & 0xffffffu)) * 0x1p-24f);
    });
  }
}

template <class T>
void normal_serial(T* out, int64_t n, double mean, double std,
                   CpuGenerator& gen) {
  for (int64_t i = 0; i < n; ++i) {
    out[i] =
        static_cast<T>(static_cast<std::conditional_t<kIsReduced<T>, float, T>>(
            std::fma(gen.normal_double(), std, mean)));
  }
}

/// All uniform draws first, then each block; a remainder redraws the last 16.
template <class T>
void normal_blocks(T* out, int64_t n, double mean, double std,
                   CpuGenerator& gen) {
  auto draw = [&](T* at, int64_t count) {
    draw_uniform<T>(count, gen, [&](int64_t i, T u) { at[i] = u; });
  };
  auto block = [&](T* at) {
    box_muller_16(at, static_cast<T>(mean), static_cast<T>(std));
  };
  draw(out, n);
  for (int64_t i = 0; i + 16 <= n; i += 16) block(out + i);
  if (n % 16 != 0) {
    draw(out + n - 16, 16);
    block(out + n - 16);
  }
}

/// The 16-bit types draw and compute in float, one block after another.
template <class T>
void normal_blocks_reduced(T* out, int64_t n, float mean, float std,
                           CpuGenerator& gen) {
  auto block = [&](T* at) {
    float values[16];
    draw_uniform<float>(16, gen, [&](int64_t i, float u) { values[i] = u; });
    box_muller_16(values, mean, std);
    for (int i = 0; i < 16; ++i) at[i] = values[i];
  };
  for (int64_t i = 0; i + 16 <= n; i += 16) block(out + i);
  if (n % 16 != 0) block(out + n - 16);
}

template <class T>
T from_int(int64_t value) {
  if constexpr (kIsReduced<T>)
    return static_cast<T>(float(value));
  else
    return static_cast<T>(value);
}

}  // namespace

template <class T>
void uniform_fill(T* out, int64_t n, double from, double to,
                  CpuGenerator& gen) {
  std::lock_guard lock(gen.mutex());
  using C = Compute<T>;
  const C low = static_cast<C>(from);
  const C width = static_cast<C>(to) - low;
  // A draw that rounds up to the open end becomes the closed one.
  const T first = static_cast<T>(low), end = static_cast<T>(static_cast<C>(to));
  const bool unit = low == 0 && width == 1;
  draw_uniform<C>(n, gen, [&](int64_t i, C u) {
    // One rounding, as PyTorch's build with FMA instructions.
    const T value = static_cast<T>(unit ? u : std::fma(u, width, low));
    out[i] = value == end ? first : value;
  });
}

template <class T>
void normal_fill(T* out, int64_t n, double mean, double std, CpuGenerator& gen,
                 NormalPath path) {
  std::lock_guard lock(gen.mutex());
  if (path == NormalPath::kSerial || n < 16)
    normal_serial(out, n, mean, std, gen);
  else if constexpr (kIsReduced<T>)
    normal_blocks_reduced(out, n, float(mean), float(std), gen);
  else
    normal_blocks(out, n, mean, std, gen);
}

template <class T>
void exponential_fill(T* out, int64_t n, double lambda, CpuGenerator& gen) {
  std::lock_guard lock(gen.mutex());
  for (int64_t i = 0; i < n; ++i) {
    double value = -1.0 / lambda * std::log1p(-gen.uniform_double());
    out[i] = static_cast<Compute<T>>(value);
  }
}

template <class T>
void cauchy_fill(T* out, int64_t n, double median, double sigma,
                 CpuGenerator& gen) {
  std::lock_guard lock(gen.mutex());
  for (int64_t i = 0; i < n; ++i) {
    const double angle = std::numbers::pi * (gen.uniform_double() - 0.5);
    out[i] = static_cast<Compute<T>>(median + sigma * std::tan(angle));
  }
}

template <class T>
void log_normal_fill(T* out, int64_t n, double mean, double std,
                     CpuGenerator& gen) {
  std::lock_guard lock(gen.mutex());
  for (int64_t i = 0; i < n; ++i)
    out[i] = static_cast<Compute<T>>(
        std::exp(std::fma(gen.normal_double(), std, mean)));
}

template <class T>
void geometric_fill(T* out, int64_t n, double p, CpuGenerator& gen) {
  std::lock_guard lock(gen.mutex());
  for (int64_t i = 0; i < n; ++i) {
    const double trials =
        std::ceil(std::log(gen.uniform_double()) / std::log1p(-p));
    if constexpr (kIsFloating<T>)
      out[i] = static_cast<Compute<T>>(trials);
    else  // the uniform number may be 0
      out[i] = from_int<T>(int64_t(std::min(trials, 9e18)));
  }
}

template <class T>
void bernoulli_fill(T* out, int64_t n, double p, CpuGenerator& gen) {
  std::lock_guard lock(gen.mutex());
  for (int64_t i = 0; i < n; ++i)
    out[i] = from_int<T>(gen.uniform_double() < p);
}

template <class T, class P>
void bernoulli_fill(T* out, int64_t n, const P* p, CpuGenerator& gen) {
  std::lock_guard lock(gen.mutex());
  draw_uniform<P>(n, gen,
                  [&](int64_t i, P u) { out[i] = from_int<T>(u < p[i]); });
}

template <class T>
void random_from_to_fill(T* out, int64_t n, uint64_t range, int64_t from,
                         CpuGenerator& gen) {
  std::lock_guard lock(gen.mutex());
  if (range == 0) {
    for (int64_t i = 0; i < n; ++i)
      out[i] = from_int<T>(int64_t(gen.random64()));
  } else if (range >= uint64_t{1} << 28) {
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t offset = gen.random64() % range;
      out[i] = from_int<T>(int64_t(offset + uint64_t(from)));
    }
  } else {
    const auto narrow = uint32_t(range);
    draw32(n, gen, [&](int64_t i, uint32_t draw) {
      out[i] = from_int<T>(int64_t(draw % narrow) + from);
    });
  }
}

template <class T>
void random_full_fill(T* out, int64_t n, CpuGenerator& gen) {
  std::lock_guard lock(gen.mutex());
  if constexpr (std::is_same_v<T, Bool>) {
    draw32(n, gen, [&](int64_t i, uint32_t draw) { out[i] = (draw & 1) != 0; });
  } else if constexpr (sizeof(T) == 8) {
    constexpr uint64_t kRange =
        (uint64_t{1} << kDigits<T>)+(kIsFloating<T> ? 1 : 0);
    for (int64_t i = 0; i < n; ++i)
      out[i] = static_cast<T>(gen.random64() % kRange);
  } else {
    constexpr uint32_t kRange = (1u << kDigits<T>)+(kIsFloating<T> ? 1 : 0);
    draw32(n, gen, [&](int64_t i, uint32_t draw) {
      out[i] = from_int<T>(draw % kRange);
    });
  }
}

template <class T>
void randperm_fill(T* out, int64_t n, CpuGenerator& gen) {
  std::lock_guard lock(gen.mutex());
  for (int64_t i = 0; i < n; ++i) out[i] = from_int<T>(i);
  // PyTorch's bound above which 32 bits would be noticeably uneven.
  const bool wide = n >= std::numeric_limits<uint32_t>::max() / 20;
  for (int64_t i = 0; i < n - 1; ++i) {
    const uint64_t draw = wide ? gen.random64() : gen.random();
    std::swap(out[i], out[i + int64_t(draw % uint64_t(n - i))]);
  }
}

#define HOTARU_INSTANTIATE_FLOATING(T) \
  template void uniform_fill(T*, int64_t, double, double, CpuGenerator&); \
  template void normal_fill(T*, int64_t, double, double, CpuGenerator&, \
                            NormalPath); \
  template void exponential_fill(T*, int64_t, double, CpuGenerator&); \
  template void cauchy_fill(T*, int64_t, double, double, CpuGenerator&); \
  template void log_normal_fill(T*, int64_t, double, double, CpuGenerator&);
#define HOTARU_INSTANTIATE_ANY(T) \
  template void bernoulli_fill(T*, int64_t, double, CpuGenerator&); \
  template void bernoulli_fill(T*, int64_t, const float*, CpuGenerator&); \
  template void bernoulli_fill(T*, int64_t, const double*, CpuGenerator&); \
  template void random_from_to_fill(T*, int64_t, uint64_t, int64_t, \
                                    CpuGenerator&); \
  template void random_full_fill(T*, int64_t, CpuGenerator&); \
  template void randperm_fill(T*, int64_t, CpuGenerator&); \
  template void geometric_fill(T*, int64_t, double, CpuGenerator&);

HOTARU_INSTANTIATE_FLOATING(float)
HOTARU_INSTANTIATE_FLOATING(double)
HOTARU_INSTANTIATE_FLOATING(Half)
HOTARU_INSTANTIATE_FLOATING(BFloat16)
HOTARU_INSTANTIATE_ANY(float)
HOTARU_INSTANTIATE_ANY(double)
HOTARU_INSTANTIATE_ANY(Half)
HOTARU_INSTANTIATE_ANY(BFloat16)
HOTARU_INSTANTIATE_ANY(uint8_t)
HOTARU_INSTANTIATE_ANY(int8_t)
HOTARU_INSTANTIATE_ANY(int16_t)
HOTARU_INSTANTIATE_ANY(int32_t)
HOTARU_INSTANTIATE_ANY(int64_t)
HOTARU_INSTANTIATE_ANY(Bool)

#undef HOTARU_INSTANTIATE_FLOATING
#undef HOTARU_INSTANTIATE_ANY

}  // namespace hotaru
