// Which instruction set the SIMD kernels use.
//
// The best one that the processor has, unless the environment variable
// HOTARU_SIMD names a lower limit when the library is loaded: "avx512-vectors"
// (without AMX), "avx512" (without its instructions for bfloat16 and bytes,
// either), "avx2" or "baseline". "amx-emulated" computes what AMX would on any
// processor, slowly, for tests. Other values are ignored.
#pragma once

#include <string>

namespace hotaru {

/// Highway's name of the instruction set in use, e.g. "AVX3" for AVX-512.
std::string simd_target_name();

/// Tells whether the kernels were compiled for that instruction set alone
/// (CMake's HOTARU_SIMD). Such a library ends a process without it, or whose
/// HOTARU_SIMD leaves it out, with a sentence when it is loaded.
bool simd_is_built_alone();

/// Tells whether AVX-512's products of bfloat16 may be used (AVX512-BF16).
bool simd_has_bf16_products();

/// Tells whether AVX-512's products of four bytes may be used (AVX512-VNNI).
bool simd_has_int8_products();

/// Tells whether AVX-512's permutations of bytes may be used (AVX512-VBMI).
bool simd_has_byte_permutations();

/// Tells whether AMX's tiles of bfloat16 and bytes may be used: the processor
/// has them, and the system lets this process, which is asked for at the first
/// call.
bool simd_has_tiles();

/// Tells whether those are to be emulated.
bool simd_emulates_tiles();

/// Tells whether the processor is Intel's, whose servers read less a core,
/// later.
bool simd_is_intel();

}  // namespace hotaru
