// NCCL, opened when a collective first needs it.
#pragma once

#include <string>

#include "hotaru/backend/cuda/libraries/library.h"
#include "hotaru/backend/cuda/libraries/nccl_entries.h"

namespace hotaru::cuda {

struct Nccl {
  static constexpr const char* kName = "NCCL";
  OpenedLibrary library = open_library({"libnccl.so.2"});
#define HOTARU_MEMBER(name, symbol, params) int(*name) params = nullptr;
  HOTARU_NCCL_ENTRIES(HOTARU_MEMBER)
#undef HOTARU_MEMBER
#define HOTARU_MEMBER(name, symbol, params) const char*(*name)params = nullptr;
  HOTARU_NCCL_TEXT_ENTRIES(HOTARU_MEMBER)
#undef HOTARU_MEMBER

  Nccl();
  std::string version_text() const;
  /// Throws DistBackendError with NCCL's words unless the status is 0.
  void check(int status, const char* call) const;
};

/// Throws Error where it is not here.
const Nccl& nccl_library();
DeviceLibrary nccl_report();

}  // namespace hotaru::cuda
