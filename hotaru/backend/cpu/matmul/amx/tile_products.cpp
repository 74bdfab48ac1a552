#include "hotaru/backend/cpu/matmul/amx/tile_products.h"

#include <algorithm>

#include "hotaru/backend/cpu/matmul/amx/tile_units.h"
#include "hotaru/backend/cpu/matmul/gemm_int8_kernel.h"
#include "hotaru/backend/cpu/scratch.h"
#include "hotaru/backend/cpu/simd/simd_target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/matmul/amx/tile_products.cpp"
#include "hotaru/backend/cpu/simd/simd.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::amx::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// See TileOutput; rows of sums are kMaxSide apart.
void finish(const float* sums, int rows, int cols,
            const TileOutput<float>& out) {
  const hn::CappedTag<float, size_t(kMaxSide)> d;
  constexpr int kLanes = int(hn::MaxLanes(d));
  const float* added = out.d ? out.d : out.c;
  const int64_t ldd = out.d ? out.ldd : out.ldc;
  const auto alpha = hn::Set(d, out.alpha), beta = hn::Set(d, out.beta);
  for (int i = 0; i < rows; ++i, sums += kMaxSide) {
    float* const c = out.c + i * out.ldc;
    const float* const more = added + i * ldd;
    const float* const residual = out.r ? out.r + i * out.ldr : nullptr;
    for (int j = 0; j < cols; j += kLanes) {
      const auto some = hn::FirstN(d, size_t(std::min(kLanes, cols - j)));
      auto v = hn::Mul(hn::LoadU(d, sums + j), alpha);
      if (out.beta != 0)
        v = hn::MulAdd(beta, hn::MaskedLoad(some, d, more + j), v);
      if (residual) v = hn::Add(v, hn::MaskedLoad(some, d, residual + j));
      // Of NaN: NaN.
      if (out.relu) v = hn::IfThenZeroElse(hn::Lt(v, hn::Zero(d)), v);
      hn::BlendedStore(v, some, d, c + j);
    }
  }
}

}  // namespace hotaru::amx::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::amx {
namespace {

HWY_EXPORT(finish);

// Sums of the first and second rows by the first and second columns; factors.
constexpr int kSums[2][2] = {{0, 1}, {2, 3}};
constexpr int kA[2] = {4, 5}, kB[2] = {6, 7};

/// Rows (or columns) of the first tile, and of the second.
struct Sides {
  explicit Sides(int n)
      : of{std::min(n, kTileRows), n - std::min(n, kTileRows)} {}
  int of[2];
};

struct Bf16 {
  template <int c, int a, int b, class Unit>
  static void add(Unit& unit) {
    unit.template add_bf16<c, a, b>();
  }
};
struct Bytes {
  template <int c, int a, int b, class Unit>
  static void add(Unit& unit) {
    unit.template add_bytes<c, a, b>();
  }
};

/// Words of A and B that one step of the depth reads: rows `a_row` and `b_row`
/// words apart; and lines to fetch.
struct Step {
  const uint32_t *a, *b;
  int64_t a_row, b_row;
  const float* ahead = nullptr;
  int64_t lines = 0;
};

/// rows x cols sums over `words` of the depth: sums[i * kMaxSide + j].
template <class Unit, class Product>
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
      for (int64_t i = 0; i < step.lines; ++i, step.ahead += kTileWords)
        __builtin_prefetch(step.ahead, 0, 2);
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
    Product::template add<kSums[0][0], kA[0], kB[0]>(unit_);
    if (cols_.of[1]) {
      unit_.template load<kB[1]>(s.b + kTileWords, b_row);
      Product::template add<kSums[0][1], kA[0], kB[1]>(unit_);
    }
    if (!rows_.of[1]) return;
    unit_.template load<kA[1]>(s.a + kTileRows * s.a_row, a_row);
    Product::template add<kSums[1][0], kA[1], kB[0]>(unit_);
    if (cols_.of[1]) Product::template add<kSums[1][1], kA[1], kB[1]>(unit_);
  }

  /// What is less than a tile is filled up with zeros: another configuration
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

template <class Unit, class Product>
void tile_sums(int rows, int cols, int64_t words, const Step& step,
               void* sums) {
  TileSums<Unit, Product> tiles(rows, cols);
  tiles.add(words, step);
  tiles.store(static_cast<uint32_t*>(sums));
}

template <class T>
const uint32_t* words_of(const T* x) {
  static_assert(sizeof(T) == sizeof(uint32_t));
  return reinterpret_cast<const uint32_t*>(x);
}

/// A by rows: where it lies, or copied.
const float* by_rows(int rows, int64_t k, const TileA<float>& a,
                     int64_t& a_row) {
  a_row = a.row;
  if (a.depth == 1) return a.data;
  a_row = k;
  float* to = scratch<float>(ScratchUse::kTileRows, rows * k);
  for (int64_t p = 0; p < k; ++p)
    for (int64_t i = 0; i < rows; ++i)
      to[i * k + p] = a.data[i * a.row + p * a.depth];
  return to;
}

template <class Unit>
void pair_tile(int rows, int cols, int64_t k, const TileA<float>& a,
               const float* b, int64_t ldb, const TileOutput<float>& out) {
  alignas(64) float sums[kMaxSide * kMaxSide];
  int64_t a_row = 0;
  const float* from = by_rows(rows, k, a, a_row);
  // A step is kTileWords deep, of which each fetches ahead_step elements.
  tile_sums<Unit, Bf16>(
      rows, cols, k,
      {words_of(from), words_of(b), a_row, ldb, a.ahead, a.ahead_step}, sums);
  HWY_DYNAMIC_DISPATCH(finish)(sums, rows, cols, out);
}

template <class Unit>
void quad_tile(int rows, int cols, int64_t quads, const int32_t* a,
               int64_t a_row, const QuadRow* rows_of_a, const int32_t* panel,
               const Int8Output& out) {
  alignas(64) int32_t sums[kMaxSide * kMaxSide];
  const int32_t *zeros = panel, *heads = panel + kMaxSide;
  tile_sums<Unit, Bytes>(
      rows, cols, quads,
      {words_of(a), words_of(panel + kQuadHeader * kMaxSide), a_row, kMaxSide},
      sums);
  const auto correct = quad_kernels()->correct;
  for (int i = 0; i < rows; ++i)
    correct(sums + i * kMaxSide, kMaxSide, rows_of_a[i], zeros, heads);
  int8_kernels().finish_rows(sums, rows, kMaxSide, cols, out);
}

}  // namespace

TileProducts hardware_products() {
#if defined(__x86_64__)
  return {&pair_tile<HardwareTiles>, &quad_tile<HardwareTiles>};
#else
  return {nullptr, nullptr};
#endif
}

TileProducts emulated_products() {
  return {&pair_tile<EmulatedTiles>, &quad_tile<EmulatedTiles>};
}

const TileProducts* tile_products() {
  static const TileProducts products =
      simd_emulates_tiles() ? emulated_products() : hardware_products();
  static const bool usable = simd_emulates_tiles() || simd_has_tiles();
  return usable ? &products : nullptr;
}

}  // namespace hotaru::amx
#endif
