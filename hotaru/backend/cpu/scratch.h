// Aligned working memory that a thread keeps between kernel calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace hotaru {

inline constexpr std::align_val_t kScratchAlignment{64};

/// Uninitialised memory for count elements, aligned for SIMD.
template <class T>
T* aligned_new(int64_t count) {
  return static_cast<T*>(
      ::operator new(size_t(count) * sizeof(T), kScratchAlignment));
}

template <class T>
void aligned_delete(T* p) {
  ::operator delete(p, kScratchAlignment);
}
/// Deleter of a unique_ptr.
struct AlignedDelete {
  template <class T>
  void operator()(T* p) const {
    aligned_delete(p);
  }
};

/// Buffers that kernels may hold at the same time.
enum class ScratchUse {
  kGemmA,
  kGemmB,
  kConv,
  kConvPatches,
  kConvOutput,
  kConvBlocks,
  kRnn,
  kInt8Columns,
  kInt8Zeros,
  kInt8Weights,
  kBf16A,
  kBf16Columns,
  kBf16Rows,
  kReducedSums,
  kAttentionKeys,
  kAttentionValues,
  kAttentionScores,
  kAttentionPacks,
  kNarrowRows,
  kNarrowSums,
  kNarrowPanel,
  kNarrowScales,
  kNarrowQuads,
  kAttention,
  kTileRows,
  kTileOffsets,
  kPanelLines,
  kTurnedA,
  kTurnedSums,
  kCount
};

namespace detail {
void* scratch_bytes(ScratchUse use, size_t bytes);
}  // namespace detail

/// The calling thread's buffer for a use, of at least count elements. Valid
/// until the same thread asks for the same use again or ends a call, with which
/// its buffers go to the next caller (runtime/threads/admission.h).
template <class T>
T* scratch(ScratchUse use, int64_t count) {
  return static_cast<T*>(detail::scratch_bytes(use, size_t(count) * sizeof(T)));
}

}  // namespace hotaru
