// Special functions, see common/pointwise/special.h: a kernel for each, as they
// need registers and time of very different amounts. All are computed in
// double, which takes so long that it does not matter how elements are read:
// there are kernels for any strides only. Launched as params/pointwise.h says.
#include "hotaru/backend/common/pointwise/special_bessel.h"
#include "hotaru/backend/common/pointwise/special_error.h"
#include "hotaru/backend/common/pointwise/special_gamma.h"
#include "hotaru/backend/common/pointwise/special_polynomials.h"
#include "hotaru/backend/cuda/device/pointwise/pointwise.h"

#define HOTARU_FORMULA(name) \
  template <class T> \
  struct name##_Unary { \
    HOTARU_BOTH T operator()(T x) const { \
      return T(::hotaru::special::name(double(x))); \
    } \
  };
#define HOTARU_FORMULA_OF_TWO(name) \
  template <class T> \
  struct name##_Binary { \
    HOTARU_BOTH T operator()(T x, T y) const { \
      return T(::hotaru::special::name(double(x), double(y))); \
    } \
  };
namespace hotaru::formulas {
HOTARU_SPECIAL_UNARY(HOTARU_FORMULA)
HOTARU_SPECIAL_BINARY(HOTARU_FORMULA_OF_TWO)
}  // namespace hotaru::formulas

#define HOTARU_WALK(name) \
  template <class T> \
  inline constexpr Walk kWalk<formulas::name##_Unary<T>> = Walk::kSingle;
#define HOTARU_WALK_OF_TWO(name) \
  template <class T> \
  inline constexpr Walk kWalk<formulas::name##_Binary<T>> = Walk::kSingle;
namespace hotaru::cuda {
HOTARU_SPECIAL_UNARY(HOTARU_WALK)
HOTARU_SPECIAL_BINARY(HOTARU_WALK_OF_TWO)
}  // namespace hotaru::cuda

#define HOTARU_KERNELS(name) \
  HOTARU_DEVICE_TYPES_FloatingTypes(HOTARU_POINTWISE_STRIDED, name##_Unary, 1)
#define HOTARU_KERNELS_OF_TWO(name) \
  HOTARU_DEVICE_TYPES_FloatingTypes(HOTARU_POINTWISE_STRIDED, name##_Binary, 2)
HOTARU_SPECIAL_UNARY(HOTARU_KERNELS)
HOTARU_SPECIAL_BINARY(HOTARU_KERNELS_OF_TWO)
