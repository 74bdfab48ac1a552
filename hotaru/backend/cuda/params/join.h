// Parameters of the kernels that join, cut and pad tensors, and how they are
// launched.
//
//   Cat_<bytes>            CatParams       grid cat_blocks by inputs
//   Triangle_<bytes>       TriangleParams  out may be in
//   Pad_<bytes>            PadParams
//   PadTransposed_<suffix> PadParams       adds each element of out to where it
//                                          came from in `in`; zeros lie there
//   PadTargets             PadParams       where it does; see
//                                          params/index/ordered.h
//
// Blocks have kBlock threads and kStridedItems elements, no shared memory;
// threads do not wait for each other.
#pragma once

#include "hotaru/backend/cuda/params/pointwise.h"

namespace hotaru::cuda {

/// Each input is rows, one after another, that go into the rows of the output
/// at an offset. Counted in words of the kernel's size.
struct CatParams {
  static constexpr uint32_t kMost = 64;
  struct Input {
    const void* data = nullptr;
    int64_t offset = 0;
    uint32_t numel = 0;
    Divider row;
  };

  void* out = nullptr;
  int64_t out_row = 0;
  Input inputs[kMost];
};

/// Keeps columns from row + diagonal on, or those up to there; 0 elsewhere.
struct TriangleParams {
  void* out = nullptr;
  const void* in = nullptr;
  uint32_t numel = 0;
  bool upper = false;
  int64_t diagonal = 0;
  Divider rows, columns;
  /// In row-major order. Operands: out, in.
  Index<2> at;
};

/// Contents outside of the input; the modes of common/shape/pad.h.
enum class Outside : uint8_t { kValue, kReflect, kReplicate, kCircular };

/// The output lies row by row.
struct PadParams {
  static constexpr int kMaxDims = 16;
  struct Dim {
    Divider out;
    int64_t in = 1, step = 0, before = 0;
  };

  void* out = nullptr;
  void* in = nullptr;
  uint32_t numel = 0;
  Outside outside = Outside::kValue;
  int32_t dims = 0;
  /// The innermost first; steps in bytes.
  Dim dim[kMaxDims];
  alignas(16) std::byte value[16] = {};
  /// Targets of PadTargets, in bytes.
  int64_t* targets = nullptr;
};

}  // namespace hotaru::cuda
