// QR and products of reflections; see params/linalg.h.
#include "hotaru/backend/cuda/device/linalg/reflector.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

template <class T>
__device__ void geqrf(const LinalgParams& p) {
  HOTARU_REFLECT_ROOM(T, room);
  const int steps = p.m < p.n ? p.m : p.n;
  T* a = matrix_of<T>(p.out[0], p.m, p.n);
  copy_line(int64_t(p.m) * p.n, matrix_of<T>(p.in[0], p.m, p.n), a);
  factor_qr(p.m, p.n, a, int64_t(p.n), int64_t(1),
            matrix_of<T>(p.out[1], steps, 1), room);
}

template <class T>
__device__ void qr(const LinalgParams& p) {
  HOTARU_REFLECT_ROOM(T, room);
  const int steps = p.m < p.n ? p.m : p.n;
  T *a = work_of<T>(p), *taus = a + int64_t(p.m) * p.n;
  copy_line(int64_t(p.m) * p.n, matrix_of<T>(p.in[0], p.m, p.n), a);
  factor_qr(p.m, p.n, a, int64_t(p.n), int64_t(1), taus, room);
  T* r = matrix_of<T>(p.out[1], p.k, p.n);
  for_matrix(p.k, p.n, [&](int i, int j) {
    const int64_t at = int64_t(i) * p.n + j;
    r[at] = i <= j ? a[at] : T(0);
  });
  if (p.out[0])
    first_columns(p.m, steps, a, int64_t(p.n), taus, p.k,
                  matrix_of<T>(p.out[0], p.m, p.k), room);
}

template <class T>
__device__ void householder(const LinalgParams& p) {
  HOTARU_REFLECT_ROOM(T, room);
  first_columns(p.m, p.k, matrix_of<T>(p.in[0], p.m, p.n), int64_t(p.n),
                matrix_of<T>(p.in[1], p.k, 1), p.n,
                matrix_of<T>(p.out[0], p.m, p.n), room);
}

}  // namespace

#define HOTARU_HOUSEHOLDER(unused, T, suffix) \
  HOTARU_CUDA_BLOCK_KERNEL(Geqrf_##suffix, LinalgParams, geqrf<T>) \
  HOTARU_CUDA_BLOCK_KERNEL(Qr_##suffix, LinalgParams, qr<T>) \
  HOTARU_CUDA_BLOCK_KERNEL(Householder_##suffix, LinalgParams, householder<T>)
HOTARU_DEVICE_TYPES_FloatTypes(HOTARU_HOUSEHOLDER, )
    HOTARU_DEVICE_TYPES_ComplexTypes(HOTARU_HOUSEHOLDER, )

}  // namespace hotaru::cuda
