// Vectors of parameters beside elements of T: of T, or of OpMath<T>.
#pragma once

#include "hotaru/backend/cuda/device/platform.h"
#include "hotaru/backend/cuda/params/norm.h"

namespace hotaru::cuda {

template <class T>
struct Parameter {
  using A = OpMath<T>;
  const void* from;
  bool wide;
  A missing;

  __device__ A operator[](uint32_t i) const {
    if (!from) return missing;
    return wide ? static_cast<const A*>(from)[i]
                : widen<T>(static_cast<const Stored<T>*>(from)[i]);
  }
  /// Does nothing where there is none.
  __device__ static void put(void* to, bool wide, uint32_t i, A value) {
    if (!to) return;
    if (wide)
      static_cast<A*>(to)[i] = value;
    else
      static_cast<Stored<T>*>(to)[i] = narrow<T>(value);
  }
};

template <class T>
__device__ Parameter<T> weight_of(const NormParams& p) {
  return {p.weight, (p.wide & kWideWeight) != 0, OpMath<T>(1)};
}
template <class T>
__device__ Parameter<T> bias_of(const NormParams& p) {
  return {p.bias, (p.wide & kWideBias) != 0, OpMath<T>(0)};
}

}  // namespace hotaru::cuda
