// Which of overlapping boxes stay: torchvision::nms.
#include "hotaru/autograd/grad_mode.h"
#include "hotaru/backend/common/vision/regions.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/host_value.h"
#include "hotaru/ops/index/slices.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/ops/sort/sort.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

/// Indices of the boxes that stay, best score first; of equal scores the
/// first. Waits for their number.
Tensor nms(const Tensor& boxes, const Tensor& scores, double threshold) {
  static const Kernel& run = kernel("nms");
  HOTARU_CHECK(boxes.dim() == 2, "boxes should be a 2d tensor, got ",
               boxes.dim(), "D");
  HOTARU_CHECK(boxes.size(1) == 4,
               "boxes should have 4 elements in dimension 1, got ",
               boxes.size(1));
  HOTARU_CHECK(scores.dim() == 1, "scores should be a 1d tensor, got ",
               scores.dim(), "D");
  HOTARU_CHECK(boxes.size(0) == scores.size(0),
               "boxes and scores should have same number of elements in "
               "dimension 0, got ",
               boxes.size(0), " and ", scores.size(0));
  autograd::NoGrad guard;
  const Device device = boxes.device();
  const Tensor order = std::get<1>(sort(scores, 0, true));
  const bool narrow_type = itemsize(boxes.dtype()) == 2;
  const Tensor rows = contiguous(
      index_select(narrow_type ? to(boxes, DType::kFloat32) : boxes, 0, order));
  const Tensor kept = allocate(Dims{boxes.size(0)}, DType::kInt64, device);
  const Tensor count = allocate(Dims{1}, DType::kInt64, device);
  enqueue(run, {write(kept), write(count), read(rows)},
          NmsAttributes{threshold});
  const int64_t n = host_value(count, "how many boxes stay").to_int();
  return index_select(order, 0, narrow(kept, 0, 0, n));
}

HOTARU_OP(
    "torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> "
    "Tensor",
    nms);

}  // namespace
}  // namespace hotaru
