// Which instruction set the SIMD kernels use.
//
// The best one that the processor has, unless the environment variable
// HOTARU_SIMD names a lower limit when the library is loaded: "avx512",
// "avx2" or "baseline". Other values are ignored.
#pragma once

#include <string>

namespace hotaru {

/// Highway's name of the instruction set in use, e.g. "AVX3" for AVX-512.
std::string simd_target_name();

}  // namespace hotaru
