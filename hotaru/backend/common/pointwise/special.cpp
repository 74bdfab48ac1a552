// The special functions for the CPU, and the tables of them.
#include "hotaru/backend/common/pointwise/special.h"

#include "hotaru/backend/common/pointwise/special_bessel.h"
#include "hotaru/backend/common/pointwise/special_error.h"
#include "hotaru/backend/common/pointwise/special_gamma.h"
#include "hotaru/backend/common/pointwise/special_polynomials.h"

namespace hotaru::special {

UnaryFunction function(Unary which) {
#define HOTARU_NAME(name) name,
  static constexpr UnaryFunction kAll[] = {HOTARU_SPECIAL_UNARY(HOTARU_NAME)};
#undef HOTARU_NAME
  return kAll[which];
}

BinaryFunction function(Binary which) {
#define HOTARU_NAME(name) name,
  static constexpr BinaryFunction kAll[] = {HOTARU_SPECIAL_BINARY(HOTARU_NAME)};
#undef HOTARU_NAME
  return kAll[which];
}

}  // namespace hotaru::special
