#include "hotaru/backend/cpu/matmul/gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <vector>

#include "hotaru/core/half.h"
#include "hotaru/core/printing/concat.h"
#include "hotaru/runtime/threads/parallel.h"
#include "tests/cpp/backend/exact_products.h"

namespace hotaru {
namespace {

/// A matrix in a larger buffer whose other elements are NaN or a sentinel, so
/// that reading or writing beside the matrix shows.
template <class T>
struct Matrix {
  Matrix(int64_t rows, int64_t cols, bool transposed, int64_t gap, int seed)
      : rows(rows), cols(cols) {
    const int64_t inner = (transposed ? rows : cols) + gap;
    const int64_t outer = transposed ? cols : rows;
    data.assign(size_t(inner * outer + 7), outside());
    ref = transposed ? MatrixRef<T>{data.data(), 1, inner}
                     : MatrixRef<T>{data.data(), inner, 1};
    const std::vector<float> numbers = small_integers(rows, cols, seed);
    const float* number = numbers.data();
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < cols; ++j) at(i, j) = static_cast<T>(*number++);
  }
  static T outside() {
    if constexpr (std::numeric_limits<T>::has_quiet_NaN)
      return std::numeric_limits<T>::quiet_NaN();
    else
      return T(77);
  }
  T& at(int64_t i, int64_t j) {
    return data[size_t(i * ref.row_stride + j * ref.col_stride)];
  }

  int64_t rows, cols;
  std::vector<T> data;
  MatrixRef<T> ref;
};

double activate(Activation activation, double v) {
  switch (activation) {
    case Activation::kRelu:
      return std::max(v, 0.0);
    case Activation::kSigmoid:
      return 1 / (1 + std::exp(-v));
    case Activation::kTanh:
      return std::tanh(v);
    case Activation::kSilu:
      return v / (1 + std::exp(-v));
    case Activation::kGelu:
      return 0.5 * v * std::erfc(-v / std::sqrt(2));
    default:
      return v;
  }
}

struct Case {
  int64_t m, n, k;
  bool ta = false, tb = false;
  double alpha = 1, beta = 0;
  Activation activation = Activation::kNone;
  int bias = 0;  // 1 per column, 2 per row
  bool packed = false;
  bool residual = false;
};

template <class T>
void check(const Case& t) {
  SCOPED_TRACE(concat("m ", t.m, " n ", t.n, " k ", t.k, " ta ", t.ta, " tb ",
                      t.tb, " packed ", t.packed, " bias ", t.bias,
                      " activation ", int(t.activation)));
  Matrix<T> a(t.m, t.k, t.ta, 3, 1), b(t.k, t.n, t.tb, 5, 2);
  Matrix<T> c(t.m, t.n, false, 2, 3);
  std::vector<T> bias(size_t(std::max(t.m, t.n)));
  for (size_t i = 0; i < bias.size(); ++i) bias[i] = T(double(i % 5) - 2);
  const Matrix<T> before = c;
  if (t.beta == 0) {  // must not be read
    for (int64_t i = 0; i < t.m; ++i)
      for (int64_t j = 0; j < t.n; ++j) c.at(i, j) = c.outside();
  }
  Epilogue<T> epilogue;
  if (t.bias) epilogue.bias = bias.data();
  epilogue.bias_per_row = t.bias == 2;
  epilogue.activation = t.activation;
  Matrix<T> residual(t.m, t.n, false, 4, 5);
  if (t.residual) {
    epilogue.residual = residual.data.data();
    epilogue.residual_stride = residual.ref.row_stride;
  }
  const T alpha(t.alpha), beta(t.beta);
  if (t.packed) {
    PackedMatrix<T> packed(t.k, t.n, b.ref);
    gemm(t.m, alpha, a.ref, packed, beta, c.data.data(), c.ref.row_stride,
         epilogue);
  } else {
    gemm(t.m, t.n, t.k, alpha, a.ref, b.ref, beta, c.data.data(),
         c.ref.row_stride, epilogue);
  }
  // Small integers: sums are exact whatever their order.
  const bool exact =
      t.activation == Activation::kNone || t.activation == Activation::kRelu;
  const double tolerance = exact ? 0 : sizeof(T) == 4 ? 1e-6 : 1e-15;
  const double* sum = exact_products(t.m, t.n, t.k).data();
  for (int64_t i = 0; i < t.m; ++i) {
    for (int64_t j = 0; j < t.n; ++j) {
      double want = t.alpha * *sum++;
      if (t.beta != 0) {
        want += t.beta * double(const_cast<Matrix<T>&>(before)
                                    .data[size_t(i * c.ref.row_stride + j)]);
      }
      if (t.bias) want += double(bias[size_t(t.bias == 2 ? i : j)]);
      if (t.residual) want += double(residual.at(i, j));
      want = activate(t.activation, want);
      ASSERT_NEAR(double(c.at(i, j)), want, tolerance * (1 + std::fabs(want)))
          << i << ", " << j;
    }
    for (int64_t j = t.n; j < c.ref.row_stride; ++j)
      ASSERT_TRUE(std::isnan(double(c.at(i, j)))) << "wrote beside C";
  }
}

TEST(Gemm, EdgesOfTilesInEveryLayout) {
  const int64_t sizes[] = {1, 2, 3, 5, 14, 17, 31, 33, 50};
  for (int64_t m : sizes) {
    for (int64_t n : {1, 3, 15, 16, 17, 31, 32, 33, 129}) {
      for (int64_t k : {1, 2, 7, 16, 40}) {
        for (int layout = 0; layout < 4; ++layout) {
          Case t{m, n, k};
          t.ta = layout & 1;
          t.tb = layout & 2;
          check<float>(t);
          if (::testing::Test::HasFatalFailure()) return;
          t.packed = true;
          check<float>(t);
          if (::testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(Gemm, DoublesInEveryLayout) {
  for (int64_t m : {1, 4, 15, 40}) {
    for (int64_t n : {1, 7, 9, 16, 70}) {
      for (int layout = 0; layout < 4; ++layout) {
        Case t{m, n, 33};
        t.ta = layout & 1;
        t.tb = layout & 2;
        check<double>(t);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(Gemm, SeveralBlocksOfRowsColumnsAndDepth) {
  const int saved = get_num_threads();
  for (int threads : {1, 3}) {
    set_num_threads(threads);
    for (int layout = 0; layout < 4; ++layout) {
      Case t{200, 70, 800};
      t.ta = layout & 1;
      t.tb = layout & 2;
      t.beta = 2;
      t.bias = 1;
      check<float>(t);
      t = {5, 2200, 30};
      t.ta = layout & 1;
      t.tb = layout & 2;
      check<float>(t);
      t.packed = true;
      check<float>(t);
      t = {300, 200, 500};
      t.ta = layout & 1;
      t.tb = layout & 2;
      t.alpha = 0.5;
      t.bias = 2;
      check<double>(t);
    }
  }
  set_num_threads(saved);
}

TEST(Gemm, ScalesAddsAndFinishesOnEveryPath) {
  for (int64_t m : {1, 2, 3, 8, 60}) {
    for (Activation activation :
         {Activation::kNone, Activation::kRelu, Activation::kSigmoid,
          Activation::kTanh, Activation::kSilu, Activation::kGelu}) {
      for (int bias : {0, 1, 2}) {
        for (int more : {0, 1, 2, 3}) {
          Case t{m, 150, 20, false, (more & 1) != 0};
          t.alpha = 0.25;
          t.beta = more & 1 ? 0.5 : 0;
          t.activation = activation;
          t.bias = bias;
          t.residual = more & 2;
          check<float>(t);
          check<double>(t);
          t.packed = true;
          t.n = 40;
          check<float>(t);
          check<double>(t);
          t.k = 900;  // several blocks of depth
          check<float>(t);
          t.packed = false;
          check<float>(t);
          t.k = 20;
          t.n = 1;  // through the transpose
          t.residual = false;
          check<float>(t);
        }
      }
    }
  }
}

TEST(Gemm, PacksIntoMemoryOfTheCaller) {
  for (int64_t n : {1, 15, 16, 31, 33, 64, 100}) {
    for (bool transposed : {false, true}) {
      constexpr int64_t kRows = 5, kDepth = 70;
      Matrix<float> a(kRows, kDepth, false, 0, 1);
      Matrix<float> b(kDepth, n, transposed, 3, 2);
      const int64_t size = packed_size(kDepth, n, sizeof(float));
      std::vector<float> to(size_t(size + 1), 77), c(size_t(kRows * n)),
          want(c);
      const PackedRef<float> packed = pack_matrix(kDepth, n, b.ref, to.data());
      EXPECT_EQ(to.back(), 77);
      gemm<float>(kRows, 1, a.ref, packed, 0, c.data(), n);
      gemm<float>(kRows, n, kDepth, 1, a.ref, b.ref, 0, want.data(), n);
      EXPECT_EQ(c, want) << n;
    }
  }
}

TEST(Gemm, EmptyProductsScaleAndFinish) {
  std::vector<float> c{1, 2, 3, 4}, bias{10, 20};
  Epilogue<float> e;
  e.bias = bias.data();
  const MatrixRef<float> none{nullptr, 1, 1};
  gemm(2, 2, 0, 1.0f, none, none, 2.0f, c.data(), 2, e);
  EXPECT_EQ(c, (std::vector<float>{12, 24, 16, 28}));
  c = {NAN, NAN, NAN, NAN};
  gemm(2, 2, 0, 1.0f, none, none, 0.0f, c.data(), 2);
  EXPECT_EQ(c, (std::vector<float>{0, 0, 0, 0}));
  gemm(0, 2, 2, 1.0f, none, none, 0.0f, c.data(), 2);
  gemm(2, 0, 2, 1.0f, none, none, 0.0f, c.data(), 2);
}

TEST(Gemm, ReluKeepsNaN) {
  const float a[] = {NAN, -1, 2};
  const float one = 1;
  float c[3];
  Epilogue<float> e;
  e.activation = Activation::kRelu;
  gemm(3, 1, 1, 1.0f, {a, 1, 1}, {&one, 1, 1}, 0.0f, c, 1, e);
  EXPECT_TRUE(std::isnan(c[0]));
  EXPECT_EQ(c[1], 0);
  EXPECT_EQ(c[2], 2);
}

TEST(Gemm, BroadcastStridesOfZero) {
  std::vector<float> a{1, 2, 3}, b{5};
  std::vector<float> c(6);
  gemm<float>(2, 3, 3, 1, {a.data(), 0, 1}, {b.data(), 0, 0}, 0, c.data(), 3);
  EXPECT_EQ(c, std::vector<float>(6, 30));
}

TEST(Gemm, ResultsDoNotDependOnTheThreads) {
  const int saved = get_num_threads();
  const int64_t n = 300, k = 700;
  std::mt19937 random(4);
  std::normal_distribution<float> normal;
  std::vector<float> a(300 * k), b(k * n);
  for (float& x : a) x = normal(random);
  for (float& x : b) x = normal(random);
  for (int64_t m : {1, 3, 4, 7, 13, 16, 19, 30, 45, 170, 300}) {
    for (bool transposed : {false, true}) {
      std::vector<std::vector<float>> results;
      for (int threads : {1, 2, 3, 7}) {
        set_num_threads(threads);
        results.emplace_back(m * n);
        MatrixRef<float> rb{b.data(), n, 1};
        if (transposed) rb = {b.data(), 1, k};
        gemm<float>(m, n, k, 1, {a.data(), k, 1}, rb, 0, results.back().data(),
                    n);
        EXPECT_EQ(results[0], results.back()) << m << " rows, " << threads;
      }
    }
  }
  set_num_threads(saved);
}

TEST(Gemm, BatchesShareAndStride) {
  const std::vector<double> a{1, 2, 3, 4}, b{1, 0, 0, 1, 2, 0, 0, 2};
  std::vector<double> c(8);
  gemm_batched<double>(2, 2, 2, 2, 1, {a.data(), 2, 1}, 0, {b.data(), 2, 1}, 4,
                       0, c.data(), 2, 4);
  EXPECT_EQ(c, (std::vector<double>{1, 2, 3, 4, 2, 4, 6, 8}));
}

template <class T>
class GemmGeneric : public ::testing::Test {};
using OtherTypes =
    ::testing::Types<Half, BFloat16, uint8_t, int8_t, int16_t, int32_t, int64_t,
                     std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(GemmGeneric, OtherTypes);

TYPED_TEST(GemmGeneric, MultipliesInEveryLayout) {
  using T = TypeParam;
  for (int layout = 0; layout < 4; ++layout) {
    std::vector<T> a, b, c(6, T(1));
    for (int i = 0; i < 8; ++i) a.push_back(static_cast<T>(float(i)));
    for (int i = 0; i < 12; ++i) b.push_back(static_cast<T>(float(i % 4)));
    MatrixRef<T> ra{a.data(), 4, 1}, rb{b.data(), 3, 1};
    if (layout & 1) ra = {a.data(), 1, 2};
    if (layout & 2) rb = {b.data(), 1, 4};
    const T bias[] = {static_cast<T>(3.0f), static_cast<T>(4.0f)};
    Epilogue<T> e;
    e.bias = bias;
    e.bias_per_row = true;
    gemm<T>(2, 3, 4, static_cast<T>(2.0f), ra, rb, static_cast<T>(1.0f),
            c.data(), 3, e);
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 3; ++j) {
        T want = static_cast<T>(0.0f);
        float sum = 0;
        for (int p = 0; p < 4; ++p) {
          sum += float((layout & 1) ? p * 2 + i : i * 4 + p) *
                 float(((layout & 2) ? j * 4 + p : p * 3 + j) % 4);
        }
        want = static_cast<T>(2 * sum + 1 + float(3 + i));
        EXPECT_EQ(c[size_t(i * 3 + j)], want) << layout << i << j;
      }
    }
  }
}

TEST(GemmGenericTypes, IntegersWrapAndHalfAccumulatesInFloat) {
  const std::vector<int32_t> big(2, 1 << 20);
  int32_t c = 0;
  gemm<int32_t>(1, 1, 2, 1, {big.data(), 2, 1}, {big.data(), 1, 1}, 0, &c, 1);
  EXPECT_EQ(c, 0);  // 2^41 modulo 2^32
  const std::vector<Half> ones(4096, Half(1.0f));
  Half sum(0.0f);
  gemm<Half>(1, 1, 4096, Half(1.0f), {ones.data(), 4096, 1},
             {ones.data(), 1, 1}, Half(0.0f), &sum, 1);
  EXPECT_EQ(float(sum), 4096.0f);  // a half sum would stop at 2048
}

// Found by an attack: lines were walked from an address that is null.
TEST(Gemm, HalvesWithoutDepthAreZero) {
  std::vector<Half> c(6, Half(1));
  gemm(3, 2, 0, Half(1), MatrixRef<Half>{nullptr, 1, 1},
       MatrixRef<Half>{nullptr, 2, 1}, Half(0), c.data(), 2, {});
  for (const Half x : c) EXPECT_EQ(float(x), 0);
}

}  // namespace
}  // namespace hotaru
