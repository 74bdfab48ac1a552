// The additions of Winograd's convolutions.
#include <algorithm>

#include "hotaru/backend/cpu/conv/blocked/winograd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/conv/blocked/winograd_tile.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/conv/blocked/block-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// B^T v for B^T = [1 0 -1 0; 0 1 1 0; 0 -1 1 0; 0 1 0 -1].
HWY_INLINE void spread(V& a, V& b, V& c, V& d) {
  const V middle = b;
  a = hn::Sub(a, c);
  d = hn::Sub(middle, d);
  b = hn::Add(middle, c);
  c = hn::Sub(c, middle);
}

/// Numbers of one tile; at(i, j): its pixels, null for those outside.
template <class At>
HWY_INLINE void input_tile(const At& at, float* to, int64_t stride) {
  const D d;
  for (int lane = 0; lane < kBlock; lane += kLanes) {
    V v[16];
    HWY_UNROLL(4)
    for (int i = 0; i < 4; ++i) HWY_UNROLL(4)
    for (int j = 0; j < 4; ++j) {
      const float* pixel = at(i, j);
      v[4 * i + j] = pixel ? hn::LoadU(d, pixel + lane) : hn::Zero(d);
    }
    HWY_UNROLL(4)
    for (int j = 0; j < 4; ++j) spread(v[j], v[4 + j], v[8 + j], v[12 + j]);
    HWY_UNROLL(4)
    for (int i = 0; i < 4; ++i)
      spread(v[4 * i], v[4 * i + 1], v[4 * i + 2], v[4 * i + 3]);
    HWY_UNROLL(16)
    for (int k = 0; k < 16; ++k) hn::StoreU(v[k], d, to + k * stride + lane);
  }
}

void input_tiles(const WinogradKernels::Input& t) {
  int64_t row = t.first / t.tile_columns, column = t.first % t.tile_columns;
  float* to = t.to;
  for (int64_t i = 0; i < t.count; ++i, to += kBlock) {
    const int64_t h = 2 * row - t.padding_h, w = 2 * column - t.padding_w;
    const float* first = t.x + (h * t.w + w) * kBlock;
    const int64_t pitch = t.w * kBlock;
    const auto pixel = [&](int a, int b) HOTARU_SIMD_LAMBDA {
      return first + a * pitch + b * kBlock;
    };
    if (h >= 0 && w >= 0 && h + 4 <= t.h && w + 4 <= t.w) {
      input_tile(pixel, to, t.stride);
    } else {
      input_tile(
          [&](int a, int b) HOTARU_SIMD_LAMBDA -> const float* {
            const bool inside =
                h + a >= 0 && h + a < t.h && w + b >= 0 && w + b < t.w;
            return inside ? pixel(a, b) : nullptr;
          },
          to, t.stride);
    }
    if (++column == t.tile_columns) {
      column = 0;
      ++row;
    }
  }
}

template <class Last>
HWY_INLINE void store_tiles(const WinogradKernels::Output& t,
                            const Last& last) {
  const D d;
  int64_t row = t.first / t.tile_columns, column = t.first % t.tile_columns;
  int64_t begin = column;  // of the row's tiles
  const float* from = t.from;
  const float* more = t.residual ? t.residual : t.y;
  for (int64_t n = 0; n < t.count; ++n, from += kBlock) {
    const int64_t h = 2 * row, w = 2 * column;
    const int64_t rows = h + 1 < t.h ? 2 : 1, columns = w + 1 < t.w ? 2 : 1;
    for (int lane = 0; lane < kBlock; lane += kLanes) {
      // A^T m A for A^T = [1 1 1 0; 0 1 -1 -1].
      V half[2][4];
      HWY_UNROLL(4)
      for (int j = 0; j < 4; ++j) {
        const auto m = [&](int i) HOTARU_SIMD_LAMBDA {
          return hn::LoadU(d, from + (4 * i + j) * t.stride + lane);
        };
        const V b = m(1), c = m(2);
        half[0][j] = hn::Add(m(0), hn::Add(b, c));
        half[1][j] = hn::Sub(hn::Sub(b, c), m(3));
      }
      const V shift = hn::LoadU(d, t.shift + lane);
      for (int64_t i = 0; i < rows; ++i) {
        const V b = half[i][1], c = half[i][2];
        const V sums[2] = {hn::Add(half[i][0], hn::Add(b, c)),
                           hn::Sub(hn::Sub(b, c), half[i][3])};
        for (int64_t j = 0; j < columns; ++j) {
          const int64_t at = ((h + i) * t.w + w + j) * kBlock + lane;
          hn::StoreU(last(hn::Add(sums[j], shift), more + at), d, t.y + at);
        }
      }
    }
    if (++column < t.tile_columns && n + 1 < t.count) continue;
    const int64_t pixels = std::min(t.w, 2 * column) - 2 * begin;
    for (int64_t i = 0; i < rows; ++i)
      t.ending->finish(t.y + ((h + i) * t.w + 2 * begin) * kBlock, pixels,
                       t.used);
    begin = column = 0;
    ++row;
  }
}

void output_tiles(const WinogradKernels::Output& t) {
  with_ending(t.residual, t.ending->bounds(),
              [&](const auto& last)
                  HOTARU_SIMD_LAMBDA { store_tiles(t, last); });
}

WinogradKernels winograd_table() {
  return {&input_tiles, &output_tiles};
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

HWY_EXPORT(winograd_table);

const WinogradKernels& winograd_kernels() {
  static const WinogradKernels table = HWY_DYNAMIC_DISPATCH(winograd_table)();
  return table;
}

}  // namespace hotaru::cpu
#endif
