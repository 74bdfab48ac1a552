// Maxima over regions: torchvision::roi_pool.
#include "hotaru/autograd/record.h"
#include "hotaru/backend/common/vision/regions.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/refuse.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/vision/regions.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/determinism.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {

void check_regions(const char* name, const Tensor& input, const Tensor& rois,
                   GridSize grid) {
  HOTARU_CHECK(input.dim() == 4, name, ": expected a 4-D input, got ",
               input.dim(), "-D");
  HOTARU_CHECK(rois.dim() == 2 && rois.size(1) == 5,
               "rois must have shape as Tensor[K, 5]");
  HOTARU_CHECK(input.dtype() == rois.dtype(),
               "Expected tensor for input to have the same type as tensor for "
               "rois; but type ",
               scalar_type_name(input.dtype()), " does not equal ",
               scalar_type_name(rois.dtype()));
  check_floating(name, input);
  HOTARU_CHECK(grid.rows > 0 && grid.columns > 0, name,
               ": expected a grid with cells, got ", grid.rows, " x ",
               grid.columns);
}

Tensor as_working(const Tensor& t) {
  return contiguous(itemsize(t.dtype()) == 2 ? to(t, DType::kFloat32) : t);
}

namespace {

using autograd::Backward;

Tensor roi_pool_backward(const Tensor& grad, const Tensor& rois,
                         const Tensor& places, IntSpan sizes) {
  static const Kernel& run = kernel("roi_pool_backward");
  HOTARU_CHECK(grad.dim() == 4 && places.sizes() == grad.sizes() &&
                   places.dtype() == DType::kInt32,
               "roi_pool: expected a 4-D gradient and argmax of its shape in "
               "int32, got ",
               shape_text(grad.sizes()), " and ", shape_text(places.sizes()));
  HOTARU_CHECK(rois.dim() == 2 && rois.size(1) == 5 &&
                   rois.size(0) == grad.size(0) && sizes[1] == grad.size(1),
               "roi_pool: gradient ", shape_text(grad.sizes()), " and rois ",
               shape_text(rois.sizes()), " do not fit a picture of shape ",
               shape_text(sizes));
  if (grad.numel() > 0)
    require_deterministic_cuda("roi_pool_backward_kernel", grad);
  Tensor out;
  {
    autograd::NoGrad guard;
    const Tensor from = as_working(grad), regions = as_working(rois),
                 at = contiguous(places);
    out = allocate(sizes, from.dtype(), from.device());
    enqueue(run, {write(out), read(from), read(at), read(regions)});
    out = to(out, grad.dtype());
  }
  refuse_gradient("RoiPoolBackwardBackward0",
                  "double backwards on roi_pool not supported", out, {grad});
  return out;
}

std::tuple<Tensor, Tensor> roi_pool(const Tensor& input, const Tensor& rois,
                                    double scale, int64_t rows,
                                    int64_t columns) {
  static const Kernel& run = kernel("roi_pool");
  check_regions("roi_pool", input, rois, {rows, columns});
  const Dims shape{rois.size(0), input.size(1), rows, columns};
  const Tensor places = allocate(shape, DType::kInt32, input.device());
  Tensor out;
  {
    autograd::NoGrad guard;
    const Tensor from = as_working(input), regions = as_working(rois);
    out = allocate(shape, from.dtype(), from.device());
    enqueue(run, {write(out), write(places), read(from), read(regions)},
            RegionAttributes{.scale = scale});
    out = to(out, input.dtype());
  }
  if (autograd::needs_grad(input))
    autograd::record(
        "RoiPoolBackward0", out, {input}, {rois, places},
        [sizes = Dims(input.sizes())](Backward& b, const Tensor& g) {
          return Tensors{roi_pool_backward(g, b.saved(0), b.saved(1), sizes)};
        });
  return {out, places};
}

HOTARU_OP(
    "torchvision::roi_pool(Tensor input, Tensor rois, float spatial_scale, "
    "SymInt pooled_height, SymInt pooled_width) -> (Tensor, Tensor)",
    roi_pool);
HOTARU_OP(
    "torchvision::_roi_pool_backward(Tensor grad, Tensor rois, Tensor argmax, "
    "float spatial_scale, SymInt pooled_height, SymInt pooled_width, SymInt "
    "batch_size, SymInt channels, SymInt height, SymInt width) -> Tensor",
    +[](const Tensor& grad, const Tensor& rois, const Tensor& places, double,
        int64_t, int64_t, int64_t n, int64_t channels, int64_t height,
        int64_t width) {
      return roi_pool_backward(grad, rois, places,
                               Dims{n, channels, height, width});
    });

}  // namespace
}  // namespace hotaru
