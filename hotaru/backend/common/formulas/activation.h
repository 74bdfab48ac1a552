// Activation functions. Numbers a, b, c of each are named beside it.
#pragma once

#include <cmath>
#include <numbers>

#include "hotaru/backend/common/pointwise.h"
#include "hotaru/backend/common/vector_math.h"

namespace hotaru::formulas {

/// Formulas without numbers.
#define HOTARU_ACTIVATION(Name, expression) \
  template <class T> \
  struct Name { \
    HOTARU_INLINE T operator()(T x) const { return T(expression); } \
  }

HOTARU_ACTIVATION(Silu, x* vmath::sigmoid(x));
HOTARU_ACTIVATION(Gelu,
                  T(0.5) * x *
                      (T(1) + vmath::erf(x * T(std::numbers::sqrt2 / 2))));
/// Hendrycks and Gimpel's approximation (arXiv:1606.08415).
HOTARU_ACTIVATION(GeluTanh,
                  T(0.5) * x *
                      (T(1) + vmath::tanh(T(0.79788456080286535588) *
                                          (x + T(0.044715) * x * x * x))));
/// min(max(x + 3, 0), 6); NaN stays.
HOTARU_ACTIVATION(Relu6Of3, x + T(3) < T(0)   ? T(0)
                            : x + T(3) > T(6) ? T(6)
                                              : x + T(3));
template <class T>
struct HardSigmoid {
  HOTARU_INLINE T operator()(T x) const { return Relu6Of3<T>()(x) / T(6); }
};
template <class T>
struct HardSwish {
  HOTARU_INLINE T operator()(T x) const { return x * Relu6Of3<T>()(x) / T(6); }
};
/// log(1 / (1 + e^-x)), from the side where e does not overflow.
HOTARU_ACTIVATION(LogSigmoid, (x < T(0) ? x : T(0)) -
                                  vmath::log1p(vmath::exp(-std::fabs(x))));
/// x tanh(log(1 + e^x)) (D. Misra, arXiv:1908.08681).
HOTARU_ACTIVATION(Mish, x* vmath::tanh(vmath::log1p(vmath::exp(x))));
#undef HOTARU_ACTIVATION

/// Formulas of up to three numbers.
#define HOTARU_ACTIVATION_N(Name, expression) \
  template <class T> \
  struct Name { \
    T a, b, c; \
    explicit Name(const PointwiseNumbers& n) \
        : a(n.a.to<T>()), b(n.b.to<T>()), c(n.c.to<T>()) {} \
    HOTARU_INLINE T operator()(T x) const { return T(expression); } \
  }

/// a: slope below zero.
HOTARU_ACTIVATION_N(LeakyRelu, x > T(0) ? x : x * a);
/// a: alpha, b: scale, c: input scale.
HOTARU_ACTIVATION_N(Elu, x <= T(0) ? vmath::expm1(x * c) * a * b : x * b);
/// a, b: limits.
HOTARU_ACTIVATION_N(HardTanh, x<a ? a : x> b ? b : x);
/// a: beta, b: threshold of x * beta beyond which the function is x.
HOTARU_ACTIVATION_N(Softplus,
                    x* a > b ? x : vmath::log1p(vmath::exp(x * a)) / a);
/// a: lambda.
HOTARU_ACTIVATION_N(SoftShrink, x > a ? x - a : x < -a ? x + a : x * T(0));
HOTARU_ACTIVATION_N(HardShrink, x >= -a && x <= a ? T(0) : x);
/// a: threshold, b: what replaces values that are not above it.
HOTARU_ACTIVATION_N(Threshold, x <= a ? b : x);
#undef HOTARU_ACTIVATION_N

/// The second operand is the slope below zero.
template <class T>
struct Prelu {
  HOTARU_INLINE T operator()(T x, T slope) const {
    return x > T(0) ? x : x * slope;
  }
};

}  // namespace hotaru::formulas
