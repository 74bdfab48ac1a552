// Eigenvalues and eigenvectors of Hermitian matrices: the reduction to
// tridiagonal form (G. Golub and C. Van Loan, Matrix computations, 8.3), and QL
// iterations of that, whose rotations all threads apply. See params/linalg.h.
#include "hotaru/backend/common/linalg/tridiagonal.h"
#include "hotaru/backend/cuda/device/linalg/reflector.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

/// The matrix as it is reduced, in the workspace.
template <class T>
struct Tridiagonal {
  using R = Real<T>;

  int n;
  bool vectors;
  T* a;

  __device__ explicit Tridiagonal(const LinalgParams& p)
      : n(p.m), vectors(p.vectors), a(work_of<T>(p)) {}

  // Computed again where they are used: there are not so many registers.
  /// Vectors, as rows, if they are asked for.
  __device__ T* q() const { return a + int64_t(n) * n; }
  __device__ T* taus() const { return vectors ? q() + int64_t(n) * n : q(); }
  __device__ R* d() const { return reinterpret_cast<R*>(taus() + n); }
  __device__ R* e() const { return d() + n; }
  __device__ R* c() const { return e() + n; }
  __device__ R* s() const { return c() + n; }

  /// All of the matrix from its lower triangle, times what takes its numbers to
  /// where they can be squared; that is returned, 0 if one is not finite.
  __device__ R read(const T* from) const {
    LargestPart<R> part;
    for_matrix(n, n, [&](int i, int j) {
      if (j <= i) part.look(from[int64_t(i) * n + j]);
    });
    const R largest = part.of_block();
    if (!(largest <= std::numeric_limits<R>::max())) return 0;
    const R scale = safe_scale(largest);
    for_matrix(n, n, [&](int i, int j) {
      const T x = i < j ? conjugate(from[int64_t(j) * n + i])
                        : from[int64_t(i) * n + j];
      a[int64_t(i) * n + j] = times(scale, i == j ? T(real_part(x)) : x);
    });
    return scale;
  }

  __device__ void reduce(T* room) const {
    for (int j = 0; j + 1 < n; ++j) {
      T* const x = a + int64_t(j + 1) * n + j;
      const int rows = n - j - 1;
      const T tau = make_reflector(rows, x, n);
      if (threadIdx.x == 0) {
        taus()[j] = tau;
        d()[j] = real_part(a[int64_t(j) * (n + 1)]);
        e()[j] = real_part(x[0]);
      }
      reflect(rows, rows, x, n, conjugate(tau), x + 1, n, 1, room);
      reflect<true>(rows, rows, x, n, tau, x + 1, 1, n, room);
    }
    __syncthreads();
    if (threadIdx.x == 0) d()[n - 1] = real_part(a[int64_t(n) * n - 1]);
    if (!vectors) return;
    for_matrix(n, n, [&](int i, int j) {
      q()[int64_t(i) * n + j] = T(i == j ? 1 : 0);
    });
    apply_reflectors(n - 1, n - 1, a + n, int64_t(n), int64_t(1), taus(), n - 1,
                     q() + n + 1, int64_t(1), int64_t(n), room, true);
  }

  /// Takes the largest of d and e to 1; that is returned.
  __device__ R normalise() const {
    LargestPart<R> part;
    __syncthreads();
    for_line(0, n, [&](int i) { part.look(d()[i]); });
    for_line(0, n - 1, [&](int i) { part.look(e()[i]); });
    const R largest = part.of_block();
    if (largest > 0) {
      for_line(0, n, [&](int i) { d()[i] /= largest; });
      for_line(0, n - 1, [&](int i) { e()[i] /= largest; });
    }
    __syncthreads();
    return largest;
  }

  /// Finds, in one thread, rotations that are then applied: a sweep over rows
  /// [l, m]. False if there is no more to do.
  __device__ bool next(int& l, int& m) const {
    for (; l < n; ++l) {
      m = l;
      while (m + 1 < n && !negligible(e()[m], d()[m], d()[m + 1])) ++m;
      if (m + 1 < n) e()[m] = 0;
      if (m == l) continue;
      sweep<R>(l, m, d(), e(), c(), s());
      return true;
    }
    return false;
  }

  /// False if it did not converge.
  __device__ bool iterate() const {
    __shared__ int range[3];  // first row, last row, whether there is a sweep
    if (threadIdx.x == 0) range[0] = 0;
    for (int64_t left = kMostSweeps * n;; --left) {
      __syncthreads();
      if (threadIdx.x == 0) {
        int l = range[0], m = 0;
        range[2] = next(l, m);
        range[0] = l;
        range[1] = m;
      }
      __syncthreads();
      if (!range[2]) return true;
      if (left == 0) return false;
      if (vectors) rotate(range[0], range[1]);
    }
  }

  __device__ void rotate(int l, int m) const {
    for_line(0, n, [&](int k) {
      T* at = q() + int64_t(m) * n + k;
      T below = at[0];
      for (int i = m - 1; i >= l; --i, at -= n) {
        const T x = *(at - n);
        at[0] = times(c()[i], below) - times(s()[i], x);
        below = times(c()[i], x) + times(s()[i], below);
      }
      at[0] = below;
    });
  }
};

/// info: 1 if it did not converge, n + 1 if a number is not finite.
template <class T>
__device__ void eigh(const LinalgParams& p) {
  using R = Real<T>;
  HOTARU_REFLECT_ROOM(T, room);
  if (is_done(p)) return;
  const Tridiagonal<T> t(p);
  const int n = p.m;
  const R scale = t.read(matrix_of<T>(p.in[0], n, n));
  if (scale == 0) {
    if (threadIdx.x == 0) p.info[blockIdx.x] = n + 1;
    return;
  }
  t.reduce(room);
  const R largest = t.normalise();
  const bool done = t.iterate();
  if (threadIdx.x == 0) p.info[blockIdx.x] = done ? 0 : 1;
  int32_t* const places = reinterpret_cast<int32_t*>(t.c());
  R* const values = matrix_of<R>(p.out[0], n, 1);
  for_line(0, n, [&](int i) {
    const R x = t.d()[i];
    int place = 0;
    for (int k = 0; k < n; ++k)
      place += t.d()[k] < x || (t.d()[k] == x && k < i) ? 1 : 0;
    places[i] = place;
    values[place] = largest > 0 ? x * largest / scale : R(0);
  });
  __syncthreads();
  if (!t.vectors) return;
  T* const vectors = matrix_of<T>(p.out[1], n, n);
  for_matrix(n, n, [&](int i, int j) {
    vectors[int64_t(j) * n + places[i]] = t.q()[int64_t(i) * n + j];
  });
}

}  // namespace

#define HOTARU_EIGH(unused, T, suffix) \
  HOTARU_CUDA_CROWDED_KERNEL(Eigh_##suffix, 1, LinalgParams, eigh<T>)
HOTARU_DEVICE_TYPES_FloatTypes(HOTARU_EIGH, )
    HOTARU_DEVICE_TYPES_ComplexTypes(HOTARU_EIGH, )

}  // namespace hotaru::cuda
