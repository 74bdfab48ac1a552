#include "hotaru/backend/cpu/matmul/gemm.h"

#include <algorithm>

#include "hotaru/backend/common/number_types.h"
#include "hotaru/backend/cpu/matmul/areas.h"
#include "hotaru/backend/cpu/matmul/gemm_problem.h"
#include "hotaru/backend/cpu/matmul/gemm_reduced.h"
#include "hotaru/backend/cpu/matmul/matrix_source.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru {

template <class T>
void gemm(int64_t m, OpMath<T> alpha, MatrixRef<T> a, PackedRef<T> b,
          OpMath<T> beta, T* c, int64_t ldc, const Epilogue<T>& epilogue) {
  gemm_by(gemm_kernels<T>(), m, b.n, b.k, alpha, a, Factor<T>{.packed = b.data},
          beta, c, ldc, epilogue);
}

template <class T>
void gemm_batched(int64_t batch, int64_t m, int64_t n, int64_t k,
                  OpMath<T> alpha, MatrixRef<T> a, int64_t a_stride,
                  MatrixRef<T> b, int64_t b_stride, OpMath<T> beta, T* c,
                  int64_t ldc, int64_t c_stride, const Epilogue<T>& epilogue) {
  const auto one = [&](int64_t i) {
    MatrixRef<T> ai = a, bi = b;
    // Without any inner size they may have no memory.
    if (k > 0) {
      ai.data += i * a_stride;
      bi.data += i * b_stride;
    }
    gemm(m, n, k, alpha, ai, bi, beta, c + i * c_stride, ldc, epilogue);
  };
  for_batch(batch, m * n * k, one);
}

template <>
void gemm(int64_t m, float alpha, MatrixRef<BFloat16> a, PackedRef<BFloat16> b,
          float beta, BFloat16* c, int64_t ldc,
          const Epilogue<BFloat16>& epilogue) {
  through_sums(
      m, b.n, beta, c, ldc, epilogue,
      [&](float* sums, float add, const Epilogue<float>& finish) {
        gemm_bf16(m, alpha, a, b, add, sums, b.n, finish);
      },
      [&](const Epilogue<float>& finish) {
        return gemm_rounded(m, alpha, a, b, c, ldc, finish);
      });
}

template <>
void gemm(int64_t m, float alpha, MatrixRef<Half> a, PackedRef<Half> b,
          float beta, Half* c, int64_t ldc, const Epilogue<Half>& epilogue) {
  through_sums(m, b.n, beta, c, ldc, epilogue,
               [&](float* sums, float add, const Epilogue<float>& finish) {
                 gemm_widened(m, alpha, a, b, add, sums, b.n, finish);
               });
}

template <>
PackedRef<BFloat16> pack_matrix(int64_t k, int64_t n, MatrixRef<BFloat16> b,
                                BFloat16* to) {
  return pack_bf16(k, n, b, to);
}

template <>
PackedRef<Half> pack_matrix(int64_t k, int64_t n, MatrixRef<Half> b, Half* to) {
  return pack_half(k, n, b, to);
}

template <class T>
PackedRef<T> pack_matrix(int64_t k, int64_t n, MatrixRef<T> b, T* to) {
  const GemmKernels<T>& kernels = gemm_kernels<T>();
  if (k > 0 && n > 0)
    pack_panels<T>(kernels, MatrixSource<T>(kernels, b), 0, k, 0, n, to);
  return {to, k, n};
}

template <class T>
PackedMatrix<T>::PackedMatrix(int64_t k, int64_t n, MatrixRef<T> b)
    : k_(k), n_(n) {
  const int64_t size = packed_size(k, n, sizeof(T));
  data_.reset(aligned_new<T>(std::max<int64_t>(size, 1)));
  pack_matrix(k, n, b, data_.get());
}

template <class T>
void PackedMatrix<T>::Free::operator()(T* p) const {
  aligned_delete(p);
}

template class PackedMatrix<float>;
template class PackedMatrix<double>;
template PackedRef<float> pack_matrix(int64_t, int64_t, MatrixRef<float>,
                                      float*);
template PackedRef<double> pack_matrix(int64_t, int64_t, MatrixRef<double>,
                                       double*);
template void gemm(int64_t, float, MatrixRef<float>, PackedRef<float>, float,
                   float*, int64_t, const Epilogue<float>&);
template void gemm(int64_t, double, MatrixRef<double>, PackedRef<double>,
                   double, double*, int64_t, const Epilogue<double>&);

#define HOTARU_INSTANTIATE(...) \
  template void gemm_batched(int64_t, int64_t, int64_t, int64_t, \
                             OpMath<__VA_ARGS__>, MatrixRef<__VA_ARGS__>, \
                             int64_t, MatrixRef<__VA_ARGS__>, int64_t, \
                             OpMath<__VA_ARGS__>, __VA_ARGS__*, int64_t, \
                             int64_t, const Epilogue<__VA_ARGS__>&);
HOTARU_FOR_NUMBER_TYPES(HOTARU_INSTANTIATE)
#undef HOTARU_INSTANTIATE

}  // namespace hotaru
