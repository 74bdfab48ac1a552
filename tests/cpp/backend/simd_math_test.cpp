// Accuracy of the SIMD functions, seen through the activations of a product
// with the number one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "hotaru/backend/cpu/matmul/gemm.h"
#include "hotaru/backend/cpu/simd/simd_target.h"

namespace hotaru {
namespace {

template <class T>
std::vector<T> activated(const std::vector<T>& x, Activation activation) {
  std::vector<T> y(x.size());
  const T one = 1;
  const auto n = int64_t(x.size());
  Epilogue<T> epilogue;
  epilogue.activation = activation;
  gemm<T>(1, n, 1, 1, {&one, 1, 1}, {x.data(), n, 1}, 0, y.data(), n, epilogue);
  return y;
}

/// Values over the whole range, dense near 0 and where results saturate.
template <class T>
std::vector<T> samples() {
  std::vector<T> x;
  const int digits = std::numeric_limits<T>::digits10;
  for (double v = std::pow(10.0, -2.0 * digits); v < 100; v *= 1.0003) {
    x.push_back(T(v));
    x.push_back(T(-v));
  }
  for (double v = -30; v < 30; v += 0.0007) x.push_back(T(v));
  return x;
}

template <class T>
double worst_ulps(const std::vector<T>& x, Activation activation,
                  long double (*exact)(long double)) {
  const std::vector<T> y = activated(x, activation);
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const long double want = exact(x[i]);
    if (std::fabs(want) < std::numeric_limits<T>::min()) continue;
    const T rounded = static_cast<T>(want);
    const T up =
        std::nextafter(std::fabs(rounded), std::numeric_limits<T>::infinity());
    const long double ulp = up - std::fabs(rounded);
    worst = std::max(worst, double(std::fabs(y[i] - want) / ulp));
  }
  return worst;
}

long double exact_sigmoid(long double x) {
  return 1 / (1 + std::exp(-x));
}
long double exact_tanh(long double x) {
  return std::tanh(x);
}

TEST(SimdMath, SigmoidAndTanhAreAccurate) {
  EXPECT_LT(worst_ulps(samples<float>(), Activation::kSigmoid, exact_sigmoid),
            2.5);
  EXPECT_LT(worst_ulps(samples<float>(), Activation::kTanh, exact_tanh), 2.5);
  EXPECT_LT(worst_ulps(samples<double>(), Activation::kSigmoid, exact_sigmoid),
            2.5);
  EXPECT_LT(worst_ulps(samples<double>(), Activation::kTanh, exact_tanh), 2.5);
}

/// The largest distance from f(x), relative to max(1, |x|).
template <class T>
double worst_distance(Activation activation, double (*f)(double)) {
  const std::vector<T> x = samples<T>(), y = activated(x, activation);
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double size = std::max(1.0, std::fabs(double(x[i])));
    worst = std::max(worst, std::fabs(double(y[i]) - f(double(x[i]))) / size);
  }
  return worst;
}

TEST(SimdMath, GatedActivationsAreAccurate) {
  const auto gelu = [](double x) {
    return 0.5 * x * std::erfc(-x / std::sqrt(2));
  };
  const auto gelu_tanh = [](double x) {
    const double y = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
    return 0.5 * x * (1 + std::tanh(y));
  };
  const auto silu = [](double x) { return x / (1 + std::exp(-x)); };
  // x times a value of at most 1: of 4 units in the last place of 1/2 to 1 for
  // Phi; of tanh and the logistic function 2.5, and some more for a rounded
  // argument.
  const double single = 5 * 0x1p-24, twice = 5 * 0x1p-53;
  EXPECT_LT(worst_distance<float>(Activation::kGelu, gelu), single);
  EXPECT_LT(worst_distance<float>(Activation::kGeluTanh, gelu_tanh), single);
  EXPECT_LT(worst_distance<float>(Activation::kSilu, silu), single);
  EXPECT_LT(worst_distance<double>(Activation::kGelu, gelu), twice);
  EXPECT_LT(worst_distance<double>(Activation::kGeluTanh, gelu_tanh), twice);
  EXPECT_LT(worst_distance<double>(Activation::kSilu, silu), twice);
}

template <class T>
void expect_limits() {
  constexpr T kInf = std::numeric_limits<T>::infinity();
  constexpr T kMax = std::numeric_limits<T>::max();
  constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  const std::vector<T> x{kInf, -kInf, kMax, -kMax, T(0), T(-0.0), kNan};
  const std::vector<T> s = activated(x, Activation::kSigmoid);
  EXPECT_EQ(s[0], 1);
  EXPECT_EQ(s[1], 0);
  EXPECT_EQ(s[2], 1);
  EXPECT_EQ(s[3], 0);
  EXPECT_EQ(s[4], T(0.5));
  EXPECT_EQ(s[5], T(0.5));
  EXPECT_TRUE(std::isnan(s[6]));
  const std::vector<T> t = activated(x, Activation::kTanh);
  EXPECT_EQ(t[0], 1);
  EXPECT_EQ(t[1], -1);
  EXPECT_EQ(t[2], 1);
  EXPECT_EQ(t[3], -1);
  EXPECT_EQ(t[4], 0);
  EXPECT_EQ(t[5], 0);
  EXPECT_TRUE(std::isnan(t[6]));
  for (const Activation gate :
       {Activation::kSilu, Activation::kGelu, Activation::kGeluTanh}) {
    const std::vector<T> g = activated(x, gate);
    EXPECT_EQ(g[0], kInf);
    EXPECT_EQ(g[2], kMax);
    EXPECT_EQ(g[3], 0);
    EXPECT_EQ(g[4], 0);
    EXPECT_TRUE(std::isnan(g[6]));
  }
}

TEST(SimdTarget, FollowsTheEnvironment) {
  const char* limit = std::getenv("HOTARU_SIMD");
  const std::string name = simd_target_name();
  if (limit == nullptr)
    EXPECT_FALSE(name.empty());
  else if (std::string(limit) == "avx2")
    EXPECT_EQ(name.find("AVX3"), std::string::npos) << name;
  else if (std::string(limit) == "baseline")
    EXPECT_EQ(name.find("AVX"), std::string::npos) << name;
}

TEST(SimdMath, LimitsAndNaN) {
  expect_limits<float>();
  expect_limits<double>();
}

}  // namespace
}  // namespace hotaru
