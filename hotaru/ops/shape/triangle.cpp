#include "hotaru/ops/shape/triangle.h"

#include <cstdlib>
#include <limits>

#include "hotaru/autograd/record.h"
#include "hotaru/backend/common/index/index.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/create/reorder.h"
#include "hotaru/ops/index/index_dtype.h"
#include "hotaru/ops/index/mask.h"
#include "hotaru/ops/inplace.h"
#include "hotaru/ops/pointwise/elementwise.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

const Kernel& kTriangle = kernel("triangle");

struct Side {
  bool upper;
  const char *op, *node;
  Tensor (*gradient)(const Tensor&, int64_t);
};
constexpr Side kLower{false, "tril", "TrilBackward0", tril};
constexpr Side kUpper{true, "triu", "TriuBackward0", triu};

/// Writes the triangle of self into out, which may be self.
Tensor triangle(const Tensor& out, const Tensor& self, int64_t diagonal,
                const Side& side) {
  HOTARU_CHECK(self.dim() >= 2, side.op,
               ": input tensor must have at least 2 dimensions");
  if (self.numel() > 0) {
    // Beyond the matrix every diagonal is as good as the next.
    const int64_t limit = self.size(-2) + self.size(-1) + 1;
    const TriangleAttributes attributes{std::clamp(diagonal, -limit, limit),
                                        side.upper};
    enqueue(kTriangle, {write(out), read(self)}, attributes);
  }
  if (autograd::needs_grad(self))
    autograd::record(side.node, out, {self}, {},
                     [diagonal, gradient = side.gradient](
                         autograd::Backward&, const Tensor& g) -> Tensors {
                       return {gradient(g, diagonal)};
                     });
  return out;
}

Tensor triangle_(const Tensor& self, int64_t diagonal, const Side& side) {
  autograd::check_inplace(self);
  triangle(self, self, diagonal, side);
  self.bump_version();
  return self;
}

/// The part of rows x columns in which a triangle lies, and where it starts:
/// at least half of it belongs to the triangle.
struct Part {
  int64_t rows, columns, offset, first_row = 0, first_column = 0;
};

Part part_of(int64_t rows, int64_t columns, int64_t offset, bool upper) {
  HOTARU_CHECK(rows >= 0, "row must be non-negative, got", rows);
  HOTARU_CHECK(columns >= 0, "col must be non-negative, got", columns);
  offset = std::clamp(offset, -rows, columns);
  Part part{rows, columns, offset};
  if (upper) {
    part.first_column = std::max<int64_t>(0, offset);
    if (offset > columns - rows) part.rows = columns - offset;
  } else {
    part.first_row = std::max<int64_t>(0, -offset);
    if (offset < columns - rows) part.columns = rows + offset;
  }
  part.rows -= part.first_row;
  part.columns -= part.first_column;
  part.offset += part.first_row - part.first_column;
  return part;
}

/// How many elements lie on and below a diagonal; at most int64's largest.
int64_t below(int64_t rows, int64_t columns, int64_t offset) {
  const int64_t empty_rows = std::clamp<int64_t>(-offset, 0, rows);
  const int64_t n = rows - empty_rows, before = offset + empty_rows;
  const __int128 growing = std::clamp<int64_t>(columns - before - 1, 0, n);
  const __int128 total = growing * (before + 1) + growing * (growing - 1) / 2 +
                         (n - growing) * columns;
  return int64_t(std::min<__int128>(total, INT64_MAX));
}

/// Where the triangle's elements lie, one to a column. The result is made
/// first: where there is no memory for it, nothing is computed.
Tensor coordinates(const Side& side, Tensor (*triangle)(const Tensor&, int64_t),
                   int64_t count, const Part& part, TensorOptions options) {
  options.dtype = options.dtype.value_or(DType::kInt64);
  const Tensor out = empty(Dims{2, count}, options);
  if (is_index(out)) {
    static const Kernel& kIndices = kernel("triangle_indices");
    if (count > 0)
      enqueue(kIndices, {write(out)},
              TriangleIndicesAttributes{part.rows, part.columns, part.offset,
                                        part.first_row, part.first_column,
                                        side.upper});
    return out;
  }
  options.dtype = DType::kBool;
  const Tensor inside =
      triangle(ones(Dims{part.rows, part.columns}, options), part.offset);
  copy_(out, transpose(nonzero(inside), 0, 1));
  const auto shift = [&](int64_t row, int64_t by) {
    const Tensor all = select(out, 0, row);
    if (by > 0) add_(all, elementwise::operand(by, all));
  };
  shift(0, part.first_row);
  shift(1, part.first_column);
  return out;
}

}  // namespace

Tensor tril(const Tensor& self, int64_t diagonal) {
  return triangle(row_major_like(self), self, diagonal, kLower);
}
Tensor triu(const Tensor& self, int64_t diagonal) {
  return triangle(row_major_like(self), self, diagonal, kUpper);
}
Tensor tril_(const Tensor& self, int64_t diagonal) {
  return triangle_(self, diagonal, kLower);
}
Tensor triu_(const Tensor& self, int64_t diagonal) {
  return triangle_(self, diagonal, kUpper);
}

Tensor tril_indices(int64_t rows, int64_t columns, int64_t offset,
                    TensorOptions options) {
  const Part part = part_of(rows, columns, offset, false);
  return coordinates(kLower, tril, below(part.rows, part.columns, part.offset),
                     part, options);
}
Tensor triu_indices(int64_t rows, int64_t columns, int64_t offset,
                    TensorOptions options) {
  const Part part = part_of(rows, columns, offset, true);
  // Turned round, what lies above lies below.
  return coordinates(kUpper, triu, below(part.columns, part.rows, -part.offset),
                     part, options);
}

Tensor diag(const Tensor& self, int64_t diagonal) {
  HOTARU_CHECK(self.dim() == 1 || self.dim() == 2,
               "diag(): Supports 1D or 2D tensors. Got ", self.dim(), "D");
  if (self.dim() == 1) return diag_embed(self, diagonal);
  return clone(hotaru::diagonal(self, diagonal, 0, 1));
}

Tensor diag_embed(const Tensor& self, int64_t offset, int64_t dim1,
                  int64_t dim2) {
  HOTARU_CHECK(self.dim() >= 1,
               "diag_embed: input tensor must have at least 1 dimension");
  const int64_t a = wrap_dim(dim1, self.dim() + 1);
  const int64_t b = wrap_dim(dim2, self.dim() + 1);
  HOTARU_CHECK(a != b, "diagonal dimensions cannot be identical ", dim1, ", ",
               dim2);
  int64_t side = 0;
  HOTARU_CHECK(
      offset != std::numeric_limits<int64_t>::min() &&
          !__builtin_add_overflow(self.size(-1), std::abs(offset), &side),
      "diag_embed: a diagonal ", offset,
      " away from the main one makes the result larger than int64 can "
      "count");
  Dims shape(self.sizes());
  shape.resize(shape.size() - 1);
  shape.insert(size_t(std::min(a, b)), side);
  shape.insert(size_t(std::max(a, b)), side);
  const Tensor out = zeros(shape, TensorOptions(self));
  {
    autograd::NoGrad guard;
    copy_(untracked(diagonal(out, offset, a, b)), self);
  }
  if (autograd::needs_grad(self))
    autograd::record(
        "DiagEmbedBackward0", out, {self}, {},
        [offset, a, b](autograd::Backward&, const Tensor& g) -> Tensors {
          return {diagonal(g, offset, a, b)};
        });
  return out;
}

Tensor diagflat(const Tensor& self, int64_t offset) {
  return diag_embed(reshape(self, Dims{-1}), offset);
}

namespace {

HOTARU_OP("tril(Tensor self, SymInt diagonal=0) -> Tensor", tril);
HOTARU_OP("triu(Tensor self, SymInt diagonal=0) -> Tensor", triu);
HOTARU_OP("tril_(Tensor(a!) self, SymInt diagonal=0) -> Tensor(a!)", tril_);
HOTARU_OP("triu_(Tensor(a!) self, SymInt diagonal=0) -> Tensor(a!)", triu_);
HOTARU_OP(
    "tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
    "Tensor",
    +[](int64_t rows, int64_t columns, int64_t offset, Optional<DType> dtype,
        Value, Optional<Device> device, Value) {
      TensorOptions options;
      options.dtype = dtype.value_or(DType::kInt64);
      options.device = device;
      return tril_indices(rows, columns, offset, options);
    });
HOTARU_OP(
    "triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
    "Tensor",
    +[](int64_t rows, int64_t columns, int64_t offset, Optional<DType> dtype,
        Value, Optional<Device> device, Value) {
      TensorOptions options;
      options.dtype = dtype.value_or(DType::kInt64);
      options.device = device;
      return triu_indices(rows, columns, offset, options);
    });
HOTARU_OP("diag(Tensor self, int diagonal=0) -> Tensor", diag);
HOTARU_OP(
    "diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> "
    "Tensor",
    diag_embed);
HOTARU_OP("diagflat(Tensor self, int offset=0) -> Tensor", diagflat);

}  // namespace
}  // namespace hotaru
