// Launching the choice among overlapping boxes; see params/vision.h.
#include <algorithm>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/vision/overlap.h"
#include "hotaru/backend/common/vision/regions.h"
#include "hotaru/backend/cuda/clear.h"
#include "hotaru/backend/cuda/geometry.h"
#include "hotaru/backend/cuda/params/vision.h"

namespace hotaru::cuda {
namespace {

constexpr KernelTypes<FloatTypes> kTypes{2, "nms_kernel"};

/// Boxes of a stretch: as many as `covered` has room for.
int64_t rows_of(int64_t words, int64_t most_words) {
  return std::max(kNmsWord, most_words / words / kNmsWord * kNmsWord);
}

void nms(const KernelCall& call) {
  check_types<kTypes>(call);
  const Tensor &kept = call.tensor(0), &count = call.tensor(1);
  const Tensor& boxes = call.tensor(2);
  if (boxes.size(0) == 0) return clear(count);
  NmsParams p;
  p.boxes = device_address(boxes);
  p.numel = boxes.size(0);
  p.words = ceil_divide(p.numel, kNmsWord);
  p.kept = static_cast<int64_t*>(device_address(kept));
  p.count = static_cast<int64_t*>(device_address(count));
  const double threshold = call.attributes<NmsAttributes>().threshold;
  p.limit = boxes.dtype() == DType::kFloat32
                ? double(not_above<float>(threshold))
                : threshold;
  const int64_t rows =
      rows_of(p.words, std::min(kNmsMostWords, most_elements()));
  const size_t fallen_bytes = size_t(p.words) * sizeof(*p.fallen);
  const Workspace fallen{fallen_bytes},
      covered{size_t(std::min(rows, p.numel)) * fallen_bytes};
  p.fallen = static_cast<unsigned long long*>(fallen.data());
  p.covered = static_cast<unsigned long long*>(covered.data());
  clear(p.fallen, fallen_bytes);
  static constinit const Functions cover("NmsCover"), keep("NmsKeep");
  for (p.first = 0; p.first < p.numel; p.first += rows) {
    p.rows = std::min(rows, p.numel - p.first);
    launch(cover.of(boxes.dtype()),
           {unsigned(p.words), blocks_for(p.rows, kBlock)}, kBlock, p);
    launch(keep.of_size(sizeof(*p.fallen)), {1}, kBlock, p);
  }
}

HOTARU_KERNEL(kCUDA, "nms", nms, check_types<kTypes>);

}  // namespace
}  // namespace hotaru::cuda
