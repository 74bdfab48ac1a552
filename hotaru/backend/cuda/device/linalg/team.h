// Work that the threads of a block do together with one matrix. Every thread of
// the block calls these functions; blocks have whole warps, kBlock threads at
// most.
#pragma once

#include "hotaru/backend/common/linalg/scalar.h"
#include "hotaru/backend/cuda/device/block.h"
#include "hotaru/backend/cuda/params/linalg.h"

namespace hotaru::cuda {

/// f(i) for i in [begin, end), each by one thread.
template <class F>
__device__ inline void for_line(int begin, int end, const F& f) {
  for (int i = begin + int(threadIdx.x); i < end; i += int(blockDim.x)) f(i);
}

/// f(i, j) for i < rows, j < columns; neighbouring threads have neighbouring
/// columns.
template <class F>
__device__ inline void for_matrix(int rows, int columns, const F& f) {
  const int shift = columns > 16  ? 5
                    : columns > 8 ? 4
                    : columns > 4 ? 3
                    : columns > 2 ? 2
                                  : columns - 1;
  if (columns <= 0) return;
  const int thread = int(threadIdx.x), lanes = 1 << shift;
  for (int i = thread >> shift; i < rows; i += int(blockDim.x) >> shift)
    for (int j = thread & (lanes - 1); j < columns; j += lanes) f(i, j);
}

/// f of all threads' values, the same bits in each of them; f must not care
/// which argument is which. Writes of the threads before are seen after it.
template <class A, class F>
__device__ inline A join_block(A value, const F& f) {
  static_assert(sizeof(A) <= 16);
  __shared__ double memory[2 * kBlock / kWarp];
  A* const of_warps = reinterpret_cast<A*>(memory);
  for (uint32_t by = kWarp / 2; by > 0; by /= 2)
    value = f(value, shuffle_xor(value, by));
  if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp] = value;
  __syncthreads();
  value = of_warps[0];
  for (uint32_t w = 1; w < blockDim.x / kWarp; ++w)
    value = f(value, of_warps[w]);
  __syncthreads();
  return value;
}
template <class A>
__device__ inline A sum_block(A value) {
  return join_block(value, Plus());
}
template <class A>
__device__ inline A largest_block(A value) {
  return join_block(value, Larger());
}

/// A number and where it stands.
template <class R>
struct Place {
  R size;
  int index;
};
/// Place of the larger number; of equal ones the first.
struct FartherPlace {
  template <class R>
  __device__ Place<R> operator()(const Place<R>& a, const Place<R>& b) const {
    return b.size > a.size || (b.size == a.size && b.index < a.index) ? b : a;
  }
};

/// Where the element of largest magnitude(x[i * stride]), begin <= i < end, is;
/// `begin` if none is larger than NaN.
template <class T>
__device__ inline Place<Real<T>> find_largest(const T* x, int64_t stride,
                                              int begin, int end) {
  Place<Real<T>> found{-1, begin};
  for_line(begin, end, [&](int i) {
    const Real<T> size = magnitude(x[i * stride]);
    if (size > found.size) found = {size, i};
  });
  return join_block(found, FartherPlace());
}

template <class T>
__device__ inline Real<T> square(T x) {
  if constexpr (kIsComplex<T>)
    return x.real() * x.real() + x.imag() * x.imag();
  else
    return x * x;
}
template <class T>
__device__ inline Real<T> real_part(T x) {
  if constexpr (kIsComplex<T>)
    return x.real();
  else
    return x;
}
template <class T>
__device__ inline Real<T> imag_part(T x) {
  if constexpr (kIsComplex<T>)
    return x.imag();
  else
    return 0;
}
template <class T>
__device__ inline Real<T> modulus(T x) {
  if constexpr (kIsComplex<T>)
    return ::hypot(x.real(), x.imag());
  else
    return std::abs(x);
}
template <class T>
__device__ inline T times(Real<T> by, T x) {
  if constexpr (kIsComplex<T>)
    return T(by * x.real(), by * x.imag());
  else
    return by * x;
}
/// Quotient, of complex numbers by R. Smith's method ("Algorithm 116", 1962).
template <class T>
__device__ inline T quotient(T x, T y) {
  if constexpr (kIsComplex<T>) {
    if (std::abs(y.real()) >= std::abs(y.imag())) {
      const Real<T> r = y.imag() / y.real(), by = y.real() + r * y.imag();
      return T((x.real() + x.imag() * r) / by, (x.imag() - x.real() * r) / by);
    }
    const Real<T> r = y.real() / y.imag(), by = y.imag() + r * y.real();
    return T((x.real() * r + x.imag()) / by, (x.imag() * r - x.real()) / by);
  } else {
    return x / y;
  }
}

/// f(first, count) for the columns that this block solves for.
template <class F>
__device__ inline void for_solved_columns(int columns, const F& f) {
  const int step = int(gridDim.y * kSolveColumns);
  for (int first = int(blockIdx.y * kSolveColumns); first < columns;
       first += step) {
    const int left = columns - first;
    f(first, left < int(kSolveColumns) ? left : int(kSolveColumns));
    __syncthreads();
  }
}

/// Matrix i of an operand, [rows, columns].
template <class T>
__device__ inline T* matrix_of(void* operand, int64_t rows, int64_t columns) {
  return static_cast<T*>(operand) + int64_t(blockIdx.x) * rows * columns;
}
template <class T>
__device__ inline const T* matrix_of(const void* operand, int64_t rows,
                                     int64_t columns) {
  return static_cast<const T*>(operand) + int64_t(blockIdx.x) * rows * columns;
}
/// This matrix's workspace, from some byte on.
template <class T>
__device__ inline T* work_of(const LinalgParams& p, int64_t byte = 0) {
  return reinterpret_cast<T*>(p.work + int64_t(blockIdx.x) * p.work_bytes +
                              byte);
}

/// Tells whether a library has done this matrix.
__device__ inline bool is_done(const LinalgParams& p) {
  const int32_t* const said = p.library_info;
  if (!said || said[blockIdx.x] != 0 || said[gridDim.x + blockIdx.x] != 0)
    return false;
  if (threadIdx.x == 0) p.info[blockIdx.x] = 0;
  return true;
}

template <class T>
__device__ inline void copy_line(int64_t count, const T* from, T* to) {
  for (int64_t i = threadIdx.x; i < count; i += blockDim.x) to[i] = from[i];
}
template <class T>
__device__ inline void swap_values(T& x, T& y) {
  const T old = x;
  x = y;
  y = old;
}

}  // namespace hotaru::cuda
