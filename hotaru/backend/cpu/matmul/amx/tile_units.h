// Tiles of Intel's AMX: registers of 16 rows of 64 bytes, and products of them.
// One class has the processor's, another computes what they would, so that the
// same code runs anywhere (Intel 64 and IA-32 Architectures Software
// Developer's Manual, volume 1, chapter 18, and volume 2, TDPBF16PS and
// TDPBUSD).
//
// Both have these functions, with strides in bytes:
//   configure(key, make)     every tile's sizes, make()'s, whose key is not 0;
//                            what is in them is lost
//   release()                unless a TileScope keeps the sizes
//   zero<t>()
//   load<t>(from, stride)
//   store<t>(to, stride)
//   add_bf16<c, a, b>()      c += pairs of bfloat16 of a times those of b
//   add_bytes<c, a, b>()     c += quads, unsigned ones of a, signed ones of b
// Tiles are a thread's; between configure() and release() it runs nothing else
// that has tiles.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "hotaru/backend/cpu/matmul/amx/tile_config.h"
#include "hotaru/backend/cpu/matmul/amx/tile_scope.h"

namespace hotaru::amx {

#if defined(__x86_64__)
/// The processor's, where the sizes of tiles are the thread's.
class HardwareTiles {
 public:
  template <class Make>
  static void configure(uint32_t key, const Make& make) {
    if (keeps_sizes(key)) return;
    const TileConfig config = make();
    asm volatile("ldtilecfg %0" : : "m"(config) : "memory");
  }
  static void release() {
    if (!in_tile_scope()) release_now();
  }
  static void release_now() { asm volatile("tilerelease" : : : "memory"); }

  template <int t>
  static void zero() {
    asm volatile("tilezero %%tmm%c0" : : "i"(t));
  }
  template <int t>
  static void load(const void* from, int64_t stride) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2"
                 :
                 : "r"(from), "r"(stride), "i"(t)
                 : "memory");
  }
  template <int t>
  static void store(void* to, int64_t stride) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)"
                 :
                 : "r"(to), "r"(stride), "i"(t)
                 : "memory");
  }
  template <int c, int a, int b>
  static void add_bf16() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0"
                 :
                 : "i"(c), "i"(a), "i"(b));
  }
  template <int c, int a, int b>
  static void add_bytes() {
    asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0"
                 :
                 : "i"(c), "i"(a), "i"(b));
  }
};
#endif

/// Emulation of the tiles, in memory of its own.
class EmulatedTiles {
 public:
  template <class Make>
  void configure(uint32_t, const Make& make) {
    config_ = make();
    std::memset(tiles_, 0, sizeof tiles_);
  }
  void release() { config_ = TileConfig(); }

  template <int t>
  void zero() {
    std::memset(tiles_[t], 0, sizeof tiles_[t]);
  }
  template <int t>
  void load(const void* from, int64_t stride) {
    std::memset(tiles_[t], 0, sizeof tiles_[t]);
    for (int i = 0; i < config_.rows[t]; ++i)
      std::memcpy(tiles_[t][i], static_cast<const char*>(from) + i * stride,
                  config_.bytes[t]);
  }
  template <int t>
  void store(void* to, int64_t stride) const {
    for (int i = 0; i < config_.rows[t]; ++i)
      std::memcpy(static_cast<char*>(to) + i * stride, tiles_[t][i],
                  config_.bytes[t]);
  }

  /// First and second numbers of pairs are summed apart, each product added by
  /// one rounding; then their sum is added to c. Subnormal numbers are zeros.
  template <int c, int a, int b>
  void add_bf16() {
    for (int m = 0; m < config_.rows[c]; ++m)
      for (int n = 0; n < config_.bytes[c] / 4; ++n) {
        float sums[2] = {0, 0};
        for (int k = 0; k < config_.bytes[a] / 4; ++k)
          for (int h = 0; h < 2; ++h)
            sums[h] = normal(std::fma(half(tiles_[a][m][k], h),
                                      half(tiles_[b][k][n], h), sums[h]));
        uint32_t& to = tiles_[c][m][n];
        const float both = normal(sums[0] + sums[1]);
        to = std::bit_cast<uint32_t>(
            normal(normal(std::bit_cast<float>(to)) + both));
      }
  }

  /// In 32 bits, which wrap.
  template <int c, int a, int b>
  void add_bytes() {
    for (int m = 0; m < config_.rows[c]; ++m)
      for (int n = 0; n < config_.bytes[c] / 4; ++n)
        for (int k = 0; k < config_.bytes[a] / 4; ++k)
          for (int q = 0; q < 32; q += 8)
            tiles_[c][m][n] += uint32_t(int32_t(uint8_t(tiles_[a][m][k] >> q)) *
                                        int32_t(int8_t(tiles_[b][k][n] >> q)));
  }

 private:
  static float normal(float x) {
    return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
  }
  static float half(uint32_t pair, int which) {
    return normal(
        std::bit_cast<float>(which ? pair & 0xFFFF0000u : pair << 16));
  }

  TileConfig config_;
  uint32_t tiles_[8][kTileRows][kTileWords] = {};
};

}  // namespace hotaru::amx
