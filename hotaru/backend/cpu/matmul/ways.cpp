#include "hotaru/backend/cpu/matmul/ways.h"

#include <algorithm>
#include <utility>

#include "hotaru/backend/common/number_types.h"
#include "hotaru/backend/common/ways.h"
#include "hotaru/backend/cpu/matmul/gemm_complex.h"
#include "hotaru/backend/cpu/matmul/gemm_generic.h"
#include "hotaru/backend/cpu/matmul/gemm_integer.h"
#include "hotaru/backend/cpu/matmul/gemm_reduced.h"
#include "hotaru/backend/cpu/matmul/gemm_turned.h"

namespace hotaru {
namespace {

// Rows of A, and how many columns of B for each, from which it pays to turn a
// product; and columns and depth.
constexpr int64_t kTurnedRows = 32, kColumnsForRow = 6;
constexpr int64_t kTurnedColumns = 256, kTurnedDepth = 256;
// Rows and columns from which rounding both factors costs less than it saves.
constexpr int64_t kRounded = 32;
// Sizes from which complex numbers are packed.
constexpr int64_t kComplexSize = 4;

template <class T>
bool is_matrix(const GemmProblem<T>& p) {
  return !p.packed && !p.source;
}

/// By what lanes hold.
template <class T>
constexpr auto kLaneWays = std::to_array<Way<GemmProblem<T>>>({
    {"panels", "few rows times a packed matrix, over its whole depth",
     "a right matrix that was packed before",
     [](const GemmProblem<T>& p) { return p.packed != nullptr; },
     "3 rows or fewer",
     [](const GemmProblem<T>& p) { return p.m <= GemmKernels<T>::kFewRows; },
     &multiply_panels<T>},
    {"dot", "sums along rows and columns that both are contiguous",
     "contiguous rows on the left, contiguous columns on the right",
     [](const GemmProblem<T>& p) {
       return is_matrix(p) && p.a.col_stride == 1 && p.b.row_stride == 1;
     },
     "as many rows as the processor's registers hold sums of",
     [](const GemmProblem<T>& p) { return p.m <= p.kernels.dot_rows; },
     &multiply_dot<T>},
    {"wide", "few rows times long stretches of the right matrix's rows",
     "floating numbers, contiguous rows on the right",
     [](const GemmProblem<T>& p) {
       return is_matrix(p) && p.kernels.wide && p.b.col_stride == 1;
     },
     "3 rows or fewer",
     [](const GemmProblem<T>& p) { return p.m <= GemmKernels<T>::kFewRows; },
     &multiply_wide<T>},
    {"areas", "areas of the result by blocks of depth, packed where that pays",
     "", nullptr, "", nullptr, &multiply_areas<T>},
});

template <class T>
void multiply(GemmProblem<T> p);

/// A product by lanes as its table is asked for it.
template <class T>
GemmProblem<T> problem_of(const GemmCall<T>& c) {
  return {
      gemm_kernels<T>(), c.m, c.n,   c.k,       c.alpha, c.beta, c.a, c.b, {},
      nullptr,           c.c, c.ldc, c.epilogue};
}
template <class T>
void run_lanes(const GemmCall<T>& c) {
  multiply(problem_of(c));
}
template <class T>
constexpr Way<GemmCall<T>> kLanes{
    "lanes", "by what vectors hold", "", nullptr, "", nullptr, &run_lanes<T>};

bool serves_turned(const GemmCall<float>& c) {
  return c.m <= kMostTurnedRows && c.beta == 0 && c.b.row_stride == 1 &&
         c.b.col_stride >= c.k && c.a.col_stride == 1 && !c.epilogue.scale &&
         !c.epilogue.residual;
}
bool pays_to_turn(const GemmCall<float>& c) {
  return c.m >= kTurnedRows && c.n >= kColumnsForRow * c.m &&
         c.n >= kTurnedColumns && c.k >= kTurnedDepth;
}
constexpr Way<GemmCall<float>> kTurned{
    "turned",
    "the transpose of the transposes' product: only the left matrix is packed",
    "96 rows or fewer; contiguous rows on the left, contiguous columns on the "
    "right; nothing added but a bias",
    &serves_turned,
    "32 rows, 256 columns and 6 for each row, a depth of 256",
    &pays_to_turn,
    [](const GemmCall<float>& c) {
      gemm_turned(c.m, c.n, c.k, c.alpha, c.a, c.b, c.c, c.ldc, c.epilogue);
    }};

constexpr Way<GemmCall<BFloat16>> kPairs{
    "pairs",
    "products of two numbers of bfloat16 at a time, by AMX where it is",
    "instructions for products of pairs, or as many rows as registers hold "
    "sums of",
    [](const GemmCall<BFloat16>& c) { return suits_bf16(c.m); },
    "",
    nullptr,
    [](const GemmCall<BFloat16>& c) {
      gemm_pairs_rounded(c.m, c.n, c.k, c.alpha, c.a, c.b, c.beta, c.c, c.ldc,
                         c.epilogue);
    }};
template <class T>
constexpr Way<GemmCall<T>> kWidened{"widened",
                                    "by way of floats, rounded once at the end",
                                    "",
                                    nullptr,
                                    "",
                                    nullptr,
                                    [](const GemmCall<T>& c) {
                                      gemm_through_floats(
                                          c.m, c.n, c.k, c.alpha, c.a, c.b,
                                          c.beta, c.c, c.ldc, c.epilogue);
                                    }};

template <class T>
constexpr Way<GemmCall<T>> kIntegers{
    "integers",
    "by numbers of 32 or 64 bits without a sign, which wrap",
    "",
    nullptr,
    "",
    nullptr,
    [](const GemmCall<T>& c) {
      gemm_integer(c.m, c.n, c.k, c.alpha, c.a, c.b, c.beta, c.c, c.ldc,
                   c.epilogue);
    }};

template <class T>
constexpr Way<GemmCall<T>> kComplexPanels{
    "panels",
    "one product of real numbers of twice the columns and depth",
    "",
    nullptr,
    "4 rows, columns and steps of depth",
    [](const GemmCall<T>& c) {
      return std::min({c.m, c.n, c.k}) >= kComplexSize;
    },
    [](const GemmCall<T>& c) {
      gemm_complex(c.m, c.n, c.k, c.alpha, c.a, c.b, c.beta, c.c, c.ldc,
                   c.epilogue);
    }};
template <class T>
constexpr Way<GemmCall<T>> kOneByOne{"one_by_one",
                                     "element by element",
                                     "",
                                     nullptr,
                                     "",
                                     nullptr,
                                     [](const GemmCall<T>& c) {
                                       gemm_generic(c.m, c.n, c.k, c.alpha, c.a,
                                                    c.b, c.beta, c.c, c.ldc,
                                                    c.epilogue);
                                     }};

/// Ways of every dtype; integers have one.
template <class T>
constexpr auto kWays = std::to_array({kIntegers<T>});
template <>
constexpr auto kWays<float> = std::to_array({kTurned, kLanes<float>});
template <>
constexpr auto kWays<double> = std::to_array({kLanes<double>});
template <>
constexpr auto kWays<Half> = std::to_array({kWidened<Half>});
template <>
constexpr auto kWays<BFloat16> = std::to_array({kPairs, kWidened<BFloat16>});
template <class R>
constexpr auto kWays<std::complex<R>> = std::to_array(
    {kComplexPanels<std::complex<R>>, kOneByOne<std::complex<R>>});

/// Gives a problem the strides and the orientation that help the choice.
template <class T>
void settle(GemmProblem<T>& p) {
  if (p.n == 1 && p.m > 1 && is_matrix(p) && p.ldc == 1) {
    // A column of C is a row of its transpose.
    std::swap(p.m, p.n);
    std::swap(p.a, p.b);
    p.a = p.a.transposed();
    p.b = p.b.transposed();
    p.ldc = p.n;
    p.epilogue.bias_per_row = !p.epilogue.bias_per_row;
  }
  // A stride over one element means nothing; the natural one is contiguous.
  if (p.k == 1) p.a.col_stride = p.b.row_stride = 1;
  if (p.n == 1) p.b.col_stride = 1;
}

/// C = act(beta C + bias), what is left of an empty product.
template <class T>
void scale_only(const GemmProblem<T>& p) {
  for (int64_t i = 0; i < p.m; ++i) {
    T* row = p.c + i * p.ldc;
    for (int64_t j = 0; j < p.n; ++j)
      row[j] = p.beta == T(0) ? T(0) : p.beta * row[j];
  }
  p.kernels.finish(p.c, p.ldc, p.m, p.n, p.epilogue);
}

/// By the table of lanes.
template <class T>
void multiply(GemmProblem<T> p) {
  if (p.m <= 0 || p.n <= 0) return;
  if (p.k <= 0 || p.alpha == T(0)) return scale_only(p);
  settle(p);
  run_first<kLaneWays<T>>(p);
}

}  // namespace

bool suits_bf16(int64_t m) {
  return has_pair_products() || m <= pair_kernels().max_rows;
}

bool pays_to_round(int64_t m, int64_t n) {
  return has_pair_products() && std::min(m, n) >= kRounded;
}

// Here so that the table is compiled into it: small products take no longer
// than the questions.
template <class T>
void gemm(int64_t m, int64_t n, int64_t k, OpMath<T> alpha, MatrixRef<T> a,
          MatrixRef<T> b, OpMath<T> beta, T* c, int64_t ldc,
          const Epilogue<T>& epilogue) {
  run_first<kWays<T>>(
      GemmCall<T>{m, n, k, alpha, a, b, beta, c, ldc, epilogue});
}

template <class T>
void gemm_by(const GemmKernels<T>& kernels, int64_t m, int64_t n, int64_t k,
             T alpha, MatrixRef<T> a, const Factor<T>& b, T beta, T* c,
             int64_t ldc, const Epilogue<T>& epilogue) {
  multiply(GemmProblem<T>{kernels, m, n, k, alpha, beta, a, b.matrix, b.packed,
                          b.source, c, ldc, epilogue});
}

template <class T>
[[gnu::cold]] WayAnswers explain_product(const GemmCall<T>& call) {
  WayAnswers answers = explain<kWays<T>>(call);
  if constexpr (std::is_floating_point_v<T> && !kIsReduced<T>) {
    // The row of lanes is a table of its own.
    const bool lanes = answers.back().runs;
    answers.pop_back();
    GemmProblem<T> problem = problem_of(call);
    settle(problem);
    for (WayAnswer& way : explain<kLaneWays<T>>(problem)) {
      way.runs = way.runs && lanes;
      if (!lanes) way.why_not = {};
      answers.push_back(way);
    }
  }
  return answers;
}

template <class T>
WayAnswers explain_packed(int64_t m, int64_t n, int64_t k) {
  static const T kSome{};
  GemmProblem<T> problem = problem_of(
      GemmCall<T>{.m = m, .n = n, .k = k, .a = {}, .b = {}, .ldc = n});
  problem.packed = &kSome;
  return explain<kLaneWays<T>>(problem);
}
template WayAnswers explain_packed<float>(int64_t, int64_t, int64_t);
template WayAnswers explain_packed<double>(int64_t, int64_t, int64_t);

#define HOTARU_INSTANTIATE(...) \
  template void gemm(int64_t, int64_t, int64_t, OpMath<__VA_ARGS__>, \
                     MatrixRef<__VA_ARGS__>, MatrixRef<__VA_ARGS__>, \
                     OpMath<__VA_ARGS__>, __VA_ARGS__*, int64_t, \
                     const Epilogue<__VA_ARGS__>&);
HOTARU_FOR_NUMBER_TYPES(HOTARU_INSTANTIATE)
#undef HOTARU_INSTANTIATE

#define HOTARU_INSTANTIATE(T) \
  template void gemm_by(const GemmKernels<T>&, int64_t, int64_t, int64_t, T, \
                        MatrixRef<T>, const Factor<T>&, T, T*, int64_t, \
                        const Epilogue<T>&);
HOTARU_INSTANTIATE(float)
HOTARU_INSTANTIATE(double)
HOTARU_INSTANTIATE(uint32_t)
HOTARU_INSTANTIATE(uint64_t)
#undef HOTARU_INSTANTIATE

// Instances for the types of visit_ways().
#define HOTARU_EXPLAIN(...) \
  template WayAnswers explain_product(const GemmCall<__VA_ARGS__>&);
HOTARU_FOR_WAY_TYPES(HOTARU_EXPLAIN)
#undef HOTARU_EXPLAIN

}  // namespace hotaru
