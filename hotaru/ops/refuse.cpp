#include "hotaru/ops/refuse.h"

#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/factory.h"

namespace hotaru {

void check_factor(const char* name, DType dtype, const Scalar& value) {
  HOTARU_CHECK(!value.is_bool() || dtype == DType::kBool, "Boolean ", name,
               " only supported for Boolean results.");
  HOTARU_CHECK(is_differentiable(dtype) || value.is_integral(),
               "For integral input tensors, argument ", name,
               " must not be a floating point number.");
  check_bound(dtype, value);
}

void check_constant(const char* function, const char* argument,
                    const Tensor& t) {
  HOTARU_CHECK(!t.defined() || !autograd::needs_grad(t), "The function '",
               function, "' is not differentiable with respect to argument '",
               argument, "'. This input cannot have requires_grad True.");
}

void refuse_gradient(const char* node, std::string text, const Tensor& out,
                     const Tensors& inputs) {
  if (!autograd::needs_grad(inputs)) return;
  autograd::record(
      node, {out}, inputs, {},
      [text = std::move(text)](autograd::Backward&, const Tensors&) -> Tensors {
        fail<NotImplementedError>(text);
      });
}

void refuse_gradient(const char* op, const Tensor& out, const Tensors& inputs) {
  if (!autograd::needs_grad(inputs)) return;
  autograd::record("torch::autograd::NotImplemented", {out}, inputs, {},
                   [op](autograd::Backward&, const Tensors&) -> Tensors {
                     fail("derivative for aten::", op, " is not implemented");
                   });
}

}  // namespace hotaru
