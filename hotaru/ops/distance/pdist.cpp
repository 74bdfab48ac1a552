// Distances of all pairs of rows, and slices cut to a norm.
#include <vector>

#include "hotaru/autograd/record.h"
#include "hotaru/backend/common/distance/cdist.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/distance/distance.h"
#include "hotaru/ops/host_value.h"
#include "hotaru/ops/index/slices.h"
#include "hotaru/ops/inplace.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/reduce/moments.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru {
namespace {

Tensor pdist(const Tensor& self, double p) {
  HOTARU_CHECK(self.dim() == 2,
               "pdist only supports 2D tensors, got: ", self.dim(), "D");
  HOTARU_CHECK(self.is_floating_point() && itemsize(self.dtype()) >= 4,
               "pdist only supports floating-point dtypes");
  HOTARU_CHECK(p >= 0, "pdist only supports non-negative p values");
  const int64_t n = self.size(0);
  if (n > 1 && !autograd::needs_grad(self)) {
    static const Kernel& kPairs = kernel("pdist");
    const Tensor out = empty(Dims{n * (n - 1) / 2}, TensorOptions(self));
    const Tensor rows = contiguous(self);
    enqueue(kPairs, {write(out), read(rows)}, CdistAttributes{p});
    return out;
  }
  std::vector<int64_t> places;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i + 1; j < n; ++j) places.push_back(i * n + j);
  // Nothing, with a gradient of zeros.
  if (places.empty()) return narrow(flatten(self), 0, 0, 0) * Scalar(1);
  constexpr int64_t kDirect = 2;  // equal rows are at 0, as in the kernel above
  return index_select(flatten(cdist(self, self, p, kDirect)), 0,
                      integers_on(places, self.device()));
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
  const bool narrow = itemsize(self.dtype()) == 2;
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
