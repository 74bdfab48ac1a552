#include "hotaru/ops/reduce/moments.h"

#include <cmath>

#include "hotaru/autograd/record.h"
#include "hotaru/backend/common/reduce/reduce.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/reduce/moments_grad.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/reduce/reduce_dims.h"
#include "hotaru/ops/registry.h"
#include "hotaru/runtime/streams/enqueue.h"
#include "hotaru/runtime/warning.h"

namespace hotaru {
namespace {

const Kernel& var_kernel() {
  static const Kernel& kernel = hotaru::kernel("var");
  return kernel;
}

/// Before a spread of so few elements that it is a division by zero, or less.
void check_freedom(const char* name, const Tensor& self, IntSpan sizes,
                   double correction) {
  const int64_t results = numel_of(sizes);
  const double each = results ? double(self.numel() / results) : 0;
  if (each - correction > 0) return;
  warn(concat(name,
              "(): degrees of freedom is <= 0. Correction should be strictly "
              "less than the reduction factor (input numel divided by output "
              "numel)."));
}

Tensor run_var(const Tensor& self, IntSpan dim, double correction, bool keepdim,
               bool root) {
  HOTARU_CHECK(is_differentiable(self.dtype()),
               "std and var only support floating point and complex dtypes");
  const Dims dims = reduced_dims(self, dim);
  const Tensor out =
      run_reduction(var_kernel(), self, dims, keepdim, to_real(self.dtype()),
                    VarAttributes{correction, root});
  check_freedom(root ? "std" : "var", self, out.sizes(), correction);
  if (autograd::needs_grad(self))
    grad::var(out, self, dims, correction, keepdim, root);
  return out;
}

std::tuple<Tensor, Tensor> run_var_mean(const Tensor& self, IntSpan dim,
                                        double correction, bool keepdim,
                                        bool root) {
  HOTARU_CHECK(is_differentiable(self.dtype()), root ? "std_mean" : "var_mean",
               " only support floating point and complex dtypes");
  const Dims dims = reduced_dims(self, dim);
  const Dims sizes = kept_sizes(self, dims);
  const Tensor out = allocate(sizes, to_real(self.dtype()), self.device());
  const Tensor mean = allocate(sizes, self.dtype(), self.device());
  check_freedom(root ? "std_mean" : "var_mean", self, sizes, correction);
  enqueue(var_kernel(), {write(out), write(mean), read(self)},
          VarAttributes{correction, root});
  if (!keepdim) {
    drop_dims(out, dims);
    drop_dims(mean, dims);
  }
  if (autograd::needs_grad(self))
    grad::var_mean(out, mean, self, dims, correction, keepdim, root);
  return {out, mean};
}

void check_norm(const Tensor& self, double order, IntSpan dims,
                const Optional<DType>& dtype) {
  HOTARU_CHECK(is_differentiable(self.dtype()),
               "linalg.vector_norm: Expected a floating point or complex "
               "tensor as input. Got ",
               scalar_type_name(self.dtype()));
  HOTARU_CHECK(!dtype || is_complex(*dtype) == self.is_complex(),
               "linalg.vector_norm: dtype should be ",
               self.is_complex() ? "complex for complex" : "real for real",
               " inputs, but got ", dtype ? scalar_type_name(*dtype) : "");
  if ((order >= 0 && !std::isinf(order)) || self.numel() > 0) return;
  const bool whole = dims.size() == size_t(self.dim());
  for (int64_t d : dims) {
    HOTARU_CHECK(self.size(d) > 0, "linalg.vector_norm cannot compute the ",
                 order, " norm on ",
                 whole ? "an empty tensor because"
                       : concat("the dimension ", d,
                                " because this dimension is empty and"),
                 " the operation does not have an identity");
  }
}

/// (sum |x|^p)^(1/p); 16-bit powers would overflow, so they become float.
Tensor powers(const Tensor& x, double p, IntSpan dims, bool keepdim) {
  const DType dtype = to_real(x.dtype());
  const Tensor magnitude =
      itemsize(dtype) == 2 ? to(abs(x), DType::kFloat32) : abs(x);
  const Tensor total = sum(pow(magnitude, Scalar(p)), dims, keepdim);
  return to(pow(total, Scalar(1 / p)), dtype);
}

}  // namespace

Tensor var(const Tensor& self, IntSpan dims, double correction, bool keepdim) {
  return run_var(self, dims, correction, keepdim, false);
}
Tensor stddev(const Tensor& self, IntSpan dims, double correction,
              bool keepdim) {
  return run_var(self, dims, correction, keepdim, true);
}
std::tuple<Tensor, Tensor> var_mean(const Tensor& self, IntSpan dims,
                                    double correction, bool keepdim) {
  return run_var_mean(self, dims, correction, keepdim, false);
}
std::tuple<Tensor, Tensor> std_mean(const Tensor& self, IntSpan dims,
                                    double correction, bool keepdim) {
  return run_var_mean(self, dims, correction, keepdim, true);
}

Tensor linalg_vector_norm(const Tensor& self, const Scalar& order, IntSpan dim,
                          bool keepdim, Optional<DType> dtype) {
  static const Kernel& kernel = hotaru::kernel("norm");
  const Dims dims = reduced_dims(self, dim);
  HOTARU_CHECK(!order.is_complex(),
               "linalg.vector_norm: Expected a non-complex scalar as the order "
               "of norm.");
  const double p = order.to_double();
  check_norm(self, p, dims, dtype);
  Tensor out;
  {
    autograd::NoGrad guard;
    const Tensor x = dtype ? to(self, *dtype) : self;
    int64_t reduced = 1;
    for (int64_t d : dims) reduced *= x.size(d);
    if (reduced == 1 && p != 0) {  // without overflow
      out = abs(contiguous(x));
      if (!keepdim) drop_dims(out, dims);
    } else if (p == 0 || p == 1 || p == 2 || std::isinf(p)) {
      out = run_reduction(kernel, x, dims, keepdim, to_real(x.dtype()),
                          NormAttributes{p});
    } else {
      out = powers(x, p, dims, keepdim);
    }
  }
  if (autograd::needs_grad(self))
    grad::vector_norm(out, self, p, dims, keepdim);
  return out;
}

namespace {

using OptionalDims = const Optional<IntSpan>&;
using OptionalScalar = const Optional<Scalar>&;
constexpr IntSpan kAll;

/// The three overloads of var, std, var_mean and std_mean.
template <auto F>
auto over_all(const Tensor& self, bool unbiased) {
  return F(self, {}, unbiased ? 1 : 0, false);
}
template <auto F>
auto over_dims(const Tensor& self, OptionalDims dim, bool unbiased,
               bool keepdim) {
  return F(self, dim.value_or(kAll), unbiased ? 1 : 0, keepdim);
}
template <auto F>
auto corrected(const Tensor& self, OptionalDims dim, OptionalScalar correction,
               bool keepdim) {
  return F(self, dim.value_or(kAll), correction ? correction->to_double() : 1,
           keepdim);
}

#define HOTARU_SPREAD(name, function, result) \
  HOTARU_OP(name "(Tensor self, bool unbiased=True) -> " result, \
            over_all<function>); \
  HOTARU_OP(name \
            ".dim(Tensor self, int[1]? dim, bool unbiased=True, bool " \
            "keepdim=False) -> " result, \
            over_dims<function>); \
  HOTARU_OP(name \
            ".correction(Tensor self, int[1]? dim=None, *, Scalar? " \
            "correction=None, bool keepdim=False) -> " result, \
            corrected<function>)
HOTARU_SPREAD("var", var, "Tensor");
HOTARU_SPREAD("std", stddev, "Tensor");
HOTARU_SPREAD("var_mean", var_mean, "(Tensor, Tensor)");
HOTARU_SPREAD("std_mean", std_mean, "(Tensor, Tensor)");
#undef HOTARU_SPREAD

HOTARU_OP(
    "linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool "
    "keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    +[](const Tensor& self, const Scalar& order, OptionalDims dim, bool keepdim,
        Optional<DType> dtype) {
      return linalg_vector_norm(self, order, dim.value_or(kAll), keepdim,
                                dtype);
    });
HOTARU_OP(
    "norm.Scalar(Tensor self, Scalar p=2) -> Tensor",
    +[](const Tensor& self, const Scalar& p) {
      return linalg_vector_norm(self, p);
    });
HOTARU_OP(
    "norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool "
    "keepdim=False) -> Tensor",
    +[](const Tensor& self, OptionalScalar p, IntSpan dim, bool keepdim) {
      return linalg_vector_norm(self, p.value_or(2), dim, keepdim);
    });
HOTARU_OP(
    "norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool "
    "keepdim, *, ScalarType dtype) -> Tensor",
    +[](const Tensor& self, OptionalScalar p, IntSpan dim, bool keepdim,
        DType dtype) {
      return linalg_vector_norm(self, p.value_or(2), dim, keepdim, dtype);
    });
HOTARU_OP(
    "norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> "
    "Tensor",
    +[](const Tensor& self, OptionalScalar p, DType dtype) {
      return linalg_vector_norm(self, p.value_or(2), {}, false, dtype);
    });
HOTARU_OP(
    "frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> "
    "Tensor",
    +[](const Tensor& self, IntSpan dim, bool keepdim) {
      return linalg_vector_norm(self, 2, dim, keepdim);
    });

}  // namespace
}  // namespace hotaru
