// Embeddings whose tables are integers.
#include "hotaru/autograd/grad_mode.h"
#include "hotaru/backend/common/index/narrow_rows.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/shape.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/index/index_dtype.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/kernel.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

constexpr const char* kName = "embedding_narrow: ";

/// Rows of a table at indices [...], as floats [..., columns]. The table is
/// uint8 [rows, parts, bytes] of 8 or 4 bits (narrow_rows.h). No gradient.
Tensor embedding_narrow(const Tensor& table, const Tensor& indices,
                        int64_t bits) {
  static const Kernel& run = kernel("narrow_rows");
  HOTARU_CHECK(bits == 8 || bits == 4, kName, "bits should be 8 or 4, got ",
               bits);
  HOTARU_CHECK(table.dtype() == DType::kUInt8 && table.dim() == 3 &&
                   table.size(2) >= narrow_tail(bits),
               kName, "a table of ", bits,
               " bits should be uint8 [rows, parts, bytes], of at least ",
               narrow_tail(bits), " bytes, got ",
               scalar_type_name(table.dtype()), " of shape ",
               shape_text(table.sizes()));
  HOTARU_CHECK(is_index(indices),
               "Expected tensor for argument #1 'indices' to have one of the "
               "following scalar types: Long, Int; but got torch.",
               scalar_type_name(indices.dtype()),
               "Tensor instead (while checking arguments for embedding)");
  const autograd::NoGrad no_grad;
  const NarrowRowsAttributes g{bits};
  Dims shape(indices.sizes());
  shape.push_back(table.size(1) * g.width(table.size(2)));
  const Tensor out = allocate(Dims{indices.numel(), shape.back()},
                              DType::kFloat32, table.device());
  enqueue(run, {write(out), read(contiguous(table)), read(contiguous(indices))},
          g);
  return reshape(out, shape);
}

HOTARU_OP(
    "hotaru::embedding_narrow(Tensor weight, Tensor indices, int bits) -> "
    "Tensor",
    embedding_narrow);

}  // namespace
}  // namespace hotaru
