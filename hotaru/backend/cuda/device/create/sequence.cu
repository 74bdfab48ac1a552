// Numbers in a row, by PyTorch's formulas for CUDA. See params/sequence.h for
// how they are launched.
#include "hotaru/backend/cuda/device/kernel.h"
#include "hotaru/backend/cuda/params/sequence.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

/// Type that elements count in: integers in int64.
template <class T>
using Counts =
    std::conditional_t<std::is_integral_v<OpMath<T>>, int64_t, OpMath<T>>;

template <class T, class F>
HOTARU_DEVICE inline void for_numbers(const SequenceParams& p, const F& f) {
  const uint32_t first = blockIdx.x * kStridedItems + threadIdx.x;
  HOTARU_UNROLL
  for (uint32_t n = 0; n < kStridedEach; ++n) {
    const uint32_t i = first + n * kBlock;
    if (i < p.numel) static_cast<Stored<T>*>(p.out)[i] = f(p.first + i);
  }
}

template <class T>
HOTARU_DEVICE void arange(const SequenceParams& p) {
  using C = Counts<T>;
  const C start = *reinterpret_cast<const C*>(p.a);
  const C step = *reinterpret_cast<const C*>(p.b);
  for_numbers<T>(p, [=](int64_t i) {
    if constexpr (std::is_integral_v<C>)
      return Stored<T>(uint64_t(start) + uint64_t(i) * uint64_t(step));
    else
      return narrow<T>(start + step * C(i));
  });
}

/// Rounded to elements.
template <class T>
HOTARU_DEVICE inline OpMath<T> rounded(OpMath<T> x) {
  return widen<T>(narrow<T>(x));
}

/// The second half counts back from the end. 16-bit floats are rounded after
/// each operation, integers count in float.
template <class T>
HOTARU_DEVICE void linspace(const SequenceParams& p) {
  using M = std::conditional_t<std::is_integral_v<T>, float, OpMath<T>>;
  const M start = M(widen<T>(*reinterpret_cast<const Stored<T>*>(p.a)));
  const M end = M(widen<T>(*reinterpret_cast<const Stored<T>*>(p.b)));
  M step = p.count > 1 ? end - start : M(0);
  if constexpr (kIsReduced<T>)
    step = rounded<T>(rounded<T>(step) / rounded<T>(M(p.count - 1)));
  else
    step = step / M(p.count - 1);
  for_numbers<T>(p, [=](int64_t i) {
    if (p.count == 1) return narrow<T>(OpMath<T>(start));
    const bool early = i < p.count / 2;
    M steps = M(early ? i : p.count - i - 1);
    if constexpr (kIsReduced<T>)
      steps = rounded<T>(rounded<T>(steps) * step);
    else
      steps = steps * step;
    return narrow<T>(OpMath<T>(early ? start + steps : end - steps));
  });
}

}  // namespace

#define HOTARU_SEQUENCES(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(Arange_##suffix, SequenceParams, arange<T>) \
  HOTARU_CUDA_KERNEL(Linspace_##suffix, SequenceParams, linspace<T>)
HOTARU_DEVICE_TYPES_RealTypes(HOTARU_SEQUENCES, )

}  // namespace hotaru::cuda
