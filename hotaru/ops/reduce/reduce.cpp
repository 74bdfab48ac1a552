#include "hotaru/ops/reduce/reduce.h"

#include "hotaru/autograd/record.h"
#include "hotaru/backend/common/reduce/reduce.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/rare.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/pointwise/complex.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/reduce/extremum.h"
#include "hotaru/ops/reduce/reduce_dims.h"
#include "hotaru/ops/reduce/reduce_grad.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

/// Dtype that integers are summed in.
DType accumulated(DType dtype) {
  return is_integral(dtype, true) ? DType::kInt64 : dtype;
}

/// The input converted to the dtype asked for. Integers stay as they are if
/// the kernel can widen them on the way; the gradient node converts back.
Tensor converted(const Tensor& self, const Optional<DType>& dtype) {
  if (is_wide_unsigned(self.dtype()) && (!dtype || is_integral(*dtype, true))) {
    autograd::NoGrad guard;
    return to(self, DType::kInt64);
  }
  if (!dtype || *dtype == self.dtype()) return self;
  if (*dtype == DType::kInt64 && is_integral(self.dtype(), true)) return self;
  autograd::NoGrad guard;
  return to(self, *dtype);
}

/// Sums and products: of integers always in int64, which other integers are
/// made of at the end.
template <class A>
Tensor run_accumulation(const Kernel& kernel, const Tensor& self, IntSpan dims,
                        bool keepdim, const Optional<DType>& dtype,
                        const A& attributes) {
  const DType wanted = dtype.value_or(accumulated(self.dtype()));
  const Tensor out = run_reduction(kernel, converted(self, dtype), dims,
                                   keepdim, accumulated(wanted), attributes);
  autograd::NoGrad guard;
  return to(out, wanted);
}

Tensor run_sum(const Tensor& self, IntSpan dims, bool keepdim,
               const Optional<DType>& dtype, SumAttributes attributes) {
  static const Kernel& kernel = hotaru::kernel("sum");
  return run_accumulation(kernel, self, dims, keepdim, dtype, attributes);
}

DType mean_dtype(const char* op, const Tensor& self,
                 const Optional<DType>& dtype) {
  const DType result = dtype.value_or(self.dtype());
  HOTARU_CHECK(is_differentiable(result), op,
               "(): could not infer output dtype. ",
               dtype ? "Optional" : "Input",
               " dtype must be either a floating point or complex dtype. Got: ",
               scalar_type_name(result));
  return result;
}

DType truth_dtype(const Tensor& self) {
  return self.dtype() == DType::kUInt8 ? DType::kUInt8 : DType::kBool;
}

Tensor run_truth(const Kernel& kernel, const Tensor& self, IntSpan dims,
                 bool keepdim) {
  // Kernels have no code for wide unsigned integers; carriers have their bits.
  const DType carried =
      is_wide_unsigned(self.dtype()) ? carrier(self.dtype()) : self.dtype();
  return run_reduction(kernel, to(self, carried), reduced_dims(self, dims),
                       keepdim, truth_dtype(self), NoAttributes{});
}

Tensor run_prod(const Tensor& self, IntSpan dims, bool keepdim,
                const Optional<DType>& dtype) {
  static const Kernel& kernel = hotaru::kernel("prod");
  return run_accumulation(kernel, self, dims, keepdim, dtype, NoAttributes{});
}

}  // namespace

Tensor sum(const Tensor& self, Optional<DType> dtype) {
  const Tensor out = run_sum(self, reduced_dims(self, {}), false, dtype, {});
  if (autograd::needs_grad(self)) grad::sum(out, self, {}, false);
  return out;
}

Tensor sum(const Tensor& self, IntSpan dims, bool keepdim,
           Optional<DType> dtype) {
  const Dims over = reduced_dims(self, dims);
  const Tensor out = run_sum(self, over, keepdim, dtype, {});
  if (autograd::needs_grad(self)) grad::sum(out, self, over, keepdim);
  return out;
}

Tensor nansum(const Tensor& self, IntSpan dims, bool keepdim,
              Optional<DType> dtype) {
  const Dims over = reduced_dims(self, dims);
  HOTARU_CHECK(!self.is_complex(),
               "nansum on CPU does not support complex inputs");
  const Tensor out = run_sum(self, over, keepdim, dtype, {.skip_nan = true});
  if (autograd::needs_grad(self)) grad::nansum(out, self, over, keepdim);
  return out;
}

Tensor mean(const Tensor& self, Optional<DType> dtype) {
  const DType result = mean_dtype("mean", self, dtype);
  const Tensor out =
      run_sum(self, reduced_dims(self, {}), false, result, {.mean = true});
  if (autograd::needs_grad(self)) grad::mean(out, self, {}, false);
  return out;
}

Tensor mean(const Tensor& self, IntSpan dims, bool keepdim,
            Optional<DType> dtype) {
  const DType result = mean_dtype("mean", self, dtype);
  const Dims over = reduced_dims(self, dims);
  const Tensor out = run_sum(self, over, keepdim, result, {.mean = true});
  if (autograd::needs_grad(self)) grad::mean(out, self, over, keepdim);
  return out;
}

Tensor nanmean(const Tensor& self, IntSpan dims, bool keepdim,
               Optional<DType> dtype) {
  HOTARU_CHECK(self.is_floating_point() || self.is_complex(),
               "nanmean(): expected input to have "
               "floating point or complex dtype but got ",
               scalar_type_name(self.dtype()));
  const Tensor count = sum(logical_not(isnan(detach(self))), dims, keepdim);
  return div(nansum(self, dims, keepdim, dtype), count);
}

Tensor prod(const Tensor& self, Optional<DType> dtype) {
  const Tensor out = run_prod(self, reduced_dims(self, {}), false, dtype);
  if (autograd::needs_grad(self)) grad::prod(out, self, {}, false);
  return out;
}

Tensor prod(const Tensor& self, int64_t dim, bool keepdim,
            Optional<DType> dtype) {
  const Dims over = reduced_dims(self, Dims{dim});
  const Tensor out = run_prod(self, over, keepdim, dtype);
  if (autograd::needs_grad(self)) grad::prod(out, self, over, keepdim);
  return out;
}

Tensor logsumexp(const Tensor& self, IntSpan dims, bool keepdim) {
  if (is_integral(self.dtype(), true))
    return logsumexp(to(self, default_dtype()), dims, keepdim);
  const Dims over = reduced_dims(self, dims);
  Tensor out;
  {
    autograd::NoGrad guard;
    if (self.numel() == 0) {
      out = log(sum(exp(self), over, keepdim));
    } else {
      // An infinite maximum would give inf - inf; it is the result as it is.
      const Tensor largest =
          amax(self.is_complex() ? real(self) : self, over, true);
      const Tensor base = masked_fill(largest, isinf(largest), 0.0);
      out = log(sum(exp(sub(self, base)), over, true));
      out = add(out, base);
      if (!keepdim) drop_dims(out, over);
    }
  }
  if (autograd::needs_grad(self)) grad::logsumexp(out, self, over, keepdim);
  return out;
}

Tensor any(const Tensor& self, IntSpan dims, bool keepdim) {
  static const Kernel& kernel = hotaru::kernel("any");
  return run_truth(kernel, self, dims, keepdim);
}

Tensor all(const Tensor& self, IntSpan dims, bool keepdim) {
  static const Kernel& kernel = hotaru::kernel("all");
  return run_truth(kernel, self, dims, keepdim);
}

Tensor count_nonzero(const Tensor& self, IntSpan dims) {
  static const Kernel& kernel = hotaru::kernel("count_nonzero");
  return run_reduction(kernel, self, reduced_dims(self, dims), false,
                       DType::kInt64, NoAttributes{});
}

namespace {

using OptionalDims = const Optional<IntSpan>&;
constexpr IntSpan kAll;

HOTARU_OP(
    "sum(Tensor self, *, ScalarType? dtype=None) -> Tensor",
    +[](const Tensor& self, Optional<DType> dtype) {
      return sum(self, dtype);
    });
HOTARU_OP(
    "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor",
    +[](const Tensor& self, OptionalDims dim, bool keepdim,
        Optional<DType> dtype) {
      return sum(self, dim.value_or(kAll), keepdim, dtype);
    });
HOTARU_OP(
    "nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? "
    "dtype=None) -> Tensor",
    +[](const Tensor& self, OptionalDims dim, bool keepdim,
        Optional<DType> dtype) {
      return nansum(self, dim.value_or(kAll), keepdim, dtype);
    });
HOTARU_OP(
    "mean(Tensor self, *, ScalarType? dtype=None) -> Tensor",
    +[](const Tensor& self, Optional<DType> dtype) {
      return mean(self, dtype);
    });
HOTARU_OP(
    "mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? "
    "dtype=None) -> Tensor",
    +[](const Tensor& self, OptionalDims dim, bool keepdim,
        Optional<DType> dtype) {
      return mean(self, dim.value_or(kAll), keepdim, dtype);
    });
HOTARU_OP(
    "nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor",
    +[](const Tensor& self, OptionalDims dim, bool keepdim,
        Optional<DType> dtype) {
      return nanmean(self, dim.value_or(kAll), keepdim, dtype);
    });
HOTARU_OP(
    "prod(Tensor self, *, ScalarType? dtype=None) -> Tensor",
    +[](const Tensor& self, Optional<DType> dtype) {
      return prod(self, dtype);
    });
HOTARU_OP(
    "prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? "
    "dtype=None) -> Tensor",
    +[](const Tensor& self, int64_t dim, bool keepdim, Optional<DType> dtype) {
      return prod(self, dim, keepdim, dtype);
    });
HOTARU_OP("logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
          logsumexp);

template <Tensor (*F)(const Tensor&, IntSpan, bool)>
Tensor over_all(const Tensor& self) {
  return F(self, {}, false);
}
template <Tensor (*F)(const Tensor&, IntSpan, bool)>
Tensor over_dim(const Tensor& self, int64_t dim, bool keepdim) {
  return F(self, Dims{dim}, keepdim);
}
template <Tensor (*F)(const Tensor&, IntSpan, bool)>
Tensor over_dims(const Tensor& self, OptionalDims dim, bool keepdim) {
  // Unlike sum, an explicitly empty list reduces nothing.
  if (dim && dim->empty()) return to(ne(self, Scalar(0)), truth_dtype(self));
  return F(self, dim.value_or(kAll), keepdim);
}

HOTARU_OP("any(Tensor self) -> Tensor", over_all<any>);
HOTARU_OP("any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
          over_dim<any>);
HOTARU_OP(
    "any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
    over_dims<any>);
HOTARU_OP("all(Tensor self) -> Tensor", over_all<all>);
HOTARU_OP("all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
          over_dim<all>);
HOTARU_OP(
    "all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
    over_dims<all>);
HOTARU_OP(
    "count_nonzero(Tensor self, int? dim=None) -> Tensor",
    +[](const Tensor& self, Optional<int64_t> dim) {
      return count_nonzero(self, dim ? Dims{*dim} : Dims{});
    });
HOTARU_OP("count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor",
          count_nonzero);

}  // namespace
}  // namespace hotaru
