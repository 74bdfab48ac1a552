// Activation functions. Numbers a, b, c of each are named beside it.
#pragma once

#include <cmath>
#include <numbers>

#include "hotaru/backend/common/pointwise/pointwise.h"
#include "hotaru/backend/common/pointwise/vector_functions.h"

namespace hotaru::formulas {

/// Formulas without numbers.
#define HOTARU_ACTIVATION(Name, expression) \
  template <class T> \
  struct Name { \
    HOTARU_INLINE T operator()(T x) const { return T(expression); } \
  }

HOTARU_ACTIVATION(Silu, x* vmath::sigmoid(x));
HOTARU_ACTIVATION(Gelu, x* vmath::normal_cdf(x));
/// Hendrycks and Gimpel's approximation (arXiv:1606.08415), x / 2 (1 + tanh(z))
/// as x / (1 + e^-2z): nothing cancels below zero.
HOTARU_ACTIVATION(GeluTanh,
                  x* vmath::sigmoid((x * x * T(0.044715 * vmath::kGeluTanh) +
                                     T(vmath::kGeluTanh)) *
                                    x));
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
  HOTARU_INLINE T operator()(T x) const {
    // Two conditions one after the other become five masks in GCC, hence a sum.
    // It is NaN for -infinity, as the product of that and 0 would be.
    const T y = x + T(3), low = (y + T(std::fabs(y))) * T(0.5);
    return x * (low > T(6) ? T(6) : low) / T(6);
  }
};
/// log(1 / (1 + e^-x)), from the side where e does not overflow.
HOTARU_ACTIVATION(LogSigmoid, vmath::log_sigmoid(x));
/// x tanh(log(1 + e^x)) (D. Misra, arXiv:1908.08681).
HOTARU_ACTIVATION(Mish, vmath::mish(x));
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
HOTARU_ACTIVATION_N(Elu, x <= T(0) ? vmath::expm1(x * c) * (a * b) : x * b);
/// a, b: limits.
HOTARU_ACTIVATION_N(HardTanh, x<a ? a : x> b ? b : x);
/// a: beta, b: threshold of x * beta beyond which the function is x.
HOTARU_ACTIVATION_N(Softplus, x* a > b ? x : vmath::softplus(x, a));
/// a: lambda.
HOTARU_ACTIVATION_N(SoftShrink, x > a ? x - a : x < -a ? x + a : x * T(0));
HOTARU_ACTIVATION_N(HardShrink, x >= -a && x <= a ? T(0) : x);
/// a: threshold, b: what replaces values that are not above it.
HOTARU_ACTIVATION_N(Threshold, x <= a ? b : x);
#undef HOTARU_ACTIVATION_N
/// Logit of x between limits; NaN outside of 0 and 1.
template <class T>
struct Logit : HardTanh<T> {
  using HardTanh<T>::HardTanh;
  HOTARU_INLINE T operator()(T x) const {
    const T p = HardTanh<T>::operator()(x);
    return vmath::log(p / (T(1) - p));
  }
};

/// The second operand is the slope below zero.
template <class T>
struct Prelu {
  HOTARU_INLINE T operator()(T x, T slope) const {
    return x > T(0) ? x : x * slope;
  }
};

/// Derivatives times a gradient g, of the input x (or, for those that say so,
/// of the result). Numbers are those of the function. At NaN they are NaN, as
/// formulas say, and 0 where there is a slope between or beyond limits only.
#define HOTARU_ACTIVATION_GRAD(Name, expression) \
  template <class T> \
  struct Name { \
    T a, b, c; \
    explicit Name(const PointwiseNumbers& n) \
        : a(n.a.to<T>()), b(n.b.to<T>()), c(n.c.to<T>()) {} \
    HOTARU_INLINE T operator()(T g, T x) const { return T(expression); } \
  }

HOTARU_ACTIVATION_GRAD(LeakyReluGrad, x > T(0) ? g : g * a);
HOTARU_ACTIVATION_GRAD(EluGrad,
                       x > T(0) ? g * b : g * a * b * c * vmath::exp(x * c));
/// Gradient of elu from its result.
HOTARU_ACTIVATION_GRAD(EluResultGrad, x > T(0) ? g * b : g * c * (x + a * b));
HOTARU_ACTIVATION_GRAD(HardTanhGrad, x > a && x < b ? g : T(0));
HOTARU_ACTIVATION_GRAD(SoftplusGrad, x* a > b ? g : g * vmath::sigmoid(x * a));
HOTARU_ACTIVATION_GRAD(ShrinkGrad, x<-a || x> a ? g : T(0));
/// Gradient of relu, too, whose result serves as well as its input.
HOTARU_ACTIVATION_GRAD(ThresholdGrad, x <= a ? T(0) : g);
HOTARU_ACTIVATION_GRAD(HardSigmoidGrad,
                       x > T(-3) && x < T(3) ? g / T(6) : T(0));
HOTARU_ACTIVATION_GRAD(HardSwishGrad, x <= T(-3)  ? T(0)
                                      : x >= T(3) ? g
                                                  : g * (x / T(3) + T(0.5)));
HOTARU_ACTIVATION_GRAD(LogSigmoidGrad, g* vmath::sigmoid(-x));
HOTARU_ACTIVATION_GRAD(SiluGrad, g* vmath::sigmoid(x) *
                                     (T(1) + x * (T(1) - vmath::sigmoid(x))));
HOTARU_ACTIVATION_GRAD(
    GeluGrad, g*(T(0.5) + T(0.5) * vmath::erf(x * T(std::numbers::sqrt2 / 2)) +
                 x * vmath::exp(T(-0.5) * x * x) *
                     T(std::numbers::inv_sqrtpi / std::numbers::sqrt2)));
template <class T>
struct GeluTanhGrad {
  HOTARU_INLINE T operator()(T g, T x) const {
    constexpr double kCube = 0.044715 * vmath::kGeluTanh;
    const T z = x * x;
    const T s = vmath::sigmoid((z * T(kCube) + T(vmath::kGeluTanh)) * x);
    const T slope = z * T(3 * kCube) + T(vmath::kGeluTanh);
    return g * (s + x * s * (T(1) - s) * slope);
  }
};
HOTARU_ACTIVATION_GRAD(MishGrad, g* vmath::slope_of_mish(x));
/// Gradients from the results of the logistic function and of tanh.
HOTARU_ACTIVATION_GRAD(SigmoidGrad, g* x*(T(1) - x));
/// a, b: the limits, c: the gradient outside of them.
HOTARU_ACTIVATION_GRAD(LogitGrad, x<a || x> b ? c : g / (x * (T(1) - x)));
HOTARU_ACTIVATION_GRAD(TanhGrad, g*(T(1) - x * x));
#undef HOTARU_ACTIVATION_GRAD

}  // namespace hotaru::formulas
