// Special functions, element by element: one compilation for every processor.
#include <hwy/highway.h>

#include <cmath>

#include "hotaru/backend/common/pointwise/special.h"
#include "hotaru/backend/cpu/pointwise/pointwise-inl.h"

namespace hotaru::cpu {

namespace {

template <class T>
struct Nextafter {
  T operator()(T x, T y) const { return std::nextafter(x, y); }
};
using WideTypes = TypeList<float, double>;

}  // namespace

static const bool registered_special = [] {
  using namespace formulas;
  using namespace HWY_NAMESPACE;
  HOTARU_REGISTER_DENSE("special_unary", SpecialUnary, FloatingTypes, 1)
  HOTARU_REGISTER_DENSE("special_binary", SpecialBinary, FloatingTypes, 2)
  HOTARU_REGISTER_DENSE("nextafter", Nextafter, WideTypes, 2)
  return true;
}();

}  // namespace hotaru::cpu
