// The tiles of convolutions on blocked pictures, by what they multiply.

// Guarded by Highway's toggle, as it is included once for each target.
#if defined(HOTARU_BLOCKED_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HOTARU_BLOCKED_TILE_INL_H_
#undef HOTARU_BLOCKED_TILE_INL_H_
#else
#define HOTARU_BLOCKED_TILE_INL_H_
#endif

#include <array>
#include <type_traits>
#include <utility>

#include "hotaru/backend/cpu/conv/blocked/block-inl.h"
#include "hotaru/backend/cpu/simd/pairs-inl.h"

// Loops over single floats are as good as what they unroll to, and a tenth of
// it.
#undef HOTARU_TILE_UNROLL
#if HWY_TARGET == HWY_SCALAR
#define HOTARU_TILE_UNROLL(n) HWY_UNROLL(1)
#else
#define HOTARU_TILE_UNROLL(n) HWY_UNROLL(n)
#endif

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

/// Products of floats.
struct FloatProducts {
  /// 32-bit words that a pixel has of a block of the picture.
  static constexpr int kWords = kBlock;
  static constexpr bool kPairs = false;
  static HWY_INLINE void add(V& sum, V x, V w) { sum = hn::MulAdd(x, w, sum); }
  static HWY_INLINE void add_each(V& sum, const float* x, V w) {
    add(sum, hn::Set(D(), *x), w);
  }
};

/// Products of pairs of bfloat16, which lie in words.
#if HWY_TARGET == HWY_AVX3
struct Bf16Products : hotaru::HWY_NAMESPACE::PairProducts {
  static HWY_INLINE void add_each(V& sum, const float* x, V w) {
    asm("vdpbf16ps %2%{1to16%}, %1, %0" : "+v"(sum.raw) : "v"(w.raw), "m"(*x));
  }
#else
struct Bf16Products : hotaru::HWY_NAMESPACE::SplitProducts {
  static HWY_INLINE void add_each(V& sum, const float* x, V w) {
    add(sum, hn::Set(D(), *x), w);
  }
#endif
  static constexpr int kWords = kBlock / 2;
  static constexpr bool kPairs = true;
};

/// Keeps the compiler from giving each element an address of its own.
template <class T>
HWY_INLINE T* keep(T* p) {
#if HWY_COMPILER_GCC || HWY_COMPILER_CLANG
  asm("" : "+r"(p));
#endif
  return p;
}

/// Pixels [kBegin, kEnd) of x times the weights of an input channel, or a pair;
/// x is found from two pointers by multiples of 1, 3 and 5 steps, which address
/// arithmetic scales for free.
template <class P, int kBegin, int kEnd, int kBlocks, int kPixels>
HWY_INLINE void multiply(const float* HWY_RESTRICT lower,
                         const float* HWY_RESTRICT upper, int64_t pixel,
                         const float* HWY_RESTRICT w, int64_t w_output,
                         V (&sum)[kPixels][kBlocks * kVectors]) {
  const D d;
  constexpr int kHalf = 7;
  const int64_t pixel3 = 3 * pixel, pixel5 = 5 * pixel;
  V ws[kBlocks * kVectors];
  HOTARU_TILE_UNROLL(8)
  for (int q = 0; q < kBlocks; ++q) HOTARU_TILE_UNROLL(16)
  for (int v = 0; v < kVectors; ++v)
    ws[q * kVectors + v] = hn::LoadU(d, w + q * w_output + v * kLanes);
  HOTARU_TILE_UNROLL(16)
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
    if constexpr (kBlocks * kVectors == 1) {
      P::add_each(sum[p][0], base, ws[0]);
    } else {
      const V x = hn::Set(d, *base);
      HOTARU_TILE_UNROLL(16)
      for (int i = 0; i < kBlocks * kVectors; ++i) P::add(sum[p][i], x, ws[i]);
    }
  }
}

/// The channels of an input block.
template <class P, int kBegin, int kEnd, int kBlocks, int kPixels>
HWY_INLINE void multiply_block(const float* HWY_RESTRICT x, int64_t pixel,
                               const float* HWY_RESTRICT w, int64_t w_output,
                               V (&sum)[kPixels][kBlocks * kVectors]) {
  if constexpr (kBegin < kEnd) {
    const float* upper = x + 7 * pixel;
    // More would keep weights of two channels and many addresses in registers.
    constexpr int kUnroll =
        (kEnd - kBegin) * kBlocks * kVectors <= kBlock ? 2 : 1;
    for (int c = 0; c < P::kWords; c += kUnroll) {
      HOTARU_TILE_UNROLL(2)
      for (int u = 0; u < kUnroll; ++u)
        multiply<P, kBegin, kEnd, kBlocks>(x + u, upper + u, pixel,
                                           w + u * kBlock, w_output, sum);
      x += kUnroll;
      upper += kUnroll;
      w += kUnroll * kBlock;
    }
  }
}

/// Stores sums as bfloat16, with what follows them.
template <int kBlocks, int kPixels>
HWY_INLINE void store_rounded(const BlockedTile& t,
                              const V (&sum)[kPixels][kBlocks * kVectors]) {
  const V low = hn::Set(D(), t.bounds.low), high = hn::Set(D(), t.bounds.high);
  const auto store = [&](const auto& last) HOTARU_SIMD_LAMBDA {
    HOTARU_TILE_UNROLL(8)
    for (int q = 0; q < kBlocks; ++q) {
      auto* const to = keep(reinterpret_cast<BFloat16*>(t.y + q * t.y_output));
      HOTARU_TILE_UNROLL(16)
      for (int p = 0; p < kPixels; ++p) HOTARU_TILE_UNROLL(16)
      for (int v = 0; v < kVectors; ++v) {
        const int at = p * kBlock + v * kLanes;
        hotaru::HWY_NAMESPACE::store_rounded<Bf16Products>(
            bounded(last(sum[p][q * kVectors + v], q, at), low, high), to + at);
      }
    }
  };
  if (t.residual)
    store([&](V v, int q, int at) HOTARU_SIMD_LAMBDA {
      const auto* more =
          reinterpret_cast<const BFloat16*>(t.residual + q * t.y_output);
      return hn::Add(v, hotaru::HWY_NAMESPACE::load_bf16(D(), more + at));
    });
  else
    store([](V v, int, int) HOTARU_SIMD_LAMBDA { return v; });
}

template <class P, int kPixels, int kBlocks, TileForm kForm>
void tile(const BlockedTile& t) {
  const D d;
  constexpr int kColumns = kBlocks * kVectors;
  V sum[kPixels][kColumns];
  HOTARU_TILE_UNROLL(8)
  for (int q = 0; q < kBlocks; ++q) HOTARU_TILE_UNROLL(16)
  for (int v = 0; v < kVectors; ++v) {
    const int i = q * kVectors + v;
    if (t.shift) {
      const V shift = hn::LoadU(d, t.shift + q * kBlock + v * kLanes);
      HOTARU_TILE_UNROLL(16)
      for (int p = 0; p < kPixels; ++p) sum[p][i] = shift;
    } else {
      const float* y = t.y + q * t.y_output + v * kLanes;
      HOTARU_TILE_UNROLL(16)
      for (int p = 0; p < kPixels; ++p)
        sum[p][i] = hn::LoadU(d, y + p * kBlock);
    }
  }

  const int64_t pixel = t.pixel, w_output = t.w_output;
  if constexpr (kForm == TileForm::kOneTap) {
    const float* HWY_RESTRICT x = t.x;
    const float* HWY_RESTRICT w = t.w;
    const int64_t block = t.block;
    for (int64_t b = t.blocks; b > 0; --b, x += block, w += P::kWords * kBlock)
      multiply_block<P, 0, kPixels, kBlocks>(x, pixel, w, w_output, sum);
  } else {
    [[maybe_unused]] const float* ahead = t.ahead;
    for (int64_t b = 0; b < t.blocks; ++b) {
      const float* HWY_RESTRICT w = t.w + b * t.w_block;
      const float* row = t.x + b * t.block;
      for (int64_t r = 0; r < t.rows; ++r, row += t.row) {
        const float* HWY_RESTRICT x = row;
        if constexpr (kForm == TileForm::kPlain) {
          for (int64_t k = 0; k < t.columns; ++k, x += t.column, w += kBlock)
            multiply<P, 0, kPixels, kBlocks>(x, x + 7 * pixel, pixel, w,
                                             w_output, sum);
        } else {
          for (int64_t k = 0; k < t.columns; ++k) {
            for (int64_t i = 0; i < t.ahead_lines && ahead < t.ahead_end; ++i) {
              HOTARU_TILE_UNROLL(8)
              for (int q = 0; q < kBlocks; ++q)
                __builtin_prefetch(ahead + q * w_output, 0, 2);
              ahead += kBlock;
            }
            switch (t.edges[k]) {
              case TileEdge::kNone:
                multiply_block<P, 0, kPixels, kBlocks>(x, pixel, w, w_output,
                                                       sum);
                break;
              case TileEdge::kFirst:
                multiply_block<P, 1, kPixels, kBlocks>(x, pixel, w, w_output,
                                                       sum);
                break;
              case TileEdge::kLast:
                multiply_block<P, 0, kPixels - 1, kBlocks>(x, pixel, w,
                                                           w_output, sum);
                break;
              case TileEdge::kBoth:
                multiply_block<P, 1, kPixels - 1, kBlocks>(x, pixel, w,
                                                           w_output, sum);
                break;
              case TileEdge::kNothing:
                break;
            }
            x += t.column;
            w += P::kWords * kBlock;
          }
        }
      }
    }
  }

  if constexpr (P::kPairs || kForm == TileForm::kPlain)
    if (t.rounds) return store_rounded<kBlocks>(t, sum);
  // Copies, because a store might change what t refers to.
  const bool more = t.finish && t.residual;
  const SumBounds bounds = t.finish ? t.bounds : SumBounds();
  float* to[kBlocks];
  const float* from[kBlocks];
  HOTARU_TILE_UNROLL(8)
  for (int q = 0; q < kBlocks; ++q) {
    to[q] = keep(t.y + q * t.y_output);
    from[q] = keep((t.residual ? t.residual : t.y) + q * t.y_output);
  }
  // In the order in which sums are done.
  with_ending(more, bounds, [&](const auto& last) HOTARU_SIMD_LAMBDA {
    HOTARU_TILE_UNROLL(16)
    for (int p = 0; p < kPixels; ++p) HOTARU_TILE_UNROLL(8)
    for (int q = 0; q < kBlocks; ++q) HOTARU_TILE_UNROLL(16)
    for (int v = 0; v < kVectors; ++v) {
      const int at = p * kBlock + v * kLanes;
      hn::StoreU(last(sum[p][q * kVectors + v], from[q] + at), d, to[q] + at);
    }
  });
}

using Tile = BlockedConvKernels::Tile;

template <class P, int kBlocks, TileForm kForm, size_t... kPixel>
constexpr std::array<Tile, sizeof...(kPixel)> tiles(
    std::index_sequence<kPixel...>) {
  return {&tile<P, int(kPixel) + 1, kBlocks, kForm>...};
}

template <class P, int kBlocks, TileForm kForm>
Tile tile_of(int pixels) {
  constexpr int kMost = kMaxPixels[kBlocks - 1];
  if constexpr (kMost > 0) {
    static constexpr auto kTiles =
        tiles<P, kBlocks, kForm>(std::make_index_sequence<size_t(kMost)>());
    return kTiles[size_t(pixels) - 1];
  } else {
    return nullptr;
  }
}

/// Blocks of tiles of plain pictures, of which few outputs are wanted; three
/// are those of one layer in common networks.
template <class P>
constexpr int kMaxPlainBlocks = P::kPairs ? 2 : 3;

template <class P, TileForm kForm>
Tile tile_of(int pixels, int blocks) {
  switch (blocks) {
    case 1:
      return tile_of<P, 1, kForm>(pixels);
    case 2:
      return tile_of<P, 2, kForm>(pixels);
    case 3:
      return tile_of<P, 3, kForm>(pixels);
    default:
      return tile_of<P, 4, kForm>(pixels);
  }
}

/// Plain pictures are multiplied in pairs where instructions do it. Builds for
/// one set of instructions run on processors that have more.
#if HWY_TARGET == HWY_AVX3 || defined(HWY_COMPILE_ONLY_STATIC)
constexpr bool kPlainPairs = true;
#else
constexpr bool kPlainPairs = false;
#endif

template <class P>
Tile find_tile(int pixels, int blocks, TileForm form) {
  switch (form) {
    case TileForm::kBlocked:
      return tile_of<P, TileForm::kBlocked>(pixels, blocks);
    case TileForm::kOneTap:
      return tile_of<P, TileForm::kOneTap>(pixels, blocks);
    default:
      if constexpr (P::kPairs && !kPlainPairs)
        return nullptr;
      else
        switch (blocks) {
          case 1:
            return tile_of<P, 1, TileForm::kPlain>(pixels);
          case 2:
            return tile_of<P, 2, TileForm::kPlain>(pixels);
          default:
            return tile_of<P, kMaxPlainBlocks<P>, TileForm::kPlain>(pixels);
        }
  }
}

template <class P>
BlockedConvKernels tile_kernels() {
  return {{kMaxPixels[0], kMaxPixels[1], kMaxPixels[2], kMaxPixels[3]},
          kMaxPlainBlocks<P>,
          &find_tile<P>,
          kNearWeights,
          kNearPicture,
          kNearSums};
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
