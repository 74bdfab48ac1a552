// Elementary functions taken from the C library, element by element: one
// compilation for every processor.
#include <hwy/highway.h>

#include "hotaru/backend/common/pointwise/gamma.h"
#include "hotaru/backend/common/pointwise/math.h"
#include "hotaru/backend/cpu/pointwise/pointwise-inl.h"

namespace hotaru::cpu {

static const bool registered_library = [] {
  using namespace formulas;
  using namespace HWY_NAMESPACE;
  pointwise<Exp2, FloatingTypes, 1>("exp2");
  pointwise<Log2, FloatingTypes, 1>("log2");
  pointwise<Log10, FloatingAndComplexTypes, 1>("log10");
  pointwise<Tan, FloatingAndComplexTypes, 1>("tan");
  pointwise<Asin, FloatingAndComplexTypes, 1>("asin");
  pointwise<Acos, FloatingAndComplexTypes, 1>("acos");
  pointwise<Sinh, FloatingAndComplexTypes, 1>("sinh");
  pointwise<Cosh, FloatingAndComplexTypes, 1>("cosh");
  pointwise<Asinh, FloatingAndComplexTypes, 1>("asinh");
  pointwise<Acosh, FloatingAndComplexTypes, 1>("acosh");
  pointwise<Atanh, FloatingAndComplexTypes, 1>("atanh");
  pointwise<Erfc, FloatingTypes, 1>("erfc");
  pointwise<Lgamma, FloatingTypes, 1>("lgamma");
  pointwise<Digamma, FloatingTypes, 1>("digamma");
  pointwise<Trigamma, FloatingTypes, 1>("trigamma");
  pointwise<Conj, ComplexTypes, 1>("conj");
  pointwise<Angle, FloatingAndComplexTypes, 1>("angle");
  return true;
}();

}  // namespace hotaru::cpu
