// Softmax and layer norm of rows, against plain loops in double precision.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "hotaru/backend/cpu/activation/softmax_simd.h"
#include "hotaru/backend/cpu/norm/norm_simd.h"

namespace hotaru::cpu {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr int64_t kLengths[] = {1, 2, 5, 15, 16, 17, 33, 64, 100, 1030};

template <class T>
std::vector<T> random_values(int64_t n, double mean, double deviation) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal(mean, deviation);
  std::vector<T> out(static_cast<size_t>(n));
  for (T& v : out) v = T(normal(random));
  return out;
}

/// A unit in the last place of 1.
template <class T>
constexpr double kUnit = double(std::numeric_limits<T>::epsilon());

template <class T>
void expect_softmax(const std::vector<T>& x, const std::vector<T>& y,
                    int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r) {
    double largest = -kInf;
    long double sum = 0;
    for (int64_t i = 0; i < n; ++i)
      largest = std::max(largest, double(x[size_t(r * n + i)]));
    for (int64_t i = 0; i < n; ++i)
      sum += std::exp((long double)(x[size_t(r * n + i)]) - largest);
    for (int64_t i = 0; i < n; ++i) {
      const double v = double(x[size_t(r * n + i)]) - largest;
      const double want = double(std::exp((long double)(v)) / sum);
      // The difference is rounded before the exponential; the sum, in one lane
      // in the worst case, n times at random.
      ASSERT_NEAR(double(y[size_t(r * n + i)]), want,
                  kUnit<T> * want * (8 + std::sqrt(n) - v) + 1e-37)
          << rows << " rows of " << n << ", " << r << ", " << i;
    }
  }
}

template <class T>
void softmax_of_every_size() {
  for (const int64_t n : kLengths)
    for (const int64_t rows : {1, 3, 4, 9}) {
      std::vector<T> x = random_values<T>(rows * n + 1, -3, 5);
      std::vector<T> y(x.size(), T(77));
      softmax_rows(x.data(), y.data(), rows, n);
      EXPECT_EQ(y.back(), T(77));
      expect_softmax(x, y, rows, n);
      std::vector<T> in_place = x;
      softmax_rows(in_place.data(), in_place.data(), rows, n);
      y.back() = x.back();
      EXPECT_EQ(in_place, y);
    }
}

TEST(SimdRows, Softmax) {
  softmax_of_every_size<float>();
  softmax_of_every_size<double>();
}

template <class T>
void softmax_of_special_values() {
  for (const int64_t n : {3, 16, 37})
    for (const int64_t at : {int64_t(0), n - 1}) {
      const int64_t rows = 5;
      std::vector<T> x = random_values<T>(rows * n, 0, 1), y(x.size());
      x[size_t(at)] = std::numeric_limits<T>::quiet_NaN();
      x[size_t(n + at)] = T(kInf);
      x[size_t(2 * n + at)] = T(-kInf);
      for (int64_t i = 0; i < n; ++i) x[size_t(3 * n + i)] = T(-kInf);
      softmax_rows(x.data(), y.data(), rows, n);
      for (int64_t i = 0; i < n; ++i) {
        for (const int64_t r : {0, 1, 3})
          EXPECT_TRUE(std::isnan(y[size_t(r * n + i)])) << r << " " << i;
        EXPECT_EQ(y[size_t(2 * n + i)] == 0, i == at);
        EXPECT_GT(y[size_t(4 * n + i)], 0);
      }
    }
}

TEST(SimdRows, SoftmaxOfNaNAndInfinity) {
  softmax_of_special_values<float>();
  softmax_of_special_values<double>();
}

/// `channels`: numbers of weights that a row has, where it can be cut so.
template <class T>
void norm_of_every_size(double offset, int64_t channels) {
  const T eps = T(1e-5);
  for (const int64_t n : kLengths) {
    const int64_t inner = channels == 0 ? 1 : n / channels;
    if (channels != 0 && n % channels != 0) continue;
    const std::vector<T> x = random_values<T>(n, offset, 2),
                         w = random_values<T>(n, 1, 1),
                         b = random_values<T>(n, 0, 1);
    long double sum = 0, squares = 0;
    for (const T v : x) sum += v;
    const long double centre = sum / n;
    for (const T v : x) squares += (v - centre) * (v - centre);
    const double mean = double(centre);
    const double rstd = 1 / std::sqrt(double(squares / n) + double(eps));
    for (const bool scaled : {false, true})
      for (const bool shifted : {false, true}) {
        std::vector<T> y(x.size() + 1, T(77));
        T found_mean, found_rstd;
        norm_row(x.data(), y.data(), n, scaled ? w.data() : nullptr,
                 shifted ? b.data() : nullptr, inner, eps, &found_mean,
                 &found_rstd);
        EXPECT_EQ(y.back(), T(77));
        EXPECT_NEAR(double(found_mean), mean, kUnit<T> * (std::fabs(mean) + 2));
        EXPECT_NEAR(double(found_rstd), rstd, 8 * kUnit<T> * rstd);
        for (int64_t i = 0; i < n; ++i) {
          const size_t k = size_t(i);
          const double normal = double(x[k] - centre) * rstd;
          const size_t number = size_t(i / inner);
          const double scale = scaled ? double(w[number]) : 1;
          const double shift = shifted ? double(b[number]) : 0;
          // The mean is rounded to T before it is subtracted.
          const double most = (std::fabs(mean) + 2) * rstd +
                              8 * std::fabs(normal) + std::fabs(shift);
          ASSERT_NEAR(double(y[k]), normal * scale + shift,
                      kUnit<T> * most * std::max(1.0, std::fabs(scale)))
              << n << ", " << i;
        }
      }
  }
}

TEST(SimdRows, LayerNorm) {
  for (const double offset : {0.0, 1000.0}) {
    for (const int64_t channels : {0, 1, 2, 3, 8}) {
      norm_of_every_size<float>(offset, channels);
      norm_of_every_size<double>(offset, channels);
    }
  }
}

}  // namespace
}  // namespace hotaru::cpu
