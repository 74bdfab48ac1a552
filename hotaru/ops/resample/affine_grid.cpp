// Sampling grids of affine maps.
#include "hotaru/ops/autocast.h"
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
  // Homogeneous coordinates: x, y (, z), 1, of which x runs fastest.
  Tensors columns;
  for (int64_t d = dims; d-- > 0;) {
    Dims shape(size_t(dims), 1);
    shape[size_t(d)] = spatial[size_t(d)];
    const Tensor line = positions(spatial[size_t(d)], align_corners, options);
    columns.push_back(expand(reshape(line, shape), spatial));
  }
  columns.push_back(ones(spatial, options));
  const Tensor base = reshape(stack(columns, -1), Dims{1, -1, dims + 1});
  const Tensor points = expand(base, Dims{size[0], base.size(1), dims + 1});
  spatial.insert(0, size[0]);
  spatial.push_back(dims);
  return view(
      bmm(autocast::lowered(points), transpose(autocast::lowered(theta), 1, 2)),
      spatial);
}

}  // namespace

HOTARU_OP(
    "affine_grid_generator(Tensor theta, int[] size, bool align_corners) "
    "-> Tensor",
    affine_grid_generator);

}  // namespace hotaru
