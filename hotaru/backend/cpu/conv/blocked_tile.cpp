// The tiles of convolutions on blocked pictures.
#include <array>
#include <type_traits>
#include <utility>

#include "hotaru/backend/cpu/conv/blocked_conv.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/conv/blocked_tile.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/conv/block-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int kVectors = kBlock / kLanes;  // of a block

// Pixels times blocks of accumulators, a weight for each block and a broadcast
// pixel must fit the registers: 32 with AVX-512 and on Arm, else 16. With one
// block the pixel is an operand in memory. With AddressSanitizer all sizes
// would take the compiler five minutes.
constexpr int kMaxPixels[BlockedConvKernels::kMaxBlocks] =
#if HWY_HAS_FEATURE(address_sanitizer) || defined(__SANITIZE_ADDRESS__)
    {3, 2, 0, 0};
#elif HWY_TARGET == HWY_AVX3
    {14, 14, 9, 6};
#elif HWY_TARGET == HWY_AVX2
    {6, 0, 0, 0};
#elif HWY_ARCH_ARM
    {6, 0, 0, 0};
#else
    {2, 0, 0, 0};
#endif

// A tile of one block reads its weights so often that the first-level cache
// must hold them; 32 registers ask half as much of the second.
#if HWY_TARGET == HWY_AVX3
constexpr int64_t kNearWeights = 32 * 1024, kNearPicture = 128 * 1024,
                  kNearSums = 160 * 1024;
#else
constexpr int64_t kNearWeights = 4 * 1024, kNearPicture = 32 * 1024,
                  kNearSums = 80 * 1024;
#endif

/// Keeps the compiler from giving each element an address of its own.
template <class T>
HWY_INLINE T* keep(T* p) {
#if HWY_COMPILER_GCC || HWY_COMPILER_CLANG
  asm("" : "+r"(p));
#endif
  return p;
}

/// Pixels [kBegin, kEnd) of x times one input channel's weights; x is found
/// from two pointers by multiples of 1, 3 and 5 steps, which address arithmetic
/// scales for free.
template <int kBegin, int kEnd, int kBlocks, int kPixels>
HWY_INLINE void multiply(const float* HWY_RESTRICT lower,
                         const float* HWY_RESTRICT upper, int64_t pixel,
                         const float* HWY_RESTRICT w, int64_t w_output,
                         V (&sum)[kPixels][kBlocks * kVectors]) {
  const D d;
  constexpr int kHalf = 7;
  const int64_t pixel3 = 3 * pixel, pixel5 = 5 * pixel;
  V ws[kBlocks * kVectors];
  HWY_UNROLL(8)
  for (int q = 0; q < kBlocks; ++q) HWY_UNROLL(16)
  for (int v = 0; v < kVectors; ++v)
    ws[q * kVectors + v] = hn::LoadU(d, w + q * w_output + v * kLanes);
  HWY_UNROLL(16)
  for (int p = kBegin; p < kEnd; ++p) {
    const float* base = p < kHalf ? lower : upper;
    switch (p % kHalf) {
      case 0:
        break;
      case 1:
        base += pixel;
        break;
      case 2:
        base += pixel * 2;
        break;
      case 3:
        base += pixel3;
        break;
      case 4:
        base += pixel * 4;
        break;
      case 5:
        base += pixel5;
        break;
      default:
        base += pixel3 * 2;
    }
    const V x = hn::Set(d, *base);
    HWY_UNROLL(16)
    for (int i = 0; i < kBlocks * kVectors; ++i)
      sum[p][i] = hn::MulAdd(x, ws[i], sum[p][i]);
  }
}

/// The channels of an input block.
template <int kBegin, int kEnd, int kBlocks, int kPixels>
HWY_INLINE void multiply_block(const float* HWY_RESTRICT x, int64_t pixel,
                               const float* HWY_RESTRICT w, int64_t w_output,
                               V (&sum)[kPixels][kBlocks * kVectors]) {
  if constexpr (kBegin < kEnd) {
    const float* upper = x + 7 * pixel;
    // More would keep weights of two channels and many addresses in registers.
    constexpr int kUnroll =
        (kEnd - kBegin) * kBlocks * kVectors <= kBlock ? 2 : 1;
    for (int c = 0; c < kBlock; c += kUnroll) {
      HWY_UNROLL(2)
      for (int u = 0; u < kUnroll; ++u)
        multiply<kBegin, kEnd, kBlocks>(x + u, upper + u, pixel, w + u * kBlock,
                                        w_output, sum);
      x += kUnroll;
      upper += kUnroll;
      w += kUnroll * kBlock;
    }
  }
}

template <int kPixels, int kBlocks, TileForm kForm>
void tile(const BlockedTile& t) {
  const D d;
  constexpr int kColumns = kBlocks * kVectors;
  V sum[kPixels][kColumns];
  HWY_UNROLL(8)
  for (int q = 0; q < kBlocks; ++q) HWY_UNROLL(16)
  for (int v = 0; v < kVectors; ++v) {
    const int i = q * kVectors + v;
    if (t.shift) {
      const V shift = hn::LoadU(d, t.shift + q * kBlock + v * kLanes);
      HWY_UNROLL(16)
      for (int p = 0; p < kPixels; ++p) sum[p][i] = shift;
    } else {
      const float* y = t.y + q * t.y_output + v * kLanes;
      HWY_UNROLL(16)
      for (int p = 0; p < kPixels; ++p)
        sum[p][i] = hn::LoadU(d, y + p * kBlock);
    }
  }

  const int64_t pixel = t.pixel, w_output = t.w_output;
  if constexpr (kForm == TileForm::kOneTap) {
    const float* HWY_RESTRICT x = t.x;
    const float* HWY_RESTRICT w = t.w;
    const int64_t block = t.block;
    for (int64_t b = t.blocks; b > 0; --b, x += block, w += kBlock * kBlock)
      multiply_block<0, kPixels, kBlocks>(x, pixel, w, w_output, sum);
  } else {
    [[maybe_unused]] const float* ahead = t.ahead;
    for (int64_t b = 0; b < t.blocks; ++b) {
      const float* HWY_RESTRICT w = t.w + b * t.w_block;
      const float* row = t.x + b * t.block;
      for (int64_t r = 0; r < t.rows; ++r, row += t.row) {
        const float* HWY_RESTRICT x = row;
        if constexpr (kForm == TileForm::kPlain) {
          for (int64_t k = 0; k < t.columns; ++k, x += t.column, w += kBlock)
            multiply<0, kPixels, kBlocks>(x, x + 7 * pixel, pixel, w, w_output,
                                          sum);
        } else {
          for (int64_t k = 0; k < t.columns; ++k) {
            for (int64_t i = 0; i < t.ahead_lines && ahead < t.ahead_end; ++i) {
              HWY_UNROLL(8)
              for (int q = 0; q < kBlocks; ++q)
                __builtin_prefetch(ahead + q * w_output, 0, 2);
              ahead += kBlock;
            }
            switch (t.edges[k]) {
              case TileEdge::kNone:
                multiply_block<0, kPixels, kBlocks>(x, pixel, w, w_output, sum);
                break;
              case TileEdge::kFirst:
                multiply_block<1, kPixels, kBlocks>(x, pixel, w, w_output, sum);
                break;
              case TileEdge::kLast:
                multiply_block<0, kPixels - 1, kBlocks>(x, pixel, w, w_output,
                                                        sum);
                break;
              case TileEdge::kBoth:
                multiply_block<1, kPixels - 1, kBlocks>(x, pixel, w, w_output,
                                                        sum);
                break;
              case TileEdge::kNothing:
                break;
            }
            x += t.column;
            w += kBlock * kBlock;
          }
        }
      }
    }
  }

  // Copies, because a store might change what t refers to.
  const bool more = t.finish && t.residual;
  const SumBounds bounds = t.finish ? t.bounds : SumBounds();
  float* to[kBlocks];
  const float* from[kBlocks];
  HWY_UNROLL(8)
  for (int q = 0; q < kBlocks; ++q) {
    to[q] = keep(t.y + q * t.y_output);
    from[q] = keep((t.residual ? t.residual : t.y) + q * t.y_output);
  }
  // In the order in which sums are done.
  with_ending(more, bounds, [&](const auto& last) HOTARU_SIMD_LAMBDA {
    HWY_UNROLL(16)
    for (int p = 0; p < kPixels; ++p) HWY_UNROLL(8)
    for (int q = 0; q < kBlocks; ++q) HWY_UNROLL(16)
    for (int v = 0; v < kVectors; ++v) {
      const int at = p * kBlock + v * kLanes;
      hn::StoreU(last(sum[p][q * kVectors + v], from[q] + at), d, to[q] + at);
    }
  });
}

using Tile = BlockedConvKernels::Tile;

template <int kBlocks, TileForm kForm, size_t... kPixel>
constexpr std::array<Tile, sizeof...(kPixel)> tiles(
    std::index_sequence<kPixel...>) {
  return {&tile<int(kPixel) + 1, kBlocks, kForm>...};
}

template <int kBlocks, TileForm kForm>
Tile tile_of(int pixels) {
  constexpr int kMost = kMaxPixels[kBlocks - 1];
  if constexpr (kMost > 0) {
    static constexpr auto kTiles =
        tiles<kBlocks, kForm>(std::make_index_sequence<size_t(kMost)>());
    return kTiles[size_t(pixels) - 1];
  } else {
    return nullptr;
  }
}

template <TileForm kForm>
Tile tile_of(int pixels, int blocks) {
  switch (blocks) {
    case 1:
      return tile_of<1, kForm>(pixels);
    case 2:
      return tile_of<2, kForm>(pixels);
    case 3:
      return tile_of<3, kForm>(pixels);
    default:
      return tile_of<4, kForm>(pixels);
  }
}

Tile find_tile(int pixels, int blocks, TileForm form) {
  switch (form) {
    case TileForm::kBlocked:
      return tile_of<TileForm::kBlocked>(pixels, blocks);
    case TileForm::kOneTap:
      return tile_of<TileForm::kOneTap>(pixels, blocks);
    default:
      return tile_of<TileForm::kPlain>(pixels, blocks);
  }
}

BlockedConvKernels tile_kernels() {
  return {{kMaxPixels[0], kMaxPixels[1], kMaxPixels[2], kMaxPixels[3]},
          &find_tile,
          kNearWeights,
          kNearPicture,
          kNearSums};
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

HWY_EXPORT(tile_kernels);

const BlockedConvKernels& blocked_conv_kernels() {
  static const BlockedConvKernels table = HWY_DYNAMIC_DISPATCH(tile_kernels)();
  return table;
}

}  // namespace hotaru::cpu
#endif
