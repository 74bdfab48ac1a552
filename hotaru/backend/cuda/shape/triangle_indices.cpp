// Launching what tells where the elements of triangles lie; see
// params/triangle.h.
#include "hotaru/backend/common/index/index.h"
#include "hotaru/backend/cuda/geometry.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/triangle.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::cuda {
namespace {

void triangle_indices(const KernelCall& call) {
  const Tensor& out = call.tensor(0);
  if (out.numel() == 0) return;
  const auto& a = call.attributes<TriangleIndicesAttributes>();
  TriangleIndicesParams p;
  p.out = device_address(out);
  p.triangle = {a.rows, a.columns, a.diagonal, a.upper};
  p.first = {a.first_row, a.first_column};
  HOTARU_CHECK(p.triangle.count() == out.size(1),
               "triangle_indices: the triangle has ", p.triangle.count(),
               " elements, the result ", out.size(1));
  static constinit const Functions functions("TriangleIndices");
  launch(functions.of(out.dtype()), {blocks_for(out.size(1), kBlock)}, kBlock,
         p);
}

HOTARU_KERNEL(kCUDA, "triangle_indices", triangle_indices);

}  // namespace
}  // namespace hotaru::cuda
