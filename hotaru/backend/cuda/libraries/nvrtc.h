// NVRTC, where it is: the compiler of CUDA source text. It needs no GPU.
#pragma once

#include "hotaru/backend/cuda/libraries/library.h"
#include "hotaru/backend/cuda/libraries/nvrtc_entries.h"

namespace hotaru::cuda {

struct Nvrtc {
  static constexpr const char* kName = "NVRTC";
  OpenedLibrary library;
#define HOTARU_MEMBER(name, symbol, params) int(*name) params = nullptr;
  HOTARU_NVRTC_ENTRIES(HOTARU_MEMBER)
#undef HOTARU_MEMBER

  Nvrtc();
  std::string version_text() const;
};

/// Throws Error that says why there is none and what to do.
const Nvrtc& needed_nvrtc();

DeviceLibrary nvrtc_report();

}  // namespace hotaru::cuda
