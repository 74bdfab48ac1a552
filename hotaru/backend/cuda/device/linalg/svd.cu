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

/// Room in the workspace; see svd_elements().
template <class T>
struct SvdRoom {
  T *b, *v, *lengths, *places, *taus, *r, *u, *more;

  __device__ SvdRoom(const LinalgParams& p, int64_t m, int64_t n)
      : b(work_of<T>(p)),
        v(b + m * n),
        lengths(v + (p.vectors ? n * n : 0)),
        places(lengths + n),
        taus(places + n),
        r(taus + n),
        u(r + (svd_is_tall(m, n) ? n * n : 0)),
        more(u + m * n) {}
};

template <class T>
__device__ void svd(const LinalgParams& p) {
  using R = Real<T>;
  HOTARU_REFLECT_ROOM(T, room);
  if (is_done(p)) return;
  const bool wide = p.m < p.n;
  const int m = wide ? p.n : p.m, n = wide ? p.m : p.n;
  const bool tall = svd_is_tall(m, n);
  const SvdRoom<T> at(p, m, n);
  R* const lengths = reinterpret_cast<R*>(at.lengths);
  int32_t* const places = reinterpret_cast<int32_t*>(at.places);
  T* const v = p.vectors ? at.v : nullptr;
  Jacobi<T> whole{m, n, at.b, v, lengths};
  const Jacobi<T> jacobi{tall ? n : m, n, tall ? at.r : at.b, v, lengths};
  const R scale = solve_singular(p, whole, jacobi, at.taus, room);
  if (scale == 0) return;
  jacobi.sort(places);
  R* const values = matrix_of<R>(p.out[0], n, 1);
  for_line(0, n, [&](int j) { values[places[j]] = lengths[j] / scale; });
  if (!p.vectors) return;
  if (tall) {
    for_matrix(n, m, [&](int j, int i) {
      at.u[int64_t(j) * m + i] = i < n ? at.r[int64_t(j) * n + i] : T(0);
    });
    apply_reflectors(m, n, at.b, int64_t(1), int64_t(m), at.taus, n, at.u,
                     int64_t(1), int64_t(m), room);
    whole.b = at.u;
  }
  const Vectors<T> to{matrix_of<T>(p.out[1], p.m, p.k),
                      matrix_of<T>(p.out[2], p.l, p.n), p.k, p.n};
  int rank = 0;
  for_line(0, n, [&](int j) { rank += lengths[j] > 0 ? 1 : 0; });
  rank = sum_block(rank);
  for_matrix(n, m, [&](int j, int i) {
    if (places[j] < rank)
      to.put(!wide, i, places[j], whole.b[int64_t(j) * m + i]);
  });
  for_matrix(n, n, [&](int j, int i) {
    to.put(wide, i, places[j], v[int64_t(j) * n + i]);
  });
  const int columns = wide ? p.l : p.k;
  if (rank < columns)
    complete(whole, places, rank, columns - rank, tall ? at.b : at.u, at.more,
             at.taus, to, !wide, room);
}

}  // namespace

// Crowded by one block: else the compiler spills to make room for several.
#define HOTARU_SVD(unused, T, suffix) \
  HOTARU_CUDA_CROWDED_KERNEL(Svd_##suffix, 1, LinalgParams, svd<T>)
HOTARU_DEVICE_TYPES_FloatTypes(HOTARU_SVD, )
    HOTARU_DEVICE_TYPES_ComplexTypes(HOTARU_SVD, )

}  // namespace hotaru::cuda
