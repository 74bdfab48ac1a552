#include "hotaru/ops/reduce/extremum.h"

#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/line_result.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/reduce/extremum_grad.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

/// Differences between the largest and the smallest.
struct Which {
  const char *full, *several, *one, *position;  // names for messages
  const char *full_node, *several_node, *one_node;
};
constexpr Which kMax{"max",          "amax",          "max_dim",     "argmax",
                     "MaxBackward1", "AmaxBackward0", "MaxBackward0"};
constexpr Which kMin{"min",          "amin",          "min_dim",     "argmin",
                     "MinBackward1", "AminBackward0", "MinBackward0"};

Tensor over_all(const Tensor& self, const Which& which, const Kernel& kernel) {
  HOTARU_CHECK(self.numel() > 0, which.full,
               "(): Expected reduction dim to be specified for input.numel() "
               "== 0. Specify the reduction dim with the 'dim' argument.");
  HOTARU_CHECK_AS(NotImplementedError, !self.is_complex(), "\"", which.full,
                  "_all\" not implemented for '",
                  scalar_type_name(self.dtype()), "'");
  const Dims dims = reduced_dims(self, {});
  const Tensor out =
      run_reduction(kernel, self, dims, false, self.dtype(), NoAttributes{});
  if (autograd::needs_grad(self))
    grad::extremum(which.full_node, out, self, dims, false);
  return out;
}

Tensor over_several(const Tensor& self, IntSpan dim, bool keepdim,
                    const Which& which, const Kernel& kernel) {
  const Dims dims = reduced_dims(self, dim);
  HOTARU_CHECK(self.numel() > 0 || !dim.empty(), which.several,
               "(): Expected reduction dim to be specified for input.numel() "
               "== 0. Specify the reduction dim with the 'dim' argument.");
  for (int64_t d : dim) check_nonempty_dim(which.several, self, d);
  const Tensor out =
      run_reduction(kernel, self, dims, keepdim, self.dtype(), NoAttributes{});
  if (autograd::needs_grad(self))
    grad::extremum(which.several_node, out, self, dims, keepdim);
  return out;
}

std::tuple<Tensor, Tensor> over_one(const Tensor& self, int64_t dim,
                                    bool keepdim, const Which& which,
                                    const Kernel& kernel) {
  dim = wrap_dim(dim, self.dim());
  check_nonempty_dim(which.full, self, dim);
  HOTARU_CHECK(!self.is_complex(), which.full,
               "(): does not support complex input");
  const auto [values, indices] =
      self.dim() == 0
          ? only_element(self)
          : run_selection(kernel, self, dim, keepdim, LineAttributes{dim});
  if (autograd::needs_grad(self))
    grad::selection(which.one_node, values, indices, self, dim, keepdim);
  return {values, indices};
}

Tensor position(const Tensor& self, Optional<int64_t> dim, bool keepdim,
                const Which& which, const Kernel& kernel) {
  HOTARU_CHECK(!self.is_complex(), which.position,
               "(): does not support complex input");
  HOTARU_CHECK(self.dtype() != DType::kBool, which.position,
               "(): does not support bool input");
  if (!dim) {
    HOTARU_CHECK_AS(IndexError, self.numel() > 0, which.position,
                    "(): Expected reduction dim to be specified for "
                    "input.numel() == 0.");
    const Tensor flat = self.dim() == 1 ? self : reshape(self, Dims{-1});
    const Tensor out = position(flat, 0, false, which, kernel);
    if (!keepdim) return out;
    return view(out, Dims(size_t(self.dim()), 1));
  }
  const int64_t d = wrap_dim(*dim, self.dim());
  check_nonempty_dim(which.position, self, d);
  return run_reduction(kernel, self, reduced_dims(self, Dims{d}), keepdim,
                       DType::kInt64, LineAttributes{d});
}

}  // namespace

Tensor max(const Tensor& self) {
  static const Kernel& kernel = hotaru::kernel("amax");
  return over_all(self, kMax, kernel);
}
Tensor min(const Tensor& self) {
  static const Kernel& kernel = hotaru::kernel("amin");
  return over_all(self, kMin, kernel);
}

Tensor amax(const Tensor& self, IntSpan dims, bool keepdim) {
  static const Kernel& kernel = hotaru::kernel("amax");
  return over_several(self, dims, keepdim, kMax, kernel);
}
Tensor amin(const Tensor& self, IntSpan dims, bool keepdim) {
  static const Kernel& kernel = hotaru::kernel("amin");
  return over_several(self, dims, keepdim, kMin, kernel);
}

std::tuple<Tensor, Tensor> max(const Tensor& self, int64_t dim, bool keepdim) {
  static const Kernel& kernel = hotaru::kernel("max_dim");
  return over_one(self, dim, keepdim, kMax, kernel);
}
std::tuple<Tensor, Tensor> min(const Tensor& self, int64_t dim, bool keepdim) {
  static const Kernel& kernel = hotaru::kernel("min_dim");
  return over_one(self, dim, keepdim, kMin, kernel);
}

Tensor argmax(const Tensor& self, Optional<int64_t> dim, bool keepdim) {
  static const Kernel& kernel = hotaru::kernel("argmax");
  return position(self, dim, keepdim, kMax, kernel);
}
Tensor argmin(const Tensor& self, Optional<int64_t> dim, bool keepdim) {
  static const Kernel& kernel = hotaru::kernel("argmin");
  return position(self, dim, keepdim, kMin, kernel);
}

std::tuple<Tensor, Tensor> aminmax(const Tensor& self, Optional<int64_t> dim,
                                   bool keepdim) {
  HOTARU_CHECK(self.numel() > 0 || dim,
               "aminmax(): cannot compute aminmax over an empty dimension as "
               "the operation has no identity.");
  if (dim && self.dim() > 0)
    HOTARU_CHECK_AS(IndexError, self.size(*dim) > 0,
                    "aminmax: Expected reduction dim ",
                    wrap_dim(*dim, self.dim()), " to have non-zero size.");
  const Dims dims = reduced_dims(self, dim ? Dims{*dim} : Dims{});
  Tensor smallest, largest;
  {
    autograd::NoGrad guard;
    const bool single = dim && self.dim() == 0 && !self.is_complex();
    smallest = single ? clone(self) : amin(self, dims, keepdim);
    largest = single ? clone(self) : amax(self, dims, keepdim);
  }
  if (autograd::needs_grad(self))
    grad::aminmax(smallest, largest, self, dims, keepdim);
  return {smallest, largest};
}

namespace {

using One = Tensor (*)(const Tensor&);
using Pair = std::tuple<Tensor, Tensor> (*)(const Tensor&, int64_t, bool);

HOTARU_OP("max(Tensor self) -> Tensor", static_cast<One>(max));
HOTARU_OP("min(Tensor self) -> Tensor", static_cast<One>(min));
// Before the overloads with dim, which would take a scalar tensor for it.
HOTARU_OP("max.other(Tensor self, Tensor other) -> Tensor", maximum);
HOTARU_OP("min.other(Tensor self, Tensor other) -> Tensor", minimum);
HOTARU_OP(
    "max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, "
    "Tensor indices)",
    static_cast<Pair>(max));
HOTARU_OP(
    "min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, "
    "Tensor indices)",
    static_cast<Pair>(min));
HOTARU_OP("amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
          amax);
HOTARU_OP("amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
          amin);
HOTARU_OP(
    "aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor "
    "min, Tensor max)",
    aminmax);
HOTARU_OP("argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
          argmax);
HOTARU_OP("argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
          argmin);

}  // namespace
}  // namespace hotaru
