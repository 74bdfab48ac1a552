// The kernel "matmul" over gemm.
#include "hotaru/backend/common/matmul.h"

#include "hotaru/backend/cpu/gemm.h"
#include "hotaru/runtime/kernel.h"

namespace hotaru::cpu {
namespace {

// Copies the bias, with its repetitions, to where the product will be added.
template <class T>
void spread(const MatmulAttributes& g, const T* bias, T* out) {
  for (int64_t i = 0; i < g.batch; ++i)
    for (int64_t r = 0; r < g.m; ++r) {
      const T* from = bias + i * g.bias.batch + r * g.bias.row;
      for (int64_t j = 0; j < g.n; ++j) *out++ = from[j * g.bias.column];
    }
}

template <class T>
void run(const MatmulAttributes& g, T* out, const T* a, const T* b,
         const T* bias) {
  Epilogue<T> epilogue;
  T beta = T(0);
  if (bias) {
    const bool one_row = (g.batch == 1 || g.bias.batch == 0) &&
                         (g.m == 1 || g.bias.row == 0) &&
                         (g.n == 1 || g.bias.column == 1);
    if (one_row && g.beta == Scalar(1)) {
      epilogue.bias = bias;
    } else {
      spread(g, bias, out);
      beta = g.beta.to<T>();
    }
  }
  const MatrixRef<T> left{a, g.a.row, g.a.column};
  const MatrixRef<T> right{b, g.b.row, g.b.column};
  if (g.batch == 1)
    gemm<T>(g.m, g.n, g.k, g.alpha.to<T>(), left, right, beta, out, g.n,
            epilogue);
  else
    gemm_batched<T>(g.batch, g.m, g.n, g.k, g.alpha.to<T>(), left, g.a.batch,
                    right, g.b.batch, beta, out, g.n, g.m * g.n, epilogue);
}

void matmul(const KernelCall& call) {
  const auto& g = call.attributes<MatmulAttributes>();
  const Tensor& out = call.tensor(0);
  const Tensor& bias = call.tensor(3);
  const bool add = bias.defined() && !(g.beta == Scalar(0));
  visit_dtype(NumberTypes{}, out.dtype(), "addmm_impl_cpu_", [&]<class T>() {
    run(g, out.data<T>(), call.tensor(1).data<T>(), call.tensor(2).data<T>(),
        add ? bias.data<T>() : nullptr);
  });
}

HOTARU_KERNEL(kCPU, "matmul", matmul);

}  // namespace
}  // namespace hotaru::cpu
