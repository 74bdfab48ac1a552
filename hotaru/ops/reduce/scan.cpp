#include "hotaru/ops/reduce/scan.h"

#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/cpp_type.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/create/reorder.h"
#include "hotaru/ops/inplace.h"
#include "hotaru/ops/line_result.h"
#include "hotaru/ops/pointwise/complex.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/reduce/scan_grad.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/join.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

using RecordScan = void (*)(const Tensor& out, const Tensor& self, int64_t dim);

Tensor scan(const Kernel& kernel, const Tensor& self, int64_t dim, DType dtype,
            RecordScan record) {
  dim = wrap_dim(dim, self.dim());
  Tensor out;
  {
    autograd::NoGrad guard;
    const Tensor input = to(self, dtype);
    out = row_major_like(input);
    enqueue(kernel, {write(out), read(input)}, LineAttributes{dim});
  }
  if (autograd::needs_grad(self)) record(out, self, dim);
  return out;
}

DType sum_dtype(const char* name, const Tensor& self,
                const Optional<DType>& dtype) {
  if (dtype == DType::kBool) refuse_dtype(name, *dtype);
  if (dtype) return *dtype;
  return is_integral(self.dtype(), true) ? DType::kInt64 : self.dtype();
}

using Scan = Tensor (*)(const Tensor&, int64_t, Optional<DType>);

/// In place: the running values are computed in their own dtype, then stored.
/// A gradient that needs the old values takes them from a copy.
Tensor store(const Tensor& self, Scan scan, int64_t dim, Optional<DType> dtype,
             RecordScan record, bool needs_old) {
  HOTARU_CHECK(!dtype || *dtype == self.dtype(),
               "Bad in-place call: input tensor dtype ",
               cpp_type_name(self.dtype()), " and output tensor dtype ",
               cpp_type_name(dtype.value_or(self.dtype())), " should match");
  autograd::check_inplace(self);
  const bool recorded = autograd::needs_grad(self);
  if (recorded && needs_old)
    return copy_(self, scan(clone(self), dim, self.dtype()));
  {
    autograd::NoGrad guard;
    copy_(untracked(self), scan(self, dim, self.dtype()));
  }
  if (recorded) record(self, self, wrap_dim(dim, self.dim()));
  self.bump_version();
  return self;
}

std::tuple<Tensor, Tensor> extremes(const Kernel& kernel, const char* node,
                                    const Tensor& self, int64_t dim) {
  HOTARU_CHECK_AS(
      IndexError, self.dim() > 0 || dim == 0 || dim == -1, kernel.name(),
      "(): Expected reduction dim -1 or 0 for scalar but got ", dim);
  dim = wrap_dim(dim, self.dim());
  Tensor values, indices;
  if (self.dim() == 0) {
    std::tie(values, indices) = only_element(self);
  } else {
    values = row_major_like(self);
    indices = empty(self.sizes(), TensorOptions(DType::kInt64, self.device()));
    enqueue(kernel, {write(values), write(indices), read(self)},
            LineAttributes{dim});
  }
  if (autograd::needs_grad(self))
    grad::selection(node, values, indices, self, dim, true);
  return {values, indices};
}

Tensor difference(const Tensor& self, int64_t dim) {
  const int64_t n = std::max<int64_t>(1, self.size(dim)) - 1;
  const Tensor after =
      narrow(self, dim, std::min<int64_t>(1, self.size(dim)), n);
  const Tensor before = narrow(self, dim, 0, n);
  return self.dtype() == DType::kBool ? logical_xor(after, before)
                                      : sub(after, before);
}

/// log(e^a + e^b) from the one with the larger real part, so that e is of no
/// more than 1.
Tensor log_add_exp(const Tensor& a, const Tensor& b) {
  const Tensor nothing = eq(maximum(real(a), real(b)),
                            Scalar(-std::numeric_limits<double>::infinity()));
  const Tensor larger = ge(real(a), real(b));
  const Tensor high = where(larger, a, b), low = where(larger, b, a);
  const Tensor apart = masked_fill(sub(low, high), nothing, 0);
  return where(nothing, high, add(high, log1p(exp(apart))));
}

/// Computes for complex numbers, which have no kernel: sums of neighbours, then
/// of twice as many in each step. It is differentiated as it stands.
Tensor complex_logcumsumexp(const Tensor& self, int64_t dim) {
  if (self.dim() == 0) return clone(self);
  const int64_t n = self.size(dim);
  Tensor sums = clone(self);
  for (int64_t step = 1; step < n; step *= 2) {
    const Tensor before = narrow(sums, dim, 0, n - step);
    const Tensor own = narrow(sums, dim, step, n - step);
    sums = cat({narrow(sums, dim, 0, step), log_add_exp(before, own)}, dim);
  }
  return sums;
}

}  // namespace

Tensor cumsum(const Tensor& self, int64_t dim, Optional<DType> dtype) {
  static const Kernel& kernel = hotaru::kernel("cumsum");
  return scan(kernel, self, dim, sum_dtype("cumsum_out_cpu", self, dtype),
              grad::cumsum);
}

Tensor cumprod(const Tensor& self, int64_t dim, Optional<DType> dtype) {
  static const Kernel& kernel = hotaru::kernel("cumprod");
  return scan(kernel, self, dim, sum_dtype("cumprod_out_cpu", self, dtype),
              grad::cumprod);
}

Tensor logcumsumexp(const Tensor& self, int64_t dim) {
  static const Kernel& kernel = hotaru::kernel("logcumsumexp");
  if (self.is_complex())
    return complex_logcumsumexp(self, wrap_dim(dim, self.dim()));
  return scan(kernel, self, dim, self.dtype(), grad::logcumsumexp);
}

Tensor cumsum_(const Tensor& self, int64_t dim, Optional<DType> dtype) {
  return store(self, cumsum, dim, dtype, grad::cumsum, false);
}

Tensor cumprod_(const Tensor& self, int64_t dim, Optional<DType> dtype) {
  return store(self, cumprod, dim, dtype, grad::cumprod, true);
}

std::tuple<Tensor, Tensor> cummax(const Tensor& self, int64_t dim) {
  static const Kernel& kernel = hotaru::kernel("cummax");
  return extremes(kernel, "CummaxBackward0", self, dim);
}

std::tuple<Tensor, Tensor> cummin(const Tensor& self, int64_t dim) {
  static const Kernel& kernel = hotaru::kernel("cummin");
  return extremes(kernel, "CumminBackward0", self, dim);
}

Tensor diff(const Tensor& self, int64_t n, int64_t dim, const Tensor& prepend,
            const Tensor& append) {
  HOTARU_CHECK(self.dim() > 0,
               "diff expects input to be at least one-dimensional");
  HOTARU_CHECK(n >= 0, "order must be non-negative but got ", n);
  Tensors parts;
  for (const Tensor& part : {prepend, self, append}) {
    if (!part.defined()) continue;
    HOTARU_CHECK(part.dim() == self.dim(),
                 "diff expects prepend or append to be the same dimension as "
                 "input");
    parts.push_back(part);
  }
  dim = wrap_dim(dim, self.dim());
  for (const Tensor& part : parts)
    for (int64_t d = 0; d < self.dim(); ++d)
      HOTARU_CHECK(
          d == dim || part.size(d) == self.size(d),
          "diff expects the shape of tensor to prepend or append to match that "
          "of input except along the differencing dimension; input.size(",
          d, ") = ", self.size(d), ", but got tensor.size(", d,
          ") = ", part.size(d));
  if (n == 0) return clone(self);
  Tensor out = parts.size() == 1 ? self : cat(parts, dim);
  if (out.numel() == 0)
    return clone(narrow(out, dim, 0, std::max<int64_t>(0, out.size(dim) - n)));
  for (int64_t i = 0; i < n && out.size(dim) > 0; ++i)
    out = difference(out, dim);
  return out;
}

namespace {

HOTARU_OP("cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
          cumsum);
HOTARU_OP("cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
          cumprod);
HOTARU_OP(
    "cumsum_(Tensor(a!) self, int dim, *, ScalarType? dtype=None) -> "
    "Tensor(a!)",
    cumsum_);
HOTARU_OP(
    "cumprod_(Tensor(a!) self, int dim, *, ScalarType? dtype=None) -> "
    "Tensor(a!)",
    cumprod_);
HOTARU_OP("logcumsumexp(Tensor self, int dim) -> Tensor", logcumsumexp);
HOTARU_OP("cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)",
          cummax);
HOTARU_OP("cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)",
          cummin);
HOTARU_OP(
    "diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? "
    "append=None) -> Tensor",
    diff);

}  // namespace
}  // namespace hotaru
