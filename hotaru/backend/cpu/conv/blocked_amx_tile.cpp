// Tiles of pictures of bfloat16 by AMX. What one product multiplies is two
// units: their channels stand in a row of 64 bytes for every pixel. Where these
// lie so in memory they are read there, else they are put together, which is
// also how edges become zeros.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "hotaru/backend/cpu/conv/blocked_units.h"
#include "hotaru/backend/cpu/matmul/amx/tile_units.h"
#include "hotaru/backend/cpu/simd/simd_target.h"

namespace hotaru::cpu {
namespace {

using amx::kTileRows, amx::kTileWords;

// Most pixels and blocks of sums: 32 x 2, or 16 x 4.
constexpr int kMostPixels = 2 * kTileRows, kMostBlocks = 4;
constexpr int64_t kTileSize = kTileRows * kTileWords;

/// A tile in kParts parts of up to 16 pixels, of kBlocks blocks.
template <class Tiles, int kParts, int kBlocks>
class Sums {
  static constexpr int kA = kParts * kBlocks, kB = kA + kParts;
  static constexpr int kBs = std::min(8 - kB, 2);  // taken in turns

 public:
  explicit Sums(const BlockedTile& t) : t_(t) {
    rows_[0] = (t.pixels + kParts - 1) / kParts;
    if (kParts > 1) rows_[kParts - 1] = t.pixels - rows_[0];
    amx::TileConfig config;
    for (int i = 0; i < kParts; ++i) {
      for (int q = 0; q < kBlocks; ++q)
        config.set(i * kBlocks + q, rows_[i], kTileWords);
      config.set(kA + i, rows_[i], kTileWords);
    }
    for (int i = 0; i < kBs; ++i) config.set(kB + i, kTileRows, kTileWords);
    tiles_.configure(config);
    each<kA>([&]<int i>() { tiles_.template zero<i>(); });
  }
  ~Sums() { tiles_.release(); }
  Sums(const Sums&) = delete;
  Sums& operator=(const Sums&) = delete;

  /// Two units whose weights follow each other.
  void add(const Unit& first, const Unit& second) {
    const bool adjacent = second.x == first.x + kUnit &&
                          first.edge == TileEdge::kNone &&
                          second.edge == TileEdge::kNone;
    if (adjacent) return multiply(first.x, t_.pixel, first.w, t_.w_output);
    multiply(together(first, &second), kUnitPair, first.w, t_.w_output);
  }
  /// One whose weights are followed by others.
  void add(const Unit& unit) {
    alignas(64) float w[kBlocks * kTileSize];
    for (int q = 0; q < kBlocks; ++q) {
      float* const end = std::copy_n(unit.w + q * t_.w_output, kTileSize / 2,
                                     w + q * kTileSize);
      std::fill_n(end, kTileSize / 2, 0.0f);
    }
    multiply(together(unit, nullptr), kUnitPair, w, kTileSize);
  }

  void finish() {
    alignas(64) float sums[kParts * kBlocks * kTileSize];
    constexpr int64_t kSize = kParts * kTileSize;
    each<kParts>([&]<int i>() {
      each<kBlocks>([&]<int q>() {
        tiles_.template store<i * kBlocks + q>(
            sums + q * kSize + i * rows_[0] * kTileWords, amx::kTileBytes);
      });
    });
    for (int q = 0; q < kBlocks; ++q) end_units(t_, q, sums + q * kSize);
  }

 private:
  template <int n, class F>
  static void each(const F& f) {
    [&]<int... i>(std::integer_sequence<int, i...>) {
      (f.template operator()<i>(), ...);
    }
    (std::make_integer_sequence<int, n>());
  }

  const float* together(const Unit& first, const Unit* second) {
    float* const to = buffers_[next_];
    next_ = (next_ + 1) % kBuffers;
    put_together(first, second, t_.pixel, t_.pixels, to);
    return to;
  }

  void multiply(const float* x, int64_t pixel, const float* w,
                int64_t w_output) {
    const int64_t step = pixel * int64_t{sizeof(float)};
    each<kParts>([&]<int i>() {
      tiles_.template load<kA + i>(x + i * rows_[0] * pixel, step);
    });
    each<kBlocks>([&]<int q>() {
      constexpr int b = kB + q % kBs;
      tiles_.template load<b>(w + q * w_output, amx::kTileBytes);
      each<kParts>([&]<int i>() {
        tiles_.template add_bf16<i * kBlocks + q, kA + i, b>();
      });
    });
  }

  static constexpr int kBuffers = 4;  // products of one go on meanwhile
  alignas(64) float buffers_[kBuffers][kParts * kTileSize];
  int next_ = 0;
  Tiles tiles_;
  const BlockedTile& t_;
  int rows_[kParts];
};

/// f(unit) in the order of their weights.
template <class F>
void for_units(const BlockedTile& t, const F& f) {
  constexpr int64_t kWeights = kUnit * kChannelBlock;
  const float* ahead = t.ahead;
  for (int64_t b = 0; b < t.blocks; ++b) {
    const float* w = t.w + b * t.w_block;
    const float* row = t.x + b * t.block;
    for (int64_t r = 0; r < t.rows; ++r, row += t.row) {
      const float* x = row;
      for (int64_t k = 0; k < t.columns; ++k, x += t.column, w += kWeights) {
        for (int64_t i = 0; i < t.ahead_lines && ahead < t.ahead_end; ++i) {
          for (int q = 0; q < t.outputs; ++q)
            __builtin_prefetch(ahead + q * t.w_output, 0, 2);
          ahead += kChannelBlock;
        }
        f(Unit{x, t.edges[k], w});
      }
    }
  }
}

template <class Tiles, int kParts, int kBlocks>
void compute(const BlockedTile& t) {
  constexpr int64_t kWeights = kUnit * kChannelBlock;
  Sums<Tiles, kParts, kBlocks> sums(t);
  Unit waiting{nullptr, TileEdge::kNothing, nullptr};
  for_units(t, [&](const Unit& unit) {
    if (waiting.w && unit.w == waiting.w + kWeights) {
      if (waiting.edge != TileEdge::kNothing || unit.edge != TileEdge::kNothing)
        sums.add(waiting, unit);
      waiting.w = nullptr;
      return;
    }
    if (waiting.w) sums.add(waiting);
    waiting = unit;
  });
  if (waiting.w) sums.add(waiting);
  sums.finish();
}

template <class Tiles>
BlockedConvKernels::Tile find(int pixels, int blocks, TileForm) {
  const bool two = pixels > kTileRows;
  switch (blocks) {
    case 1:
      return two ? &compute<Tiles, 2, 1> : &compute<Tiles, 1, 1>;
    case 2:
      return two ? &compute<Tiles, 2, 2> : &compute<Tiles, 1, 2>;
    case 3:
      return &compute<Tiles, 1, 3>;
    default:
      return &compute<Tiles, 1, 4>;
  }
}

/// A product takes as many cycles as it has rows, but not less than nine, or
/// waits for what it reads; then sums are stored, ended and cleared.
int64_t cycles(int64_t pixels, int64_t blocks, int64_t units) {
  const int64_t parts = (pixels + kTileRows - 1) / kTileRows;
  const int64_t product = std::max<int64_t>(9, (pixels + parts - 1) / parts);
  const int64_t reads = 2 * pixels + 16 * blocks;
  return (units + 1) / 2 * std::max(parts * blocks * product, reads) +
         parts * blocks * 40 + pixels * blocks * 2 + 80;
}

}  // namespace

const BlockedConvKernels* amx_conv_kernels() {
  static const BlockedConvKernels table = {
      {kMostPixels, kMostPixels, kTileRows, kTileRows},
      0,
      simd_emulates_tiles() ? &find<amx::EmulatedTiles>
                            : &find<amx::HardwareTiles>,
      &cycles,
      // A second-level cache has two megabytes where there is AMX.
      256 * 1024,
      128 * 1024,
      160 * 1024};
  static const bool usable = simd_emulates_tiles() || simd_has_tiles();
  return usable ? &table : nullptr;
}

}  // namespace hotaru::cpu
