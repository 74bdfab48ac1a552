// Eigenvalues and eigenvectors of general matrices: by way of Schur's form; see
// params/linalg.h.
#include "hotaru/backend/cuda/device/linalg/schur.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

/// info.
constexpr int kNotFinite = 1, kNotConverged = 2;

/// Makes rows and columns equally long, by powers of two, which round nothing
/// (R. James, J. Langou and B. Lowery, "On matrix balancing and eigenvector
/// computation", 2014): A becomes D^-1 A D. Ends with a barrier.
template <class T>
__device__ void balance(int n, T* a, Real<T>* scales) {
  using R = Real<T>;
  constexpr R kMost = std::numeric_limits<R>::max() / 16;
  for_line(0, n, [&](int i) { scales[i] = 1; });
  __syncthreads();
  for (bool again = true; again;) {
    again = false;
    for (int i = 0; i < n; ++i) {
      R row = 0, column = 0;
      for_line(0, n, [&](int j) {
        row += square(a[int64_t(i) * n + j]);
        column += square(a[int64_t(j) * n + i]);
      });
      row = std::sqrt(sum_block(row));
      column = std::sqrt(sum_block(column));
      if (!(row > 0) || !(column > 0)) continue;
      const R sum = row + column, total = scales[i];
      R factor = 1;
      for (; column < row / 2 && factor < kMost / 4; factor *= 2)
        column *= 2, row /= 2;
      for (; column >= row * 2 && factor > 4 / kMost; factor /= 2)
        column /= 2, row *= 2;
      if (factor == 1 || column + row >= R(0.95) * sum ||
          !(total * factor < kMost && total * factor > 1 / kMost))
        continue;
      again = true;
      __syncthreads();
      if (threadIdx.x == 0) scales[i] = total * factor;
      for_line(0, n, [&](int j) {
        if (j == i) return;  // divided and multiplied
        T &x = a[int64_t(i) * n + j], &y = a[int64_t(j) * n + i];
        x = times(1 / factor, x);
        y = times(factor, y);
      });
      __syncthreads();
    }
  }
}

/// Column c of X [n, n], the eigenvector of the triangular matrix that belongs
/// to its value, by back substitution; of a block's two columns the first one.
template <class T>
struct Substitution {
  using R = Real<T>;
  using C = std::complex<R>;

  const Schur<T>& schur;
  C value, *x;  // x: elements are n apart
  R least;

  __device__ C& at(int i) const { return x[int64_t(i) * schur.n]; }
  __device__ C by(C a, C b) const {
    return quotient(a, magnitude(b) < least ? C(least) : b);
  }
  __device__ static C scaled(T factor, C z) {
    if constexpr (kIsComplex<T>)
      return product(factor, z);
    else
      return times(factor, z);
  }

  __device__ void solve(int own) const {
    const int n = schur.n, last = schur.is_pair(own) ? own + 1 : own;
    for (int i = last + 1; i < n; ++i) at(i) = C(0);
    if (last == own)
      at(own) = C(1);
    else
      start(own);
    R most = 1;
    for (int i = own - 1; i >= 0; --i) {
      const bool pair = schur.is_pair(i - 1);
      if (pair) --i;
      R size;
      if (pair) {
        solve_two(i, rest(i, i + 2, last), rest(i + 1, i + 2, last));
        size = magnitude(at(i + 1));
        if (size > most) most = size;
      } else {
        at(i) = by(rest(i, i + 1, last), C(schur.at(i, i)) - value);
      }
      size = magnitude(at(i));
      if (size > most) most = size;
      if (most > R(1e10)) {  // keeps what follows in range
        for (int j = i; j <= last; ++j) at(j) = times(1 / most, at(j));
        most = 1;
      }
    }
  }

  /// -h_i x of the elements from..last.
  __device__ C rest(int i, int from, int last) const {
    C sum(0);
    for (int j = from; j <= last; ++j) sum -= scaled(schur.at(i, j), at(j));
    return sum;
  }
  /// The eigenvector of its own block.
  __device__ void start(int i) const {
    const T below = schur.at(i + 1, i);
    const C above = value - C(schur.at(i + 1, i + 1));
    const R size = magnitude(above) > magnitude(below) ? magnitude(above)
                                                       : magnitude(below);
    at(i) = times(1 / size, above);
    at(i + 1) = times(1 / size, C(below));
  }
  /// Two equations: the one with the larger factor is taken from the other.
  __device__ void solve_two(int i, C first, C second) const {
    C a = C(schur.at(i, i)) - value, b = C(schur.at(i, i + 1));
    C p = C(schur.at(i + 1, i)), q = C(schur.at(i + 1, i + 1)) - value;
    if (magnitude(p) > magnitude(a)) {
      swap_values(a, p);
      swap_values(b, q);
      swap_values(first, second);
    }
    const C factor = by(p, a);
    at(i + 1) = by(second - product(factor, first), q - product(factor, b));
    at(i) = by(first - product(b, at(i + 1)), a);
  }
};

/// A column of vectors [n, n] gets length 1, and if it is complex a largest
/// element that is real.
template <class R>
__device__ void normalise(int n, bool real, std::complex<R>* x) {
  using C = std::complex<R>;
  R size = 0, sum = 0, largest = -1;
  for (int i = 0; i < n; ++i) {
    const R part = magnitude(x[int64_t(i) * n]);
    if (part > size) size = part;
  }
  C factor(1);
  for (int i = 0; i < n; ++i) {
    C& z = x[int64_t(i) * n];
    if (size > 0) z = times(1 / size, z);
    sum += square(z);
    if (square(z) > largest) {
      largest = square(z);
      factor = conjugate(z);
    }
  }
  const R up = sum > 0 ? 1 / std::sqrt(sum) : R(1);
  if (real || largest <= 0)
    factor = C(up);
  else
    factor = times(up / std::sqrt(largest), factor);
  for (int i = 0; i < n; ++i)
    x[int64_t(i) * n] = product(x[int64_t(i) * n], factor);
}

/// The eigenvectors: x [n, n] of the triangular matrix, then all of them turned
/// and scaled back, in `out`.
template <class T>
__device__ void find_vectors(const Schur<T>& schur, Real<T> norm,
                             const Real<T>* scales,
                             const std::complex<Real<T>>* values,
                             std::complex<Real<T>>* x,
                             std::complex<Real<T>>* out) {
  using R = Real<T>;
  using C = std::complex<R>;
  const int n = schur.n;
  const R least = norm * std::numeric_limits<R>::epsilon();
  for_line(0, n, [&](int c) {
    if (!schur.is_pair(c - 1))
      Substitution<T>{schur, values[c], x + c,
                      least > kTiny<R> ? least : kTiny<R>}
          .solve(c);
  });
  __syncthreads();
  for_matrix(n, n, [&](int i, int c) {
    const bool second = schur.is_pair(c - 1);
    C sum(0);
    for (int k = 0; k < n; ++k)
      sum +=
          Substitution<T>::scaled(conjugate(schur.turned[int64_t(k) * n + i]),
                                  x[int64_t(k) * n + c - (second ? 1 : 0)]);
    out[int64_t(i) * n + c] = times(scales[i], second ? conjugate(sum) : sum);
  });
  __syncthreads();
  for_line(0, n, [&](int c) {
    normalise(n, !kIsComplex<T> && values[c].imag() == 0, out + c);
  });
}

template <class T>
__device__ void eig(const LinalgParams& p) {
  using R = Real<T>;
  using C = std::complex<R>;
  HOTARU_REFLECT_ROOM(T, room);
  if (is_done(p)) return;
  const int n = p.m;
  const int64_t size = int64_t(n) * n;
  C* const x = work_of<C>(p);
  T* const h = reinterpret_cast<T*>(p.vectors ? x + size : x);
  T* const turned = p.vectors ? h + size : nullptr;
  R* const scales = reinterpret_cast<R*>(h + (p.vectors ? 2 : 1) * size);
  const T* a = matrix_of<T>(p.in[0], n, n);
  LargestPart<R> part;
  for_matrix(n, n, [&](int i, int j) { part.look(a[int64_t(i) * n + j]); });
  const R largest = part.of_block();
  const bool finite = largest <= std::numeric_limits<R>::max();
  const R scale = finite ? unit_scale(largest) : R(1);
  bool done = false;
  const Schur<T> schur{n, h, turned};
  if (finite) {
    for_matrix(n, n, [&](int i, int j) {
      h[int64_t(i) * n + j] = times(scale, a[int64_t(i) * n + j]);
    });
    __syncthreads();
    balance(n, h, scales);
    schur.reduce(room);
    done = schur.iterate();
  }
  if (threadIdx.x == 0)
    p.info[blockIdx.x] = done ? 0 : finite ? kNotConverged : kNotFinite;
  if (!done) return;
  C* const values = matrix_of<C>(p.out[0], n, 1);
  for_line(0, n, [&](int i) {
    if (schur.is_pair(i))
      pair_values(schur.at(i, i), schur.at(i, i + 1), schur.at(i + 1, i),
                  schur.at(i + 1, i + 1), values + i);
    else if (!schur.is_pair(i - 1))
      values[i] = C(schur.at(i, i));
  });
  R norm = 0;
  for_matrix(n, n, [&](int i, int j) {
    if (magnitude(schur.at(i, j)) > norm) norm = magnitude(schur.at(i, j));
  });
  norm = largest_block(norm);
  if (p.vectors)
    find_vectors<T>(schur, norm, scales, values, x,
                    matrix_of<C>(p.out[1], n, n));
  __syncthreads();
  for_line(0, n, [&](int i) {
    values[i] = C(values[i].real() / scale, values[i].imag() / scale);
  });
}

}  // namespace

// Crowded by one block: else the compiler spills to make room for several.
#define HOTARU_EIG(unused, T, suffix) \
  HOTARU_CUDA_CROWDED_KERNEL(Eig_##suffix, 1, LinalgParams, eig<T>)
HOTARU_DEVICE_TYPES_FloatTypes(HOTARU_EIG, )
    HOTARU_DEVICE_TYPES_ComplexTypes(HOTARU_EIG, )

}  // namespace hotaru::cuda
