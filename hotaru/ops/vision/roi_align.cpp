// Averages over regions, which are linear in the picture: roi_align,
// ps_roi_align, ps_roi_pool. Each is the derivative of its own transpose.
#include "hotaru/autograd/record.h"
#include "hotaru/backend/common/vision/regions.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/ops/vision/regions.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/determinism.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

using autograd::Backward;

/// One of the three.
struct Pooling {
  const char *name, *node, *node_backward;
  /// Name by which errors call its gradient on CUDA.
  const char* backward_kernel;
  const Kernel &forward, &backward;
  /// Each cell of the grid has a channel of the picture for itself.
  bool by_place;
};

const Pooling kAlign{"roi_align",
                     "RoiAlignBackward0",
                     "RoiAlignBackwardBackward0",
                     "roi_align_backward_kernel",
                     kernel("roi_align"),
                     kernel("roi_align_backward"),
                     false};
const Pooling kPsAlign{"ps_roi_align",
                       "PsRoiAlignBackward0",
                       "PsRoiAlignBackwardBackward0",
                       "ps_roi_align_backward_kernel",
                       kernel("ps_roi_align"),
                       kernel("ps_roi_align_backward"),
                       true};
const Pooling kPsPool{"ps_roi_pool",
                      "PsRoiPoolBackward0",
                      "PsRoiPoolBackwardBackward0",
                      "ps_roi_pool_backward_kernel",
                      kernel("ps_roi_pool"),
                      kernel("ps_roi_pool_backward"),
                      true};

Tensor image_of(const Pooling& op, const Tensor& grad, const Tensor& rois,
                IntSpan sizes, const RegionAttributes& a);

Tensor grid_of(const Pooling& op, const Tensor& input, const Tensor& rois,
               GridSize grid, const RegionAttributes& a) {
  check_regions(op.name, input, rois, grid);
  const int64_t cells = op.by_place ? grid.rows * grid.columns : 1;
  HOTARU_CHECK(input.size(1) % cells == 0,
               "input channels must be a multiple of pooling height * pooling "
               "width");
  Tensor out;
  {
    autograd::NoGrad guard;
    const Tensor from = as_working(input), regions = as_working(rois);
    out = allocate(
        Dims{rois.size(0), input.size(1) / cells, grid.rows, grid.columns},
        from.dtype(), from.device());
    enqueue(op.forward, {write(out), read(from), read(regions)}, a);
    out = to(out, input.dtype());
  }
  if (autograd::needs_grad(input))
    autograd::record(
        op.node, out, {input}, {rois},
        [&op, a, sizes = Dims(input.sizes())](Backward& b, const Tensor& g) {
          return Tensors{image_of(op, g, b.saved(0), sizes, a)};
        });
  return out;
}

Tensor image_of(const Pooling& op, const Tensor& grad, const Tensor& rois,
                IntSpan sizes, const RegionAttributes& a) {
  const GridSize grid{grad.size(2), grad.size(3)};
  if (grad.numel() > 0) require_deterministic_cuda(op.backward_kernel, grad);
  Tensor out;
  {
    autograd::NoGrad guard;
    const Tensor from = as_working(grad), regions = as_working(rois);
    out = allocate(sizes, from.dtype(), from.device());
    enqueue(op.backward, {write(out), read(from), read(regions)}, a);
    out = to(out, grad.dtype());
  }
  if (autograd::needs_grad(grad))
    autograd::record(op.node_backward, out, {grad}, {rois},
                     [&op, a, grid](Backward& b, const Tensor& g) {
                       return Tensors{grid_of(op, g, b.saved(0), grid, a)};
                     });
  return out;
}

/// Which channel of the picture each cell was taken from.
Tensor channels_of(const Tensor& grid) {
  const int64_t each = grid.numel() / std::max<int64_t>(1, grid.size(0));
  const Tensor row =
      to(arange(Scalar(0), Scalar(each), Scalar(1)), DType::kInt32);
  return to(contiguous(expand(
                view(row, Dims{1, grid.size(1), grid.size(2), grid.size(3)}),
                grid.sizes())),
            grid.device());
}

void check_grad(const char* name, const Tensor& grad, const Tensor& rois) {
  HOTARU_CHECK(grad.dim() == 4, name, ": expected a 4-D gradient, got ",
               grad.dim(), "-D");
  HOTARU_CHECK(
      rois.dim() == 2 && rois.size(1) == 5 && rois.size(0) == grad.size(0),
      name, ": expected rois of shape [", grad.size(0), ", 5], got ",
      shape_text(rois.sizes()));
}

Tensor backward(const Pooling& op, const Tensor& grad, const Tensor& rois,
                IntSpan sizes, const RegionAttributes& a) {
  check_grad(op.name, grad, rois);
  const int64_t cells = op.by_place ? grad.size(2) * grad.size(3) : 1;
  HOTARU_CHECK(sizes[1] == grad.size(1) * cells, op.name, ": a gradient of ",
               grad.size(1), " channels is of a picture of ",
               grad.size(1) * cells, ", not of ", sizes[1]);
  return image_of(op, grad, rois, sizes, a);
}

HOTARU_OP(
    "torchvision::roi_align(Tensor input, Tensor rois, float spatial_scale, "
    "SymInt pooled_height, SymInt pooled_width, int sampling_ratio, bool "
    "aligned) -> Tensor",
    +[](const Tensor& input, const Tensor& rois, double scale, int64_t rows,
        int64_t columns, int64_t samples, bool aligned) {
      return grid_of(kAlign, input, rois, {rows, columns},
                     {scale, samples, aligned});
    });
HOTARU_OP(
    "torchvision::_roi_align_backward(Tensor grad, Tensor rois, float "
    "spatial_scale, SymInt pooled_height, SymInt pooled_width, SymInt "
    "batch_size, SymInt channels, SymInt height, SymInt width, int "
    "sampling_ratio, bool aligned) -> Tensor",
    +[](const Tensor& grad, const Tensor& rois, double scale, int64_t, int64_t,
        int64_t n, int64_t channels, int64_t height, int64_t width,
        int64_t samples, bool aligned) {
      return backward(kAlign, grad, rois, Dims{n, channels, height, width},
                      {scale, samples, aligned});
    });
HOTARU_OP(
    "torchvision::ps_roi_align(Tensor input, Tensor rois, float "
    "spatial_scale, SymInt pooled_height, SymInt pooled_width, int "
    "sampling_ratio) -> (Tensor, Tensor)",
    +[](const Tensor& input, const Tensor& rois, double scale, int64_t rows,
        int64_t columns, int64_t samples) {
      const Tensor out = grid_of(kPsAlign, input, rois, {rows, columns},
                                 {scale, samples, true});
      return std::tuple{out, channels_of(out)};
    });
HOTARU_OP(
    "torchvision::_ps_roi_align_backward(Tensor grad, Tensor rois, Tensor "
    "channel_mapping, float spatial_scale, SymInt pooled_height, SymInt "
    "pooled_width, int sampling_ratio, SymInt batch_size, SymInt channels, "
    "SymInt height, SymInt width) -> Tensor",
    +[](const Tensor& grad, const Tensor& rois, const Tensor&, double scale,
        int64_t, int64_t, int64_t samples, int64_t n, int64_t channels,
        int64_t height, int64_t width) {
      return backward(kPsAlign, grad, rois, Dims{n, channels, height, width},
                      {scale, samples, true});
    });
HOTARU_OP(
    "torchvision::ps_roi_pool(Tensor input, Tensor rois, float spatial_scale, "
    "SymInt pooled_height, SymInt pooled_width) -> (Tensor, Tensor)",
    +[](const Tensor& input, const Tensor& rois, double scale, int64_t rows,
        int64_t columns) {
      const Tensor out =
          grid_of(kPsPool, input, rois, {rows, columns}, {.scale = scale});
      return std::tuple{out, channels_of(out)};
    });
HOTARU_OP(
    "torchvision::_ps_roi_pool_backward(Tensor grad, Tensor rois, Tensor "
    "channel_mapping, float spatial_scale, SymInt pooled_height, SymInt "
    "pooled_width, SymInt batch_size, SymInt channels, SymInt height, SymInt "
    "width) -> Tensor",
    +[](const Tensor& grad, const Tensor& rois, const Tensor&, double scale,
        int64_t, int64_t, int64_t n, int64_t channels, int64_t height,
        int64_t width) {
      return backward(kPsPool, grad, rois, Dims{n, channels, height, width},
                      {.scale = scale});
    });

}  // namespace
}  // namespace hotaru
