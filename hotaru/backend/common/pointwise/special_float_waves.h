// Bessel's functions, Airy's and log gamma of single precision as straight-line
// code. Polynomials are own fits as in special_float.h; what swings around zero
// is near in absolute terms, within 5e-7.
#pragma once

#include "hotaru/backend/common/pointwise/special_float.h"

/// Functions in special.h's list that have such a form for most arguments.
#define HOTARU_SPECIAL_FLOAT_QUICK(X) \
  X(airy_ai, 1e4f) \
  X(bessel_j0, 1e6f) \
  X(bessel_j1, 1e6f) \
  X(bessel_y0, 1e6f) \
  X(bessel_y1, 1e6f) \
  X(spherical_bessel_j0, 1e6f)

namespace hotaru::special_float {

/// Cosine and sine of a double up to 1e6 with a float's precision and more
/// (Cephes' polynomials).
struct Turn {
  double cos, sin;
};
HOTARU_INLINE Turn turn(double angle) {
  constexpr double kMagic = 0x1.8p52;
  const double shifted = angle * 6.36619772367581382433e-01 + kMagic;
  const double n = shifted - kMagic;
  const double exact = angle - n * 1.57079632673412561417e+00;
  const double r = exact - n * 6.07710050650619224932e-11, z = r * r;
  double s = -1.9515295891e-4;
  s = s * z + 8.3321608736e-3;
  s = s * z - 1.6666654611e-1;
  s = s * z * r + r;
  double c = 2.443315711809948e-5;
  c = c * z - 1.388731625493765e-3;
  c = c * z + 4.166664568298827e-2;
  c = c * z * z - 0.5 * z + 1.0;
  const auto q = std::bit_cast<uint64_t>(shifted);
  const bool odd = (q & 1) != 0;
  const double cos = odd ? s : c, sin = odd ? c : s;
  const uint64_t less = (q + 1) >> 1 << 63, under = q >> 1 << 63;
  return {std::bit_cast<double>(std::bit_cast<uint64_t>(cos) ^ less),
          std::bit_cast<double>(std::bit_cast<uint64_t>(sin) ^ under)};
}

// --- Bessel functions --------------------------------------------------------

// For 0 <= x <= 5, of x^2 / 12.5 - 1: J0, J1 / x, Y0 - 2 / pi log(x) J0 and
// (Y1 - 2 / pi (log(x) J1 - 1 / x)) / x (within 5e-8, 1e-8, 1e-8, 1e-8).
inline constexpr float kJ0[] = {
    5.06746023e-09f, -1.57552776e-07f, 3.92850052e-06f, -7.68339669e-05f,
    0.00113436347f,  -0.0120352143f,   0.0853918269f,   -0.360180765f,
    0.709416032f,    -0.216505408f,    -0.384744495f};
inline constexpr float kJ1[] = {
    -8.10912404e-09f, 2.26935001e-07f, -5.02847888e-06f, 8.60539367e-05f,
    -0.00108898897f,  0.0096281711f,   -0.0546507686f,   0.172886774f,
    -0.227013126f,    0.0346408673f};
inline constexpr float kY0[] = {
    -9.73759295e-09f, 2.92152492e-07f, -6.98548774e-06f, 0.000129945562f,
    -0.00180280965f,  0.0176353455f,   -0.111516818f,    0.388516396f,
    -0.470576376f,    -0.432655811f,   0.483724862f};
inline constexpr float kY1[] = {
    -4.6078949e-10f,  1.53204063e-08f, -4.11377158e-07f, 8.73306635e-06f,
    -0.000141418364f, 0.00166880316f,  -0.0134334341f,   0.0663469508f,
    -0.16312021f,     0.0910865068f,   0.139749393f};
// For the others, of 2 (5 / x)^2 - 1: P and Q x / 5 of Hankel's expansions
// (Abramowitz and Stegun, 9.2.5 to 9.2.10; within 4e-8).
inline constexpr float kP0[] = {
    1.28288491e-08f, -5.66276448e-08f, 2.9665992e-07f, -2.45696197e-06f,
    3.49174225e-05f, -0.00132749346f,  0.998634756f};
inline constexpr float kQ0[] = {
    -1.11051959e-08f, 4.32098624e-08f, -1.87231365e-07f, 1.24495466e-06f,
    -1.2677554e-05f,  0.000262843154f, -0.0247229934f};
inline constexpr float kP1[] = {
    -1.43472016e-08f, 6.42979359e-08f, -3.45650932e-07f, 2.97529982e-06f,
    -4.57829374e-05f, 0.00224146363f,  1.00229061f};
inline constexpr float kQ1[] = {
    1.23233272e-08f, -4.85523586e-08f, 2.14921897e-07f, -1.47083142e-06f,
    1.57963223e-05f, -0.000372970331f, 0.0746094882f};

/// J or Y (kSecond) of order 0 or 1 for x >= 0, in double.
template <int kOrder, bool kSecond>
HOTARU_INLINE float bessel(float x) {
  constexpr double kFar = 5, k2OverPi = 0.63661977236758134;
  const double wide = x;
  const double small = wide < kFar ? wide : kFar;
  const double large = wide < kFar ? kFar : wide;
  const double u = small * small * 0.08 - 1.0;
  double near = kOrder ? polynomial(kJ1, u) : polynomial(kJ0, u);
  if (kOrder) near *= small;
  if (kSecond) {
    const double l = vmath::log_wide(small) * near;
    near = kOrder ? k2OverPi * (l - 1.0 / small) + small * polynomial(kY1, u)
                  : k2OverPi * l + polynomial(kY0, u);
  }
  const double w = kFar / large, z = 2.0 * w * w - 1.0;
  const double p = polynomial(kOrder ? kP1 : kP0, z);
  const double q = polynomial(kOrder ? kQ1 : kQ0, z) * w;
  const Turn t = turn(large - (0.25 + 0.5 * kOrder) * 3.14159265358979324);
  const double wave = kSecond ? p * t.sin + q * t.cos : p * t.cos - q * t.sin;
  const double far = std::sqrt(k2OverPi / large) * wave;
  const auto y = float(wide < kFar ? near : far);
  return kSecond ? select(x == 0.0f, -kInf, y) : y;
}
HOTARU_INLINE float bessel_j0(float x) {
  return bessel<0, false>(std::fabs(x));
}
HOTARU_INLINE float bessel_j1(float x) {
  const float y = bessel<1, false>(std::fabs(x));
  return select(x < 0.0f, -y, y);
}
HOTARU_INLINE float bessel_y0(float x) {
  return select(x < 0.0f, kNaN, bessel<0, true>(std::fabs(x)));
}
HOTARU_INLINE float bessel_y1(float x) {
  return select(x < 0.0f, kNaN, bessel<1, true>(std::fabs(x)));
}

HOTARU_INLINE float spherical_bessel_j0(float x) {
  return select(x == 0.0f, 1.0f, float(turn(x).sin / x));
}

// Ai x^(1/4) exp(z) for x >= 1, z = 2/3 x^(3/2), of 2 x^(-3/2) - 1 (1e-7); Ai
// for -1.5 <= x < 1 and -4 <= x < -1.5, both mapped to [-1, 1] (within 3e-8 and
// 1e-7).
inline constexpr float kAiryRight[] = {
    -9.54632924e-06f, 1.68651259e-05f, -7.12955125e-06f, 1.76696667e-05f,
    -6.64432446e-05f, 0.000163033896f, -0.000452732434f, 0.00160773529f,
    -0.00875471067f,  0.270998895f};
inline constexpr float kAiryMiddle[] = {
    -3.148838e-05f, 0.000276640552f, -0.000472378917f, -0.00207627425f,
    0.0108026089f,  -0.0110528739f,  -0.0474667586f,   0.156357035f,
    -0.0817821026f, -0.307986587f,   0.418724626f};
inline constexpr float kAiryLeft[] = {
    -0.000778949179f, 0.000967400498f, 0.00807340164f, -0.0231598597f,
    -0.024256438f,    0.181244925f,    -0.0943875685f, -0.580964923f,
    0.576835573f,     0.68917346f,     -0.268490553f};
// Beyond them f and g / w of 10.4.60 there, w = 8 (-x)^(-3/2), of 2 w^2 - 1
// (within 2e-9).
inline constexpr float kAiryF[] = {1.047867e-07f, -9.26445864e-07f,
                                   1.42575964e-05f, -0.000620988838f,
                                   0.99936372f};
inline constexpr float kAiryG[] = {6.41282156e-08f, -4.50997845e-07f,
                                   4.87617353e-06f, -0.000113833346f,
                                   0.0129016079f};

/// In double.
HOTARU_INLINE float airy_ai(float x) {
  const double wide = x, a = std::fabs(wide), large = a < 1.0 ? 1.0 : a;
  const double z = large * std::sqrt(large) * (2.0 / 3.0);
  const double w = (2.0 / 3.0) / z;
  const double quarter = 1.0 / std::sqrt(std::sqrt(large));
  const double right = polynomial(kAiryRight, 2.0 * w - 1.0) * quarter *
                       vmath::exp_wide(z > 700.0 ? -700.0 : -z);
  const double m = a <= 4.0 ? wide : 0.0;
  const double of_left = polynomial(kAiryLeft, (m + 2.75) * 0.8);
  const double of_middle = polynomial(kAiryMiddle, (m + 0.25) * 0.8);
  const double middle = m < -1.5 ? of_left : of_middle;
  const double v = 8.0 * (a < 4.0 ? 0.125 : w), s = 2.0 * v * v - 1.0;
  const Turn t = turn(z + 0.785398163397448310);
  const double wave =
      t.sin * polynomial(kAiryF, s) - t.cos * v * polynomial(kAiryG, s);
  const double left = 0.56418958354775629 * quarter * wave;
  return float(wide >= 1.0 ? right : wide < -4.0 ? left : middle);
}

// --- log gamma ---------------------------------------------------------------

// log gamma(a) / ((a - 1)(a - 2)) of 2 (a - 1) for 0.5 <= a <= 1.5 and of
// (a - 2.25) / 0.75 for 1.5 <= a <= 3 (1.4e-9, 4.9e-9); what Stirling's formula
// leaves for the others, times a, of 18 / a^2 - 1 (4e-10); sin(pi x) / (pi x)
// for |x| <= 1/2, of 8 x^2 - 1 (3e-11).
inline constexpr double kGammaNear[] = {
    -9.82543774618e-06, 2.09479482873e-05,  -1.04742909197e-05,
    2.32681936441e-05,  -9.94868451434e-05, 0.000219333759904,
    -0.000456784820753, 0.001037565303,     -0.00241660535186,
    0.0057658112438,    -0.0143932917266,   0.0388585112436,
    -0.122625684528,    0.577215665466};
inline constexpr double kGammaMiddle[] = {-2.70416457948e-06, 8.86952374569e-06,
                                          -2.26436663045e-05, 7.66704738679e-05,
                                          -0.000270960120418, 0.000962870711057,
                                          -0.00357073545591,  0.0142133686247,
                                          -0.0644106361662,   0.39958948928};
inline constexpr double kStirling[] = {4.80616399686e-09, -7.80286711994e-08,
                                       2.18340811247e-06, -0.000149700082902,
                                       0.0831813669766};
inline constexpr double kHalfTurn[] = {-6.82732727115e-08, 6.03496118379e-06,
                                       -0.000347731905526, 0.011603383588,
                                       -0.181342313637,    0.806700467616};

/// In double, rounded once. Below 0.5 by reflection: log(pi / |sin(pi x)|) -
/// log gamma(1 - x).
HOTARU_INLINE float lgamma(float x) {
  const double wide = x;
  const double a = wide < 0.5 ? 1.0 - wide : wide;
  const double small = a < 3.0 ? a : 3.0, large = a < 3.0 ? 3.0 : a;
  const double of_near = polynomial(kGammaNear, 2.0 * (small - 1.0));
  const double of_middle =
      polynomial(kGammaMiddle, (small - 2.25) * (4.0 / 3.0));
  const double near =
      (small < 1.5 ? of_near : of_middle) * (small - 1.0) * (small - 2.0);
  const double r = 1.0 / large;
  const double far =
      (large - 0.5) * (vmath::log_wide(large) - 1.0) +
      (0.41893853320467274 + r * polynomial(kStirling, 18.0 * r * r - 1.0));
  const double y = (a < 3.0 ? near : far) + 0.0;  // no negative zero
  // At integers, which large negative numbers are, it is infinite.
  const float part = std::fabs(x - std::floor(x + 0.5f));  // exact
  const double turn = part;
  const double sine = turn * polynomial(kHalfTurn, 8.0 * turn * turn - 1.0);
  const auto mirrored = float(-vmath::log_wide(sine) - y);
  const float z =
      select(x < 0.5f, select(part == 0.0f, kInf, mirrored), float(y));
  return select(std::fabs(x) == kInf, kInf, select(x != x, x, z));
}

// --- trigamma ----------------------------------------------------------------

// psi'(x) x for x >= 1, of 1 / x - 1/2 (2.3e-9).
inline constexpr float kTrigamma[] = {
    -0.00297295865f, 0.00248712602f,   0.00214125674f, -0.00670408648f,
    0.00857379764f,  -0.000339339315f, -0.0351912664f, 0.130860554f,
    0.653174176f,    1.28986814f};

/// For x >= 0; below 1 by psi'(x) = psi'(x + 1) + 1 / x^2.
HOTARU_INLINE float trigamma(float x) {
  const float r = 1.0f / select(x < 1.0f, x + 1.0f, x);
  // Chosen before it is squared: a choice of squares became a fused product in
  // vectors alone.
  const float s = select(x < 1.0f, 1.0f / x, 0.0f);
  return r * polynomial(kTrigamma, r - 0.5f) + s * s;
}

}  // namespace hotaru::special_float
