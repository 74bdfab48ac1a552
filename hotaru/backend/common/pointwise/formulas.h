// Every elementwise formula: its kernel's name, what computes it, the dtypes of
// its inputs and how many inputs there are. A device registers its kernels from
// these lists:
//
//   #define HOTARU_REGISTER(name, Formula, Types, inputs)
//       pointwise<Formula, Types, inputs>(name);
//   HOTARU_ARITHMETIC(HOTARU_REGISTER)
//
// The lists are cut by how formulas are best compiled: all but the last two
// consist of code that vectorises.
#pragma once

#include "hotaru/backend/common/pointwise/activation.h"
#include "hotaru/backend/common/pointwise/arithmetic.h"
#include "hotaru/backend/common/pointwise/compare.h"
#include "hotaru/backend/common/pointwise/gamma.h"
#include "hotaru/backend/common/pointwise/math.h"

/// Products: the CPU compiles them without fused multiply-adds (product.h).
#define HOTARU_PRODUCTS(X) X("mul", Mul, AllTypes, 2)

/// Arithmetic and selection.
#define HOTARU_ARITHMETIC(X) \
  HOTARU_PRODUCTS(X) \
  HOTARU_OTHER_ARITHMETIC(X)
#define HOTARU_OTHER_ARITHMETIC(X) \
  X("add", Add, AllTypes, 2) \
  X("div", Div, FloatingAndComplexTypes, 2) \
  X("atan2", Atan2, FloatingTypes, 2) \
  X("maximum", Maximum, RealAndBoolTypes, 2) \
  X("minimum", Minimum, RealAndBoolTypes, 2) \
  X("clamp", Clamp, RealTypes, 1) \
  X("clamp_min", ClampMin, RealTypes, 1) \
  X("clamp_max", ClampMax, RealTypes, 1) \
  X("lerp", Lerp, FloatingAndComplexTypes, 3) \
  X("addcmul", Addcmul, NumberTypes, 3) \
  X("addcdiv", Addcdiv, FloatingAndComplexTypes, 3) \
  X("hypot", Hypot, FloatingTypes, 2) \
  X("logaddexp", Logaddexp, FloatingTypes, 2) \
  X("logaddexp2", Logaddexp2, FloatingTypes, 2) \
  X("ldexp", Ldexp, FloatingTypes, 2) \
  X("nextafter", Nextafter, FloatTypes, 2) \
  X("complex", MakeComplex, FloatTypes, 2) \
  X("squared_difference", SquaredDifference, FloatingTypes, 2) \
  X("huber", Huber, FloatingTypes, 2) \
  X("pow_scalar", PowScalar, NumberTypes, 1)

/// Comparisons, logic and bits.
#define HOTARU_COMPARISONS(X) \
  X("eq", Eq, AllTypes, 2) \
  X("ne", Ne, AllTypes, 2) \
  X("lt", Lt, RealAndBoolTypes, 2) \
  X("le", Le, RealAndBoolTypes, 2) \
  X("gt", Gt, RealAndBoolTypes, 2) \
  X("ge", Ge, RealAndBoolTypes, 2) \
  X("logical_and", LogicalAnd, AllTypes, 2) \
  X("logical_or", LogicalOr, AllTypes, 2) \
  X("logical_xor", LogicalXor, AllTypes, 2) \
  X("logical_not", LogicalNot, AllTypes, 1) \
  X("bitwise_and", BitAnd, BitTypes, 2) \
  X("bitwise_or", BitOr, BitTypes, 2) \
  X("bitwise_xor", BitXor, BitTypes, 2) \
  X("bitwise_not", BitNot, BitTypes, 1) \
  X("isnan", IsNan, AllTypes, 1) \
  X("isinf", IsInf, AllTypes, 1)

/// Elementary functions as straight-line code.
#define HOTARU_MATH(X) \
  X("neg", Neg, NumberTypes, 1) \
  X("abs", Abs, NumberTypes, 1) \
  X("sign", Sign, NumberTypes, 1) \
  X("relu", Relu, RealTypes, 1) \
  X("sqrt", Sqrt, FloatingAndComplexTypes, 1) \
  X("rsqrt", Rsqrt, FloatingAndComplexTypes, 1) \
  X("reciprocal", Reciprocal, FloatingAndComplexTypes, 1) \
  X("exp", Exp, FloatingAndComplexTypes, 1) \
  X("log", Log, FloatingAndComplexTypes, 1) \
  X("expm1", Expm1, FloatingTypes, 1) \
  X("log1p", Log1p, FloatingTypes, 1) \
  X("erf", Erf, FloatingTypes, 1) \
  X("sin", Sin, FloatingAndComplexTypes, 1) \
  X("cos", Cos, FloatingAndComplexTypes, 1) \
  X("atan", Atan, FloatingAndComplexTypes, 1) \
  X("tanh", Tanh, FloatingAndComplexTypes, 1) \
  X("sigmoid", Sigmoid, FloatingAndComplexTypes, 1) \
  X("floor", Floor, FloatingTypes, 1) \
  X("ceil", Ceil, FloatingTypes, 1) \
  X("round", Round, FloatingTypes, 1) \
  X("trunc", Trunc, FloatingTypes, 1) \
  X("exp2", Exp2, FloatingTypes, 1) \
  X("tan", Tan, FloatingAndComplexTypes, 1) \
  X("asin", Asin, FloatingAndComplexTypes, 1) \
  X("acos", Acos, FloatingAndComplexTypes, 1) \
  X("sinh", Sinh, FloatingAndComplexTypes, 1) \
  X("cosh", Cosh, FloatingAndComplexTypes, 1) \
  X("atanh", Atanh, FloatingAndComplexTypes, 1) \
  X("erfc", Erfc, FloatingTypes, 1) \
  X("nan_to_num", NanToNum, FloatingTypes, 1) \
  X("frac", Frac, FloatingTypes, 1)

/// Activations and their gradients.
#define HOTARU_ACTIVATIONS(X) \
  X("silu", Silu, FloatingTypes, 1) \
  X("gelu", Gelu, FloatingTypes, 1) \
  X("gelu_tanh", GeluTanh, FloatingTypes, 1) \
  X("mish", Mish, FloatingTypes, 1) \
  X("hardsigmoid", HardSigmoid, FloatingTypes, 1) \
  X("hardswish", HardSwish, FloatingTypes, 1) \
  X("log_sigmoid", LogSigmoid, FloatingTypes, 1) \
  X("leaky_relu", LeakyRelu, FloatingTypes, 1) \
  X("elu", Elu, FloatingTypes, 1) \
  X("hardtanh", HardTanh, RealTypes, 1) \
  X("softplus", Softplus, FloatingTypes, 1) \
  X("softshrink", SoftShrink, FloatingTypes, 1) \
  X("hardshrink", HardShrink, FloatingTypes, 1) \
  X("threshold", Threshold, RealTypes, 1) \
  X("logit", Logit, FloatingTypes, 1) \
  X("logit_grad", LogitGrad, FloatingTypes, 2) \
  X("prelu", Prelu, FloatingTypes, 2) \
  X("leaky_relu_grad", LeakyReluGrad, FloatingTypes, 2) \
  X("elu_grad", EluGrad, FloatingTypes, 2) \
  X("elu_result_grad", EluResultGrad, FloatingTypes, 2) \
  X("gelu_tanh_grad", GeluTanhGrad, FloatingTypes, 2) \
  X("mish_grad", MishGrad, FloatingTypes, 2) \
  X("hardtanh_grad", HardTanhGrad, FloatingTypes, 2) \
  X("softplus_grad", SoftplusGrad, FloatingTypes, 2) \
  X("shrink_grad", ShrinkGrad, FloatingTypes, 2) \
  X("threshold_grad", ThresholdGrad, FloatingTypes, 2) \
  X("hardsigmoid_grad", HardSigmoidGrad, FloatingTypes, 2) \
  X("hardswish_grad", HardSwishGrad, FloatingTypes, 2) \
  X("log_sigmoid_grad", LogSigmoidGrad, FloatingTypes, 2) \
  X("silu_grad", SiluGrad, FloatingTypes, 2) \
  X("gelu_grad", GeluGrad, FloatingTypes, 2) \
  X("sigmoid_grad", SigmoidGrad, FloatingTypes, 2) \
  X("tanh_grad", TanhGrad, FloatingTypes, 2)

/// Quotients and shifts.
#define HOTARU_QUOTIENTS(X) \
  X("div_trunc", DivTrunc, RealTypes, 2) \
  X("div_floor", DivFloor, RealTypes, 2) \
  X("remainder", Remainder, RealTypes, 2) \
  X("fmod", Fmod, RealTypes, 2) \
  X("bitwise_left_shift", ShiftLeft, IntTypes, 2) \
  X("bitwise_right_shift", ShiftRight, IntTypes, 2)

/// With branches or library calls, which gain nothing from vectors.
#define HOTARU_DIVISION(X) \
  X("pow", Pow, NumberTypes, 2) \
  X("copysign", Copysign, FloatingTypes, 2) \
  X("xlogy", Xlogy, FloatingTypes, 2) \
  X("fmax", Fmax, RealAndBoolTypes, 2) \
  X("fmin", Fmin, RealAndBoolTypes, 2) \
  X("gcd", Gcd, IntTypes, 2)

/// Elementary functions of the C library, element by element.
#define HOTARU_LIBRARY(X) \
  X("log2", Log2, FloatingTypes, 1) \
  X("log10", Log10, FloatingAndComplexTypes, 1) \
  X("asinh", Asinh, FloatingAndComplexTypes, 1) \
  X("acosh", Acosh, FloatingAndComplexTypes, 1) \
  X("lgamma", Lgamma, FloatingTypes, 1) \
  X("digamma", Digamma, FloatingTypes, 1) \
  X("trigamma", Trigamma, FloatingTypes, 1) \
  X("conj", Conj, ComplexTypes, 1) \
  X("angle", Angle, FloatingAndComplexTypes, 1)
