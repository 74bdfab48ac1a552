// Bessel's functions, Airy's and log gamma of single precision as straight-line
// code. Polynomials are own fits as in special_float.h; what swings around zero
// is near in absolute terms, within 5e-7.
#pragma once

#include "hotaru/backend/common/pointwise/special_float.h"

/// Those of special.h's list that have such a form for most arguments.
#define HOTARU_SPECIAL_FLOAT_QUICK(X) \
  X(airy_ai, 1e4f) \
  X(bessel_j0, 1e6f) \
  X(bessel_j1, 1e6f) \
  X(bessel_y0, 1e6f) \
  X(bessel_y1, 1e6f) \
  X(spherical_bessel_j0, 1e6f)

namespace hotaru::special_float {

/// Cosine and sine of a double up to 1e6 with a float's precision.
struct Turn {
  float cos, sin;
};
HOTARU_INLINE Turn turn(double angle) {
  constexpr double kMagic = 0x1.8p52;
  const double shifted = angle * 6.36619772367581382433e-01 + kMagic;
  const double n = shifted - kMagic;
  const double exact = angle - n * 1.57079632673412561417e+00;
  const auto r = static_cast<float>(exact - n * 6.07710050650619224932e-11);
  const auto q = static_cast<int32_t>(std::bit_cast<uint64_t>(shifted));
  return {vmath::sin_quarters(r, int32_t(uint32_t(q) + 1)),
          vmath::sin_quarters(r, q)};
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

/// J or Y (kSecond) of order 0 or 1 for x >= 0.
template <int kOrder, bool kSecond>
HOTARU_INLINE float bessel(float x) {
  constexpr float kFar = 5, k2OverPi = 0.636619772f;
  const float small = select(x < kFar, x, kFar);
  const float large = select(x < kFar, kFar, x);
  const float u = small * small * 0.08f - 1.0f;
  float near = kOrder ? polynomial(kJ1, u) : polynomial(kJ0, u);
  if (kOrder) near *= small;
  if (kSecond) {
    const float l = vmath::log(small) * near;
    near = kOrder ? k2OverPi * (l - 1.0f / small) + small * polynomial(kY1, u)
                  : k2OverPi * l + polynomial(kY0, u);
    near = select(x == 0.0f, -kInf, near);
  }
  const float w = kFar / large, z = 2.0f * w * w - 1.0f;
  const float p = polynomial(kOrder ? kP1 : kP0, z);
  const float q = polynomial(kOrder ? kQ1 : kQ0, z) * w;
  const Turn t =
      turn(double(large) - (0.25 + 0.5 * kOrder) * 3.14159265358979324);
  const float wave = kSecond ? p * t.sin + q * t.cos : p * t.cos - q * t.sin;
  return select(x < kFar, near, std::sqrt(k2OverPi / large) * wave);
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
  return select(x == 0.0f, 1.0f, vmath::sin(x) / x);
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

HOTARU_INLINE float airy_ai(float x) {
  const float a = std::fabs(x), large = select(a < 1.0f, 1.0f, a);
  const double wide = large, z = wide * std::sqrt(wide) * (2.0 / 3.0);
  const auto front = static_cast<float>(z);
  const float behind = float(z - double(front));  // what rounding z lost
  const float w = 0.666666667f / front;
  const float quarter = 1.0f / std::sqrt(std::sqrt(large));
  const float right = polynomial(kAiryRight, 2.0f * w - 1.0f) * quarter *
                      vmath::exp(-front) * (1.0f - behind);
  const float m = select(a <= 4.0f, x, 0.0f);
  const float middle =
      select(m < -1.5f, polynomial(kAiryLeft, (m + 2.75f) * 0.8f),
             polynomial(kAiryMiddle, (m + 0.25f) * 0.8f));
  const float v = 8.0f * select(a < 4.0f, 0.125f, w), s = 2.0f * v * v - 1.0f;
  const Turn t = turn(z + 0.785398163397448310);
  const float wave =
      t.sin * polynomial(kAiryF, s) - t.cos * v * polynomial(kAiryG, s);
  const float left = 0.564189584f * quarter * wave;
  return select(x >= 1.0f, right, select(x < -4.0f, left, middle));
}

// --- log gamma ---------------------------------------------------------------

// log gamma(a) / ((a - 1)(a - 2)) of 2 (a - 1) for 0.5 <= a <= 1.5 and of
// (a - 2.25) / 0.75 for 1.5 <= a <= 3 (5e-8, 3e-8); what Stirling's formula
// leaves for the others, times a, of 18 / a^2 - 1 (1e-8).
inline constexpr float kGammaNear[] = {
    -3.97959557e-05f, 8.578501e-05f,  -6.67101413e-05f, 0.000149446802f,
    -0.000473645952f, 0.00107351912f, -0.00241269311f,  0.00575746829f,
    -0.014393623f,    0.0388592184f,  -0.122625679f,    0.577215672f};
inline constexpr float kGammaMiddle[] = {
    -2.70416467e-06f, 8.8695233e-06f,  -2.26436659e-05f, 7.66704761e-05f,
    -0.000270960125f, 0.000962870719f, -0.00357073545f,  0.0142133683f,
    -0.0644106343f,   0.399589479f};
inline constexpr float kStirling[] = {4.80616391e-09f, -7.80286697e-08f,
                                      2.18340801e-06f, -0.000149700078f,
                                      0.0831813663f};

/// Below 0.5 by reflection: log(pi / |sin(pi x)|) - log gamma(1 - x).
HOTARU_INLINE float lgamma(float x) {
  const bool reflects = x < 0.5f;
  const float a = select(reflects, 1.0f - x, x);
  const float small = select(a < 3.0f, a, 3.0f),
              large = select(a < 3.0f, 3.0f, a);
  const float p =
      select(small < 1.5f, polynomial(kGammaNear, 2.0f * (small - 1.0f)),
             polynomial(kGammaMiddle, (small - 2.25f) * 1.33333333f));
  const float near = p * (small - 1.0f) * (small - 2.0f);
  const float r = 1.0f / large;
  const float far =
      (large - 0.5f) * (vmath::log(large) - 1.0f) +
      (0.418938533f + r * polynomial(kStirling, 18.0f * r * r - 1.0f));
  const float y = select(a < 3.0f, near, far);
  const float part = std::fabs(x - std::floor(x + 0.5f));  // exact
  const float sine = vmath::sin_quarters(3.14159265f * part, 0);
  const float z = select(reflects, -vmath::log(sine * 0.318309886f) - y, y);
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
