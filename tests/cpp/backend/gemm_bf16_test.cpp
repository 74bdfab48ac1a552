#include "hotaru/backend/cpu/matmul/gemm_bf16.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "hotaru/core/printing/concat.h"
#include "hotaru/runtime/threads/parallel.h"
#include "tests/cpp/backend/exact_products.h"

namespace hotaru {
namespace {

/// Small integers, so that products and sums are exact whatever their order,
/// between NaN; its elements begin `shift` behind the memory's.
template <class T>
struct Numbers {
  Numbers(int64_t rows, int64_t cols, bool transposed, int64_t gap,
          int64_t shift, int seed) {
    const int64_t inner = (transposed ? rows : cols) + gap;
    data.assign(size_t(inner * (transposed ? cols : rows) + shift),
                T(std::numeric_limits<float>::quiet_NaN()));
    T* begin = data.data() + shift;
    ref = transposed ? MatrixRef<T>{begin, 1, inner}
                     : MatrixRef<T>{begin, inner, 1};
    const std::vector<float> numbers = small_integers(rows, cols, seed);
    const float* number = numbers.data();
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < cols; ++j)
        begin[i * ref.row_stride + j * ref.col_stride] = T(*number++);
  }
  std::vector<T> data;
  MatrixRef<T> ref;
};

struct Case {
  int64_t m, n, k;
  bool ta = false, tb = false, packed = false;
  int64_t gap = 0, shift = 0;
  float alpha = 1, beta = 0;
  bool plain = false;  // without bias and activation
};

template <class A, class B>
void check(const Case& t) {
  SCOPED_TRACE(concat("m ", t.m, " n ", t.n, " k ", t.k, " ta ", t.ta, " tb ",
                      t.tb, " packed ", t.packed, " gap ", t.gap, " shift ",
                      t.shift, " floats ", sizeof(A), " ", sizeof(B)));
  const Numbers<A> a(t.m, t.k, t.ta, t.gap, t.shift, 1);
  const Numbers<B> b(t.k, t.n, t.tb, t.gap, t.shift, 2);
  const int64_t ldc = t.n + 3;
  std::vector<float> c(size_t(t.m * ldc), t.beta ? 3.0f : NAN), bias;
  for (int64_t j = 0; j < t.n; ++j) bias.push_back(float(j % 5));
  Epilogue<float> epilogue;
  if (!t.plain) {
    epilogue.bias = bias.data();
    epilogue.activation = Activation::kRelu;
  }
  if (t.packed) {
    std::vector<BFloat16> panels(size_t(packed_size(t.k, t.n, 2) + 1),
                                 BFloat16(77.0f));
    const auto packed = pack_bf16(t.k, t.n, b.ref, panels.data());
    EXPECT_EQ(float(panels.back()), 77);
    gemm_bf16(t.m, t.alpha, a.ref, packed, t.beta, c.data(), ldc, epilogue);
  } else {
    gemm_bf16(t.m, t.n, t.k, t.alpha, a.ref, b.ref, t.beta, c.data(), ldc,
              epilogue);
  }
  const double* sum = exact_products(t.m, t.n, t.k).data();
  for (int64_t i = 0; i < t.m; ++i) {
    for (int64_t j = 0; j < t.n; ++j) {
      const double product = t.alpha * *sum++ + t.beta * 3;
      const double want =
          t.plain ? product : std::max(0.0, product + double(j % 5));
      ASSERT_EQ(double(c[size_t(i * ldc + j)]), want) << i << ", " << j;
    }
    for (int64_t j = t.n; j < ldc; ++j) {
      const float beside = c[size_t(i * ldc + j)];
      ASSERT_TRUE(t.beta ? beside == 3 : std::isnan(beside)) << "beside C";
    }
  }
}

/// C of bfloat16: rounded once.
void check_rounded(const Case& t) {
  SCOPED_TRACE(concat("m ", t.m, " n ", t.n, " k ", t.k, " packed ", t.packed));
  const Numbers<BFloat16> a(t.m, t.k, t.ta, 0, 0, 1);
  const Numbers<BFloat16> b(t.k, t.n, t.tb, 0, 0, 2);
  const int64_t ldc = t.n + 3;
  std::vector<BFloat16> c(size_t(t.m * ldc), BFloat16(NAN)), bias;
  for (int64_t j = 0; j < t.n; ++j) bias.emplace_back(float(j % 5));
  Epilogue<BFloat16> epilogue;
  if (!t.plain) {
    epilogue.bias = bias.data();
    epilogue.activation = Activation::kRelu;
  }
  if (t.packed) {
    std::vector<BFloat16> panels(size_t(packed_size(t.k, t.n, 2)));
    gemm(t.m, t.alpha, a.ref, pack_bf16(t.k, t.n, b.ref, panels.data()), 0.0f,
         c.data(), ldc, epilogue);
  } else {
    gemm(t.m, t.n, t.k, t.alpha, a.ref, b.ref, 0.0f, c.data(), ldc, epilogue);
  }
  const double* sum = exact_products(t.m, t.n, t.k).data();
  for (int64_t i = 0; i < t.m; ++i)
    for (int64_t j = 0; j < ldc; ++j) {
      const auto got = float(c[size_t(i * ldc + j)]);
      if (j >= t.n) {
        ASSERT_TRUE(std::isnan(got)) << "beside C";
        continue;
      }
      double want = *sum++ * t.alpha;
      if (!t.plain) want = std::max(0.0, want + double(j % 5));
      ASSERT_EQ(got, float(BFloat16(float(want)))) << i << ", " << j;
    }
}

void check_all(Case t) {
  for (int layout = 0; layout < 8; ++layout) {
    t.ta = layout & 1, t.tb = layout & 2, t.packed = layout & 4;
    check<BFloat16, BFloat16>(t);
    check<float, BFloat16>(t);
    check<BFloat16, float>(t);
    check<float, float>(t);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(GemmBf16, EdgesOfTilesAndDepthsInEveryLayout) {
  for (int64_t m : {1, 2, 3, 4, 5, 14, 17, 31})
    for (int64_t n : {1, 7, 16, 31, 32, 33, 65})
      for (int64_t k : {1, 2, 3, 31, 64}) {
        check_all({m, n, k});
        if (::testing::Test::HasFatalFailure()) return;
      }
}

TEST(GemmBf16, PlainOnesWithAFactor) {
  for (int64_t m : {2, 16, 33, 70})
    for (int64_t n : {16, 33, 48, 80})
      for (int64_t k : {1, 30, 64})
        for (float alpha : {1.0f, 0.125f, -4.0f, 3.0f}) {
          check_all({m, n, k, false, false, false, 0, 0, alpha, 0, true});
          if (::testing::Test::HasFatalFailure()) return;
        }
}

TEST(GemmBf16, ResultsThatAreRounded) {
  for (int64_t m : {3, 20, 33, 70})
    for (int64_t n : {1, 16, 33, 70})
      for (int layout = 0; layout < 16; ++layout) {
        Case t{m, n, 50};
        t.ta = layout & 1, t.tb = layout & 2, t.packed = layout & 4;
        t.plain = layout & 8;
        t.alpha = n == 16 ? 0.5f : 1.0f;
        check_rounded(t);
        if (::testing::Test::HasFatalFailure()) return;
      }
}

// More than a chunk of rows holds of a depth.
TEST(GemmBf16, DepthsAndRowsThatAreCut) {
  for (const Case& t : {Case{130, 40, 3100}, Case{420, 33, 1000}}) {
    Case plain = t, turned = t;
    plain.plain = true;
    turned.ta = turned.tb = true;
    for (const Case& one : {t, plain, turned}) {
      check<BFloat16, BFloat16>(one);
      check_rounded(one);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(GemmBf16, RowsThatBeginBetweenWords) {
  for (int64_t m : {1, 3, 6, 20})
    for (int64_t n : {1, 33})
      for (int64_t k : {2, 9, 64})
        for (int64_t gap : {1, 2})
          for (int64_t shift : {0, 1}) {
            check_all({m, n, k, false, false, false, gap, shift});
            if (::testing::Test::HasFatalFailure()) return;
          }
}

TEST(GemmBf16, SeveralBlocksScaledAndAdded) {
  const int saved = get_num_threads();
  for (int threads : {1, 3}) {
    set_num_threads(threads);
    for (int64_t m : {2, 40, 300}) {
      check_all({m, 70, 1700, false, false, false, 0, 0, 0.5f, 2});
      if (::testing::Test::HasFatalFailure()) break;
    }
    check_all({5, 2200, 30});
  }
  set_num_threads(saved);
}

TEST(GemmBf16, ResultsDoNotDependOnTheThreads) {
  const int saved = get_num_threads();
  const int64_t n = 300, k = 701;
  std::mt19937 random(4);
  std::normal_distribution<float> normal;
  std::vector<float> a(300 * k), b(k * n);
  for (float& x : a) x = normal(random);
  for (float& x : b) x = normal(random);
  for (int64_t m : {1, 3, 4, 7, 16, 30, 300}) {
    std::vector<float> first;
    for (int threads : {1, 2, 7}) {
      set_num_threads(threads);
      std::vector<float> c(size_t(m * n));
      gemm_bf16(m, n, k, 1, MatrixRef<float>{a.data(), k, 1},
                MatrixRef<float>{b.data(), 1, k}, 0, c.data(), n);
      if (threads == 1) first = c;
      EXPECT_EQ(first, c) << m << " rows, " << threads;
    }
  }
  set_num_threads(saved);
}

TEST(GemmBf16, EmptyProductsScaleAndFinish) {
  std::vector<float> c{1, 2, 3, 4}, bias{10, 20};
  Epilogue<float> e;
  e.bias = bias.data();
  const MatrixRef<BFloat16> none{nullptr, 1, 1};
  gemm_bf16(2, 2, 0, 1, none, none, 2, c.data(), 2, e);
  EXPECT_EQ(c, (std::vector<float>{12, 24, 16, 28}));
  gemm_bf16(2, 1, none, PackedRef<BFloat16>{nullptr, 0, 2}, 0, c.data(), 2, e);
  EXPECT_EQ(c, (std::vector<float>{10, 20, 10, 20}));
  gemm_bf16(0, 2, 2, 1, none, none, 0, c.data(), 2);
  gemm_bf16(2, 0, 2, 1, none, none, 0, c.data(), 2);
}

TEST(GemmBf16, InfinitiesAndNaNComeThrough) {
  const float inf = std::numeric_limits<float>::infinity();
  const float a[] = {1, inf, NAN, -inf};
  const float one[] = {1, 1};
  float c[4];
  gemm_bf16(4, 1, 1, 1, MatrixRef<float>{a, 1, 1}, MatrixRef<float>{one, 1, 1},
            0, c, 1);
  EXPECT_EQ(c[0], 1);
  EXPECT_EQ(c[1], inf);
  EXPECT_TRUE(std::isnan(c[2]));
  EXPECT_EQ(c[3], -inf);
}

/// Every sixteenth bit pattern and the edges of rounding, as the class rounds.
TEST(GemmBf16, RoundsAsBFloat16) {
  std::vector<float> x;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 0x7FFF)
    x.push_back(std::bit_cast<float>(uint32_t(bits)));
  for (uint32_t low : {0x7FFFu, 0x8000u, 0x8001u})
    for (uint32_t high : {0x3F80u, 0x3F81u, 0x7F7Fu, 0xFF7Fu, 0x7F80u, 0u})
      x.push_back(std::bit_cast<float>(high << 16 | low));
  const int64_t n = int64_t(x.size());
  std::vector<BFloat16> line(x.size());
  std::vector<float> pairs(x.size()), first(x.size()), second(x.size());
  pair_makers().round(x.data(), line.data(), n);
  pair_makers().pair_floats(pairs.data(), n, x.data(), x.data());
  pair_makers().split(pairs.data(), n, first.data(), second.data());
  for (size_t i = 0; i < x.size(); ++i) {
    const float want = float(BFloat16(x[i]));
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(float(line[i])) && std::isnan(first[i]) &&
                  std::isnan(second[i]));
      continue;
    }
    ASSERT_EQ(float(line[i]), want) << x[i];
    ASSERT_EQ(first[i], want) << x[i];
    ASSERT_EQ(second[i], want) << x[i];
  }
}

}  // namespace
}  // namespace hotaru
