#include "hotaru/backend/cpu/simd/simd_target.h"

#include <hwy/targets.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "hotaru/platform/processors.h"

namespace hotaru {
namespace {

/// HOTARU_SIMD in the environment; empty without one.
std::string_view limit() {
  const char* text = std::getenv("HOTARU_SIMD");
  return text ? text : "";
}

}  // namespace
}  // namespace hotaru

// Functions that Highway's headers ask their library for, answered here: all
// they need is which targets the processor has, while the library measures the
// timer's resolution each time it is loaded, a twentieth of `import hotaru`.
namespace hwy {
namespace {

/// Detects the targets that simd.h compiles for.
int64_t detected() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  // Every processor with these has the rest of what Highway calls AVX2.
  const bool avx2 = __builtin_cpu_supports("avx2") &&
                    __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi2");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512cd") &&
                      __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vl");
  return (avx2 ? HWY_AVX2 : 0) | (avx512 ? HWY_AVX3 : 0);
#else
  return 0;
#endif
}

/// "avx2" or "baseline" leave better ones out.
int64_t allowed() {
  const std::string_view limit = hotaru::limit();
  if (limit == "avx2") return ~int64_t{HWY_AVX3};
  if (limit == "baseline") return ~int64_t{HWY_AVX3 | HWY_AVX2};
  return -1;
}

}  // namespace

int64_t SupportedTargets() {
  static const int64_t targets = (detected() & allowed()) | HWY_STATIC_TARGET;
  return targets;
}

ChosenTarget& GetChosenTarget() {
  static ChosenTarget chosen;
  return chosen;
}

/// Ends the process where asserts of debug and sanitizer builds fail.
void Abort(const char*, int, const char*, ...) {
  std::abort();
}

}  // namespace hwy

namespace hotaru {

namespace {

#ifdef HOTARU_SIMD_ONLY
constexpr int64_t kCompiled = HOTARU_SIMD_ONLY;
#else
constexpr int64_t kCompiled =
    HWY_AVX3 | HWY_AVX2 | HWY_NEON | HWY_EMU128 | HWY_SCALAR;
#endif

/// Ends a process whose processor lacks what the kernels were compiled for,
/// with a sentence, before the first of them is an illegal instruction. Runs
/// ahead of the library's other constructors, which call kernels' sources.
[[gnu::constructor(101)]] void check_target() {
  if (hwy::SupportedTargets() & kCompiled) return;
  std::fprintf(
      stderr,
      "hotaru: this library was built for processors with %s alone, which %s: "
      "build it on this machine, or for every one (-DHOTARU_SIMD=all)\n",
      hwy::TargetName(kCompiled),
      limit().empty() ? "this one lacks" : "HOTARU_SIMD leaves out here");
  std::_Exit(1);
}

}  // namespace

std::string simd_target_name() {
  // The lowest bit of those supported and compiled is the best one.
  const int64_t usable = hwy::SupportedTargets() & kCompiled;
  return hwy::TargetName(usable & -usable);
}

bool simd_is_built_alone() {
#ifdef HOTARU_SIMD_ONLY
  return true;
#else
  return false;
#endif
}

namespace {

#if defined(__x86_64__)
/// AVX-512, and more of it than HOTARU_SIMD=avx512 leaves.
bool has_all_of_avx512() {
  return limit() != "avx512" && (hwy::SupportedTargets() & HWY_AVX3) != 0;
}

/// Tiles with products of bfloat16 and bytes, which the system saves (Intel's
/// manual, volume 1, 18.1).
bool processor_has_tiles() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  constexpr unsigned kBf16 = 1u << 22, kTile = 1u << 24, kInt8 = 1u << 25;
  constexpr unsigned kAll = kBf16 | kTile | kInt8;
  if ((d & kAll) != kAll) return false;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return false;
  unsigned low = 0, high = 0;
  asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  constexpr unsigned kTileState = 3u << 17;
  return (low & kTileState) == kTileState;
}

#endif

}  // namespace

#if defined(__x86_64__)
bool simd_has_bf16_products() {
  return has_all_of_avx512() && __builtin_cpu_supports("avx512bf16");
}
bool simd_has_int8_products() {
  return has_all_of_avx512() && __builtin_cpu_supports("avx512vnni");
}
bool simd_has_byte_permutations() {
  return has_all_of_avx512() && __builtin_cpu_supports("avx512vbmi");
}
bool simd_has_tiles() {
  static const bool has = has_all_of_avx512() && limit() != "avx512-vectors" &&
                          processor_has_tiles() &&
                          platform::request_tile_state();
  return has;
}
bool simd_is_intel() {
  return __builtin_cpu_is("intel");
}
#else
bool simd_has_bf16_products() {
  return false;
}
bool simd_has_int8_products() {
  return false;
}
bool simd_has_byte_permutations() {
  return false;
}
bool simd_has_tiles() {
  return false;
}
bool simd_is_intel() {
  return false;
}
#endif

bool simd_emulates_tiles() {
  return limit() == "amx-emulated";
}

}  // namespace hotaru
