// Triangular systems; see params/linalg.h.
#include "hotaru/backend/cuda/device/linalg/triangle.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

template <class T>
__device__ void triangular(const LinalgParams& p) {
  const T* a = matrix_of<T>(p.in[0], p.m, p.m);
  for_solved_columns(p.n, [&](int first, int n) {
    T* x = matrix_of<T>(p.out[0], p.m, p.n) + first;
    const T* b = matrix_of<T>(p.in[1], p.m, p.n) + first;
    for_matrix(p.m, n, [&](int i, int j) {
      x[int64_t(i) * p.n + j] = b[int64_t(i) * p.n + j];
    });
    solve_triangle(p.upper, p.unit, p.m, n, a, p.m, 1, x, p.n);
  });
}

}  // namespace

#define HOTARU_TRIANGULAR(unused, T, suffix) \
  HOTARU_CUDA_BLOCK_KERNEL(Triangular_##suffix, LinalgParams, triangular<T>)
HOTARU_DEVICE_TYPES_FloatTypes(HOTARU_TRIANGULAR, )
    HOTARU_DEVICE_TYPES_ComplexTypes(HOTARU_TRIANGULAR, )

}  // namespace hotaru::cuda
