// Launching bags of embeddings; see params/index/embedding_bag.h.
#include "hotaru/backend/common/index/embedding_bag.h"

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cuda/geometry.h"
#include "hotaru/backend/cuda/kernel_errors.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/index/embedding_bag.h"
#include "hotaru/backend/cuda/params/types.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::cuda {
namespace {

constexpr KernelTypes<FloatingTypes> kBagTypes{0, "embedding_bag"};

/// The CPU's texts; the launcher's number is that of the table's rows, or 0
/// where an index is not told with its place.
void raise(const FailureText& text, int64_t code, const int64_t* numbers) {
  switch (code) {
    case EmbeddingBagParams::kIndex:
      HOTARU_CHECK(text.dim == 0, "Index ", numbers[0],
                   " of input takes value ", numbers[1],
                   " which is not in the valid range [0, ", text.dim, ")");
      fail(
          "embedding_bag: Expected idx >= 0 && idx < num_embeddings but found "
          "idx to be ",
          numbers[1]);
    case EmbeddingBagParams::kFirst:
      fail(
          "offsets[0] has to be 0, i.e., the first sequence in the "
          "mini-batch has to start from position 0. However, got ",
          numbers[0]);
    case EmbeddingBagParams::kDecrease:
      fail("offsets must not decrease, but offsets[", numbers[0], "] is ",
           numbers[1], " after ", numbers[2]);
    default:
      fail("offsets[-1] can not be greater than input's length ", numbers[0],
           " but got offsets[-1] of ", numbers[1]);
  }
}

/// Operands: see BagAttributes.
void embedding_bag(const KernelCall& call) {
  const auto& a = call.attributes<BagAttributes>();
  const Tensor& weight = call.tensor(3);
  const auto pointer = [&](size_t i) { return device_address(call.tensor(i)); };
  const auto positions = [&](size_t i) {
    return static_cast<int64_t*>(pointer(i));
  };
  const bool more = call.operands().size() > 6;
  const bool max = a.mode == BagMode::kMax;
  EmbeddingBagParams p;
  p.mode = EmbeddingBagParams::Mode(a.mode);
  p.out = pointer(0);
  p.bag_of = positions(1);
  p.counted = positions(2);
  p.weight = pointer(3);
  p.indices = positions(4);
  p.offsets = positions(5);
  if (max) p.winners = positions(6);
  if (more && !max) p.factors = pointer(6);
  p.rows = weight.size(0);
  p.positions = call.tensor(4).numel();
  p.padding = a.padding_idx;
  p.to_end = a.to_end || !a.last_offset;
  const int64_t bags = call.tensor(2).numel(), width = weight.size(1);
  const int64_t columns = std::max<int64_t>(1, width);
  HOTARU_CHECK(columns < kMostElements && bags < kMostElements / columns,
               "embedding_bag: 2^31 elements and more are not implemented for "
               "CUDA");
  p.bags = uint32_t(bags);
  p.offset_count = uint32_t(bags + a.last_offset);
  p.width = uint32_t(width);
  p.columns = Divider(uint32_t(columns));
  p.errors =
      watch_errors(call, {&raise, says_place(a, weight.dtype()) ? p.rows : 0});
  static constinit const Functions functions("EmbeddingBag");
  launch(functions.of(weight.dtype()),
         {blocks_for(std::max<int64_t>(1, bags * columns), kBlock)}, kBlock, p);
}

HOTARU_KERNEL(kCUDA, "embedding_bag", embedding_bag, check_types<kBagTypes>);

}  // namespace
}  // namespace hotaru::cuda
