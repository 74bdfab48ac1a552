// Mean and deviation of a row that a team of threads shares. The mean and the
// squares come one after the other, and both are corrected by what the mean's
// rounding left (Chan, Golub and LeVeque, "Algorithms for computing the sample
// variance", 1983).
#pragma once

#include <cmath>

#include "hotaru/backend/cuda/device/block.h"

namespace hotaru::cuda {

template <class A>
struct Pair {
  A first, second;
};
template <class A>
__device__ Pair<A> operator+(Pair<A> a, Pair<A> b) {
  return {a.first + b.first, a.second + b.second};
}

template <class A>
struct RowMoments {
  A mean, rstd;
};

/// Moments of n elements. sum: of this thread's; each(f) calls f of every one
/// of them. memory and pairs, which may be one, have kBlock values each.
template <class A, class Each>
__device__ RowMoments<A> row_moments(const Team& team, A sum, A n, A eps,
                                     A* memory, Pair<A>* pairs,
                                     const Each& each) {
  A mean = team.share(sum, memory, Plus()) / n;
  Pair<A> rest = {0, 0};
  each([&](A x) {
    const A d = x - mean;
    rest.first += d;
    rest.second += d * d;
  });
  rest = team.share(rest, pairs, Plus());
  const A correction = rest.first / n;
  const A squares = rest.second - rest.first * correction;
  mean += correction;
  return {mean, A(1) / std::sqrt(squares / n + eps)};
}

template <class A>
__device__ A normalised(A x, A mean, A rstd, A weight, A bias) {
  return (x - mean) * rstd * weight + bias;
}

}  // namespace hotaru::cuda
