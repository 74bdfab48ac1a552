// Where the elements of triangles lie. See params/triangle.h for how they are
// launched.
#include "hotaru/backend/cuda/device/kernel.h"
#include "hotaru/backend/cuda/params/triangle.h"

namespace hotaru::cuda {
namespace {

template <class I>
__device__ void triangle_indices(const TriangleIndicesParams& p) {
  const int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x;
  const int64_t count = p.triangle.count();
  if (i >= count) return;
  const Place at = p.triangle.find(i);
  I* out = static_cast<I*>(p.out);
  out[i] = I(at.row + p.first.row);
  out[count + i] = I(at.column + p.first.column);
}

}  // namespace

HOTARU_CUDA_KERNEL(TriangleIndices_i32, TriangleIndicesParams,
                   triangle_indices<int32_t>)
HOTARU_CUDA_KERNEL(TriangleIndices_i64, TriangleIndicesParams,
                   triangle_indices<int64_t>)

}  // namespace hotaru::cuda
