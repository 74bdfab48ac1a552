// Names of the joining operators, and those made of them alone.
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/join.h"

namespace hotaru {
namespace {

Tensor atleast_1d(const Tensor& t) {
  return t.dim() >= 1 ? t : reshape(t, Dims{1});
}
Tensor atleast_2d(const Tensor& t) {
  if (t.dim() >= 2) return t;
  return t.dim() == 1 ? unsqueeze(t, 0) : reshape(t, Dims{1, 1});
}
Tensor atleast_3d(const Tensor& t) {
  return t.dim() >= 3 ? t : unsqueeze(atleast_2d(t), -1);
}

Tensors each(const Tensors& tensors, Tensor (*f)(const Tensor&)) {
  Tensors out;
  out.reserve(tensors.size());
  for (const Tensor& t : tensors) out.push_back(f(t));
  return out;
}

void check_stackable(const char* name, const Tensors& tensors) {
  HOTARU_CHECK(!tensors.empty(), name, " expects a non-empty TensorList");
}

}  // namespace

Tensor hstack(const Tensors& tensors) {
  check_stackable("hstack", tensors);
  const Tensors rows = each(tensors, atleast_1d);
  return cat(rows, rows[0].dim() == 1 ? 0 : 1);
}

Tensor vstack(const Tensors& tensors) {
  check_stackable("vstack", tensors);
  return cat(each(tensors, atleast_2d), 0);
}

Tensor dstack(const Tensors& tensors) {
  check_stackable("dstack", tensors);
  return cat(each(tensors, atleast_3d), 2);
}

Tensor column_stack(const Tensors& tensors) {
  check_stackable("column_stack", tensors);
  return hstack(each(tensors, [](const Tensor& t) {
    return t.dim() <= 1 ? reshape(t, Dims{t.numel(), 1}) : t;
  }));
}

Tensors meshgrid(const Tensors& tensors, const std::string& indexing) {
  HOTARU_CHECK(!tensors.empty(), "meshgrid expects a non-empty TensorList");
  HOTARU_CHECK(indexing == "ij" || indexing == "xy",
               "torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but "
               "received: ",
               indexing);
  const bool swap = indexing == "xy" && tensors.size() >= 2;
  Tensors axes = tensors;
  if (swap) std::swap(axes[0], axes[1]);
  Dims shape;
  for (const Tensor& t : axes) {
    HOTARU_CHECK(t.dim() <= 1,
                 "torch.meshgrid: Expected 0D or 1D tensor in the tensor list "
                 "but got: ",
                 shape_text(t.sizes()));
    HOTARU_CHECK(t.dtype() == tensors[0].dtype(),
                 "meshgrid expects all tensors to have the same dtype");
    shape.push_back(t.numel());
  }
  Tensors grids;
  for (size_t i = 0; i < axes.size(); ++i) {
    Dims one(axes.size(), 1);
    one[i] = axes[i].numel();
    grids.push_back(expand(reshape(axes[i], one), shape));
  }
  if (swap) std::swap(grids[0], grids[1]);
  return grids;
}

Tensor cartesian_prod(const Tensors& tensors) {
  for (const Tensor& t : tensors)
    HOTARU_CHECK(t.dim() == 1, "Expect a 1D vector, but got shape ",
                 shape_text(t.sizes()));
  if (tensors.size() == 1) return tensors[0];
  return stack(
      each(meshgrid(tensors), [](const Tensor& t) { return flatten(t); }), 1);
}

namespace {

HOTARU_OP("cat(Tensor[] tensors, int dim=0) -> Tensor", cat);
HOTARU_OP("concat(Tensor[] tensors, int dim=0) -> Tensor", cat);
HOTARU_OP("concatenate(Tensor[] tensors, int dim=0) -> Tensor", cat);
HOTARU_OP("stack(Tensor[] tensors, int dim=0) -> Tensor", stack);
HOTARU_OP("hstack(Tensor[] tensors) -> Tensor", hstack);
HOTARU_OP("vstack(Tensor[] tensors) -> Tensor", vstack);
HOTARU_OP("row_stack(Tensor[] tensors) -> Tensor", vstack);
HOTARU_OP("dstack(Tensor[] tensors) -> Tensor", dstack);
HOTARU_OP("column_stack(Tensor[] tensors) -> Tensor", column_stack);
HOTARU_OP("atleast_1d(Tensor self) -> Tensor", atleast_1d);
HOTARU_OP("atleast_2d(Tensor self) -> Tensor", atleast_2d);
HOTARU_OP("atleast_3d(Tensor self) -> Tensor", atleast_3d);
HOTARU_OP("repeat(Tensor self, SymInt[] repeats) -> Tensor", repeat);
HOTARU_OP("tile(Tensor self, SymInt[] dims) -> Tensor", tile);
HOTARU_OP("flip(Tensor self, int[] dims) -> Tensor", flip);
HOTARU_OP(
    "fliplr(Tensor self) -> Tensor", +[](const Tensor& self) {
      HOTARU_CHECK(self.dim() >= 2, "Input must be >= 2-d.");
      return flip(self, Dims{1});
    });
HOTARU_OP(
    "flipud(Tensor self) -> Tensor", +[](const Tensor& self) {
      HOTARU_CHECK(self.dim() >= 1, "Input must be >= 1-d.");
      return flip(self, Dims{0});
    });
HOTARU_OP("roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor",
          roll);
HOTARU_OP("rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor", rot90);
HOTARU_OP(
    "meshgrid(Tensor[] tensors) -> Tensor[]",
    +[](const Tensors& tensors) { return meshgrid(tensors); });
HOTARU_OP("meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]",
          meshgrid);
HOTARU_OP("cartesian_prod(Tensor[] tensors) -> Tensor", cartesian_prod);
HOTARU_OP("block_diag(Tensor[] tensors) -> Tensor", block_diag);

}  // namespace
}  // namespace hotaru
