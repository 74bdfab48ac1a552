// Joining tensors, and triangles of matrices: elements are only moved. See
// params/join.h for how they are launched.
#include "hotaru/backend/cuda/device/elements.h"
#include "hotaru/backend/cuda/device/kernel.h"
#include "hotaru/backend/cuda/device/words.h"
#include "hotaru/backend/cuda/params/join.h"

namespace hotaru::cuda {
namespace {

template <class Word>
HOTARU_DEVICE void cat(const CatParams& p) {
  const CatParams::Input& in = p.inputs[blockIdx.y];
  const uint32_t first = blockIdx.x * kStridedItems + threadIdx.x;
  const auto* from = static_cast<const Word*>(in.data);
  Word* to = static_cast<Word*>(p.out) + in.offset;
  if (first >= in.numel) return;
  Word x[kStridedEach];
  HOTARU_UNROLL
  for (uint32_t n = 0; n < kStridedEach; ++n) {
    const uint32_t i = first + n * kBlock;
    x[n] = from[i < in.numel ? i : first];
  }
  HOTARU_UNROLL
  for (uint32_t n = 0; n < kStridedEach; ++n) {
    const uint32_t i = first + n * kBlock;
    if (i >= in.numel) return;
    const uint32_t row = in.row.divide(i);
    to[int64_t(row) * p.out_row + (i - row * in.row.divisor)] = x[n];
  }
}

template <class Word>
HOTARU_DEVICE void triangle(const TriangleParams& p) {
  const uint32_t first = blockIdx.x * kStridedItems + threadIdx.x;
  for_elements<kStridedEach>(
      p.at, first, p.numel, [&](uint32_t position, const int64_t* at) {
        const uint32_t line = p.columns.divide(position);
        const uint32_t column = position - line * p.columns.divisor;
        const uint32_t row = line - p.rows.divide(line) * p.rows.divisor;
        const int64_t right = int64_t(column) - int64_t(row) - p.diagonal;
        const bool stays = p.upper ? right >= 0 : right <= 0;
        *reinterpret_cast<Word*>(static_cast<char*>(p.out) + at[0]) =
            stays ? *reinterpret_cast<const Word*>(
                        static_cast<const char*>(p.in) + at[1])
                  : Word{};
      });
}

}  // namespace

#define HOTARU_WORDS(size, Word) \
  HOTARU_CUDA_KERNEL(Cat_##size, CatParams, cat<Word>) \
  HOTARU_CUDA_KERNEL(Triangle_##size, TriangleParams, triangle<Word>)
HOTARU_WORDS(1, uint8_t)
HOTARU_WORDS(2, uint16_t)
HOTARU_WORDS(4, uint32_t)
HOTARU_WORDS(8, uint64_t)
HOTARU_WORDS(16, Word16)

}  // namespace hotaru::cuda
