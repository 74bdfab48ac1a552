// Distances of all pairs of rows, and slices cut to a norm.
#include <vector>

#include "hotaru/autograd/record.h"
#include "hotaru/backend/common/distance/cdist.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/distance/distance.h"
#include "hotaru/ops/host_value.h"
#include "hotaru/ops/index/slices.h"
#include "hotaru/ops/inplace.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/reduce/moments.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

/// The gradient by the rows, from those of the distances: as cdist's of a
/// symmetric matrix, which has each pair in both places and zeros between.
Tensor pdist_gradient(const Tensor& g, const Tensor& rows,
                      const Tensor& distances, double p) {
  const int64_t n = rows.size(0), pairs = distances.size(0);
  std::vector<int64_t> places(size_t(n * n), pairs);
  int64_t pair = 0;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i + 1; j < n; ++j)
      places[size_t(i * n + j)] = places[size_t(j * n + i)] = pair++;
  const Tensor index = integers_on(places, rows.device());
  const auto square = [&](const Tensor& of) {
    const Tensor zero = zeros(Dims{1}, TensorOptions(of));
    return view(index_select(cat({of, zero}, 0), 0, index), Dims{1, n, n});
  };
  const Tensor x = unsqueeze(rows, 0);
  return squeeze(cdist_gradient(square(g), x, x, square(distances), p), 0);
}

Tensor pdist(const Tensor& self, double p) {
  HOTARU_CHECK(self.dim() == 2,
               "pdist only supports 2D tensors, got: ", self.dim(), "D");
  HOTARU_CHECK(self.is_floating_point() && itemsize(self.dtype()) >= 4,
               "pdist only supports floating-point dtypes");
  HOTARU_CHECK(p >= 0, "pdist only supports non-negative p values");
  const int64_t n = self.size(0);
  // Nothing, with a gradient of zeros.
  if (n <= 1) return narrow(flatten(self), 0, 0, 0) * Scalar(1);
  static const Kernel& kPairs = kernel("pdist");
  const Tensor out = empty(Dims{n * (n - 1) / 2}, TensorOptions(self));
  const Tensor rows = contiguous(self);
  enqueue(kPairs, {write(out), read(rows)}, CdistAttributes{p});
  if (autograd::needs_grad(self))
    autograd::record("PdistBackward0", out, {rows},
                     {rows, autograd::saved_output(out)},
                     [p](autograd::Backward& b, const Tensor& g) -> Tensors {
                       return {pdist_gradient(g, b.saved(0), b.saved(1), p)};
                     });
  return out;
}

/// Slices along dim whose p-norm exceeds the greatest are scaled down to it.
Tensor renorm(const Tensor& self, const Scalar& p, int64_t dim,
              const Scalar& greatest) {
  HOTARU_CHECK(!p.is_complex(), "renorm: p must be real-valued");
  HOTARU_CHECK(p.to_double() > 0, "renorm: non-positive-norm not supported");
  HOTARU_CHECK(!greatest.is_complex(), "renorm: maxnorm must be real-valued");
  HOTARU_CHECK(greatest.to_double() >= 0,
               "renorm: expected maxnorm to be >= 0 but got ",
               greatest.to_double());
  HOTARU_CHECK(self.dim() > 1,
               "renorm: input needs at least 2 dimensions, "
               "got ",
               self.dim(), " dimensions");
  const int64_t kept = wrap_dim(dim, self.dim());
  Dims others;
  for (int64_t d = 0; d < self.dim(); ++d)
    if (d != kept) others.push_back(d);
  const bool narrow = self.is_floating_point() && itemsize(self.dtype()) == 2;
  const Tensor norm = linalg_vector_norm(
      narrow ? to(self, DType::kFloat32) : self, p, others, true);
  constexpr double kEpsilon = 1e-7;  // PyTorch's
  const Tensor scale =
      where(gt(norm, greatest), greatest / (norm + Scalar(kEpsilon)),
            ones_like(norm));
  return self * to(scale, self.dtype());
}

HOTARU_OP("pdist(Tensor self, float p=2) -> Tensor", pdist);
HOTARU_OP("renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor",
          renorm);
HOTARU_OP(
    "renorm_(Tensor(a!) self, Scalar p, int dim, Scalar maxnorm) -> "
    "Tensor(a!)",
    +[](const Tensor& self, const Scalar& p, int64_t dim,
        const Scalar& greatest) {
      return in_place(
          self, [&](const Tensor& x) { return renorm(x, p, dim, greatest); });
    });

}  // namespace
}  // namespace hotaru
