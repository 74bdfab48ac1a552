// Copies of matrices for libraries that count by columns; see params/turn.h.
#include "hotaru/backend/cuda/device/linalg/team.h"
#include "hotaru/backend/cuda/params/turn.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

template <class T>
__device__ T* matrix_at(T* first, int64_t bytes) {
  using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
  return reinterpret_cast<T*>(reinterpret_cast<Byte*>(first) +
                              int64_t(blockIdx.x) * bytes);
}
/// Number of elements, of n from `first` on, that a tile has.
__device__ inline int in_tile(int first, int n) {
  return n - first < kTurnTile ? n - first : kTurnTile;
}
template <class T>
__device__ bool is_finite(T x) {
  const Real<T> rest = (real_part(x) - real_part(x)) +
                       (imag_part(x) - imag_part(x));  // NaN of all others
  return rest == 0;
}

template <class T>
__device__ void turn(const TurnParams& p) {
  constexpr int kRow = kTurnTile + 1;  // columns of it lie in other banks
  __shared__ double memory[kTurnTile * kRow * sizeof(T) / sizeof(double)];
  T* const tile = reinterpret_cast<T*>(memory);
  const int row = int(blockIdx.z) * kTurnTile;
  const int column = int(blockIdx.y) * kTurnTile;
  const int rows = in_tile(row, p.rows), columns = in_tile(column, p.columns);
  const T* const from = matrix_at(static_cast<const T*>(p.from), p.from_bytes);
  const auto put = [&](int i, int j, T x) {
    const int over = column + j - row - i;
    if (p.kept != Kept::kAll && (p.kept == Kept::kLower ? over > 0 : over < 0))
      x = T(0);
    if (p.not_finite && !is_finite(x)) {
      p.not_finite[blockIdx.x] = 1;  // by whomever
      x = T(0);
    }
    tile[i * kRow + j] = p.conjugated ? conjugate(x) : x;
  };
  if (p.turned)
    for_matrix(columns, rows, [&](int j, int i) {
      put(i, j, from[int64_t(column + j) * p.from_row + row + i]);
    });
  else
    for_matrix(rows, columns, [&](int i, int j) {
      put(i, j, from[int64_t(row + i) * p.from_row + column + j]);
    });
  __syncthreads();
  T* const to = matrix_at(static_cast<T*>(p.to), p.to_bytes);
  for_matrix(rows, columns, [&](int i, int j) {
    to[int64_t(row + i) * p.to_row + column + j] = tile[i * kRow + j];
  });
}

__device__ void pivots(const PivotsParams& p) {
  const int64_t* const from = p.from + int64_t(blockIdx.x) * p.count;
  int32_t* const to = matrix_at(p.to, p.to_bytes);
  for_line(0, p.count, [&](int i) { to[i] = int32_t(from[i]); });
}

template <class T>
__device__ void unpack_pairs(const PairsParams& p) {
  using C = std::complex<T>;
  const int row = int(blockIdx.z) * kTurnTile;
  const int column = int(blockIdx.y) * kTurnTile;
  const T* const from = matrix_at(static_cast<const T*>(p.from), p.from_bytes);
  const C* const values = matrix_of<C>(p.values, p.n, 1);
  C* const to = matrix_of<C>(p.to, p.n, p.n);
  for_matrix(in_tile(row, p.n), in_tile(column, p.n), [&](int i, int j) {
    const int at = row + i, vector = column + j;
    // Pairs begin with the positive imaginary part; what failed may have
    // anything.
    const T imaginary = values[vector].imag();
    const int first = imaginary < 0 && vector > 0 ? vector - 1 : vector;
    const bool pair = imaginary != 0 && first + 1 < p.n;
    const T re = from[int64_t(first) * p.n + at];
    const T im = pair ? from[int64_t(first + 1) * p.n + at] : T(0);
    to[int64_t(at) * p.n + vector] = C(re, imaginary < 0 ? -im : im);
  });
}

}  // namespace

// Crowded by four blocks: else the compiler spills to make room for more.
#define HOTARU_TURN(unused, T, suffix) \
  HOTARU_CUDA_CROWDED_KERNEL(Turn_##suffix, 4, TurnParams, turn<T>)
#define HOTARU_PAIRS(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(UnpackPairs_##suffix, PairsParams, unpack_pairs<T>)
HOTARU_DEVICE_TYPES_FloatTypes(HOTARU_TURN, )
    HOTARU_DEVICE_TYPES_ComplexTypes(HOTARU_TURN, )
        HOTARU_DEVICE_TYPES_FloatTypes(HOTARU_PAIRS, )
            HOTARU_CUDA_KERNEL(Pivots, PivotsParams, pivots)

}  // namespace hotaru::cuda
