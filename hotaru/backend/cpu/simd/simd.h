// The one pattern by which a source file compiles its SIMD code once for each
// instruction set and picks one at run time (Google Highway):
//
//   #undef HWY_TARGET_INCLUDE
//   #define HWY_TARGET_INCLUDE "hotaru/backend/cpu/thing.cpp"  // this file
//   #include "hotaru/backend/cpu/simd/simd.h"
//
//   HWY_BEFORE_NAMESPACE();
//   namespace hotaru::HWY_NAMESPACE {
//   namespace hn = hwy::HWY_NAMESPACE;
//   void thing(float* x, int64_t n) { ... }        // compiled once per target
//   }
//   HWY_AFTER_NAMESPACE();
//
//   #if HWY_ONCE
//   namespace hotaru {
//   HWY_EXPORT(thing);
//   void thing(float* x, int64_t n) { HWY_DYNAMIC_DISPATCH(thing)(x, n); }
//   }
//   #endif
//
// Includes of other headers stand before simd.h. There is no #pragma once:
// Highway includes the file again for each target. The targets on x86 are
// AVX-512 (Highway's AVX3), AVX2 with FMA, and for older processors Highway's
// portable fallback, whose vectors may have a single lane. Vectors have a size
// known when compiling, so arrays of them are allowed.
//
// A build for one machine (CMake's HOTARU_SIMD) defines HOTARU_SIMD_ONLY as
// that machine's target: the file is then compiled once, for it alone, with the
// attributes that it has in a build for all, so the code is the same. A file
// that chooses between targets itself undefines the macro before simd.h.

#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | \
   HWY_SVE2_128)
#endif

/// Stands after the parameter list of lambdas in SIMD code: compiles them for
/// the target and always inline, [&](int i) HOTARU_SIMD_LAMBDA { ... }.
#ifndef HOTARU_SIMD_LAMBDA
#define HOTARU_SIMD_LAMBDA HWY_ATTR __attribute__((always_inline))
#endif

// clang-format off
#ifdef HOTARU_SIMD_ONLY
#include <hwy/detect_targets.h>
#undef HWY_TARGET
#define HWY_TARGET HOTARU_SIMD_ONLY
#else
#include <hwy/foreach_target.h>
#endif
#include <hwy/highway.h>
// clang-format on

#ifdef HOTARU_SIMD_ONLY
#undef HWY_EXPORT
#define HWY_EXPORT(name) \
  HWY_MAYBE_UNUSED static decltype(&HWY_NAMESPACE::name) const \
  HWY_DISPATCH_TABLE(name)[1] = {&HWY_NAMESPACE::name}
#undef HWY_DYNAMIC_DISPATCH
#define HWY_DYNAMIC_DISPATCH(name) (*(HWY_DISPATCH_TABLE(name)[0]))
#endif
