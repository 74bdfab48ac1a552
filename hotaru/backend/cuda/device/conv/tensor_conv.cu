// Gathered products of 16-bit floats by tensor cores. See params/conv/gather.h
// for how they are launched.
#include "hotaru/backend/cuda/device/conv/tensor_gather.h"
#include "hotaru/backend/cuda/device/matmul/tensor_product.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

template <class T, bool kAlong>
__device__ void tensor_gathered(const GatherParams& p) {
  tensor_product<T, TensorGathered<kAlong>>(p);
}

}  // namespace

#define HOTARU_TENSOR_GATHER(T, suffix) \
  HOTARU_CUDA_CROWDED_KERNEL(ConvTensor_##suffix##_nt, 2, GatherParams, \
                             tensor_gathered<T, true>) \
  HOTARU_CUDA_CROWDED_KERNEL(ConvTensor_##suffix##_tn, 2, GatherParams, \
                             tensor_gathered<T, false>)
HOTARU_TENSOR_GATHER(Half, f16)
HOTARU_TENSOR_GATHER(BFloat16, bf16)

}  // namespace hotaru::cuda
