#include "hotaru/ops/pointwise/complex.h"

#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/pointwise/elementwise.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

using autograd::Backward;

void check_parts(const char* name, const Tensor& a, const Tensor& b) {
  HOTARU_CHECK(a.dtype() == b.dtype(), "Expected object of scalar type ",
               scalar_type_name(a.dtype()), " but got scalar type ",
               scalar_type_name(b.dtype()), " for second argument");
  HOTARU_CHECK(a.is_floating_point(), "Expected both inputs to be Half, Float ",
               "or Double tensors but got ", scalar_type_name(a.dtype()),
               " and ", scalar_type_name(b.dtype()), " (in ", name, ")");
}

}  // namespace

Tensor view_as_real(const Tensor& self) {
  HOTARU_CHECK(self.is_complex(),
               "view_as_real is only supported for complex tensors");
  Dims sizes(self.sizes()), strides(self.strides());
  for (int64_t& s : strides) s *= 2;
  sizes.push_back(2);
  strides.push_back(1);
  Tensor out = autograd::view_of(self, to_real(self.dtype()), sizes, strides,
                                 self.storage_offset() * 2);
  if (autograd::needs_grad(self))
    autograd::record("ViewAsRealBackward0", out, {self}, {},
                     [](Backward&, const Tensor& g) -> Tensors {
                       return {view_as_complex(contiguous(g))};
                     });
  return out;
}

Tensor view_as_complex(const Tensor& self) {
  HOTARU_CHECK(self.dtype() == DType::kFloat32 ||
                   self.dtype() == DType::kFloat64 ||
                   self.dtype() == DType::kFloat16,
               "view_as_complex is only supported for half, float and double "
               "tensors, but got a tensor of scalar type: ",
               scalar_type_name(self.dtype()));
  HOTARU_CHECK(self.dim() > 0, "Input tensor must have one or more dimensions");
  HOTARU_CHECK(self.size(-1) == 2,
               "Tensor must have a last dimension of size 2");
  Dims sizes(self.sizes()), strides(self.strides());
  HOTARU_CHECK(strides.back() == 1,
               "Tensor must have a last dimension with stride 1");
  sizes.resize(sizes.size() - 1);
  strides.resize(strides.size() - 1);
  for (int64_t& s : strides) {
    HOTARU_CHECK(s % 2 == 0,
                 "Tensor must have a stride divisible by 2 for all but last "
                 "dimension");
    s /= 2;
  }
  HOTARU_CHECK(self.storage_offset() % 2 == 0,
               "Tensor must have a storage_offset divisible by 2");
  Tensor out = autograd::view_of(
      self,
      (self.dtype() == DType::kFloat16 ? DType::kComplex32
                                       : to_complex(self.dtype())),
      sizes, strides, self.storage_offset() / 2);
  if (autograd::needs_grad(self))
    autograd::record("ViewAsComplexBackward0", out, {self}, {},
                     [](Backward&, const Tensor& g) -> Tensors {
                       return {view_as_real(g)};
                     });
  return out;
}

Tensor real(const Tensor& self) {
  return self.is_complex() ? select(view_as_real(self), -1, 0) : self;
}

Tensor imag(const Tensor& self) {
  HOTARU_CHECK(self.is_complex(),
               "imag is not implemented for tensors with non-complex dtypes.");
  return select(view_as_real(self), -1, 1);
}

Tensor complex(const Tensor& re, const Tensor& im) {
  check_parts("complex", re, im);
  if (re.dtype() == DType::kFloat16) {
    const Dims shape = broadcast_shapes(re.sizes(), im.sizes());
    return without_base(
        view_as_complex(stack({expand(re, shape), expand(im, shape)}, -1)));
  }
  static const elementwise::Spec spec{kernel("complex"),
                                      elementwise::Compute::kSame,
                                      elementwise::Result::kComplex};
  const Tensor out = elementwise::binary(spec, re, im);
  if (autograd::needs_grad(re, im))
    autograd::record("ComplexBackward0", out, {re, im}, {},
                     [a = Dims(re.sizes()), b = Dims(im.sizes())](
                         Backward&, const Tensor& g) -> Tensors {
                       return {sum_to(real(g), a), sum_to(imag(g), b)};
                     });
  return out;
}

Tensor polar(const Tensor& radius, const Tensor& angle) {
  check_parts("polar", radius, angle);
  Tensor out;
  {
    autograd::NoGrad guard;
    out = complex(mul(radius, cos(angle)), mul(radius, sin(angle)));
  }
  if (autograd::needs_grad(radius, angle))
    autograd::record(
        "PolarBackward0", out, {radius, angle}, {radius, angle},
        [](Backward& b, const Tensor& g) -> Tensors {
          const Tensor r = b.saved(0), a = b.saved(1);
          const Tensor c = cos(a), s = sin(a), re = real(g), im = imag(g);
          const auto along = [&] { return add(mul(re, c), mul(im, s)); };
          const auto across = [&] { return sub(mul(im, c), mul(re, s)); };
          return {b.needs(0) ? sum_to(along(), r.sizes()) : Tensor(),
                  b.needs(1) ? sum_to(mul(r, across()), a.sizes()) : Tensor()};
        });
  return out;
}

namespace {

/// Which elements have no imaginary part; NaN counts as real.
Tensor isreal(const Tensor& self) {
  if (self.is_complex()) return eq(imag(self), Scalar(0));
  return full(self.sizes(), Scalar(true), {DType::kBool, self.device()});
}

HOTARU_OP("isreal(Tensor self) -> Tensor", isreal);
HOTARU_OP("view_as_real(Tensor(a) self) -> Tensor(a)", view_as_real);
HOTARU_OP("view_as_complex(Tensor(a) self) -> Tensor(a)", view_as_complex);
HOTARU_OP("real(Tensor(a) self) -> Tensor(a)", real);
HOTARU_OP("imag(Tensor(a) self) -> Tensor(a)", imag);
HOTARU_OP("complex(Tensor real, Tensor imag) -> Tensor", complex);
HOTARU_OP("polar(Tensor abs, Tensor angle) -> Tensor", polar);

}  // namespace
}  // namespace hotaru
