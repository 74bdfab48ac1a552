// Losses that look at a class for each target. See params/loss.h for how they
// are launched.
#include "hotaru/backend/cuda/device/block.h"
#include "hotaru/backend/cuda/device/errors.h"
#include "hotaru/backend/cuda/params/loss.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

__device__ inline int64_t class_of(const NllParams& p, uint32_t i) {
  return p.bytes ? int64_t(static_cast<const uint8_t*>(p.target)[i])
                 : static_cast<const int64_t*>(p.target)[i];
}
template <class T>
__device__ OpMath<T> weight_of(const NllParams& p, int64_t c) {
  return p.weight ? load<T>(static_cast<const Stored<T>*>(p.weight) + c)
                  : OpMath<T>(1);
}

/// Loss and weight of target i.
template <class T>
struct Term {
  OpMath<T> value = 0, weight = 0;

  __device__ Term(const NllParams& p, uint32_t i) {
    const int64_t c = class_of(p, i);
    if (c == p.ignore_index) return;
    if (uint64_t(c) >= p.class_count) {
      report_error(p.errors, 0, c, 0);
      return;
    }
    const uint32_t n = p.space.divide(i);
    const int64_t s = i - n * p.space.divisor;
    const auto* x = static_cast<const Stored<T>*>(p.x) +
                    (int64_t(n) * p.class_count + c) * p.space.divisor + s;
    weight = weight_of<T>(p, c);
    value = -weight * load<T>(x);
  }
};

template <class T>
__device__ void nll_each(const NllParams& p) {
  const uint32_t i = blockIdx.x * kBlock + threadIdx.x;
  if (i == 0) store<T>(p.total, 0);
  if (i >= p.targets) return;
  store<T>(static_cast<Stored<T>*>(p.out) + i, Term<T>(p, i).value);
}

struct Sums {
  double loss = 0, weight = 0;
  __device__ static Sums combine(const Sums& a, const Sums& b) {
    return {a.loss + b.loss, a.weight + b.weight};
  }
};

/// Without a target that counts, the mean is NaN.
template <class T>
__device__ void finish(const NllParams& p, const Sums& sums) {
  using A = OpMath<T>;
  store<T>(p.total, A(sums.weight));
  store<T>(p.out, A(p.reduction == 1 ? sums.loss / sums.weight : sums.loss));
}

template <class T>
__device__ void nll_sum(const NllParams& p) {
  __shared__ double memory[2 * kBlock / kWarp];
  Sums sums;
  for (uint32_t i = blockIdx.x * kBlock + threadIdx.x; i < p.targets;
       i += gridDim.x * kBlock) {
    const Term<T> term(p, i);
    sums.loss += double(term.value);
    sums.weight += double(term.weight);
  }
  sums = combine_group<Sums>(sums, kBlock, reinterpret_cast<Sums*>(memory));
  if (threadIdx.x != 0) return;
  if (gridDim.x == 1) return finish<T>(p, sums);
  p.partial[2 * blockIdx.x] = sums.loss;
  p.partial[2 * blockIdx.x + 1] = sums.weight;
}

template <class T>
__device__ void nll_sum_end(const NllParams& p) {
  __shared__ double memory[2 * kBlock / kWarp];
  Sums sums;
  if (threadIdx.x < nll_blocks(p))
    sums = {p.partial[2 * threadIdx.x], p.partial[2 * threadIdx.x + 1]};
  sums = combine_group<Sums>(sums, kBlock, reinterpret_cast<Sums*>(memory));
  if (threadIdx.x == 0) finish<T>(p, sums);
}

template <class T>
__device__ void nll_grad(const NllParams& p) {
  using A = OpMath<T>;
  const uint32_t i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= p.numel) return;
  const uint32_t row = p.space.divide(i);
  const uint32_t n = p.classes.divide(row);
  const uint32_t mine = row - n * p.classes.divisor;
  const uint32_t at = n * p.space.divisor + (i - row * p.space.divisor);
  const int64_t c = class_of(p, at);
  A result = 0;
  if (c != p.ignore_index) {
    if (c == mine) {
      const A g = load<T>(static_cast<const Stored<T>*>(p.grad) +
                          (p.reduction == 0 ? at : 0));
      const A scale = p.reduction == 1 ? A(1) / load<T>(p.total) : A(1);
      result = -g * scale * weight_of<T>(p, c);
    } else if (mine == 0 && uint64_t(c) >= p.class_count) {
      report_error(p.errors, 0, c, 0);
    }
  }
  store<T>(static_cast<Stored<T>*>(p.out) + i, result);
}

template <class T>
__device__ void unit_interval(const UnitIntervalParams& p) {
  const uint32_t i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= p.numel) return;
  const OpMath<T> x = load<T>(static_cast<const Stored<T>*>(p.x) + i);
  if (!(x >= 0 && x <= 1)) report_error(p.errors, p.code, 0, 0);
}

}  // namespace

#define HOTARU_LOSS(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(NllEach_##suffix, NllParams, nll_each<T>) \
  HOTARU_CUDA_BLOCK_KERNEL(NllSum_##suffix, NllParams, nll_sum<T>) \
  HOTARU_CUDA_BLOCK_KERNEL(NllSum_##suffix##_2, NllParams, nll_sum_end<T>) \
  HOTARU_CUDA_KERNEL(NllGrad_##suffix, NllParams, nll_grad<T>) \
  HOTARU_CUDA_KERNEL(UnitInterval_##suffix, UnitIntervalParams, \
                     unit_interval<T>)
HOTARU_DEVICE_TYPES_FloatingTypes(HOTARU_LOSS, )

}  // namespace hotaru::cuda
