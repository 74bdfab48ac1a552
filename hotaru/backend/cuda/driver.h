// The CUDA driver as a table of functions, found in libcuda.so.1 when first
// asked for. Nothing of CUDA is linked, and importing hotaru opens nothing.
//
// HOTARU_CUDA_DRIVER in the environment chooses another library: `soft` or
// `soft:N` is the GPU in software with N devices (backend/soft_gpu), any other
// value a path.
#pragma once

#include <memory>
#include <string>

#include "hotaru/backend/cuda/driver_entries.h"

namespace hotaru::cuda {

struct Driver {
#define HOTARU_CUDA_MEMBER(name, symbol, params) \
  CUresult(*name) params = nullptr;
  HOTARU_CUDA_ENTRIES(HOTARU_CUDA_MEMBER)
  HOTARU_CUDA_GRAPH_ENTRIES(HOTARU_CUDA_MEMBER)
  HOTARU_CUDA_EDGE_ENTRIES(HOTARU_CUDA_MEMBER)
#undef HOTARU_CUDA_MEMBER

  /// 1000 * major + 10 * minor of the CUDA that the driver supports.
  int version = 0;
  /// Path that was opened, for messages.
  std::string path;
  bool in_software = false;

  /// Set if it has every entry of graphs, and of their edges.
  bool has_graphs = false, has_edges = false;

  /// True if this is the GPU in software: a test instrument, no GPU.
  bool soft() const {
    return in_software;
  }
};

/// The oldest driver that has every entry: CUDA 12.0.
inline constexpr int kOldestDriver = 12000;

/// The process's driver, looked for once; null and the reason if there is none.
/// cuInit is the caller's.
const Driver* load_driver(std::string& why_not);

/// The driver that a value of HOTARU_CUDA_DRIVER means (null or empty: the
/// machine's own); null and the reason if it cannot be used.
std::unique_ptr<const Driver> open_driver(const char* choice,
                                          std::string& why_not);

/// Throws hotaru::Error with PyTorch's text, e.g. "CUDA error: out of memory",
/// and below it the call that reported it, unless the result is success.
void check(CUresult result, const char* what);

}  // namespace hotaru::cuda
