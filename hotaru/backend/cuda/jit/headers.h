// Headers of hotaru's kernels as texts, for kernels that are compiled where a
// program runs; and what NVRTC lacks of the standard library. headers.cpp is
// written by CMake.
#pragma once

#include <cstdint>
#include <span>

namespace hotaru::cuda::jit {

struct HeaderText {
  const char* name;
  const char* text;
};

std::span<const HeaderText> header_texts();
/// Changes with any of them.
uint64_t headers_version();

}  // namespace hotaru::cuda::jit
