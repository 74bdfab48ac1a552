// Other names that PyTorch gives to operators.
#include "hotaru/core/checks/check.h"
#include "hotaru/core/memory_format.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/reorder.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/tensor_split.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/warning.h"

namespace hotaru {
namespace {

/// The overloads of `original`, called by what they are called.
void call_original(const char* original, const char* overload, Value* values,
                   Value* result) {
  Registry::instance().find(original, overload)->call(values, result);
}

#define HOTARU_UNARY_ALIAS(alias, original) \
  HOTARU_OP( \
      #alias "(Tensor self) -> Tensor", \
      +[](const Tensor& self) { return original(self); }); \
  HOTARU_OP( \
      #alias "_(Tensor(a!) self) -> Tensor(a!)", +[](const Tensor& self) { \
        Value argument(self), result; \
        call_original(#original "_", "", &argument, &result); \
        return result.as_tensor(); \
      });
HOTARU_UNARY_ALIAS(arccos, acos)
HOTARU_UNARY_ALIAS(arccosh, acosh)
HOTARU_UNARY_ALIAS(arcsin, asin)
HOTARU_UNARY_ALIAS(arcsinh, asinh)
HOTARU_UNARY_ALIAS(arctan, atan)
HOTARU_UNARY_ALIAS(arctanh, atanh)
HOTARU_UNARY_ALIAS(fix, trunc)
#undef HOTARU_UNARY_ALIAS

#define HOTARU_COMPARISON_ALIAS(alias, original) \
  HOTARU_OP( \
      #alias ".Tensor(Tensor self, Tensor other) -> Tensor", \
      +[](const Tensor& a, const Tensor& b) { return original(a, b); }); \
  HOTARU_OP( \
      #alias ".Scalar(Tensor self, Scalar other) -> Tensor", \
      +[](const Tensor& a, const Scalar& b) { return original(a, b); });
HOTARU_COMPARISON_ALIAS(greater, gt)
HOTARU_COMPARISON_ALIAS(greater_equal, ge)
HOTARU_COMPARISON_ALIAS(less, lt)
HOTARU_COMPARISON_ALIAS(less_equal, le)
HOTARU_COMPARISON_ALIAS(not_equal, ne)
#undef HOTARU_COMPARISON_ALIAS

HOTARU_OP("arctan2(Tensor self, Tensor other) -> Tensor", atan2);
HOTARU_OP(
    "adjoint(Tensor(a) self) -> Tensor(a)", +[](const Tensor& self) {
      HOTARU_CHECK(self.dim() != 1,
                   "tensor.adjoint() is only supported on matrices or batches "
                   "of matrices. Got 1-D tensor.");
      static constinit OnceWarning number{
          "adjoint() is deprecated on 0-D tensors. Consider using x.conj()."};
      if (self.dim() == 0) number.give();
      return conj(self.dim() == 0 ? self : transpose(self, -2, -1));
    });
HOTARU_OP(
    "fill.Tensor(Tensor self, Tensor value) -> Tensor",
    +[](const Tensor& self, const Tensor& value) {
      Value arguments[] = {clone(self), value}, result;
      call_original("fill_", "Tensor", arguments, &result);
      return result.as_tensor();
    });
HOTARU_OP(
    "fill.Scalar(Tensor self, Scalar value) -> Tensor",
    +[](const Tensor& self, const Scalar& value) {
      Value arguments[] = {clone(self), value}, result;
      call_original("fill_", "Scalar", arguments, &result);
      return result.as_tensor();
    });
HOTARU_OP(
    "resize_as_(Tensor(a!) self, Tensor the_template, *, MemoryFormat? "
    "memory_format=None) -> Tensor(a!)",
    +[](const Tensor& self, const Tensor& other, const GivenFormat& format) {
      resize_(self, other.sizes());
      if (format) {
        const MemoryFormat order =
            reorders(format) ? MemoryFormat(*format)
                             : suggested_format(other.sizes(), other.strides());
        self.impl()->set_geometry(other.sizes(),
                                  format_strides(other.sizes(), order),
                                  self.storage_offset());
      }
      return self;
    });

/// A function that numpy names after a dimension; `least`: how many a tensor
/// must have.
struct NamedSplit {
  const char* name;
  int64_t least;

  void check(const Tensor& self) const {
    HOTARU_CHECK(self.dim() >= least, name, " requires a tensor with at least ",
                 least, " dimension, but got a tensor with ", self.dim(),
                 " dimensions!");
  }
  Tensors into(const Tensor& self, int64_t n, int64_t dim) const {
    HOTARU_CHECK(n >= 0, "number of sections must be larger than 0, got ", n);
    HOTARU_CHECK(n != 0 && self.size(dim) % n == 0, name,
                 " attempted to split along dimension ", dim,
                 ", but the size of the dimension ", self.size(dim),
                 " is not divisible by the split_size ", n, "!");
    return tensor_split(self, n, dim);
  }
};

#define HOTARU_SPLIT(name, least, axis) \
  HOTARU_OP( \
      #name ".int(Tensor(a -> *) self, int sections) -> Tensor(a)[]", \
      +[](const Tensor& self, int64_t sections) { \
        const NamedSplit split{"torch." #name, least}; \
        split.check(self); \
        return split.into(self, sections, axis); \
      }); \
  HOTARU_OP( \
      #name \
      ".array(Tensor(a -> *) self, int[] indices) -> " \
      "Tensor(a)[]", \
      +[](const Tensor& self, IntSpan indices) { \
        NamedSplit{"torch." #name, least}.check(self); \
        return tensor_split(self, indices, axis); \
      });
HOTARU_SPLIT(hsplit, 1, (self.dim() == 1 ? 0 : 1))
HOTARU_SPLIT(vsplit, 2, 0)
HOTARU_SPLIT(dsplit, 3, 2)
#undef HOTARU_SPLIT

}  // namespace
}  // namespace hotaru
