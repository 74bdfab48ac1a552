// Integrals by trapezoids, and derivatives by differences.
#include <vector>

#include "hotaru/core/checks/check.h"
#include "hotaru/ops/autocast.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/operands.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/reduce/scan.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

Tensor but_last(const Tensor& t, int64_t dim) {
  return slice(t, dim, {}, -1);
}
Tensor but_first(const Tensor& t, int64_t dim) {
  return slice(t, dim, 1, {});
}

void check_samples(const char* op, const Tensor& y) {
  HOTARU_CHECK(y.dtype() != DType::kBool, op,
               ": received a bool input for `y`, but bool is not supported");
}

void check_step(const char* op, const Scalar& dx) {
  HOTARU_CHECK(!dx.is_bool() && !dx.is_complex(), op,
               ": Currently, we only support dx as a real number.");
}

/// Distances of neighbouring sample points along dim, in a shape that
/// broadcasts with y's.
Tensor steps(const char* op, const Tensor& y, const Tensor& x, int64_t dim) {
  HOTARU_CHECK(x.dtype() != DType::kBool, op,
               ": received a bool input for `x`, but bool is not supported");
  Tensor points = x;
  if (x.dim() == 1) {
    HOTARU_CHECK(x.size(0) == y.size(dim), op,
                 ": There must be one `x` value for each sample point");
    Dims shape(size_t(y.dim()), 1);
    shape[size_t(wrap_dim(dim, y.dim()))] = x.size(0);
    points = reshape(x, shape);
  } else if (x.dim() < y.dim()) {
    Dims shape(size_t(y.dim() - x.dim()), 1);
    for (const int64_t size : x.sizes()) shape.push_back(size);
    points = reshape(x, shape);
  }
  return but_first(points, dim) - but_last(points, dim);
}

Tensor nothing(const Tensor& y, int64_t dim) {
  Dims shape(y.sizes());
  shape.erase(size_t(wrap_dim(dim, y.dim())));
  return zeros(shape, TensorOptions(y));
}

/// Sums as autocast has them.
Tensor total(const Tensor& x, int64_t dim) {
  if (!autocast::active()) return sum(x, Dims{dim});
  return autocast::by_name("sum", "dim_IntList",
                           {x, Value::int_list(Dims{dim}), false, Value()});
}

Tensor running(const Tensor& x, int64_t dim) {
  if (!autocast::active()) return cumsum(x, dim);
  return autocast::by_name("cumsum", "", {x, dim, Value()});
}

Tensor trapezoid(const Tensor& y, const Tensor& x, int64_t dim) {
  const int64_t n = y.size(dim);
  if (n == 0) return nothing(y, dim);
  check_samples("trapezoid", y);
  const Tensor sides = but_last(y, dim) + but_first(y, dim);
  return total(sides * steps("trapezoid", y, x, dim), dim) / Scalar(2.0);
}

Tensor trapezoid(const Tensor& y, const Scalar& dx, int64_t dim) {
  const int64_t n = y.size(dim);
  if (n == 0) return nothing(y, dim);
  check_samples("trapezoid", y);
  check_step("trapezoid", dx);
  return (total(y, dim) -
          (select(y, dim, 0) + select(y, dim, n - 1)) * Scalar(0.5)) *
         dx;
}

Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, int64_t dim) {
  check_samples("cumulative_trapezoid", y);
  const Tensor sides = but_last(y, dim) + but_first(y, dim);
  return running(steps("cumulative_trapezoid", y, x, dim) * sides, dim) /
         Scalar(2.0);
}

Tensor cumulative_trapezoid(const Tensor& y, const Scalar& dx, int64_t dim) {
  check_samples("cumulative_trapezoid", y);
  check_step("cumulative_trapezoid", dx);
  const Tensor sides = but_last(y, dim) + but_first(y, dim);
  return running(sides, dim) * Scalar(dx.to_double() / 2);
}

using OverPoints = Tensor (*)(const Tensor&, const Tensor&, int64_t);
using OverSteps = Tensor (*)(const Tensor&, const Scalar&, int64_t);

HOTARU_OP("trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
          static_cast<OverPoints>(trapezoid));
HOTARU_OP("trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
          static_cast<OverSteps>(trapezoid));
HOTARU_OP("trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
          static_cast<OverPoints>(trapezoid));
HOTARU_OP(
    "trapz.dx(Tensor y, *, float dx=1, int dim=-1) -> Tensor",
    +[](const Tensor& y, double dx, int64_t dim) {
      return trapezoid(y, Scalar(dx), dim);
    });
HOTARU_OP("cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
          static_cast<OverPoints>(cumulative_trapezoid));
HOTARU_OP(
    "cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
    static_cast<OverSteps>(cumulative_trapezoid));

// --- gradient ----------------------------------------------------------------

/// Dimensions to differentiate along, all of them where none are given.
struct Along {
  Along(IntSpan dims) : dims(dims), given(true) {}
  Along(const Tensor& self, const Optional<int64_t>& dim)
      : given(dim.has_value()) {
    for (int64_t d = 0; d < self.dim() && !given; ++d) dims.push_back(d);
    if (given) dims.push_back(*dim);
  }
  Dims dims;
  bool given;
};

void check_gradient(const Tensor& self, const Along& along, int64_t spacings,
                    int64_t edge_order) {
  const Dims& dims = along.dims;
  HOTARU_CHECK(self.dtype() != DType::kUInt8,
               "torch.gradient does not support uint8 input.");
  const int64_t wanted = int64_t(dims.size());
  HOTARU_CHECK(along.given || spacings == wanted,
               "torch.gradient expected spacing to be unspecified, a scalar, "
               "or a list of length equal to 'self.dim() = ",
               self.dim(),
               "', since dim argument was not given, but got a list of length ",
               spacings);
  HOTARU_CHECK(spacings == wanted,
               "torch.gradient expected spacing to be unspecified, a scalar or "
               "it's spacing and dim arguments to have the same length, but "
               "got a spacing argument of length ",
               spacings, " and a dim argument of length ", wanted, ".");
  HOTARU_CHECK(edge_order == 1 || edge_order == 2,
               "torch.gradient only supports edge_order=1 and edge_order=2.");
  std::vector<bool> seen(size_t(self.dim()));
  for (const int64_t dim : dims) {
    const auto at = size_t(wrap_dim(dim, self.dim(), false));
    check_once(seen[at], int64_t(at));
    seen[at] = true;
    HOTARU_CHECK(self.size(dim) >= edge_order + 1,
                 "torch.gradient expected each dimension size to be at least "
                 "edge_order+1");
  }
}

/// Three parts along dim: the first element, those between, the last.
Tensor joined(const Tensor& first, const Tensor& middle, const Tensor& last,
              int64_t dim) {
  return cat({first, middle, last}, dim);
}

/// Points at equal distances h.
Tensor even_gradient(const Tensor& y, const Scalar& h, int64_t dim,
                     int64_t edge_order) {
  const int64_t n = y.size(dim);
  const auto at = [&](int64_t i) {
    return narrow(y, dim, i < 0 ? n + i : i, 1);
  };
  const Tensor middle = (slice(y, dim, 2, {}) - slice(y, dim, {}, -2)) /
                        (h.is_complex() ? Scalar(h.to_complex() * 2.0)
                                        : Scalar(h.to_double() * 2));
  if (edge_order == 1)
    return joined((at(1) - at(0)) / h, middle, (at(-1) - at(-2)) / h, dim);
  const auto edge = [&](int64_t a, int64_t b, int64_t c, double sign) {
    return (at(a) * Scalar(-1.5 * sign) + at(b) * Scalar(2 * sign) +
            at(c) * Scalar(-0.5 * sign)) /
           h;
  };
  return joined(edge(0, 1, 2, 1), middle, edge(-1, -2, -3, -1), dim);
}

/// At points x, by the parabola through three neighbours (as numpy.gradient).
Tensor uneven_gradient(const Tensor& y, const Tensor& x, int64_t dim,
                       int64_t edge_order) {
  HOTARU_CHECK(x.dim() == 1 && x.size(0) == y.size(dim),
               "torch.gradient expected each element of spacing to have one "
               "dimension of the size of that of input, but got a tensor of "
               "size ",
               shape_text(x.sizes()), " for dim ", dim);
  const int64_t n = y.size(dim), last = n - 1;
  const auto along = [&](const Tensor& t) {
    Dims shape(size_t(y.dim()), 1);
    shape[size_t(wrap_dim(dim, y.dim()))] = t.size(0);
    return reshape(t, shape);
  };
  const Tensor h = along(diff(x));
  const auto step = [&](int64_t i) { return narrow(h, dim, i, 1); };
  const auto at = [&](int64_t i) { return narrow(y, dim, i, 1); };
  const Tensor left = but_last(h, dim), right = but_first(h, dim);
  const Tensor both = left + right;
  const Tensor middle = -right / (left * both) * slice(y, dim, {}, -2) +
                        (right - left) / (left * right) * slice(y, dim, 1, -1) +
                        left / (right * both) * slice(y, dim, 2, {});
  if (edge_order == 1)
    return joined((at(1) - at(0)) / step(0), middle,
                  (at(last) - at(last - 1)) / step(last - 1), dim);
  const Tensor a = step(0), b = step(1), c = step(last - 2), d = step(last - 1);
  const Tensor first = -(a * Scalar(2) + b) / (a * (a + b)) * at(0) +
                       (a + b) / (a * b) * at(1) - a / (b * (a + b)) * at(2);
  const Tensor end = d / (c * (c + d)) * at(last - 2) -
                     (d + c) / (c * d) * at(last - 1) +
                     (d * Scalar(2) + c) / (d * (c + d)) * at(last);
  return joined(first, middle, end, dim);
}

Tensors gradient(const Tensor& self, const std::vector<Scalar>& spacing,
                 const Along& along, int64_t edge_order) {
  check_gradient(self, along, int64_t(spacing.size()), edge_order);
  Tensors out;
  for (size_t i = 0; i < along.dims.size(); ++i)
    out.push_back(even_gradient(self, spacing[i], along.dims[i], edge_order));
  return out;
}

Tensors gradient(const Tensor& self, const Scalar& spacing, const Along& along,
                 int64_t edge_order) {
  return gradient(self, std::vector<Scalar>(along.dims.size(), spacing), along,
                  edge_order);
}

Tensors gradient(const Tensor& self, const Tensors& spacing, const Along& along,
                 int64_t edge_order) {
  check_gradient(self, along, int64_t(spacing.size()), edge_order);
  Tensors out;
  for (size_t i = 0; i < along.dims.size(); ++i)
    out.push_back(uneven_gradient(self, spacing[i], along.dims[i], edge_order));
  return out;
}

std::vector<Scalar> scalars(const Value& list) {
  std::vector<Scalar> out;
  for (const Value& item : list.as_list().items)
    out.push_back(item.as_scalar());
  return out;
}

// Lists of tensors before lists of numbers, which tensors may stand in for.
HOTARU_OP(
    "gradient.tensorarrayint(Tensor self, *, Tensor[] spacing, int? dim=None, "
    "int edge_order=1) -> Tensor[]",
    +[](const Tensor& self, const Tensors& spacing,
        const Optional<int64_t>& dim, int64_t edge_order) {
      return gradient(self, spacing, Along(self, dim), edge_order);
    });
HOTARU_OP(
    "gradient.tensorarray(Tensor self, *, Tensor[] spacing, int[] dim, int "
    "edge_order=1) -> Tensor[]",
    +[](const Tensor& self, const Tensors& spacing, IntSpan dims,
        int64_t edge_order) {
      return gradient(self, spacing, dims, edge_order);
    });
HOTARU_OP(
    "gradient.scalarint(Tensor self, *, Scalar? spacing=None, int? dim=None, "
    "int edge_order=1) -> Tensor[]",
    +[](const Tensor& self, const Optional<Scalar>& spacing,
        const Optional<int64_t>& dim, int64_t edge_order) {
      return gradient(self, spacing.value_or(Scalar(1)), Along(self, dim),
                      edge_order);
    });
HOTARU_OP(
    "gradient.scalararray(Tensor self, *, Scalar spacing, int[] dim, int "
    "edge_order=1) -> Tensor[]",
    +[](const Tensor& self, const Scalar& spacing, IntSpan dims,
        int64_t edge_order) {
      return gradient(self, spacing, dims, edge_order);
    });
HOTARU_OP(
    "gradient.array(Tensor self, *, int[] dim, int edge_order=1) -> Tensor[]",
    +[](const Tensor& self, IntSpan dims, int64_t edge_order) {
      return gradient(self, Scalar(1), dims, edge_order);
    });
HOTARU_OP(
    "gradient.scalarrayint(Tensor self, *, Scalar[] spacing, int? dim=None, "
    "int edge_order=1) -> Tensor[]",
    +[](const Tensor& self, const Value& spacing, const Optional<int64_t>& dim,
        int64_t edge_order) {
      return gradient(self, scalars(spacing), Along(self, dim), edge_order);
    });
HOTARU_OP(
    "gradient.scalarrayarray(Tensor self, *, Scalar[] spacing, int[] dim, int "
    "edge_order=1) -> Tensor[]",
    +[](const Tensor& self, const Value& spacing, IntSpan dims,
        int64_t edge_order) {
      return gradient(self, scalars(spacing), dims, edge_order);
    });

}  // namespace
}  // namespace hotaru
