// Common parts of the launchers of pooling.
#pragma once

#include <algorithm>

#include "hotaru/backend/cuda/geometry.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/pool.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::cuda {

/// Windows from pictures x to y, of which neither is empty; `out` is one of
/// them, `in` the other. Of `a` those lists count that are not empty.
template <class Attributes>
PoolParams pool_params(const Attributes& a, const Tensor& x, const Tensor& y,
                       const Tensor& out, const Tensor& in) {
  HOTARU_CHECK(x.numel() < kMostElements && y.numel() < kMostElements,
               "pooling of 2^31 elements and more is not implemented for CUDA "
               "yet");
  PoolParams p;
  p.out = device_address(out);
  p.in = device_address(in);
  p.numel = uint32_t(out.numel());
  p.dims = uint32_t(a.dims);
  const size_t dims = size_t(a.dims), lead = size_t(x.dim()) - dims;
  for (size_t d = 0; d < dims; ++d) {
    PoolAxis& axis = p.axis[3 - dims + d];
    axis.x = Divider(uint32_t(x.sizes()[lead + d]));
    axis.y = Divider(uint32_t(y.sizes()[lead + d]));
    if (!a.kernel.empty()) axis.kernel = a.kernel[d];
    if constexpr (requires { a.stride; }) {
      if (!a.stride.empty()) axis.stride = a.stride[d];
      if (!a.padding.empty()) axis.padding = a.padding[d];
    }
    if constexpr (requires { a.dilation; })
      if (!a.dilation.empty()) axis.dilation = a.dilation[d];
  }
  return p;
}

}  // namespace hotaru::cuda
