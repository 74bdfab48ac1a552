#include "hotaru/backend/cpu/matmul/amx/gemm_tiles.h"

#include <algorithm>
#include <cmath>

#include "hotaru/backend/cpu/matmul/amx/packed_tile.h"
#include "hotaru/backend/cpu/matmul/amx/tile_config.h"
#include "hotaru/backend/cpu/matmul/amx/tile_scope.h"
#include "hotaru/backend/cpu/matmul/areas.h"
#include "hotaru/backend/cpu/matmul/matrix_source.h"
#include "hotaru/backend/cpu/scratch.h"
#include "hotaru/backend/cpu/simd/simd_target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/matmul/amx/gemm_tiles.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/simd/pairs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::amx::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Floats of a row, times alpha, as words of steps, which are `step` words
/// apart; zeros behind the last one's.
template <class Products>
void round_row(const float* x, int64_t n, float alpha, int64_t step,
               uint32_t* to) {
  const hn::CappedTag<float, 16> d;
  constexpr int64_t kLanes = int64_t(hn::MaxLanes(d));
  constexpr int64_t kStep = 2 * kTileWords;
  const auto factor = hn::Set(d, alpha);
  for (; n > 0; n -= kStep, x += kStep, to += step) {
    auto* const out = reinterpret_cast<BFloat16*>(to);
    if (n >= kStep) {
      for (int64_t i = 0; i < kStep; i += 2 * kLanes)
        hotaru::HWY_NAMESPACE::store_both<Products>(
            hn::Mul(hn::LoadU(d, x + i), factor),
            hn::Mul(hn::LoadU(d, x + i + kLanes), factor), out + i);
    } else {
      for (int64_t i = 0; i < kStep; ++i)
        out[i] = i < n ? BFloat16(x[i] * alpha) : BFloat16(0.0f);
    }
  }
}

void round_split(const float* x, int64_t n, float alpha, int64_t step,
                 uint32_t* to) {
  round_row<hotaru::HWY_NAMESPACE::SplitProducts>(x, n, alpha, step, to);
}
void round_native(const float* x, int64_t n, float alpha, int64_t step,
                  uint32_t* to) {
#if HWY_TARGET == HWY_AVX3
  round_row<hotaru::HWY_NAMESPACE::PairProducts>(x, n, alpha, step, to);
#else
  round_split(x, n, alpha, step, to);
#endif
}

/// C = alpha sums + beta added + residual, for rows x cols sums in blocks of
/// kPackedColumns; relu if it is asked for.
void end_tile(const float* sums, int rows, int cols,
              const TileOutput<float>& out) {
  const hn::CappedTag<float, size_t(kPackedColumns)> d;
  constexpr int kLanes = int(hn::MaxLanes(d));
  const float* added = out.d ? out.d : out.c;
  const int64_t ldd = out.d ? out.ldd : out.ldc;
  const auto alpha = hn::Set(d, out.alpha), beta = hn::Set(d, out.beta);
  for (int i = 0; i < rows; ++i) {
    float* const c = out.c + i * out.ldc;
    const float* const more = added + i * ldd;
    const float* const residual = out.r ? out.r + i * out.ldr : nullptr;
    for (int j = 0; j < cols; j += kLanes) {
      const float* from = sums + j / kPackedColumns * kPackedSums +
                          i * kPackedColumns + j % kPackedColumns;
      const auto ended = [&](const auto& load) HOTARU_SIMD_LAMBDA {
        auto v = hn::Mul(hn::LoadU(d, from), alpha);
        if (out.beta != 0) v = hn::MulAdd(beta, load(more + j), v);
        if (residual) v = hn::Add(v, load(residual + j));
        // NaN stays NaN.
        return out.relu ? hn::IfThenZeroElse(hn::Lt(v, hn::Zero(d)), v) : v;
      };
      if (j + kLanes <= cols) {
        const auto whole = [&](const float* at)
                               HOTARU_SIMD_LAMBDA { return hn::LoadU(d, at); };
        hn::StoreU(ended(whole), d, c + j);
        continue;
      }
      const auto some = hn::FirstN(d, size_t(cols - j));
      const auto first = [&](const float* at) HOTARU_SIMD_LAMBDA {
        return hn::MaskedLoad(some, d, at);
      };
      hn::BlendedStore(ended(first), some, d, c + j);
    }
  }
}

/// Rows of a tile, kMostWidth apart, rounded to rows of bfloat16.
template <class Products>
void round_rows(const float* tile, int rows, int cols, BFloat16* to,
                int64_t ld) {
  const hn::CappedTag<float, size_t(kPackedColumns)> d;
  constexpr int kLanes = int(hn::MaxLanes(d));
  for (int i = 0; i < rows; ++i, tile += kMostWidth, to += ld) {
    int j = 0;
    for (; j + 2 * kLanes <= cols; j += 2 * kLanes)
      hotaru::HWY_NAMESPACE::store_both<Products>(
          hn::LoadU(d, tile + j), hn::LoadU(d, tile + j + kLanes), to + j);
    for (; j < cols; ++j) to[j] = BFloat16(tile[j]);
  }
}

void round_tile_split(const float* tile, int rows, int cols, BFloat16* to,
                      int64_t ld) {
  round_rows<hotaru::HWY_NAMESPACE::SplitProducts>(tile, rows, cols, to, ld);
}
void round_tile_native(const float* tile, int rows, int cols, BFloat16* to,
                       int64_t ld) {
#if HWY_TARGET == HWY_AVX3
  round_rows<hotaru::HWY_NAMESPACE::PairProducts>(tile, rows, cols, to, ld);
#else
  round_tile_split(tile, rows, cols, to, ld);
#endif
}

}  // namespace hotaru::amx::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::amx {
namespace {

HWY_EXPORT(round_split);
HWY_EXPORT(round_native);
HWY_EXPORT(end_tile);
HWY_EXPORT(round_tile_split);
HWY_EXPORT(round_tile_native);

using detail::divide_up;

// Words of A that are packed at once, for a cache of two megabytes.
constexpr int64_t kChunkWords = 192 * 1024;
constexpr int64_t kWord = sizeof(uint32_t);
// Steps of a product at least, where its depth is cut.
constexpr int64_t kLeastSteps = 16;
// Words that pay for one more thread to pack them.
constexpr int64_t kWordsPerThread = 1 << 14;

/// Rows of A: for each kPackedRows of them, step by step 16 words a row.
class PackedRows {
 public:
  PackedRows(const Bf16Matrix& a, int64_t k)
      : a_(a), k_(k), steps_(divide_up(k, 2 * kTileWords)) {}

  /// Tells whether rows take a factor where they are rounded, which changes no
  /// bit of a product if it is a power of two; it does so then.
  bool takes(float alpha) {
    int exponent;
    const bool rounds = a_.is_float && a_.col_stride == 1;
    if (!rounds || std::fabs(std::frexp(alpha, &exponent)) != 0.5f)
      return false;
    alpha_ = alpha;
    return true;
  }

  int64_t steps() const { return steps_; }
  int64_t words() const { return steps_ * kTileWords; }  // of a row

  void pack(int64_t row, int64_t rows, uint32_t* to) const {
    const int64_t tiles = divide_up(rows, kPackedRows);
    const int64_t size = kPackedRows * words();
    parallel_for(0, tiles, divide_up(kWordsPerThread, size),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t t = begin; t < end; ++t)
                     pack_tile(row + t * kPackedRows,
                               std::min(kPackedRows, rows - t * kPackedRows),
                               to + t * size);
                 });
  }

 private:
  void pack_tile(int64_t row, int64_t rows, uint32_t* to) const {
    if (a_.row_stride == 1 && a_.col_stride != 1)
      return pack_columns(row, rows, to);
    for (int64_t i = 0; i < rows; ++i, to += kTileWords) {
      const int64_t step = rows * kTileWords;
      const int64_t at = (row + i) * a_.row_stride;
      if (a_.is_float && a_.col_stride == 1)
        round(static_cast<const float*>(a_.data) + at, step, to);
      else if (a_.is_float)
        copy(static_cast<const float*>(a_.data) + at, step, to);
      else
        copy(static_cast<const BFloat16*>(a_.data) + at, step, to);
    }
  }

  /// Packs an A by columns: lines of words along the rows, then transposed.
  void pack_columns(int64_t row, int64_t rows, uint32_t* to) const {
    alignas(64) float lines[kTileWords * kPackedRows];
    for (int64_t p = 0; p < k_; to += rows * kTileWords) {
      for (float* line = lines; line < lines + kTileWords * kPackedRows;
           line += kPackedRows, p += 2)
        pair_columns(row, rows, p, line);
      gemm_kernels<float>().pack(reinterpret_cast<float*>(to), kTileWords, rows,
                                 {lines, kPackedRows, 1});
    }
  }

  /// Columns p and p + 1 as words; beyond the last one zeros.
  void pair_columns(int64_t row, int64_t rows, int64_t p, float* to) const {
    const auto pair = [&](const auto* x, auto make) {
      const auto* const first = x + row + p * a_.col_stride;
      make(to, rows, first, p + 1 < k_ ? first + a_.col_stride : nullptr);
    };
    if (p >= k_)
      std::fill_n(to, rows, 0.0f);
    else if (a_.is_float)
      pair(static_cast<const float*>(a_.data), pair_makers().pair_floats);
    else
      pair(static_cast<const BFloat16*>(a_.data), pair_makers().pair);
  }

  void round(const float* x, int64_t step, uint32_t* to) const {
    static const bool native = simd_has_bf16_products();
    native ? HWY_DYNAMIC_DISPATCH(round_native)(x, k_, alpha_, step, to)
           : HWY_DYNAMIC_DISPATCH(round_split)(x, k_, alpha_, step, to);
  }

  template <class T>
  void copy(const T* x, int64_t step, uint32_t* to) const {
    constexpr int64_t kStep = 2 * kTileWords;
    for (int64_t p = 0; p < k_; p += kStep, to += step) {
      auto* const out = reinterpret_cast<BFloat16*>(to);
      const int64_t count = std::min(kStep, k_ - p);
      if constexpr (std::is_same_v<T, BFloat16>) {
        if (a_.col_stride == 1 && count == kStep) {
          std::copy_n(x + p, kStep, out);
          continue;
        }
      }
      for (int64_t i = 0; i < count; ++i)
        out[i] = BFloat16(x[(p + i) * a_.col_stride]);
      std::fill(out + count, out + kStep, BFloat16(0.0f));
    }
  }

  const Bf16Matrix& a_;
  int64_t k_, steps_;
  float alpha_ = 1;
};

/// One product; its rows in chunks.
class Product {
 public:
  /// Product with the rows of pairs of B from `first` on.
  Product(int64_t m, int64_t n, int64_t k, const Factor<float>& b,
          int64_t first, const TileOutput<float>& out,
          const Epilogue<float>& epilogue)
      : m_(m),
        n_(n),
        first_pair_(first),
        pairs_(bf16_pairs(k)),
        width_(pair_kernels().max_cols),
        b_(b),
        out_(out),
        rest_(epilogue) {
    is_plain_ = out_.alpha == 1 && out_.beta == 0 && rest_.empty();
    if (out_.beta == 0 && rest_.bias && !rest_.bias_per_row) {
      out_.beta = 1;  // a row of D for all
      out_.d = rest_.bias;
      rest_.bias = nullptr;
    }
    if (rest_.bias || rest_.scale) return;
    if (rest_.residual) {
      out_.r = rest_.residual;
      out_.ldr = rest_.residual_stride;
      rest_.residual = nullptr;
    }
    out_.relu = rest_.activation == Activation::kRelu;
    if (out_.relu) rest_.activation = Activation::kNone;
  }

  /// C is that of bfloat16 instead; where sums go before is floats' or none.
  void round_to(BFloat16* c, int64_t ldc) {
    rounded_ = c;
    ld_rounded_ = ldc;
    if (out_.beta != 0 && !out_.d) out_.d = out_.c, out_.ldd = out_.ldc;
    is_plain_ = false;
  }

  void run(const PackedRows& a) {
    const int64_t most =
        std::max<int64_t>(1, kChunkWords / (a.words() * kPackedRows));
    const int64_t tiles = divide_up(m_, kPackedRows);
    const int64_t chunks = divide_up(tiles, most);
    packed_ = b_.packed;
    if (!packed_ && chunks > 1) packed_ = pack_all();
    auto* const rows = scratch<uint32_t>(
        ScratchUse::kGemmA, divide_up(tiles, chunks) * kPackedRows * a.words());
    for (int64_t i = 0; i < chunks; ++i) {
      const int64_t begin = tiles * i / chunks * kPackedRows;
      const int64_t end = std::min(m_, tiles * (i + 1) / chunks * kPackedRows);
      a.pack(begin, end - begin, rows);
      // Tiles multiply a good deal faster than what areas count on.
      for_areas(end - begin, n_, divide_up(pairs_, 4), kPackedRows, width_,
                [&](const Area& area) {
                  const TileScope scope(true);
                  multiply(a, rows, begin, area);
                });
    }
  }

 private:
  /// Sums of a tile that still have to become C.
  struct Pending {
    const Product& product;
    const float* sums;
    int64_t row, col;
    int cols;
    static void finish(const void* self, int64_t begin, int64_t end) {
      const auto& p = *static_cast<const Pending*>(self);
      p.product.finish(p.sums + begin * kPackedColumns, p.row + begin, p.col,
                       int(end - begin), p.cols);
    }
  };

  void multiply(const PackedRows& a, const uint32_t* rows, int64_t first,
                const Area& area) const {
    constexpr int64_t kNone = 0;
    alignas(64) float sums[2][2 * kPackedSums];
    Pending pending{*this, nullptr, 0, 0, 0};
    Meanwhile other{&Pending::finish, &pending, 4};
    int buffer = 0;
    PackedTile t{};
    t.outer = a.steps();
    t.inner = 1;
    t.offsets = &kNone;
    t.a_row = kTileWords;
    t.b_row = width_;
    t.b_step = kTileRows * width_;
    t.b_block = kPackedColumns;
    const int64_t tiles = divide_up(area.row_end - area.row_begin, kPackedRows);
    for (int64_t col = area.col_begin; col < area.col_end; col += width_) {
      const int64_t cols = std::min(width_, area.col_end - col);
      t.b = panel(col, cols);
      t.rest = pairs_ % kTileRows ? rest_of(t.b, a.steps()) : nullptr;
      t.blocks = int(divide_up(cols, kPackedColumns));
      for (int64_t row = area.row_begin; row < area.row_end;
           row += kPackedRows) {
        t.rows = int(std::min(kPackedRows, area.row_end - row));
        t.a = rows + row * a.words();
        t.outer_step = t.rows * kTileWords;
        // Weights lie far: those of the next panel come meanwhile.
        if (b_.packed && col + width_ < area.col_end)
          t.fetch(t.b + pairs_ * width_, pairs_ * width_ * kWord,
                  (row - area.row_begin) / kPackedRows, tiles);
        else
          t.lines_ahead = 0;
        if (is_plain_ && cols % kPackedColumns == 0) {
          t.to_row = out_.ldc, t.to_block = kPackedColumns;
          multiply_tile(t, out_.c + (first + row) * out_.ldc + col, other);
          other.count = 0;
          continue;
        }
        float* const to = sums[buffer ^= 1];
        t.to_row = kPackedColumns, t.to_block = kPackedSums;
        multiply_tile(t, to, other);
        pending.sums = to;
        pending.row = first + row;
        pending.col = col;
        pending.cols = int(cols);
        other.count = t.rows;
      }
    }
    other.run_all();
  }

  const uint32_t* panel(int64_t col, int64_t cols) const {
    if (packed_)
      return reinterpret_cast<const uint32_t*>(packed_ + col * pairs_);
    float* const to = scratch<float>(ScratchUse::kGemmB, width_ * pairs_);
    pack_panel(col, cols, to);
    return reinterpret_cast<const uint32_t*>(to);
  }

  void pack_panel(int64_t col, int64_t cols, float* to) const {
    const MatrixSource<float> matrix(gemm_kernels<float>(), b_.matrix);
    const PanelSource<float>& source = b_.source ? *b_.source : matrix;
    source.pack(first_pair_, pairs_, col, cols, width_, to);
  }

  /// All panels, for several chunks of rows.
  const float* pack_all() const {
    const int64_t panels = divide_up(n_, width_);
    float* const to =
        scratch<float>(ScratchUse::kGemmB, panels * width_ * pairs_);
    parallel_for(0, panels, divide_up(kWordsPerThread, width_ * pairs_),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i)
                     pack_panel(i * width_, std::min(width_, n_ - i * width_),
                                to + i * width_ * pairs_);
                 });
    return to;
  }

  /// Last step of a panel, filled up with zeros.
  const uint32_t* rest_of(const uint32_t* b, int64_t steps) const {
    constexpr int64_t kBlock = kTileRows * kTileWords;
    auto* const to = scratch<uint32_t>(ScratchUse::kTileRows, 2 * kBlock);
    std::fill_n(to, 2 * kBlock, 0u);
    for (int64_t p = (steps - 1) * kTileRows; p < pairs_; ++p)
      for (int64_t q = 0; q < width_ / kPackedColumns; ++q)
        std::copy_n(b + p * width_ + q * kPackedColumns, kPackedColumns,
                    to + q * kBlock + p % kTileRows * kTileWords);
    return to;
  }

  void finish(const float* sums, int64_t row, int64_t col, int rows,
              int cols) const {
    TileOutput<float> out = out_;
    // Sums that are rounded are finished here first.
    alignas(64) float tile[2 * kPackedSums];
    if (rounded_)
      out.c = tile, out.ldc = kMostWidth;
    else
      out.c += row * out.ldc + col;
    if (out.d) out.d += row * out.ldd + col;
    if (out.r) out.r += row * out.ldr + col;
    HWY_DYNAMIC_DISPATCH(end_tile)(sums, rows, cols, out);
    finish_rest(row, col, rows, cols, out);
    if (rounded_)
      round_tile(tile, rows, cols, rounded_ + row * ld_rounded_ + col);
  }

  void round_tile(const float* tile, int rows, int cols, BFloat16* to) const {
    static const bool native = simd_has_bf16_products();
    native ? HWY_DYNAMIC_DISPATCH(round_tile_native)(tile, rows, cols, to,
                                                     ld_rounded_)
           : HWY_DYNAMIC_DISPATCH(round_tile_split)(tile, rows, cols, to,
                                                    ld_rounded_);
  }

  void finish_rest(int64_t row, int64_t col, int rows, int cols,
                   const TileOutput<float>& out) const {
    if (rest_.empty()) return;
    Epilogue<float> rest = rest_;
    if (rest.bias) rest.bias += rest.bias_per_row ? row : col;
    if (rest.scale) rest.scale += row, rest.shift += row;
    if (rest.residual) rest.residual += row * rest.residual_stride + col;
    gemm_kernels<float>().finish(out.c, out.ldc, rows, cols, rest);
  }

  int64_t m_, n_, first_pair_, pairs_;
  int64_t width_;  // of a panel
  const float* packed_ = nullptr;
  BFloat16* rounded_ = nullptr;
  int64_t ld_rounded_ = 0;
  const Factor<float>& b_;
  TileOutput<float> out_;
  Epilogue<float> rest_;  // what is left behind out_
  bool is_plain_;         // sums are C as they are
};

}  // namespace

bool has_products() {
  // Panels are as wide as two vectors.
  static const bool fits = pair_kernels().max_cols % kPackedColumns == 0 &&
                           pair_kernels().max_cols <= kMostWidth;
  static const bool has = simd_emulates_tiles() || simd_has_tiles();
  return has && fits;
}

namespace {

/// Numbers along the depth that are multiplied at once: of a B that is not
/// packed all of them, or as many as let its rows stay in the second-level
/// cache, where all of them would leave room for few rows of A.
int64_t depth_at_once(int64_t m, int64_t n, int64_t k, bool packed) {
  const int64_t pairs = bf16_pairs(k);
  if (packed || m * pairs <= kChunkWords) return k;
  const int64_t blocks = divide_up(pairs * n, kChunkWords);
  const int64_t steps = divide_up(divide_up(pairs, blocks), kTileRows);
  return std::max(steps, kLeastSteps) * kTileRows * 2;
}

Bf16Matrix from_column(Bf16Matrix a, int64_t p) {
  const int64_t size = a.is_float ? sizeof(float) : sizeof(BFloat16);
  a.data = static_cast<const char*>(a.data) + p * a.col_stride * size;
  return a;
}

}  // namespace

void gemm_tiles(int64_t m, int64_t n, int64_t k, float alpha,
                const Bf16Matrix& a, const Factor<float>& b, float beta,
                float* c, int64_t ldc, const Epilogue<float>& epilogue,
                BFloat16* rounded, int64_t ld_rounded) {
  const int64_t depth = depth_at_once(m, n, k, b.packed);
  if (rounded && depth < k) {
    c = scratch<float>(ScratchUse::kReducedSums, m * n);
    ldc = n;
  }
  for (int64_t p = 0; p < k; p += depth) {
    const int64_t some = std::min(depth, k - p);
    const bool last = p + some == k;
    const Bf16Matrix left = from_column(a, p);
    PackedRows rows(left, some);
    const bool taken = rows.takes(alpha);
    Product product(m, n, some, b, p / 2,
                    {c, ldc, taken ? 1.0f : alpha, p == 0 ? beta : 1.0f},
                    last ? epilogue : Epilogue<float>());
    if (rounded && last) product.round_to(rounded, ld_rounded);
    product.run(rows);
  }
}

}  // namespace hotaru::amx
#endif
