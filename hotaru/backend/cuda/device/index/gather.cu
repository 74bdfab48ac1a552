// Reading and writing at indices where elements are only moved. See
// params/index/gather.h for how they are launched.
#include "hotaru/backend/cuda/device/index/indexed.h"
#include "hotaru/backend/cuda/device/words.h"

namespace hotaru::cuda {
namespace {

template <class Word>
__device__ void gather(const IndexedParams& p) {
  for_indexed(p, [](char* part, const char* whole) {
    *reinterpret_cast<Word*>(part) =
        whole ? *reinterpret_cast<const Word*>(whole) : Word{};
  });
}

template <class Word>
__device__ void scatter(const IndexedParams& p) {
  for_indexed(p, [](const char* part, char* whole) {
    if (whole)
      *reinterpret_cast<Word*>(whole) = *reinterpret_cast<const Word*>(part);
  });
}

__device__ void index_offsets(const OffsetsParams& p) {
  const uint32_t first = blockIdx.x * kStridedItems + threadIdx.x;
  HOTARU_NO_UNROLL
  for (uint32_t n = 0; n < kStridedEach; ++n) {
    const uint32_t position = first + n * kBlock;
    if (position >= p.numel) return;
    uint32_t rest = position;
    int64_t offset = 0;
    int64_t bytes[OffsetsParams::kMost];
    HOTARU_UNROLL
    for (int k = 0; k < OffsetsParams::kMost; ++k) bytes[k] = 0;
    HOTARU_NO_UNROLL
    for (int d = 0; d < p.at.dims; ++d) {
      const uint32_t above = p.at.sizes[d].divide(rest);
      const auto here = int64_t(rest - above * p.at.sizes[d].divisor);
      rest = above;
      HOTARU_UNROLL
      for (int k = 0; k < OffsetsParams::kMost; ++k)
        bytes[k] += here * p.at.strides[d][k];
    }
    HOTARU_UNROLL
    for (int k = 0; k < OffsetsParams::kMost; ++k) {
      if (k >= p.count) continue;
      const int64_t given = *reinterpret_cast<const int64_t*>(
          static_cast<const char*>(p.indices[k]) + bytes[k]);
      const int64_t at = given < 0 ? given + p.sizes[k] : given;
      const bool inside = uint64_t(at) < uint64_t(p.sizes[k]);
      if (!inside) report_error(p.errors, k, given, p.sizes[k]);
      offset = inside && offset >= 0 ? offset + at * p.steps[k] : -1;
    }
    p.out[position] = offset;
  }
}

}  // namespace

#define HOTARU_WORDS(size, Word) \
  HOTARU_CUDA_KERNEL(Gather_##size, IndexedParams, gather<Word>) \
  HOTARU_CUDA_KERNEL(Scatter_##size, IndexedParams, scatter<Word>)
HOTARU_WORDS(1, uint8_t)
HOTARU_WORDS(2, uint16_t)
HOTARU_WORDS(4, uint32_t)
HOTARU_WORDS(8, uint64_t)
HOTARU_WORDS(16, Word16)
HOTARU_CUDA_KERNEL(IndexOffsets, OffsetsParams, index_offsets)

}  // namespace hotaru::cuda
