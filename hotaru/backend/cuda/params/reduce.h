// Parameters of reductions, and how they are launched.
//
//   <Formula>_<suffix>     Formula of common/reduce/formulas.h ("Sum_f32"), Var
//                          (variance and mean), LargestAt or SmallestAt (value
//                          and position: max_dim, argmax ...); suffix by the
//                          input's dtype
//   <Formula>_<suffix>_2   afterwards, where there is a workspace: plan.splits
//                          are those of all launches then
//   parameters   ReduceParams for both
//   grid         first: reduce_blocks(p) by plan.splits; second:
//                second_blocks(p)
//   block        kBlock
//   shared       none at launch; threads wait for each other
//
//   ReduceParams p;                 // in, out, indices of dimensions, ...
//   plan_reduce(p, itemsize, sms);  // sets p.plan
//   p.workspace = memory(workspace_bytes(p, p.plan.splits));
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>

#include "hotaru/backend/cuda/params/index.h"

namespace hotaru::cuda {

/// How threads share the work. An output has `lanes` threads of each of
/// `splits` blocks; lanes is a power of two. A block has kBlock / lanes
/// outputs, which lie side by side.
struct ReducePlan {
  uint32_t lanes = 1;
  /// Elements of an output that one block takes.
  uint32_t chunk = 0;
  uint32_t splits = 1;
  /// Set if neighbouring threads have neighbouring outputs, as columns of a
  /// matrix want it, rather than neighbouring elements of one output.
  bool across = false;
  /// Set if elements lie side by side at multiples of 16 bytes.
  bool vectors = false;
};

struct ReduceParams {
  const void* in = nullptr;
  /// Result: of Var the variance, of LargestAt and SmallestAt the value, or
  /// null.
  void* out = nullptr;
  /// Second result: of Var the mean, of LargestAt and SmallestAt the position
  /// (int64), or null.
  void* second = nullptr;
  /// Partial results, [split][output]; null where there are no others to join.
  void* workspace = nullptr;
  uint32_t outputs = 1;
  /// Elements of each output that this launch reads. None are well, too.
  uint32_t reduced = 1;
  /// Parts of each output that earlier launches read: elements and splits.
  int64_t first = 0;
  uint32_t first_split = 0;
  /// Elements of each output that all launches read.
  int64_t count = 1;
  ReducePlan plan;
  /// The formula's Attributes, as the CPU's kernel has them.
  alignas(16) std::byte attributes[16] = {};
  /// The dimensions that stay, by the input's strides. Operands: in, out,
  /// second.
  Index<3> kept;
  /// Dimensions that go, likewise. Positions count in their order: one
  /// dimension where positions are asked for.
  Index<1> gone;

  template <class A>
  void set_attributes(const A& a) {
    static_assert(sizeof(A) <= sizeof(attributes));
    std::memcpy(attributes, &a, sizeof(A));
  }
};

/// No accumulator is larger.
inline constexpr int64_t kLargestAccumulator = 32;

constexpr uint32_t outputs_of_block(const ReducePlan& plan) {
  return kBlock / plan.lanes;
}
constexpr uint32_t reduce_blocks(const ReduceParams& p) {
  return uint32_t(ceil_divide(p.outputs, outputs_of_block(p.plan)));
}

/// Lanes of the second kernel, and its blocks.
constexpr uint32_t second_lanes(const ReducePlan& plan) {
  const uint32_t lanes = std::bit_ceil(plan.splits);
  return lanes < kBlock ? lanes : kBlock;
}
constexpr uint32_t second_blocks(const ReduceParams& p) {
  return uint32_t(ceil_divide(p.outputs, kBlock / second_lanes(p.plan)));
}
constexpr int64_t workspace_bytes(const ReduceParams& p, uint32_t splits) {
  return splits > 1 ? int64_t{splits} * p.outputs * kLargestAccumulator : 0;
}

/// Elements of `item` bytes of a vector: 16 bytes, at most 8 elements.
constexpr uint32_t reduce_length(size_t item) {
  return item >= 2 ? uint32_t(16 / item) : 8;
}

/// The plan for p's geometry. sms: processors of the device. Results depend on
/// it by rounding only, and not on anything else.
constexpr ReducePlan plan_of(const ReduceParams& p, size_t item, bool aligned,
                             int sms) {
  ReducePlan plan;
  const int64_t length = reduce_length(item);
  const int64_t step = p.gone.dims > 0 ? p.gone.strides[0][0] : int64_t(item);
  plan.across = p.kept.dims > 0 && p.gone.dims > 0 &&
                p.kept.strides[0][0] < step && p.outputs > 1;
  // Vectors are whole where every stride and the innermost size are.
  const int64_t vector = length * int64_t(item);
  plan.vectors = !plan.across && aligned && p.gone.dims > 0 &&
                 step == int64_t(item) &&
                 (p.gone.dims == 1 || p.gone.sizes[0].divisor % length == 0);
  for (int d = 0; d < p.kept.dims; ++d)
    plan.vectors = plan.vectors && p.kept.strides[d][0] % vector == 0;
  for (int d = 1; d < p.gone.dims; ++d)
    plan.vectors = plan.vectors && p.gone.strides[d][0] % vector == 0;
  // Elements that make a thread's while.
  const int64_t each = plan.vectors ? 2 * length : 4;
  if (plan.across)  // a warp reads at least 32 neighbours, if there are
    plan.lanes = power_from(ceil_divide(p.reduced, 2 * each),
                            kBlock / power_from(p.outputs, 32));
  else if (p.gone.dims == 1 && step == int64_t(item))
    plan.lanes = row_lanes(p.reduced);
  else
    plan.lanes = power_from(ceil_divide(p.reduced, each), kBlock);
  const int64_t blocks =
      p.outputs ? ceil_divide(p.outputs, outputs_of_block(plan)) : 1;
  // Four blocks fill a processor, and four times as many end closer together.
  const int64_t room = int64_t{sms} * 16 / blocks;
  const int64_t parts = p.reduced / (int64_t{plan.lanes} * each * 4);
  const int64_t splits = room < parts ? room : parts;
  plan.chunk = p.reduced;
  if (splits > 1) {
    plan.chunk =
        uint32_t(ceil_divide(ceil_divide(p.reduced, splits), length) * length);
    plan.splits = uint32_t(ceil_divide(p.reduced, plan.chunk));
  }
  return plan;
}

inline void plan_reduce(ReduceParams& p, size_t item, int sms) {
  const bool aligned =
      reinterpret_cast<uintptr_t>(p.in) % (reduce_length(item) * item) == 0;
  p.plan = plan_of(p, item, aligned, sms);
}

}  // namespace hotaru::cuda
