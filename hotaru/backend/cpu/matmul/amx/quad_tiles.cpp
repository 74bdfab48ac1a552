#include "hotaru/backend/cpu/matmul/amx/quad_tiles.h"

#include <algorithm>

#include "hotaru/backend/cpu/matmul/amx/tile_units.h"
#include "hotaru/backend/cpu/matmul/int8/gemm_int8_kernel.h"
#include "hotaru/backend/cpu/scratch.h"
#include "hotaru/backend/cpu/simd/simd_target.h"

namespace hotaru::amx {
namespace {

// Sums of the first and second rows by the first and second columns; factors.
constexpr int kSums[2][2] = {{0, 1}, {2, 3}};
constexpr int kA[2] = {4, 5}, kB[2] = {6, 7};

/// Rows (or columns) of the first tile, and of the second.
struct Sides {
  explicit Sides(int n)
      : of{std::min(n, kTileRows), n - std::min(n, kTileRows)} {}
  int of[2];
};

/// Words of A and B that one step of the depth reads: rows `a_row` and `b_row`
/// words apart.
struct Step {
  const uint32_t *a, *b;
  int64_t a_row, b_row;
};

/// rows x cols sums over `words` of the depth: sums[i * kMaxSide + j].
template <class Unit>
class TileSums {
 public:
  TileSums(int rows, int cols) : rows_(rows), cols_(cols) {
    unit_.configure(uint32_t(rows << 8 | cols), [&] { return config(); });
    unit_.template zero<kSums[0][0]>();
    if (cols_.of[1]) unit_.template zero<kSums[0][1]>();
    if (rows_.of[1]) unit_.template zero<kSums[1][0]>();
    if (rows_.of[1] && cols_.of[1]) unit_.template zero<kSums[1][1]>();
  }
  ~TileSums() { unit_.release(); }
  TileSums(const TileSums&) = delete;
  TileSums& operator=(const TileSums&) = delete;

  void add(int64_t words, Step step) {
    for (; words >= kTileWords; words -= kTileWords) {
      add_step(step);
      step.a += kTileWords;
      step.b += kTileWords * step.b_row;
    }
    if (words > 0) add_rest(words, step);
  }

  void store(uint32_t* sums) {
    constexpr int64_t kRow = kMaxSide * sizeof(uint32_t);
    uint32_t* const below = sums + kTileRows * kMaxSide;
    unit_.template store<kSums[0][0]>(sums, kRow);
    if (cols_.of[1]) unit_.template store<kSums[0][1]>(sums + kTileWords, kRow);
    if (rows_.of[1]) unit_.template store<kSums[1][0]>(below, kRow);
    if (rows_.of[1] && cols_.of[1])
      unit_.template store<kSums[1][1]>(below + kTileWords, kRow);
  }

 private:
  TileConfig config() const {
    TileConfig config;
    for (int i = 0; i < 2; ++i) {
      config.set(kA[i], rows_.of[i], rows_.of[i] ? kTileWords : 0);
      config.set(kB[i], cols_.of[i] ? kTileRows : 0, cols_.of[i]);
      for (int j = 0; j < 2; ++j)
        if (rows_.of[i] && cols_.of[j])
          config.set(kSums[i][j], rows_.of[i], cols_.of[j]);
    }
    return config;
  }

  void add_step(const Step& s) {
    const int64_t a_row = s.a_row * int64_t{sizeof(uint32_t)};
    const int64_t b_row = s.b_row * int64_t{sizeof(uint32_t)};
    unit_.template load<kB[0]>(s.b, b_row);
    unit_.template load<kA[0]>(s.a, a_row);
    unit_.template add_bytes<kSums[0][0], kA[0], kB[0]>();
    if (cols_.of[1]) {
      unit_.template load<kB[1]>(s.b + kTileWords, b_row);
      unit_.template add_bytes<kSums[0][1], kA[0], kB[1]>();
    }
    if (!rows_.of[1]) return;
    unit_.template load<kA[1]>(s.a + kTileRows * s.a_row, a_row);
    unit_.template add_bytes<kSums[1][0], kA[1], kB[0]>();
    if (cols_.of[1]) unit_.template add_bytes<kSums[1][1], kA[1], kB[1]>();
  }

  /// Adds what is less than a tile, filled up with zeros: another configuration
  /// would clear the sums.
  void add_rest(int64_t words, const Step& step) {
    alignas(64) uint32_t a[kMaxSide * kTileWords] = {};
    alignas(64) uint32_t b[kTileRows * kMaxSide] = {};
    for (int i = 0; i < rows_.of[0] + rows_.of[1]; ++i)
      std::copy_n(step.a + i * step.a_row, words, a + i * kTileWords);
    for (int64_t p = 0; p < words; ++p)
      std::copy_n(step.b + p * step.b_row, cols_.of[0] + cols_.of[1],
                  b + p * kMaxSide);
    add_step({a, b, kTileWords, kMaxSide});
  }

  Unit unit_;
  Sides rows_, cols_;
};

template <class Unit>
void multiply_quads(int rows, int cols, int64_t quads, const int32_t* a,
                    int64_t a_row, const QuadRow* rows_of_a,
                    const int32_t* panel, const Int8Output& out) {
  alignas(64) int32_t sums[kMaxSide * kMaxSide];
  const int32_t *zeros = panel, *heads = panel + kMaxSide;
  const auto words_of = [](const int32_t* x) {
    return reinterpret_cast<const uint32_t*>(x);
  };
  TileSums<Unit> tiles(rows, cols);
  tiles.add(quads, {words_of(a), words_of(panel + kQuadHeader * kMaxSide),
                    a_row, kMaxSide});
  tiles.store(reinterpret_cast<uint32_t*>(sums));
  const QuadKernels* const kernels = quad_kernels();
  for (int i = 0; i < rows; ++i) {
    int32_t* const row = sums + i * kMaxSide;
    if (kernels)
      kernels->correct(row, kMaxSide, rows_of_a[i], zeros, heads);
    else  // emulated
      for (int j = 0; j < cols; ++j)
        row[j] = corrected_sum(row[j], rows_of_a[i], zeros[j], heads[j]);
  }
  int8_kernels().finish_rows(sums, rows, kMaxSide, cols, out);
}

}  // namespace

QuadTile hardware_quads() {
#if defined(__x86_64__)
  return &multiply_quads<HardwareTiles>;
#else
  return nullptr;
#endif
}

QuadTile emulated_quads() {
  return &multiply_quads<EmulatedTiles>;
}

QuadTile quad_tile() {
  return simd_emulates_tiles() ? emulated_quads()
         : simd_has_tiles()    ? hardware_quads()
                               : nullptr;
}

}  // namespace hotaru::amx
