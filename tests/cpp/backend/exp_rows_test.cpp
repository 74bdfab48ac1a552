#include "hotaru/backend/cpu/attention/exp_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace hotaru::cpu {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

std::vector<float> numbers(int64_t rows, int64_t n) {
  std::vector<float> x(size_t(rows * n));
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = 6.0f * std::sin(0.7f * float(i * i % 1009)) - 3.0f;
  return x;
}

/// Softmax of a row in double.
std::vector<double> softmax(const float* x, int64_t n) {
  double most = -kInf, sum = 0;
  for (int64_t i = 0; i < n; ++i) most = std::max(most, double(x[i]));
  std::vector<double> out;
  for (int64_t i = 0; i < n; ++i) out.push_back(std::exp(x[i] - most));
  for (double e : out) sum += e;
  for (double& e : out) e /= sum;
  return out;
}

// Rows alone, by fours and both; with whole vectors and rests; too long to go
// by fours.
constexpr int64_t kShapes[][2] = {{1, 1},  {4, 16},  {5, 17},   {7, 33},
                                  {3, 50}, {9, 196}, {6, 1025}, {5, 2100}};

/// A difference of up to 12 is rounded by 2^-21; e^x and the inverse of the sum
/// by some units of 2^-24, and each addition by one, up or down.
double error_of(int64_t n) {
  return 0x1p-21 + (6 + std::sqrt(double(n))) * 0x1p-24;
}

TEST(ExpRows, TimesTheirFactorsAreSoftmax) {
  for (const auto& [rows, n] : kShapes) {
    const std::vector<float> x = numbers(rows, n);
    std::vector<float> y = x, factors(size_t(rows), -1.0f);
    exp_rows(y.data(), n, rows, n, factors.data());
    scale_rows(y.data(), n, rows, n, factors.data());
    for (int64_t r = 0; r < rows; ++r) {
      const std::vector<double> want = softmax(x.data() + r * n, n);
      for (int64_t i = 0; i < n; ++i)
        ASSERT_NEAR(y[size_t(r * n + i)], want[size_t(i)],
                    error_of(n) * want[size_t(i)] + 1e-30)
            << rows << " x " << n;
    }
  }
}

TEST(ExpRows, RoundedOnesFillTheirRowsWithZeros) {
  for (const auto& [rows, n] : kShapes) {
    const int64_t stride = (n + 1) / 2 * 2 + 2;
    const std::vector<float> x = numbers(rows, n);
    std::vector<float> exact = x, factors(size_t(rows), 0.0f), same = factors;
    exp_rows(exact.data(), n, rows, n, factors.data());
    std::vector<BFloat16> y(size_t(rows * stride), BFloat16(7.0f));
    exp_rows(x.data(), n, y.data(), stride, rows, n, same.data());
    // A shorter polynomial, within 1.1e-4, and then one rounding.
    constexpr float kBrief = 1.1e-4f, kRounding = 0x1p-8f;
    for (int64_t r = 0; r < rows; ++r) {
      const float* const row = exact.data() + r * n;
      EXPECT_NEAR(same[size_t(r)], factors[size_t(r)],
                  kBrief * factors[size_t(r)]);
      for (int64_t i = 0; i < stride; ++i) {
        const float got = float(y[size_t(r * stride + i)]);
        const float want = i < n ? row[i] : 0.0f;
        ASSERT_NEAR(got, want, (kBrief + kRounding) * want)
            << rows << " x " << n << " at " << r << ", " << i;
        EXPECT_TRUE(want != 1 || got == 1);
      }
    }
  }
}

TEST(ExpRows, InfinitiesAndNaN) {
  std::vector<float> x = {0, -kInf, 0,   -kInf, -kInf, -kInf,
                          1, 2,     NAN, 5,     -200,  5};
  std::vector<float> factors(4);
  exp_rows(x.data(), 3, 4, 3, factors.data());
  EXPECT_EQ(x[0], 1);
  EXPECT_EQ(x[1], 0);
  EXPECT_EQ(factors[0], 0.5f);
  EXPECT_TRUE(std::isnan(factors[1]));
  EXPECT_TRUE(std::isnan(factors[2]));
  EXPECT_EQ(x[10], 0);
  EXPECT_EQ(factors[3], 0.5f);
}

TEST(ExpRows, RowsOfAScaledMatrixKeepTheirNeighbours) {
  std::vector<float> x(2 * 5, 1.0f);
  const float factors[] = {2, 3};
  scale_rows(x.data(), 5, 2, 3, factors);
  EXPECT_EQ(x, (std::vector<float>{2, 2, 2, 1, 1, 3, 3, 3, 1, 1}));
}

}  // namespace
}  // namespace hotaru::cpu
