// Draws with parameters of their own for each element, and how they move with
// these. They have the CPU's formulas, so the right distributions, and not the
// values of PyTorch on a GPU. See params/random/shaped.h for how they are
// launched.
#include <limits>

#include "hotaru/backend/common/random/implicit_slopes.h"
#include "hotaru/backend/common/random/shaped_draws.h"
#include "hotaru/backend/cuda/device/errors.h"
#include "hotaru/backend/cuda/device/kernel.h"
#include "hotaru/backend/cuda/device/random/draws.h"
#include "hotaru/backend/cuda/params/random/shaped.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

__device__ inline uint64_t thread_number() {
  return uint64_t{blockIdx.x} * kBlock + threadIdx.x;
}

/// The random numbers of one element, which may be any number of them.
class ElementDraws {
 public:
  __device__ ElementDraws(const PhiloxState& state, uint64_t thread,
                          uint64_t round)
      : state_(state), sequence_(thread), round_(round) {}

  /// In [0, 1).
  HOTARU_DEVICE double uniform_double() {
    if (has_uniform_) {
      has_uniform_ = false;
      return uniform_;
    }
    const Words4 w = next();
    uniform_ = double(bits53(w.z, w.w)) * 0x1p-53;
    has_uniform_ = true;
    return double(bits53(w.x, w.y)) * 0x1p-53;
  }
  HOTARU_DEVICE double normal_double() {
    if (has_normal_) {
      has_normal_ = false;
      return normal_;
    }
    double pair[2];
    normals(next(), pair);
    normal_ = pair[1];
    has_normal_ = true;
    return pair[0];
  }

 private:
  HOTARU_DEVICE Words4 next() {
    const Words4 words = state_.words(sequence_, round_);
    sequence_ += kSequencesApart;
    return words;
  }

  const PhiloxState& state_;
  uint64_t sequence_, round_;
  double uniform_ = 0, normal_ = 0;
  bool has_uniform_ = false, has_normal_ = false;
};

template <class T>
__device__ OpMath<T> at(const void* data, uint64_t i) {
  return widen<T>(static_cast<const Stored<T>*>(data)[i]);
}
template <class T>
__device__ void put(const ShapedParams& p, uint64_t i, double value) {
  static_cast<Stored<T>*>(p.out)[i] = narrow<T>(OpMath<T>(value));
}

/// out[i] = f(i, random numbers) for the elements of this thread, which are all
/// threads apart.
template <class T, class F>
__device__ void for_shaped(const ShapedParams& p, const F& f) {
  const uint64_t threads = uint64_t{gridDim.x} * kBlock;
  const uint64_t thread = thread_number();
  const PhiloxState state = p.state.here();
  uint64_t round = 0;
  HOTARU_NO_UNROLL
  for (uint64_t i = thread; i < p.numel; i += threads) {
    ElementDraws draws(state, thread, round++);
    put<T>(p, i, f(i, draws));
  }
}

/// The smallest normal number: draws of small shapes are not 0.
template <class T>
constexpr double tiny() {
  if constexpr (std::is_same_v<T, Half>)
    return 0x1p-14;
  else
    return double(std::numeric_limits<OpMath<T>>::min());
}

template <class T>
__device__ void draw_gamma_each(const ShapedParams& p) {
  for_shaped<T>(p, [&](uint64_t i, ElementDraws& draws) {
    const double x = draw_gamma(at<T>(p.a, i), draws);
    return x < tiny<T>() ? tiny<T>() : x;
  });
}

template <class T>
__device__ void draw_poisson_each(const ShapedParams& p) {
  for_shaped<T>(p, [&](uint64_t i, ElementDraws& draws) {
    const auto rate = double(at<T>(p.a, i));
    if (rate >= 0) return draw_poisson(rate, draws);
    report_error(p.errors, 0, 0, 0);
    return std::numeric_limits<double>::quiet_NaN();
  });
}

template <class T>
__device__ void draw_binomial_each(const ShapedParams& p) {
  for_shaped<T>(p, [&](uint64_t i, ElementDraws& draws) {
    return draw_binomial(double(at<T>(p.a, i)), double(at<T>(p.b, i)), draws);
  });
}

template <class T>
__device__ void gamma_slope_each(const ShapedParams& p) {
  const uint64_t i = thread_number();
  if (i >= p.numel) return;
  put<T>(p, i,
         implicit::gamma_slope(double(at<T>(p.a, i)), double(at<T>(p.b, i))));
}

template <class T>
__device__ void dirichlet_slope_each(const ShapedParams& p) {
  const uint64_t i = thread_number();
  if (i >= p.numel) return;
  put<T>(p, i,
         implicit::dirichlet_slope(double(at<T>(p.a, i)), double(at<T>(p.b, i)),
                                   double(at<T>(p.c, i))));
}

}  // namespace

#define HOTARU_SHAPED(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(DrawGamma_##suffix, ShapedParams, draw_gamma_each<T>) \
  HOTARU_CUDA_KERNEL(DrawPoisson_##suffix, ShapedParams, draw_poisson_each<T>) \
  HOTARU_CUDA_KERNEL(DrawBinomial_##suffix, ShapedParams, \
                     draw_binomial_each<T>) \
  HOTARU_CUDA_KERNEL(GammaSlope_##suffix, ShapedParams, gamma_slope_each<T>) \
  HOTARU_CUDA_KERNEL(DirichletSlope_##suffix, ShapedParams, \
                     dirichlet_slope_each<T>)
HOTARU_DEVICE_TYPES_FloatingTypes(HOTARU_SHAPED, )

}  // namespace hotaru::cuda
