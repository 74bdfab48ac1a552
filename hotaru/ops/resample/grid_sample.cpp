// Sampling at the points of a grid.
#include "hotaru/backend/common/resample/grid_sample.h"

#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/operands.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/resample/grid_sample_grad.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/determinism.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

void check(const Tensor& input, const Tensor& grid, int64_t mode,
           int64_t padding) {
  HOTARU_CHECK(input.dim() >= 1 && grid.dim() >= 1,
               "grid_sampler(): input and grid must have dimensions");
  HOTARU_CHECK(input.size(0) == grid.size(0),
               "grid_sampler(): expected grid and input to have same batch "
               "size, but got input with sizes ",
               shape_text(input.sizes()), " and grid with sizes ",
               shape_text(grid.sizes()));
  HOTARU_CHECK(grid.size(-1) == input.dim() - 2,
               "grid_sampler(): expected grid to have size ", input.dim() - 2,
               " in last dimension, but got grid with sizes ",
               shape_text(grid.sizes()));
  HOTARU_CHECK(
      input.dim() == grid.dim() && (input.dim() == 4 || input.dim() == 5),
      "grid_sampler(): expected 4D or 5D input and grid with same "
      "number of dimensions, but got input with sizes ",
      shape_text(input.sizes()), " and grid with sizes ",
      shape_text(grid.sizes()));
  for (int64_t d = 2; d < input.dim(); ++d)
    HOTARU_CHECK(input.size(d) > 0,
                 "grid_sampler(): expected input to have non-empty spatial "
                 "dimensions, but input has sizes ",
                 shape_text(input.sizes()), " with dimension ", d,
                 " being empty");
  check_operand(input.dtype(), grid.dtype());
  HOTARU_CHECK(mode >= 0 && mode <= 2 && padding >= 0 && padding <= 2,
               "grid_sampler(): unknown interpolation mode ", mode,
               " or padding mode ", padding);
  HOTARU_CHECK(input.dim() == 4 || mode != int64_t(GridMode::kCubic),
               "grid_sampler(): bicubic interpolation only supports 4D input");
}

Tensor grid_sampler(const Tensor& input, const Tensor& grid, int64_t mode,
                    int64_t padding, bool align_corners) {
  static const Kernel& forward = kernel("grid_sample");
  static const Kernel& backward = kernel("grid_sample_grad");
  check(input, grid, mode, padding);
  const GridSampleAttributes a{static_cast<GridMode>(mode),
                               static_cast<GridPadding>(padding),
                               align_corners};
  Dims size{input.size(0), input.size(1)};
  for (int64_t d = 1; d + 1 < grid.dim(); ++d) size.push_back(grid.size(d));
  const Tensor out = allocate(size, input.dtype(), input.device());
  {
    autograd::NoGrad guard;
    const Tensor x = contiguous(input), points = contiguous(grid);
    enqueue(forward, {write(out), read(x), read(points)}, a);
  }
  if (!autograd::needs_grad(input, grid)) return out;
  autograd::record(
      input.dim() == 4 ? "GridSampler2DBackward0" : "GridSampler3DBackward0",
      out, {input, grid}, {input, grid},
      [a](autograd::Backward& b, const Tensor& g) -> Tensors {
        if (autograd::grad_enabled())
          return grid_sample_gradients(g, b.saved(0), b.saved(1), a);
        const Tensor x = contiguous(b.saved(0)), grid = contiguous(b.saved(1));
        const Tensor grad = contiguous(g);
        const auto like = [](const Tensor& t) {
          return allocate(t.sizes(), t.dtype(), t.device());
        };
        if (b.needs(0) && g.numel() > 0)
          require_deterministic_cuda(x.dim() == 4
                                         ? "grid_sampler_2d_backward_cuda"
                                         : "grid_sampler_3d_backward_cuda",
                                     x);
        // The door takes the stream from its first operand, so gx is there.
        const Tensor gx = like(x);
        const Tensor ggrid = b.needs(1) ? like(grid) : Tensor();
        enqueue(backward,
                {write(gx), write(ggrid), read(grad), read(x), read(grid)}, a);
        return {gx, ggrid};
      });
  return out;
}

}  // namespace

HOTARU_OP(
    "grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int "
    "padding_mode, bool align_corners) -> Tensor",
    grid_sampler);
HOTARU_OP(
    "grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, int "
    "padding_mode, bool align_corners) -> Tensor",
    grid_sampler);
HOTARU_OP(
    "grid_sampler(Tensor input, Tensor grid, int interpolation_mode, "
    "int padding_mode, bool align_corners) -> Tensor",
    grid_sampler);

}  // namespace hotaru
