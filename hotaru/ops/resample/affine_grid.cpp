// Sampling grids of affine maps.
#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/autocast.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

/// Positions along a dimension: from edge to edge of [-1, 1], or the centres
/// of its cells.
Tensor positions(int64_t n, bool align_corners, const TensorOptions& options) {
  if (n <= 1) return zeros(Dims{n}, options);
  const Tensor line = linspace(-1.0, 1.0, n, options);
  return align_corners ? line : line * (double(n - 1) / double(n));
}

/// Homogeneous coordinates of a picture's points, [points, d + 1]: x, y (, z)
/// and 1, of which x runs fastest.
Tensor base_points(IntSpan spatial, bool align_corners,
                   const TensorOptions& options) {
  const size_t dims = spatial.size();
  Tensors columns;
  for (size_t d = dims; d-- > 0;) {
    Dims shape(dims, 1);
    shape[d] = spatial[d];
    const Tensor line = positions(spatial[d], align_corners, options);
    columns.push_back(expand(reshape(line, shape), spatial));
  }
  columns.push_back(ones(spatial, options));
  return reshape(stack(columns, -1), Dims{-1, int64_t(dims) + 1});
}

/// theta [N, d, d + 1], size [N, C, (D,) H, W]: [N, (D,) H, W, d].
Tensor affine_grid_generator(const Tensor& theta, IntSpan size,
                             bool align_corners) {
  HOTARU_CHECK(size.size() == 4 || size.size() == 5,
               "AffineGridGenerator needs 4d (spatial) or 5d (volumetric) "
               "inputs.");
  const int64_t dims = int64_t(size.size()) - 2;
  HOTARU_CHECK(theta.dim() == 3 && theta.size(0) == size[0] &&
                   theta.size(1) == dims && theta.size(2) == dims + 1,
               "Expected a batch of ", dims, "D affine matrices of shape Nx",
               dims, "x", dims + 1, " for size ", shape_text(size), ". Got ",
               shape_text(theta.sizes()), ".");
  const TensorOptions options(theta);
  Dims spatial(size.subspan(2));
  const auto base = [=, n = size[0]] {
    const Tensor points = base_points(spatial, align_corners, options);
    return expand(unsqueeze(points, 0), Dims{n, points.size(0), dims + 1});
  };
  Dims shape(spatial);
  shape.insert(0, size[0]);
  shape.push_back(dims);
  Tensor out;
  {
    const autograd::NoGrad no_grad;
    out = view(bmm(autocast::lowered(base()),
                   transpose(autocast::lowered(theta), 1, 2)),
               shape);
  }
  // Points are made anew for the way back, as they are cheaper than to keep.
  if (autograd::needs_grad(theta))
    autograd::record(
        "AffineGridGeneratorBackward0", out, {theta}, {},
        [base, dims, dtype = theta.dtype()](autograd::Backward&,
                                            const Tensor& g) -> Tensors {
          const Tensor flat = reshape(g, Dims{g.size(0), -1, dims});
          const Tensor points = to(base(), flat.dtype());
          return {to(bmm(transpose(flat, 1, 2), points), dtype)};
        });
  return out;
}

}  // namespace

HOTARU_OP(
    "affine_grid_generator(Tensor theta, int[] size, bool align_corners) "
    "-> Tensor",
    affine_grid_generator);

}  // namespace hotaru
