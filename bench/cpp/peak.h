// The machine's peak of fused multiply-adds of floats, and the share of it that
// a kernel reaches. Clocks depend on what else the host computes, and on how
// heavy a core's instructions are, so that both are measured in turns.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::bench {

#if defined(__x86_64__)
/// Flops per iteration of sixteen independent chains of multiply-adds.
template <int kBytes>
struct Chains {
  typedef float Vec __attribute__((vector_size(kBytes)));
  static constexpr double kFlops = 16.0 * 2 * kBytes / sizeof(float);
};

#define HOTARU_PEAK_LOOP(name, target_name, bytes) \
  __attribute__((target(target_name))) inline double name(int64_t rounds) { \
    using Vec = Chains<bytes>::Vec; \
    Vec x[16], a, b; \
    a = Vec{} + 0.999f; \
    b = Vec{} + 0.001f; \
    for (Vec & v : x) v = a; \
    for (int64_t r = 0; r < rounds; ++r) { \
      asm volatile("" : "+x"(a), "+x"(b)); \
      _Pragma("GCC unroll 16") for (Vec & v : x) v = v * a + b; \
    } \
    for (Vec & v : x) asm volatile("" : : "x"(v)); \
    return Chains<bytes>::kFlops * static_cast<double>(rounds); \
  }
HOTARU_PEAK_LOOP(peak_avx512, "avx512f,fma", 64)
HOTARU_PEAK_LOOP(peak_avx2, "avx2,fma", 32)
HOTARU_PEAK_LOOP(peak_sse2, "sse2", 16)
#undef HOTARU_PEAK_LOOP

/// Returns the flops that it did.
inline double peak_loop(int64_t rounds) {
  if (__builtin_cpu_supports("avx512f")) return peak_avx512(rounds);
  if (__builtin_cpu_supports("avx2")) return peak_avx2(rounds);
  return peak_sse2(rounds);
}
#else
inline double peak_loop(int64_t rounds) {
  float x[64];
  std::fill(x, x + 64, 1.0f);
  for (int64_t r = 0; r < rounds; ++r) {
    for (float& v : x) v = v * 0.999f + 0.001f;
    asm volatile("" : : "r"(x) : "memory");
  }
  return 128.0 * static_cast<double>(rounds);
}
#endif

/// Seconds that f takes.
template <class F>
double seconds(const F& f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  const std::chrono::duration<double> time =
      std::chrono::steady_clock::now() - begin;
  return time.count();
}

/// Flops per second of that many threads on registers alone, over some time. A
/// core that computed something lighter needs a while to get there; it is left
/// out.
inline double peak_flops(int threads, double time) {
  static const double rounds_per_second = [] {
    peak_loop(100'000);
    return 20'000 / seconds([] { peak_loop(20'000); });
  }();
  const auto rounds =
      static_cast<int64_t>(std::max(2e-5, time) * rounds_per_second);
  double flops = 0;
  const auto run = [&](int64_t n) {
    parallel_for(0, threads, 1, [&](int64_t begin, int64_t end) {
      for (; begin < end; ++begin) {
        const double done = peak_loop(n);
        if (begin == 0) flops = done * threads;
      }
    });
  };
  run(rounds / 2);
  const double taken = seconds([&] { run(rounds); });
  return flops / taken;
}

/// The share of the peak at which f computes so many flops: the median of many
/// runs, each between two measurements of the peak.
template <class F>
double share_of_peak(const F& f, double flops, int threads) {
  f();
  const double once = std::max(1e-7, seconds(f));
  // Clocks tick every few ten nanoseconds; so many calls hide that.
  const auto calls = static_cast<int64_t>(std::max(1.0, 5e-5 / once));
  const double time = once * static_cast<double>(calls);
  const auto rounds = static_cast<int64_t>(std::clamp(0.5 / time, 15.0, 400.0));
  std::vector<double> shares;
  double before = peak_flops(threads, time / 4);
  for (int64_t r = 0; r < rounds; ++r) {
    f();  // its data is near again
    const double taken = seconds([&] {
      for (int64_t i = 0; i < calls; ++i) f();
    });
    const double after = peak_flops(threads, time / 4);
    const double rate = flops * static_cast<double>(calls) / taken;
    shares.push_back(rate / ((before + after) / 2));
    before = after;
  }
  std::nth_element(shares.begin(), shares.begin() + rounds / 2, shares.end());
  return shares[static_cast<size_t>(rounds / 2)];
}

}  // namespace hotaru::bench
