// The kernels "matmul", "linear" and "pack_matrix" over gemm.
#include "hotaru/backend/common/matmul/matmul.h"

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <vector>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/matmul/linear.h"
#include "hotaru/backend/cpu/matmul/areas.h"
#include "hotaru/backend/cpu/matmul/gemm_bf16.h"

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

/// The batch's products, rows of out `row` and matrices `step` apart; g: those
/// of "matmul" or "linear".
template <class T, class A>
void multiply(const A& g, OpMath<T> alpha, const T* a, const T* b,
              OpMath<T> beta, T* out, int64_t row, int64_t step,
              const Epilogue<T>& epilogue) {
  const MatrixRef<T> left{a, g.a.row, g.a.column};
  const MatrixRef<T> right{b, g.b.row, g.b.column};
  if constexpr (std::is_same_v<T, float>) {
    if (g.bf16 && g.k > 0 && pays_to_round(g.m, g.n)) {
      return for_batch(g.batch, g.m * g.n * g.k, [&](int64_t i) {
        MatrixRef<float> x = left, y = right;
        x.data += i * g.a.batch;
        y.data += i * g.b.batch;
        gemm_bf16(g.m, g.n, g.k, alpha, x, y, beta, out + i * step, row,
                  epilogue);
      });
    }
  }
  if (g.batch == 1)
    gemm<T>(g.m, g.n, g.k, alpha, left, right, beta, out, row, epilogue);
  else
    gemm_batched<T>(g.batch, g.m, g.n, g.k, alpha, left, g.a.batch, right,
                    g.b.batch, beta, out, row, step, epilogue);
}

/// A column or a row times a number, which gradients of dot products are.
template <class T>
bool is_scaled_vector(const MatmulAttributes& g, const T* bias) {
  return g.k == 1 && g.batch == 1 && (g.m == 1 || g.n == 1) && !bias &&
         g.alpha == Scalar(1) && !g.bf16;
}
template <class T>
void scale_vector(const MatmulAttributes& g, T* out, const T* a, const T* b) {
  const bool row = g.m == 1;
  const T factor = row ? *a : *b;
  const T* x = row ? b : a;
  const int64_t step = row ? g.b.column : g.a.row;
  parallel_for(0, g.m * g.n, kGrainSize, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = x[i * step] * factor;
  });
}

/// One dot product so long that threads share it.
template <class T>
bool is_long_dot(const MatmulAttributes& g, const T* bias) {
  return g.m == 1 && g.n == 1 && g.batch == 1 && g.k >= 2 * kGrainSize &&
         !bias && !g.bf16;
}
/// In parts, whatever the number of threads.
template <class T>
void long_dot(const MatmulAttributes& g, T* out, const T* a, const T* b) {
  const int64_t parts = (g.k + kGrainSize - 1) / kGrainSize;
  std::vector<T> sums(static_cast<size_t>(parts), T(0));
  parallel_for(0, parts, 1, [&](int64_t part, int64_t end) {
    for (; part < end; ++part) {
      const int64_t from = part * kGrainSize;
      gemm<T>(1, 1, std::min(kGrainSize, g.k - from), T(1),
              {a + from * g.a.column, g.a.row, g.a.column},
              {b + from * g.b.row, g.b.row, g.b.column}, T(0),
              &sums[size_t(part)], 1);
    }
  });
  *out = g.alpha.to<T>() * T(std::accumulate(sums.begin(), sums.end(), 0.0));
}

template <class T>
void run(const MatmulAttributes& g, T* out, const T* a, const T* b,
         const T* bias) {
  if constexpr (std::is_floating_point_v<T>) {
    if (is_scaled_vector(g, bias)) return scale_vector(g, out, a, b);
    if (is_long_dot(g, bias)) return long_dot(g, out, a, b);
  }
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
  multiply(g, g.alpha.to<OpMath<T>>(), a, b, beta, out, g.n, g.m * g.n,
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
  OpMath<T> alpha = g.alpha.to<OpMath<T>>(), beta(0);
  if (scale.defined()) alpha *= OpMath<T>(*scale.data<T>());
  Epilogue<T> epilogue;
  epilogue.activation = g.activation;
  if (bias.defined()) epilogue.bias = bias.data<T>();
  if (residual.defined()) {
    epilogue.residual = residual.data<T>();
    epilogue.residual_stride = g.residual_stride;
  }
  if (epilogue.residual == out) {
    epilogue.residual = nullptr;
    beta = OpMath<T>(1);
  }
  const T* a = call.tensor(1).data<T>();
  const Tensor& b = call.tensor(2);
  const MatrixRef<T> left{a, g.a.row, g.a.column};
  const int64_t row = g.out_row ? g.out_row : g.n;
  if (!g.packed)
    return multiply(g, alpha, a, b.data<T>(), beta, out, row,
                    g.out_row ? g.out_batch : g.m * g.n, epilogue);
  if constexpr (std::is_same_v<T, float>)
    if (b.dtype() == DType::kBFloat16)
      return gemm_bf16(g.m, alpha, left,
                       PackedRef<BFloat16>{b.data<BFloat16>(), g.k, g.n}, beta,
                       out, row, epilogue);
  gemm(g.m, alpha, left, PackedRef<T>{b.data<T>(), g.k, g.n}, beta, out, row,
       epilogue);
}

constexpr KernelTypes<TypeList<float, double, BFloat16, Half>> kLinearTypes{0};

void linear(const KernelCall& call) {
  kLinearTypes.visit(call, [&]<class T>() { run_linear<T>(call); });
}

void pack(const KernelCall& call) {
  const auto& g = call.attributes<PackMatrixAttributes>();
  kLinearTypes.visit(call, [&]<class T>() {
    const Tensor &to = call.tensor(0), &from = call.tensor(1);
    if constexpr (std::is_same_v<T, BFloat16>)
      if (from.dtype() == DType::kFloat32) {
        const MatrixRef<float> b{from.data<float>(), g.b.row, g.b.column};
        return static_cast<void>(pack_bf16(g.k, g.n, b, to.data<T>()));
      }
    const MatrixRef<T> b{from.data<T>(), g.b.row, g.b.column};
    pack_matrix(g.k, g.n, b, to.data<T>());
  });
}

HOTARU_KERNEL(kCPU, "matmul", matmul, check_types<kMatmulTypes>);
HOTARU_KERNEL(kCPU, "linear", linear, check_types<kLinearTypes>);
HOTARU_KERNEL(kCPU, "pack_matrix", pack, check_types<kLinearTypes>);

}  // namespace
}  // namespace hotaru::cpu
