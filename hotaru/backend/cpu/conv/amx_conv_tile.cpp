#include "hotaru/backend/cpu/conv/amx_conv_tile.h"

#include <algorithm>
#include <utility>

#include "hotaru/backend/cpu/matmul/amx/tile_units.h"
#include "hotaru/backend/cpu/simd/simd_target.h"

namespace hotaru::cpu {
namespace {

using amx::kTileRows, amx::kTileWords, amx::kTileBytes;

/// Sums of kParts times up to 16 pixels, by kBlocks blocks.
template <class Tiles, int kParts, int kBlocks>
class Sums {
  static constexpr int kA = kParts * kBlocks, kB = kA + kParts;
  static constexpr int kBs = std::min(8 - kB, 2);  // taken in turns

  template <int n, class F>
  static void each(const F& f) {
    [&]<int... i>(std::integer_sequence<int, i...>) {
      (f.template operator()<i>(), ...);
    }
    (std::make_integer_sequence<int, n>());
  }

 public:
  explicit Sums(int pixels)
      : rows_{(pixels + kParts - 1) / kParts, pixels / kParts} {
    constexpr uint32_t kKey = 1u << 31 | kParts << 24 | kBlocks << 16;
    tiles_.configure(kKey | uint32_t(pixels), [&] { return config(); });
    each<kA>([&]<int i>() { tiles_.template zero<i>(); });
  }
  ~Sums() { tiles_.release(); }
  Sums(const Sums&) = delete;
  Sums& operator=(const Sums&) = delete;

  void add(const uint32_t* x, int64_t pixel, const uint32_t* w,
           int64_t w_output) {
    const int64_t step = pixel * int64_t{sizeof(uint32_t)};
    each<kParts>([&]<int i>() {
      tiles_.template load<kA + i>(x + i * rows_[0] * pixel, step);
    });
    each<kBlocks>([&]<int q>() {
      constexpr int b = kB + q % kBs;
      tiles_.template load<b>(w + q * w_output, kTileBytes);
      each<kParts>([&]<int i>() {
        tiles_.template add_bf16<i * kBlocks + q, kA + i, b>();
      });
    });
  }

  void store(float* sums) {
    each<kParts>([&]<int i>() {
      each<kBlocks>([&]<int q>() {
        tiles_.template store<i * kBlocks + q>(
            sums + q * kAmxSums + i * rows_[0] * kTileWords, kTileBytes);
      });
    });
  }

 private:
  amx::TileConfig config() const {
    amx::TileConfig config;
    for (int i = 0; i < kParts; ++i) {
      for (int q = 0; q < kBlocks; ++q)
        config.set(i * kBlocks + q, rows_[i], kTileWords);
      config.set(kA + i, rows_[i], kTileWords);
    }
    for (int i = 0; i < kBs; ++i) config.set(kB + i, kTileRows, kTileWords);
    return config;
  }

  Tiles tiles_;
  int rows_[2];
};

template <class Tiles, int kParts, int kBlocks>
void multiply(const AmxTile& t, float* to) {
  Sums<Tiles, kParts, kBlocks> sums(t.pixels);
  const uint32_t *x = t.x, *w = t.w;
  const int64_t inner = t.inner - (t.rest ? 1 : 0);
  for (int64_t i = 0; i < t.outer; ++i, x += t.outer_step)
    for (int64_t k = 0; k < inner; ++k, w += kAmxWeights)
      sums.add(x + t.offsets[k], t.pixel, w, t.w_output);
  if (t.rest) sums.add(t.x + t.offsets[inner], t.pixel, t.rest, kAmxWeights);
  sums.store(to);
}

template <class Tiles>
void multiply(const AmxTile& t, float* sums) {
  const bool two = t.pixels > kTileRows;
  switch (t.blocks) {
    case 1:
      return two ? multiply<Tiles, 2, 1>(t, sums)
                 : multiply<Tiles, 1, 1>(t, sums);
    case 2:
      return two ? multiply<Tiles, 2, 2>(t, sums)
                 : multiply<Tiles, 1, 2>(t, sums);
    case 3:
      return multiply<Tiles, 1, 3>(t, sums);
    default:
      return multiply<Tiles, 1, 4>(t, sums);
  }
}

}  // namespace

void multiply_tile(const AmxTile& t, float* sums) {
  static const auto multiply_by = simd_emulates_tiles()
                                      ? &multiply<amx::EmulatedTiles>
                                      : &multiply<amx::HardwareTiles>;
  multiply_by(t, sums);
}

}  // namespace hotaru::cpu
