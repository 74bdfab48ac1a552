#include "hotaru/backend/cpu/matmul/amx/packed_tile.h"

#include <algorithm>
#include <utility>

#include "hotaru/backend/cpu/matmul/amx/tile_units.h"
#include "hotaru/backend/cpu/simd/simd_target.h"

namespace hotaru::amx {
namespace {

constexpr int kSecondLevel = 2;  // of what the compiler calls locality

/// Sums of kParts times up to 16 rows, by kBlocks blocks.
template <class Tiles, int kParts, int kBlocks>
class Sums {
  static constexpr int kA = kParts * kBlocks, kB = kA + kParts;

  template <int n, class F>
  static void each(const F& f) {
    [&]<int... i>(std::integer_sequence<int, i...>) {
      (f.template operator()<i>(), ...);
    }
    (std::make_integer_sequence<int, n>());
  }

 public:
  explicit Sums(int rows) : rows_{(rows + kParts - 1) / kParts, rows / kParts} {
    constexpr uint32_t kKey = 1u << 31 | kParts << 24 | kBlocks << 16;
    tiles_.configure(kKey | uint32_t(rows), [&] { return config(); });
    each<kA>([&]<int i>() { tiles_.template zero<i>(); });
  }
  ~Sums() { tiles_.release(); }
  Sums(const Sums&) = delete;
  Sums& operator=(const Sums&) = delete;

  /// Rows and blocks lie so many words apart.
  void add(const uint32_t* a, int64_t a_row, const uint32_t* b, int64_t b_row,
           int64_t b_block) {
    constexpr int64_t kWord = sizeof(uint32_t);
    each<kParts>([&]<int i>() {
      tiles_.template load<kA + i>(a + i * rows_[0] * a_row, a_row * kWord);
    });
    // Two blocks at a time: what is loaded long before it is needed waits less.
    each<(kBlocks + 1) / 2>([&]<int g>() {
      constexpr int kCount = std::min(2, kBlocks - 2 * g);
      each<kCount>([&]<int q>() {
        tiles_.template load<kB + q>(b + (2 * g + q) * b_block, b_row * kWord);
      });
      each<kParts>([&]<int i>() {
        each<kCount>([&]<int q>() {
          constexpr int sum = i * kBlocks + 2 * g + q;
          tiles_.template add_bf16<sum, kA + i, kB + q>();
        });
      });
    });
  }

  /// Rows and blocks so many elements apart.
  void load(const float* from, int64_t row, int64_t block) {
    each<kParts>([&]<int i>() {
      each<kBlocks>([&]<int q>() {
        tiles_.template load<i * kBlocks + q>(
            from + q * block + i * rows_[0] * row,
            row * int64_t{sizeof(float)});
      });
    });
  }
  void store(float* to, int64_t row, int64_t block) {
    each<kParts>([&]<int i>() {
      each<kBlocks>([&]<int q>() {
        tiles_.template store<i * kBlocks + q>(
            to + q * block + i * rows_[0] * row, row * int64_t{sizeof(float)});
      });
    });
  }

 private:
  TileConfig config() const {
    TileConfig config;
    for (int i = 0; i < kParts; ++i) {
      for (int q = 0; q < kBlocks; ++q)
        config.set(i * kBlocks + q, rows_[i], kTileWords);
      config.set(kA + i, rows_[i], kTileWords);
    }
    for (int i = 0; i < 2; ++i) config.set(kB + i, kTileRows, kTileWords);
    return config;
  }

  Tiles tiles_;
  int rows_[2];
};

/// Divides other work over the steps of a product.
class Sharer {
 public:
  Sharer(const Meanwhile& other, int64_t steps)
      : other_(other), steps_(steps) {}

  void step() {
    for (due_ += other_.count; due_ >= steps_; due_ -= steps_) ++end_;
    if (end_ - begin_ < other_.least) return;
    other_.run(other_.context, begin_, end_);
    begin_ = end_;
  }
  void finish() {
    if (begin_ < other_.count) other_.run(other_.context, begin_, other_.count);
  }

 private:
  const Meanwhile& other_;
  int64_t steps_, due_ = 0, begin_ = 0, end_ = 0;
};

template <class Tiles, int kParts, int kBlocks>
void multiply(const PackedTile& t, float* to, const Meanwhile& other) {
  Sums<Tiles, kParts, kBlocks> sums(t.rows);
  if (t.adds) sums.load(to, t.to_row, t.to_block);
  const uint32_t *a = t.a, *b = t.b;
  const char* ahead = t.ahead;
  Sharer sharer(other, t.outer * t.inner);
  int64_t left = t.outer * t.inner - (t.rest ? 1 : 0);
  for (int64_t i = 0; i < t.outer; ++i, a += t.outer_step)
    for (int64_t k = 0; k < t.inner; ++k, --left, b += t.b_step) {
      const uint32_t* const x = a + t.offsets[k];
      if (left == 0)
        sums.add(x, t.a_row, t.rest, kTileWords, kTileRows * kTileWords);
      else
        sums.add(x, t.a_row,
                 t.b_offsets ? t.b + i * t.b_outer + t.b_offsets[k] : b,
                 t.b_row, t.b_block);
      for (int64_t n = 0; n < t.lines_ahead; ++n, ahead += kCacheLine)
        __builtin_prefetch(ahead, 0, kSecondLevel);
      sharer.step();
    }
  sharer.finish();
  sums.store(to, t.to_row, t.to_block);
}

template <class Tiles>
void multiply(const PackedTile& t, float* to, const Meanwhile& other) {
  const bool two = t.rows > kTileRows;
  switch (t.blocks) {
    case 1:
      return two ? multiply<Tiles, 2, 1>(t, to, other)
                 : multiply<Tiles, 1, 1>(t, to, other);
    case 2:
      return two ? multiply<Tiles, 2, 2>(t, to, other)
                 : multiply<Tiles, 1, 2>(t, to, other);
    case 3:
      return multiply<Tiles, 1, 3>(t, to, other);
    default:
      return multiply<Tiles, 1, 4>(t, to, other);
  }
}

}  // namespace

void multiply_tile(const PackedTile& t, float* to, const Meanwhile& other) {
#if defined(__x86_64__)
  static const auto multiply_by = simd_emulates_tiles()
                                      ? &multiply<EmulatedTiles>
                                      : &multiply<HardwareTiles>;
  multiply_by(t, to, other);
#else  // emulated units are all there are
  multiply<EmulatedTiles>(t, to, other);
#endif
}

}  // namespace hotaru::amx
