// Distances of all pairs of rows, and their gradient. See params/distance.h for
// how they are launched.
#include <cmath>

#include "hotaru/backend/cuda/device/kernel.h"
#include "hotaru/backend/cuda/params/distance.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

/// The element of this thread.
__device__ inline int64_t number() {
  return int64_t{blockIdx.x} * kBlock + threadIdx.x;
}

template <class T>
__device__ T distance(const T* x, const T* y, int64_t columns, T p) {
  T sum = 0;
  for (int64_t i = 0; i < columns; ++i) {
    const T d = std::abs(x[i] - y[i]);
    if (p == 0)
      sum += d != 0 ? T(1) : T(0);
    else if (p == 1)
      sum += d;
    else if (p == 2)
      sum += d * d;
    else if (std::isinf(p))
      sum = d > sum || d != d ? d : sum;
    else
      sum += std::pow(d, p);
    if (std::isinf(p) && sum != sum) break;
  }
  if (p == 2) return std::sqrt(sum);
  return p == 0 || p == 1 || std::isinf(p) ? sum : std::pow(sum, 1 / p);
}

template <class T>
__device__ void cdist(const DistanceParams& p) {
  const int64_t i = number();
  if (i >= p.numel) return;
  const int64_t row = i / p.others, other = i - row * p.others;
  const int64_t batch = row / p.rows;
  static_cast<T*>(p.out)[i] = distance(
      static_cast<const T*>(p.x) + row * p.columns,
      static_cast<const T*>(p.y) + (batch * p.others + other) * p.columns,
      p.columns, T(p.p));
}

template <class T>
__device__ void pdist(const PairParams& p) {
  const int64_t i = number();
  if (i >= p.pairs.count()) return;
  const Place pair = p.pairs.find(i);
  const T* x = static_cast<const T*>(p.x);
  static_cast<T*>(p.out)[i] = distance(
      x + pair.row * p.columns, x + pair.column * p.columns, p.columns, T(p.p));
}

/// Gradient that flows to an element through one distance: g * d distance / d
/// x.
template <class T>
__device__ T slope(T d, T p, T g, T distance) {
  const T sign = T((d > 0) - (d < 0));
  if (p == 1) return sign * g;
  if (p == 0 || distance == 0) return T(0);
  if (p == 2) return g / distance * d;
  if (std::isinf(p)) return std::abs(d) == distance ? sign * g : T(0);
  return d == 0 ? T(0)
                : sign * std::pow(std::abs(d), p - 1) *
                      (g / std::pow(distance, p - 1));
}

template <class T>
__device__ void cdist_grad(const DistanceParams& p) {
  const int64_t i = number();
  if (i >= p.numel) return;
  const int64_t row = i / p.columns, column = i - row * p.columns;
  const int64_t batch = row / p.rows;
  const T x = static_cast<const T*>(p.x)[i];
  const T* y =
      static_cast<const T*>(p.y) + batch * p.others * p.columns + column;
  T sum = 0;
  for (int64_t j = 0; j < p.others; ++j) {
    const int64_t pair = row * p.others + j;
    sum +=
        slope(x - y[j * p.columns], T(p.p), static_cast<const T*>(p.grad)[pair],
              static_cast<const T*>(p.distances)[pair]);
  }
  static_cast<T*>(p.out)[i] = sum;
}

}  // namespace

#define HOTARU_CDIST(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(Cdist_##suffix, DistanceParams, cdist<T>) \
  HOTARU_CUDA_KERNEL(Pdist_##suffix, PairParams, pdist<T>) \
  HOTARU_CUDA_KERNEL(CdistGrad_##suffix, DistanceParams, cdist_grad<T>)
HOTARU_DEVICE_TYPES_FloatTypes(HOTARU_CDIST, )

}  // namespace hotaru::cuda
