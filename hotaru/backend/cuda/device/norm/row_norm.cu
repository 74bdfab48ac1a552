// Rows normalised by their own mean and variance: layer norm, group norm. See
// params/norm.h for how they are launched.
#include "hotaru/backend/cuda/device/norm/moments.h"
#include "hotaru/backend/cuda/device/norm/parameter.h"
#include "hotaru/backend/cuda/device/pieces.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

struct Row : Pieces {
  Team team;
  uint32_t number;
  bool real;
  uint32_t first_weight;

  __device__ explicit Row(const NormParams& p)
      : Pieces{0, p.lanes, p.columns, p.vectors}, team{p.lanes, false} {
    lane = team.lane();
    number = blockIdx.x * team.rows() + team.row();
    real = number < p.rows;
    if (!real) number = 0;
    first_weight =
        (number - p.period.divide(number) * p.period.divisor) * p.step;
  }
  template <class T>
  __device__ const char* of(const void* base) const {
    return static_cast<const char*>(base) +
           int64_t(number) * length * int64_t(sizeof(Stored<T>));
  }
  template <class T>
  __device__ void read(OpMath<T>* x, const char* row, uint32_t from) const {
    Pieces::read<T>(x, row, sizeof(Stored<T>), from, OpMath<T>(0));
  }
  template <class T>
  __device__ void write(const OpMath<T>* x, const char* row,
                        uint32_t from) const {
    Pieces::write<T>(x, const_cast<char*>(row), sizeof(Stored<T>), from);
  }
  /// Calls f(place in the piece, weight number) for this thread's elements.
  template <class T, class F>
  __device__ void each(const NormParams& p, uint32_t from, const F& f) const {
    const uint32_t first = begin<T>(from);
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kPieceLength<T>; ++j) {
      const uint32_t i = first + j * apart();
      if (i < length) f(j, first_weight + p.inner.divide(i));
    }
  }
};

/// Calls f(piece or 0, from) for all pieces: they are kPieces at most, and kept
/// in registers, or one after the other.
template <bool kHeld, uint32_t kPieces, class F>
__device__ void for_pieces(uint32_t length, uint32_t tile, const F& f) {
  if constexpr (kHeld) {
    HOTARU_UNROLL
    for (uint32_t i = 0; i < kPieces; ++i) f(i, i * tile);
  } else {
    HOTARU_NO_UNROLL
    for (uint32_t from = 0; from < length; from += tile) f(0, from);
  }
}

/// Pieces that are kept in registers.
template <class T>
constexpr uint32_t kPiecesHeld =
    (sizeof(Stored<T>) == 8 ? kNormHeld / 2 : kNormHeld) / kPieceLength<T>;

template <class T, bool kHeld>
__device__ void normalise(const NormParams& p, const Row& row,
                          OpMath<T>* memory, Pair<OpMath<T>>* pairs) {
  using A = OpMath<T>;
  constexpr uint32_t kLength = kPieceLength<T>;
  constexpr uint32_t kPieces = kHeld ? kPiecesHeld<T> : 1;
  const char* in = row.of<T>(p.x);
  const uint32_t tile = row.tile<T>();
  const A n = A(p.columns);
  A x[kPieces][kLength];
  A sum = 0;
  for_pieces<kHeld, kPieces>(p.columns, tile, [&](uint32_t i, uint32_t from) {
    row.read<T>(x[i], in, from);
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kLength; ++j) sum += x[i][j];
  });
  const auto each = [&](const auto& take) {
    for_pieces<kHeld, kPieces>(p.columns, tile, [&](uint32_t i, uint32_t from) {
      if (!kHeld) row.read<T>(x[i], in, from);
      row.each<T>(p, from, [&](uint32_t j, uint32_t) { take(x[i][j]); });
    });
  };
  const RowMoments<A> moments =
      row_moments(row.team, sum, n, A(p.eps), memory, pairs, each);
  const A mean = moments.mean, rstd = moments.rstd;
  if (!row.real) return;
  if (row.lane == 0) {
    static_cast<A*>(p.mean)[row.number] = mean;
    static_cast<A*>(p.rstd)[row.number] = rstd;
  }
  const auto weight = weight_of<T>(p), bias = bias_of<T>(p);
  const char* out = row.of<T>(p.out);
  for_pieces<kHeld, kPieces>(p.columns, tile, [&](uint32_t i, uint32_t from) {
    if (!kHeld) row.read<T>(x[i], in, from);
    row.each<T>(p, from, [&](uint32_t j, uint32_t w) {
      x[i][j] = normalised(x[i][j], mean, rstd, weight[w], bias[w]);
    });
    row.write<T>(x[i], out, from);
  });
}

template <class T>
__device__ void row_norm(const NormParams& p) {
  __shared__ Pair<OpMath<T>> pairs[kBlock];
  const Row row(p);
  auto* memory = reinterpret_cast<OpMath<T>*>(pairs);
  if (p.columns <= row.tile<T>() * kPiecesHeld<T>)
    normalise<T, true>(p, row, memory, pairs);
  else
    normalise<T, false>(p, row, memory, pairs);
}

/// rstd (w g - mean(w g) - xhat mean(w g xhat)).
template <class T, bool kHeld>
__device__ void gradient(const NormParams& p, const Row& row,
                         Pair<OpMath<T>>* pairs) {
  using A = OpMath<T>;
  constexpr uint32_t kLength = kPieceLength<T>;
  constexpr uint32_t kPieces = kHeld ? kNormHeld / 2 / kLength : 1;
  const char *in = row.of<T>(p.x), *grad = row.of<T>(p.grad);
  const uint32_t tile = row.tile<T>();
  const A mean = static_cast<const A*>(p.mean)[row.number];
  const A rstd = static_cast<const A*>(p.rstd)[row.number];
  const auto weight = weight_of<T>(p);
  A x[kPieces][kLength], g[kPieces][kLength];
  /// Reads, of a piece, what was normalised, and weighted gradients.
  const auto read = [&](uint32_t i, uint32_t from) {
    row.read<T>(x[i], in, from);
    row.read<T>(g[i], grad, from);
    row.each<T>(p, from, [&](uint32_t j, uint32_t w) {
      x[i][j] = (x[i][j] - mean) * rstd;
      g[i][j] *= weight[w];
    });
  };
  Pair<A> sums = {0, 0};
  for_pieces<kHeld, kPieces>(p.columns, tile, [&](uint32_t i, uint32_t from) {
    read(i, from);
    row.each<T>(p, from, [&](uint32_t j, uint32_t) {
      sums.first += g[i][j];
      sums.second += g[i][j] * x[i][j];
    });
  });
  sums = row.team.share(sums, pairs, Plus());
  if (!row.real) return;
  const A n = A(p.columns);
  const char* out = row.of<T>(p.out);
  for_pieces<kHeld, kPieces>(p.columns, tile, [&](uint32_t i, uint32_t from) {
    if (!kHeld) read(i, from);
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kLength; ++j)
      g[i][j] = rstd * (g[i][j] - (sums.first + x[i][j] * sums.second) / n);
    row.write<T>(g[i], out, from);
  });
}

template <class T>
__device__ void row_norm_grad(const NormParams& p) {
  __shared__ Pair<OpMath<T>> pairs[kBlock];
  const Row row(p);
  if (p.columns <= row.tile<T>() * (kNormHeld / 2 / kPieceLength<T>))
    gradient<T, true>(p, row, pairs);
  else
    gradient<T, false>(p, row, pairs);
}

}  // namespace

#define HOTARU_ROW_NORM(unused, T, suffix) \
  HOTARU_CUDA_BLOCK_KERNEL(RowNorm_##suffix, NormParams, row_norm<T>) \
  HOTARU_CUDA_BLOCK_KERNEL(RowNormGrad_##suffix, NormParams, row_norm_grad<T>)
HOTARU_DEVICE_TYPES_FloatingTypes(HOTARU_ROW_NORM, )

}  // namespace hotaru::cuda
