// Linear maps whose weights stay in the blocks of a GGUF file.
#include "hotaru/autograd/grad_mode.h"
#include "hotaru/autograd/node.h"
#include "hotaru/backend/common/matmul/weight_only.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/shape.h"
#include "hotaru/io/weights/block_types.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/kernel.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru::io {
namespace {

constexpr const char* kName = "linear_blocks: ";

const BlockType& type_of(const std::string& name) {
  const BlockType* type = find_block_type(name);
  HOTARU_CHECK(type && type->unpack, kName, "the type '", name,
               "' is none of the blocks that are read: Q4_0, Q4_1, Q5_0, Q5_1, "
               "Q8_0, Q4_K, Q5_K, Q6_K");
  return *type;
}

NarrowLayout layout_of(const BlockType& type) {
  if (type.name == "Q8_0") return NarrowLayout::kQ8_0;
  if (type.name == "Q4_0") return NarrowLayout::kQ4_0;
  return NarrowLayout::kBlocks;
}

void check(const Tensor& x, const Tensor& blocks, const BlockType& type,
           const Tensor& bias) {
  HOTARU_CHECK(x.dtype() == DType::kFloat32 || x.dtype() == DType::kFloat16 ||
                   x.dtype() == DType::kBFloat16,
               kName, "the input should be float32 or a 16-bit float, got ",
               scalar_type_name(x.dtype()));
  HOTARU_CHECK(blocks.dtype() == DType::kUInt8 && blocks.dim() == 2, kName,
               "blocks should be a matrix of uint8, a row of bytes for each "
               "output, got ",
               scalar_type_name(blocks.dtype()), " of shape ",
               shape_text(blocks.sizes()));
  HOTARU_CHECK(blocks.size(1) % type.nbytes == 0, kName, "rows of ",
               blocks.size(1), " bytes are no whole blocks of ", type.name,
               ", which have ", type.nbytes);
  const int64_t k = blocks.size(1) / type.nbytes * type.elements;
  HOTARU_CHECK(x.dim() > 0 && x.size(-1) == k, kName, "an input of shape ",
               shape_text(x.sizes()), " does not fit rows of ", k,
               " elements, which ", blocks.size(1), " bytes of ", type.name,
               " hold");
  if (!bias.defined()) return;
  HOTARU_CHECK(bias.dtype() == x.dtype(), kName, "expected a bias of type ",
               scalar_type_name(x.dtype()), " but found ",
               scalar_type_name(bias.dtype()));
  HOTARU_CHECK(bias.dim() == 1 && bias.size(0) == blocks.size(0), kName,
               "a bias of shape ", shape_text(bias.sizes()), " does not fit ",
               blocks.size(0), " outputs");
}

/// x [m, k], rows contiguous.
Tensor multiply(const Tensor& x, const Tensor& blocks, const BlockType& type,
                const Tensor& bias) {
  static const Kernel& product = kernel("weight_only_linear");
  const int64_t m = x.size(0), n = blocks.size(0);
  const Tensor none;
  Tensor out = allocate(Dims{m, n}, x.dtype(), x.device());
  enqueue(product, {write(out), read(x), read(blocks), read(none), read(bias)},
          WeightOnlyAttributes{.layout = layout_of(type),
                               .m = m,
                               .n = n,
                               .k = x.size(1),
                               .x_row = x.stride(0),
                               .unpack = type.unpack,
                               .block_elements = int64_t{type.elements},
                               .block_bytes = int64_t{type.nbytes}});
  return out;
}

/// x [..., k] times the transpose of a weight [n, k] that lies in GGUF's blocks
/// of that type: uint8 [n, bytes of a row]. Of the gradients the input's and
/// the bias's; then the weight is widened.
Tensor linear_blocks(const Tensor& x, const Tensor& blocks,
                     const std::string& type_name, const Tensor& bias) {
  const BlockType& type = type_of(type_name);
  check(x, blocks, type, bias);
  const Tensor bytes = contiguous(blocks);
  const int64_t k = x.size(-1), n = blocks.size(0);
  const auto needs = [](const Tensor& t) {
    return t.defined() && autograd::requires_grad(t);
  };
  if (autograd::grad_enabled() && (needs(x) || needs(bias))) {
    const Tensor all =
        multiply(eye(k, k, {x.dtype(), x.device()}), bytes, type, {});
    return linear(x, t(all), bias);
  }
  int64_t m = 1;
  for (int64_t i = 0; i + 1 < x.dim(); ++i) m *= x.size(i);
  Dims shape(x.sizes());
  shape[shape.size() - 1] = n;
  const Tensor rows = reshape(contiguous(x), Dims{m, k});
  return reshape(
      multiply(rows, bytes, type, bias.defined() ? contiguous(bias) : bias),
      shape);
}

HOTARU_OP(
    "hotaru::linear_blocks(Tensor input, Tensor blocks, str type, Tensor? "
    "bias=None) -> Tensor",
    linear_blocks);

}  // namespace
}  // namespace hotaru::io
