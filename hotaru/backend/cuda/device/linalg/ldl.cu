// L D L^T of symmetric and L D L^H of Hermitian matrices, D with blocks of one
// and two (J. Bunch and L. Kaufman, Some stable methods for calculating inertia
// and solving symmetric linear systems, 1977). Of a matrix only the lower
// triangle is read and written. See params/linalg.h.
#include "hotaru/backend/cuda/device/linalg/team.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

template <class T>
struct Ldl {
  T* a;  // row-major [n, n]
  int n;
  bool hermitian;

  __device__ T& at(int i, int j) const { return a[int64_t(i) * n + j]; }
  __device__ T mirrored(T x) const { return hermitian ? conjugate(x) : x; }
  /// A diagonal element, of which a Hermitian matrix has no imaginary part.
  __device__ T diagonal(int i) const {
    return hermitian ? T(real_part(at(i, i))) : at(i, i);
  }

  /// Exchanges rows and columns p < q of what begins at row p or before it.
  __device__ void exchange(int p, int q) const {
    for_line(q + 1, n, [&](int i) { swap_values(at(i, p), at(i, q)); });
    for_line(p + 1, q, [&](int i) {
      const T below = at(i, p);
      at(i, p) = mirrored(at(q, i));
      at(q, i) = mirrored(below);
    });
    if (threadIdx.x == 0) {
      at(q, p) = mirrored(at(q, p));
      const T first = diagonal(p);
      at(p, p) = diagonal(q);
      at(q, q) = first;
    }
    __syncthreads();
  }

  struct Pivot {
    int row, size;
  };
  /// Which row goes to k, or with a block of two to k + 1.
  __device__ Pivot choose(int k) const {
    using R = Real<T>;
    const R alpha = R(0.64038820320220756872);  // (1 + sqrt(17)) / 8
    const R here = magnitude(diagonal(k));
    const Place<R> found = find_largest(&at(0, k), n, k + 1, n);
    const R column = found.size > 0 ? found.size : R(0);
    const int largest = column > 0 ? found.index : k;
    if ((here > column ? here : column) == 0) return {k, 0};
    if (here >= alpha * column) return {k, 1};
    const R left = find_largest(&at(largest, 0), 1, k, largest).size;
    const R below = find_largest(&at(0, largest), n, largest + 1, n).size;
    const R row = left > below ? left : below;
    if (here >= alpha * column * (column / row)) return {k, 1};
    const bool one = magnitude(diagonal(largest)) >= alpha * row;
    return {largest, one ? 1 : 2};
  }

  __device__ void eliminate_one(int k) const {
    const T inverse = quotient(T(1), at(k, k));
    for_matrix(n - k - 1, n - k - 1, [&](int i, int j) {
      if (j > i) return;
      i += k + 1, j += k + 1;
      at(i, j) -= product(product(at(i, k), inverse), mirrored(at(j, k)));
      if (i == j) at(i, i) = diagonal(i);
    });
    __syncthreads();
    for_line(k + 1, n, [&](int i) { at(i, k) = product(at(i, k), inverse); });
    __syncthreads();
  }

  /// The block of two at k, divided by its element below the diagonal so that
  /// nothing overflows.
  struct Block {
    T p, q, turn, mirrored_turn, inverse;

    /// (x, y) times the inverse of the block.
    __device__ void divide(T& x, T& y) const {
      const T first = product(product(x, q) - product(y, turn), inverse);
      y = product(product(y, p) - product(x, mirrored_turn), inverse);
      x = first;
    }
  };
  /// Or of one if `single`, of which only the inverse counts.
  __device__ Block block(int k, bool single = false) const {
    const T below = single ? at(k, k) : at(k + 1, k);
    const Real<T> scale = modulus(below), up = 1 / scale;
    const T p = times(up, diagonal(k));
    const T q = times(up, diagonal(single ? k : k + 1));
    const T turn = times(up, below), other = mirrored(turn);
    const T determinant =
        single ? below : times(scale, product(p, q) - product(turn, other));
    return {p, q, turn, other, quotient(T(1), determinant)};
  }

  __device__ void eliminate_two(int k) const {
    const Block of = block(k);
    for_matrix(n - k - 2, n - k - 2, [&](int i, int j) {
      if (j > i) return;
      i += k + 2, j += k + 2;
      T x = at(i, k), y = at(i, k + 1);
      of.divide(x, y);
      at(i, j) -=
          product(x, mirrored(at(j, k))) + product(y, mirrored(at(j, k + 1)));
      if (i == j) at(i, i) = diagonal(i);
    });
    __syncthreads();
    for_line(k + 2, n, [&](int i) { of.divide(at(i, k), at(i, k + 1)); });
    __syncthreads();
  }

  /// Returns 1 + index of the first zero on D's diagonal, or 0.
  __device__ int factor(int32_t* pivots) const {
    int singular = 0;
    for (int k = 0; k < n;) {
      __syncthreads();
      if (threadIdx.x == 0) at(k, k) = diagonal(k);
      __syncthreads();
      const Pivot pivot = choose(k);
      __syncthreads();
      if (pivot.size == 0) {
        if (!singular) singular = k + 1;
        if (threadIdx.x == 0) pivots[k] = pivot.row + 1;
        ++k;
        continue;
      }
      const int to = k + pivot.size - 1;
      if (to != pivot.row) {
        exchange(to, pivot.row);
        if (pivot.size == 2 && threadIdx.x == 0)
          swap_values(at(to, k), at(pivot.row, k));
        __syncthreads();
      }
      const int named = pivot.size == 1 ? pivot.row + 1 : -(pivot.row + 1);
      if (threadIdx.x == 0) pivots[k] = pivots[to] = named;
      if (pivot.size == 1)
        eliminate_one(k);
      else
        eliminate_two(k);
      k += pivot.size;
    }
    return singular;
  }
};

template <class T>
__device__ void ldl(const LinalgParams& p) {
  const int n = p.m;
  T* ld = matrix_of<T>(p.out[0], n, n);
  const T* a = matrix_of<T>(p.in[0], n, n);
  for_matrix(n, n, [&](int i, int j) {
    const int64_t at = int64_t(i) * n + j;
    ld[at] = j <= i ? a[at] : T(0);
  });
  const int zero =
      Ldl<T>{ld, n, p.hermitian}.factor(matrix_of<int32_t>(p.out[1], n, 1));
  if (threadIdx.x == 0) p.info[blockIdx.x] = zero;
}

/// Tells whether the pivots are some that ldl() gives.
__device__ bool are_pivots(const int32_t* pivots, int n) {
  for (int k = 0; k < n; ++k) {
    const int row = pivots[k] < 0 ? -pivots[k] : pivots[k];
    if (row < 1 || row > n) return false;
    if (pivots[k] > 0) continue;
    if (k + 1 == n || pivots[k + 1] != pivots[k]) return false;
    ++k;
  }
  return true;
}

/// X [n, width], rows ldx apart, becomes what solves L D L^T X = X.
template <class T>
__device__ void solve_columns(const Ldl<T>& ldl, const int32_t* pivots, T* x,
                              int width, int64_t ldx) {
  const int n = ldl.n;
  const auto at = [&](int i, int j) -> T& { return x[i * ldx + j]; };
  const auto exchange = [&](int i, int other) {
    __syncthreads();
    if (i != other)
      for_line(0, width, [&](int j) { swap_values(at(i, j), at(other, j)); });
    __syncthreads();
  };
  for (int k = 0; k < n; ++k) {
    const int size = pivots[k] > 0 ? 1 : 2, to = k + size - 1;
    exchange(to, (size == 1 ? pivots[k] : -pivots[k]) - 1);
    for_matrix(n - k - size, width, [&](int i, int j) {
      i += k + size;
      for (int c = k; c <= to; ++c) at(i, j) -= product(ldl.at(i, c), at(c, j));
    });
    __syncthreads();
    const auto block = ldl.block(k, size == 1);
    for_line(0, width, [&](int j) {
      if (size == 1) {
        at(k, j) = product(at(k, j), block.inverse);
        return;
      }
      // D x = b is x^T = b^T D^-T; D^T is D, or its conjugate.
      T first = ldl.mirrored(at(k, j)), second = ldl.mirrored(at(to, j));
      block.divide(first, second);
      at(k, j) = ldl.mirrored(first);
      at(to, j) = ldl.mirrored(second);
    });
    k = to;
  }
  for (int k = n - 1; k >= 0; --k) {
    const int size = pivots[k] > 0 ? 1 : 2;
    __syncthreads();
    for (int c = k; c > k - size; --c) {  // few rows, which are sums
      for_line(0, width, [&](int j) {
        T sum = at(c, j);
        for (int i = k + 1; i < n; ++i)
          sum -= product(ldl.mirrored(ldl.at(i, c)), at(i, j));
        at(c, j) = sum;
      });
    }
    exchange(k, (size == 1 ? pivots[k] : -pivots[k]) - 1);
    k -= size - 1;
  }
}

/// Each block has columns of its own, and what it reads is L D.
template <class T>
__device__ void ldl_solve(const LinalgParams& p) {
  const int n = p.m;
  const int32_t* pivots = matrix_of<int32_t>(p.in[1], n, 1);
  const bool good = are_pivots(pivots, n);
  if (threadIdx.x == 0 && blockIdx.y == 0) p.info[blockIdx.x] = good ? 0 : 1;
  if (!good) return;
  const Ldl<T> ldl{const_cast<T*>(matrix_of<T>(p.in[0], n, n)), n, p.hermitian};
  for_solved_columns(p.n, [&](int first, int width) {
    T* x = matrix_of<T>(p.out[0], n, p.n) + first;
    const T* b = matrix_of<T>(p.in[2], n, p.n) + first;
    for_matrix(n, width, [&](int i, int j) {
      x[int64_t(i) * p.n + j] = b[int64_t(i) * p.n + j];
    });
    solve_columns(ldl, pivots, x, width, int64_t(p.n));
  });
}

}  // namespace

// LdlSolve: with four blocks on a processor it would spill.
#define HOTARU_LDL(unused, T, suffix) \
  HOTARU_CUDA_BLOCK_KERNEL(Ldl_##suffix, LinalgParams, ldl<T>) \
  HOTARU_CUDA_CROWDED_KERNEL(LdlSolve_##suffix, 3, LinalgParams, ldl_solve<T>)
HOTARU_DEVICE_TYPES_FloatTypes(HOTARU_LDL, )
    HOTARU_DEVICE_TYPES_ComplexTypes(HOTARU_LDL, )

}  // namespace hotaru::cuda
