// The kernels "matmul", "linear" and "pack_matrix" over gemm.
#include "hotaru/backend/common/matmul/matmul.h"

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <vector>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/matmul/linear.h"
#include "hotaru/backend/common/ways.h"
#include "hotaru/backend/cpu/matmul/areas.h"
#include "hotaru/backend/cpu/matmul/gemm_bf16.h"
#include "hotaru/backend/cpu/matmul/ways.h"

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

/// Floats that may be rounded to bfloat16.
template <class T, class A>
bool rounds(const A& g) {
  return std::is_same_v<T, float> && g.bf16 && g.k > 0 &&
         pays_to_round(g.m, g.n);
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
    if (rounds<T>(g)) {
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

/// A call of "matmul"; without memory where a table is only asked.
template <class T>
struct MatmulCall {
  const MatmulAttributes& g;
  bool adds;  // whether there is a bias
  T* out = nullptr;
  const T* a = nullptr;
  const T* b = nullptr;
  const T* bias = nullptr;
};

template <class T>
void scale_vector(const MatmulCall<T>& c) {
  const MatmulAttributes& g = c.g;
  const bool row = g.m == 1;
  const T factor = row ? *c.a : *c.b;
  const T* x = row ? c.b : c.a;
  const int64_t step = row ? g.b.column : g.a.row;
  parallel_for(0, g.m * g.n, kGrainSize, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) c.out[i] = x[i * step] * factor;
  });
}

/// In parts, whatever the number of threads.
template <class T>
void long_dot(const MatmulCall<T>& c) {
  const MatmulAttributes& g = c.g;
  const int64_t parts = (g.k + kGrainSize - 1) / kGrainSize;
  std::vector<T> sums(size_t(parts), T(0));
  parallel_for(0, parts, 1, [&](int64_t part, int64_t end) {
    for (; part < end; ++part) {
      const int64_t from = part * kGrainSize;
      gemm<T>(1, 1, std::min(kGrainSize, g.k - from), T(1),
              {c.a + from * g.a.column, g.a.row, g.a.column},
              {c.b + from * g.b.row, g.b.row, g.b.column}, T(0),
              &sums[size_t(part)], 1);
    }
  });
  *c.out = g.alpha.to<T>() * T(std::accumulate(sums.begin(), sums.end(), 0.0));
}

/// Tells whether the bias is added where sums are stored.
template <class T>
bool adds_one_row(const MatmulCall<T>& c) {
  const MatmulAttributes& g = c.g;
  return c.adds && g.beta == Scalar(1) && (g.batch == 1 || g.bias.batch == 0) &&
         (g.m == 1 || g.bias.row == 0) && (g.n == 1 || g.bias.column == 1);
}

template <class T>
void run_product(const MatmulCall<T>& c) {
  const MatmulAttributes& g = c.g;
  Epilogue<T> epilogue;
  OpMath<T> beta(0);
  if (adds_one_row(c)) {
    epilogue.bias = c.bias;
  } else if (c.adds) {
    spread(g, c.bias, c.out);
    beta = g.beta.to<OpMath<T>>();
  }
  multiply(g, g.alpha.to<OpMath<T>>(), c.a, c.b, beta, c.out, g.n, g.m * g.n,
           epilogue);
}

template <class T>
constexpr Way<MatmulCall<T>> kProduct{
    "product",      "by the table of products", "", nullptr, "", nullptr,
    &run_product<T>};
/// Ways of floating numbers that are products by name alone.
template <class T>
constexpr Way<MatmulCall<T>> kScaledVector{
    "scaled_vector",
    "a column or a row times a number",
    "one matrix of a depth of 1 with one row or column; nothing added, no "
    "factor",
    [](const MatmulCall<T>& c) {
      const MatmulAttributes& g = c.g;
      return g.k == 1 && g.batch == 1 && (g.m == 1 || g.n == 1) && !c.adds &&
             g.alpha == Scalar(1) && !g.bf16;
    },
    "",
    nullptr,
    &scale_vector<T>};
template <class T>
constexpr Way<MatmulCall<T>> kLongDot{
    "long_dot",
    "one dot product that threads share, in parts of 32,768",
    "one row, one column, nothing added",
    [](const MatmulCall<T>& c) {
      const MatmulAttributes& g = c.g;
      return g.m == 1 && g.n == 1 && g.batch == 1 && !c.adds && !g.bf16;
    },
    "a depth of two such parts",
    [](const MatmulCall<T>& c) { return c.g.k >= 2 * kGrainSize; },
    &long_dot<T>};

template <class T>
constexpr auto kMatmulWays = std::to_array({kProduct<T>});
template <>
constexpr auto kMatmulWays<float> =
    std::to_array({kScaledVector<float>, kLongDot<float>, kProduct<float>});
template <>
constexpr auto kMatmulWays<double> =
    std::to_array({kScaledVector<double>, kLongDot<double>, kProduct<double>});

constexpr KernelTypes<NumberTypes> kMatmulTypes{0, "addmm_impl_cpu_"};

void matmul(const KernelCall& call) {
  const auto& g = call.attributes<MatmulAttributes>();
  const Tensor& out = call.tensor(0);
  const Tensor& bias = call.tensor(3);
  const bool add = bias.defined() && !(g.beta == Scalar(0));
  kMatmulTypes.visit(call, [&]<class T>() {
    run_first<kMatmulWays<T>>(MatmulCall<T>{
        g, add, out.data<T>(), call.tensor(1).data<T>(),
        call.tensor(2).data<T>(), add ? bias.data<T>() : nullptr});
  });
}

/// Answers of the table of products to one of the batch's.
template <class T, class A>
[[gnu::cold]] WayAnswers explain_one(const A& g, OpMath<T> beta,
                                     const Epilogue<T>& epilogue, int64_t row) {
  if (rounds<T>(g))
    return {{"pairs",
             "rounded to bfloat16, two numbers at a time, by AMX where it is",
             true,
             {}}};
  return explain_product(GemmCall<T>{.m = g.m,
                                     .n = g.n,
                                     .k = g.k,
                                     .a = {nullptr, g.a.row, g.a.column},
                                     .b = {nullptr, g.b.row, g.b.column},
                                     .beta = beta,
                                     .ldc = row,
                                     .epilogue = epilogue});
}

[[gnu::cold]] WayAnswers explain_matmul(const KernelCall& call) {
  const auto& g = call.attributes<MatmulAttributes>();
  const bool add = call.tensor(3).defined() && !(g.beta == Scalar(0));
  WayAnswers answers;
  visit_ways(call.tensor(0).dtype(), [&]<class T>() {
    const MatmulCall<T> c{g, add};
    answers = explain<kMatmulWays<T>>(c);
    if (!answers.back().runs) return;
    answers.pop_back();
    static const T kSome{};  // rows ask whether there is one, and read nothing
    Epilogue<T> epilogue;
    if (adds_one_row(c)) epilogue.bias = &kSome;
    const OpMath<T> beta =
        add && !adds_one_row(c) ? g.beta.to<OpMath<T>>() : OpMath<T>(0);
    for (const WayAnswer& way : explain_one<T>(g, beta, epilogue, g.n))
      answers.push_back(way);
  });
  return answers;
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

[[gnu::cold]] WayAnswers explain_linear(const KernelCall& call) {
  const auto& g = call.attributes<LinearAttributes>();
  WayAnswers answers;
  kLinearTypes.visit(call, [&]<class T>() {
    // Packed matrices of 16 bits have one algorithm.
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
      if (g.packed && call.tensor(2).dtype() == call.tensor(0).dtype())
        answers = explain_packed<T>(g.m, g.n, g.k);
    if (g.packed) return;
    static const T kSome{};
    Epilogue<T> epilogue;
    if (call.tensor(3).defined()) epilogue.bias = &kSome;
    if (call.tensor(5).defined()) epilogue.residual = &kSome;
    answers =
        explain_one<T>(g, OpMath<T>(0), epilogue, g.out_row ? g.out_row : g.n);
  });
  return answers;
}

HOTARU_KERNEL(kCPU, "matmul", matmul, check_types<kMatmulTypes>);
HOTARU_KERNEL(kCPU, "linear", linear, check_types<kLinearTypes>);
HOTARU_KERNEL(kCPU, "pack_matrix", pack, check_types<kLinearTypes>);
const KernelWays matmul_ways(DeviceType::kCPU, "matmul", explain_matmul),
    linear_ways(DeviceType::kCPU, "linear", explain_linear);

}  // namespace
}  // namespace hotaru::cpu
