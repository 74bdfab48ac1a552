// Singular values and vectors; see params/linalg.h.
#include "hotaru/backend/cuda/device/linalg/jacobi.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

/// Writes a vector's element to u, or to vh.
template <class T>
struct Vectors {
  T *u, *vh;
  int of_u, n;

  __device__ void put(bool to_u, int i, int place, T x) const {
    if (to_u)
      u[int64_t(i) * of_u + place] = x;
    else
      vh[int64_t(place) * n + i] = conjugate(x);
  }
};

/// The columns of U from `rank` on: what the reflections that make the columns
/// before an identity make of it. `room_v` [rank, m], `room_c` [count, m].
template <class T>
__device__ void complete(const Jacobi<T>& jacobi, const int32_t* places,
                         int rank, int count, T* room_v, T* room_c, T* taus,
                         const Vectors<T>& to, bool to_u, T* room) {
  const int m = jacobi.m;
  for_matrix(jacobi.n, m, [&](int j, int i) {
    if (places[j] < rank)
      room_v[int64_t(places[j]) * m + i] = jacobi.b[int64_t(j) * m + i];
  });
  for_matrix(count, m, [&](int j, int i) {
    room_c[int64_t(j) * m + i] = T(i == rank + j ? 1 : 0);
  });
  factor_qr(m, rank, room_v, int64_t(1), int64_t(m), taus, room);
  apply_reflectors(m, rank, room_v, int64_t(1), int64_t(m), taus, count, room_c,
                   int64_t(1), int64_t(m), room);
  for_matrix(count, m, [&](int j, int i) {
    to.put(to_u, i, rank + j, room_c[int64_t(j) * m + i]);
  });
}

template <class T>
__device__ void svd(const LinalgParams& p) {
  using R = Real<T>;
  HOTARU_REFLECT_ROOM(T, room);
  const bool wide = p.m < p.n;
  const int m = wide ? p.n : p.m, n = wide ? p.m : p.n;
  const int columns = wide ? p.l : p.k;
  T *const b = work_of<T>(p), *const v = b + int64_t(m) * n;
  T* const rest = p.vectors ? v + int64_t(n) * n : v;
  R* const lengths = reinterpret_cast<R*>(rest);
  int32_t* const places = reinterpret_cast<int32_t*>(rest + n);
  const Jacobi<T> jacobi{m, n, b, p.vectors ? v : nullptr, lengths};
  const R scale = solve_singular(p, jacobi);
  if (scale == 0) return;
  jacobi.sort(places);
  R* const values = matrix_of<R>(p.out[0], n, 1);
  for_line(0, n, [&](int j) { values[places[j]] = lengths[j] / scale; });
  if (!p.vectors) return;
  const Vectors<T> to{matrix_of<T>(p.out[1], p.m, p.k),
                      matrix_of<T>(p.out[2], p.l, p.n), p.k, p.n};
  int rank = 0;
  for_line(0, n, [&](int j) { rank += lengths[j] > 0 ? 1 : 0; });
  rank = sum_block(rank);
  for_matrix(n, m, [&](int j, int i) {
    if (places[j] < rank) to.put(!wide, i, places[j], b[int64_t(j) * m + i]);
  });
  for_matrix(n, n, [&](int j, int i) {
    to.put(wide, i, places[j], v[int64_t(j) * n + i]);
  });
  if (rank == columns) return;
  T *const taus = rest + 2 * n, *const room_v = taus + n;
  complete(jacobi, places, rank, columns - rank, room_v,
           room_v + int64_t(n) * m, taus, to, !wide, room);
}

}  // namespace

// Crowded by one block: else the compiler spills to make room for several.
#define HOTARU_SVD(unused, T, suffix) \
  HOTARU_CUDA_CROWDED_KERNEL(Svd_##suffix, 1, LinalgParams, svd<T>)
HOTARU_DEVICE_TYPES_FloatTypes(HOTARU_SVD, )
    HOTARU_DEVICE_TYPES_ComplexTypes(HOTARU_SVD, )

}  // namespace hotaru::cuda
