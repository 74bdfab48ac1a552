// Products of matrices without tensor cores, and splits of long ones. See
// params/matmul.h for how they are launched.
#include "hotaru/backend/common/product.h"
#include "hotaru/backend/cuda/device/matmul/carrier.h"
#include "hotaru/backend/cuda/device/matmul/float_product.h"
#include "hotaru/backend/cuda/device/matmul/splits.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

template <class T, uint32_t kSide>
__device__ void matrix_product(const MatmulParams& p) {
  float_product<T, kSide, Matrices<T, kSide>>(p);
}

/// Type that plain products are summed in: integers wrap around, as the CPU's
/// do.
template <class T>
using Sum = std::conditional_t<kIsComplex<T>, T, uint64_t>;

/// A number out of those that the parameters have of each kind.
template <class T>
__device__ Sum<T> factor(double real, double imaginary, int64_t integer) {
  if constexpr (kIsComplex<T>) {
    using R = typename T::value_type;
    return T(R(real), R(imaginary));
  } else {
    return uint64_t(integer);
  }
}
template <class T>
__device__ Sum<T> plain(T x) {
  if constexpr (kIsComplex<T>)
    return x;
  else
    return uint64_t(int64_t(x));
}

/// Integers and complex numbers.
template <class T>
__device__ void plain_matmul(const MatmulParams& p) {
  const uint32_t i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= matmul_outputs(p)) return;
  const Output o(p, i);
  const auto* a = static_cast<const T*>(p.a) + o.batch * p.a_at.batch +
                  int64_t(o.row) * p.a_at.row;
  const auto* b = static_cast<const T*>(p.b) + o.batch * p.b_at.batch +
                  int64_t(o.column) * p.b_at.column;
  Sum<T> sum = 0;
  for (uint32_t k = 0; k < p.k; ++k, a += p.a_at.column, b += p.b_at.row)
    sum += product(plain(*a), plain(*b));
  sum = product(sum, factor<T>(p.alpha, p.imaginary_alpha, p.integer_alpha));
  if (p.bias)
    sum +=
        product(factor<T>(p.beta, p.imaginary_beta, p.integer_beta),
                plain(static_cast<const T*>(
                    p.bias)[o.batch * p.bias_at.batch + o.row * p.bias_at.row +
                            o.column * p.bias_at.column]));
  static_cast<T*>(p.out)[i] = T(sum);
}

}  // namespace

#define HOTARU_MATMUL(unused, T, suffix) \
  HOTARU_CUDA_CROWDED_KERNEL(GemmLarge_##suffix, kCrowd<T>, MatmulParams, \
                             matrix_product<T, large_side(sizeof(Stored<T>))>) \
  HOTARU_CUDA_BLOCK_KERNEL(GemmSmall_##suffix, MatmulParams, \
                           matrix_product<T, kSmallSide>) \
  HOTARU_CUDA_KERNEL(GemmEnd_##suffix, MatmulParams, \
                     join_splits<T, MatmulParams>)
HOTARU_DEVICE_TYPES_FloatingTypes(HOTARU_MATMUL, )

#define HOTARU_PLAIN_MATMUL(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(PlainMatmul_##suffix, MatmulParams, plain_matmul<T>)
    HOTARU_DEVICE_TYPES_IntTypes(HOTARU_PLAIN_MATMUL, )
        HOTARU_DEVICE_TYPES_ComplexTypes(HOTARU_PLAIN_MATMUL, )

}  // namespace hotaru::cuda
