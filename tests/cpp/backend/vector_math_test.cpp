// The elementary functions of elementwise kernels against the C library in
// double precision, over a sample of all floats.
#include <gtest/gtest.h>

#include <cmath>

#include "hotaru/backend/common/pointwise/vector_functions.h"

namespace hotaru {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The largest error in units in the last place where the result is a normal
// float, for arguments in [low, high].
template <class F, class G>
double worst_error(F f, G exact, float low, float high) {
  double worst = 0;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 9973) {
    const float x = std::bit_cast<float>(uint32_t(bits));
    if (!(x >= low && x <= high)) continue;
    const double want = exact(double(x));
    const double size = std::fabs(want);
    if (size < 1.2e-38 || size > 3.4e38) continue;
    const float rounded = std::fabs(float(want));
    const double ulp = std::nextafter(rounded, kInf) - rounded;
    worst = std::max(worst, std::fabs(f(x) - want) / ulp);
  }
  return worst;
}

#define HOTARU_EXPECT_WITHIN(ulps, name, low, high) \
  EXPECT_LE(worst_error([](float x) { return vmath::name(x); }, \
                        [](double x) { return std::name(x); }, low, high), \
            ulps)

TEST(VectorMath, IsWithinThreeUnitsInTheLastPlace) {
  HOTARU_EXPECT_WITHIN(3, exp, -87.3f, 88.7f);
  HOTARU_EXPECT_WITHIN(3, log, 0.0f, 3e38f);
  HOTARU_EXPECT_WITHIN(3, log2, 0.0f, 3e38f);
  HOTARU_EXPECT_WITHIN(3, log10, 0.0f, 3e38f);
  HOTARU_EXPECT_WITHIN(1.1, tanh, -3e38f, 3e38f);
  HOTARU_EXPECT_WITHIN(3, expm1, -3e38f, 88.7f);
  HOTARU_EXPECT_WITHIN(3, log1p, -0.9999999f, 3e38f);
  HOTARU_EXPECT_WITHIN(3, erf, -3e38f, 3e38f);
  HOTARU_EXPECT_WITHIN(2, atan, -3e38f, 3e38f);
  HOTARU_EXPECT_WITHIN(2, sin, -vmath::kMostAngle, vmath::kMostAngle);
  HOTARU_EXPECT_WITHIN(2, cos, -vmath::kMostAngle, vmath::kMostAngle);
  HOTARU_EXPECT_WITHIN(2, tan, -vmath::kMostAngle, vmath::kMostAngle);
  HOTARU_EXPECT_WITHIN(1.1, exp2, -126.0f, 127.9f);
  HOTARU_EXPECT_WITHIN(2, sinh, -89.0f, 89.0f);
  HOTARU_EXPECT_WITHIN(2, cosh, -89.0f, 89.0f);
  HOTARU_EXPECT_WITHIN(3, asin, -1.0f, 1.0f);
  HOTARU_EXPECT_WITHIN(3, acos, -1.0f, 1.0f);
  HOTARU_EXPECT_WITHIN(3, atanh, -1.0f, 1.0f);
  HOTARU_EXPECT_WITHIN(3, erfc, -3e38f, 3e38f);
}

TEST(VectorMath, HypotenuseIsRoundedOnce) {
  for (const float x : {1e-42f, 1e-30f, 0.3f, 7.0f, 1e20f, 3e38f})
    EXPECT_LE(worst_error([&](float y) { return vmath::hypot(x, y); },
                          [&](double y) { return std::hypot(double(x), y); },
                          -3e38f, 3e38f),
              0.5001)
        << x;
  EXPECT_EQ(vmath::hypot(kInf, kNan), kInf);
  EXPECT_EQ(vmath::hypot(kNan, -kInf), kInf);
  EXPECT_TRUE(std::isnan(vmath::hypot(kNan, 1.0f)));
}

TEST(VectorMath, RemaindersAreExact) {
  const float numbers[] = {0.0f,     -0.0f, 1.0f,   -1.0f, 0.1f,  -0.3f,  3.0f,
                           1e-45f,   1e10f, -7e20f, 3e38f, 5e8f,  kInf,   -kInf,
                           16777216, 2.5f,  1e-30f, kNan,  0.75f, -2e-38f};
  for (const float x : numbers)
    for (const float y : numbers) {
      const float got = vmath::fmod(x, y), want = std::fmod(x, y);
      if (std::isnan(want)) {
        EXPECT_TRUE(std::isnan(got)) << x << ", " << y;
      } else {
        EXPECT_EQ(got, want) << x << ", " << y;
        EXPECT_EQ(std::signbit(got), std::signbit(want)) << x << ", " << y;
      }
    }
  // Quotients that are nearly integers.
  for (uint32_t i = 1; i < 2000000; i += 7) {
    const float y = 1.0f + float(i) * 0x1p-23f, x = y * float(i);
    ASSERT_EQ(vmath::fmod(x, y), std::fmod(x, y)) << x << ", " << y;
    ASSERT_EQ(vmath::fmod(-x, y), std::fmod(-x, y)) << x << ", " << y;
  }
}

template <class T>
void check_neighbours() {
  using L = std::numeric_limits<T>;
  const T numbers[] = {T(0),          T(-0.0),         T(1),
                       T(-1),         L::denorm_min(), -L::denorm_min(),
                       L::min(),      L::max(),        L::lowest(),
                       L::infinity(), -L::infinity(),  T(0.1)};
  for (const T x : numbers)
    for (const T y : numbers) {
      const T got = vmath::nextafter(x, y), want = std::nextafter(x, y);
      EXPECT_EQ(got, want) << x << ", " << y;
      EXPECT_EQ(std::signbit(got), std::signbit(want)) << x << ", " << y;
    }
  EXPECT_TRUE(std::isnan(vmath::nextafter(L::quiet_NaN(), T(1))));
  EXPECT_TRUE(std::isnan(vmath::nextafter(T(1), L::quiet_NaN())));
}
TEST(VectorMath, Neighbours) {
  check_neighbours<float>();
  check_neighbours<double>();
}

TEST(VectorMath, AngleOfAPoint) {
  for (const float x : {1e-30f, 0.3f, 2.0f, 1e20f, -1e-10f, -0.7f, -50.0f})
    EXPECT_LE(worst_error([&](float y) { return vmath::atan2(y, x); },
                          [&](double y) { return std::atan2(y, double(x)); },
                          -3e38f, 3e38f),
              2)
        << x;
  // Zeros, infinities and NaN as IEEE 754 has them, with their signs.
  const float limits[] = {0.0f,    -0.0f, 1.0f, -1.0f, 1e-45f,
                          -1e-45f, 3e38f, kInf, -kInf, kNan};
  for (const float y : limits)
    for (const float x : limits) {
      const float got = vmath::atan2(y, x), want = std::atan2(y, x);
      if (std::isnan(want)) {
        EXPECT_TRUE(std::isnan(got)) << y << ", " << x;
      } else {
        EXPECT_FLOAT_EQ(got, want) << y << ", " << x;
        EXPECT_EQ(std::signbit(got), std::signbit(want)) << y << ", " << x;
      }
    }
}

TEST(VectorMath, NormalDistribution) {
  // 4 units of 1/2 to 1, absolutely and, above 0, relatively.
  const auto exact = [](double x) {
    return 0.5 * std::erfc(-x / std::sqrt(2));
  };
  EXPECT_LE(worst_error([](float x) { return vmath::normal_cdf(x); }, exact, 0,
                        3e38f),
            4);
  for (float x = -7; x < 0; x += 1e-4f)
    ASSERT_NEAR(vmath::normal_cdf(x), exact(x), 4 * 0x1p-24) << x;
  for (const float x : {5.5f, 6.0f, 3e38f, kInf}) {
    EXPECT_EQ(vmath::normal_cdf(x), 1);
    EXPECT_EQ(vmath::normal_cdf(-x), 0);
  }
}

TEST(VectorMath, KeepsLimits) {
  EXPECT_EQ(vmath::exp(kInf), kInf);
  EXPECT_EQ(vmath::exp(-kInf), 0);
  EXPECT_EQ(vmath::log(0.0f), -kInf);
  EXPECT_EQ(vmath::log(kInf), kInf);
  EXPECT_EQ(vmath::tanh(kInf), 1);
  EXPECT_EQ(vmath::tanh(-kInf), -1);
  EXPECT_EQ(vmath::expm1(kInf), kInf);
  EXPECT_EQ(vmath::expm1(-kInf), -1);
  EXPECT_EQ(vmath::log1p(kInf), kInf);
  for (const float y :
       {vmath::tanh(-0.0f), vmath::expm1(-0.0f), vmath::log1p(-0.0f),
        vmath::erf(-0.0f), vmath::sin(-0.0f)}) {
    EXPECT_EQ(y, 0);
    EXPECT_TRUE(std::signbit(y));
  }
  EXPECT_EQ(vmath::log1p(-1.0f), -kInf);
  EXPECT_EQ(vmath::erf(kInf), 1);
  EXPECT_EQ(vmath::erf(-kInf), -1);
  EXPECT_TRUE(std::isnan(vmath::log(-1.0f)));
  EXPECT_TRUE(std::isnan(vmath::log1p(-2.0f)));
  for (const float y : {vmath::exp(kNan), vmath::log(kNan), vmath::tanh(kNan),
                        vmath::expm1(kNan), vmath::log1p(kNan),
                        vmath::erf(kNan), vmath::sigmoid(kNan)})
    EXPECT_TRUE(std::isnan(y));
}

}  // namespace
}  // namespace hotaru
