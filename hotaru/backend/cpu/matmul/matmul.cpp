// The kernels "matmul", "linear" and "pack_matrix" over gemm.
#include "hotaru/backend/common/matmul/matmul.h"

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/matmul/linear.h"
#include "hotaru/backend/cpu/matmul/gemm.h"

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
  OpMath<T> beta(0);
  if (bias) {
    const bool one_row = (g.batch == 1 || g.bias.batch == 0) &&
                         (g.m == 1 || g.bias.row == 0) &&
                         (g.n == 1 || g.bias.column == 1);
    if (one_row && g.beta == Scalar(1)) {
      epilogue.bias = bias;
    } else {
      spread(g, bias, out);
      beta = g.beta.to<OpMath<T>>();
    }
  }
  const MatrixRef<T> left{a, g.a.row, g.a.column};
  const MatrixRef<T> right{b, g.b.row, g.b.column};
  if (g.batch == 1)
    gemm<T>(g.m, g.n, g.k, g.alpha.to<OpMath<T>>(), left, right, beta, out, g.n,
            epilogue);
  else
    gemm_batched<T>(g.batch, g.m, g.n, g.k, g.alpha.to<OpMath<T>>(), left,
                    g.a.batch, right, g.b.batch, beta, out, g.n, g.m * g.n,
                    epilogue);
}

constexpr KernelTypes<NumberTypes> kMatmulTypes{0, "addmm_impl_cpu_"};

void matmul(const KernelCall& call) {
  const auto& g = call.attributes<MatmulAttributes>();
  const Tensor& out = call.tensor(0);
  const Tensor& bias = call.tensor(3);
  const bool add = bias.defined() && !(g.beta == Scalar(0));
  kMatmulTypes.visit(call, [&]<class T>() {
    run(g, out.data<T>(), call.tensor(1).data<T>(), call.tensor(2).data<T>(),
        add ? bias.data<T>() : nullptr);
  });
}

template <class T>
void run_linear(const KernelCall& call) {
  const auto& g = call.attributes<LinearAttributes>();
  const Tensor &bias = call.tensor(3), &scale = call.tensor(4),
               &residual = call.tensor(5);
  T* out = call.tensor(0).data<T>();
  const T* b = call.tensor(2).data<T>();
  T alpha = g.alpha.to<T>(), beta = T(0);
  if (scale.defined()) alpha *= *scale.data<T>();
  Epilogue<T> epilogue;
  epilogue.activation = g.activation;
  if (bias.defined()) epilogue.bias = bias.data<T>();
  if (residual.defined()) {
    epilogue.residual = residual.data<T>();
    epilogue.residual_stride = g.residual_stride;
  }
  if (epilogue.residual == out) {
    epilogue.residual = nullptr;
    beta = T(1);
  }
  const MatrixRef<T> left{call.tensor(1).data<T>(), g.a.row, g.a.column};
  const MatrixRef<T> right{b, g.b.row, g.b.column};
  const int64_t row = g.out_row ? g.out_row : g.n;
  if (g.packed)
    gemm(g.m, alpha, left, PackedRef<T>{b, g.k, g.n}, beta, out, row, epilogue);
  else if (g.batch == 1)
    gemm<T>(g.m, g.n, g.k, alpha, left, right, beta, out, row, epilogue);
  else
    gemm_batched<T>(g.batch, g.m, g.n, g.k, alpha, left, g.a.batch, right,
                    g.b.batch, beta, out, row,
                    g.out_row ? g.out_batch : g.m * g.n, epilogue);
}

constexpr KernelTypes<FloatTypes> kLinearTypes{0};

void linear(const KernelCall& call) {
  kLinearTypes.visit(call, [&]<class T>() { run_linear<T>(call); });
}

void pack(const KernelCall& call) {
  const auto& g = call.attributes<PackMatrixAttributes>();
  kLinearTypes.visit(call, [&]<class T>() {
    const MatrixRef<T> b{call.tensor(1).data<T>(), g.b.row, g.b.column};
    pack_matrix(g.k, g.n, b, call.tensor(0).data<T>());
  });
}

HOTARU_KERNEL(kCPU, "matmul", matmul, check_types<kMatmulTypes>);
HOTARU_KERNEL(kCPU, "linear", linear, check_types<kLinearTypes>);
HOTARU_KERNEL(kCPU, "pack_matrix", pack, check_types<kLinearTypes>);

}  // namespace
}  // namespace hotaru::cpu
