// Products of matrices of 16-bit floats by tensor cores. See params/matmul.h
// for how they are launched.
#include "hotaru/backend/cuda/device/matmul/tensor_product.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

template <class T, bool kAAlong, bool kBAlong>
__device__ void tensor_matrices(const MatmulParams& p) {
  tensor_product<T, TensorMatrices<kAAlong, kBAlong>>(p);
}

}  // namespace

#define HOTARU_TENSOR(T, suffix, order, a_along, b_along) \
  HOTARU_CUDA_CROWDED_KERNEL(GemmTensor_##suffix##order, 2, MatmulParams, \
                             tensor_matrices<T, a_along, b_along>)
#define HOTARU_TENSOR_ORDERS(T, suffix) \
  HOTARU_TENSOR(T, suffix, _nn, true, false) \
  HOTARU_TENSOR(T, suffix, _nt, true, true) \
  HOTARU_TENSOR(T, suffix, _tn, false, false) \
  HOTARU_TENSOR(T, suffix, _tt, false, true)
HOTARU_TENSOR_ORDERS(Half, f16)
HOTARU_TENSOR_ORDERS(BFloat16, bf16)

}  // namespace hotaru::cuda
