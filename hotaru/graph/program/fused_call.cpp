#include "hotaru/graph/program/fused_call.h"

#include <algorithm>
#include <numeric>

#include "hotaru/backend/common/pointwise/fused.h"
#include "hotaru/graph/capture/touch.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::graph {
namespace {

// A tile's bytes of each operand, and of all slots: together they stay in the
// first-level cache, of 32 to 48 KiB.
constexpr int64_t kTileBytes = 4096;
constexpr int64_t kSlotsBytes = 16384;
// Tiles begin at whole cache lines, whatever the dtype.
constexpr int64_t kLine = 64;

static_assert(kSlotsBytes / FusedGroup::kMaxSlotBytes >= kLine);

const Kernel& kFused = kernel("graph_fused");

struct Attributes {
  std::shared_ptr<const FusedGroup> group;
};

/// Strides by dimension of the group's sizes, in bytes; 0 where t is broadcast.
std::vector<int64_t> broadcast_strides(const Tensor& t, size_t dims) {
  std::vector<int64_t> out(dims, 0);
  const size_t lead = dims - size_t(t.dim());
  for (size_t d = lead; d < dims; ++d)
    if (t.sizes()[d - lead] != 1)
      out[d] = t.strides()[d - lead] * int64_t(itemsize(t.dtype()));
  return out;
}

/// Call that runs nests of the parts, all over one order of the dimensions.
class FusedCall final : public PreparedCall {
 public:
  explicit FusedCall(const FusedGroup& group) : group_(group) {
    const std::vector<int> order = find_order();
    Dims sizes;
    for (const int d : order) sizes.push_back(group.sizes()[size_t(d)]);
    numel_ = numel_of(sizes);
    int64_t item = 1;
    for (const FusedPart& part : group.parts())
      for (const Operand& operand : part.node->call().operands())
        item = std::max(item, int64_t(itemsize(operand.tensor->dtype())));
    tile_ = kTileBytes / item;
    if (group.slot_bytes() > 0)
      tile_ = std::min(tile_, kSlotsBytes / group.slot_bytes());
    tile_ = std::max(tile_, lines(group.row()));
    const int64_t room = tile_ = tile_ / kLine * kLine;
    for (const FusedPart& part : group.parts()) add(part, order, sizes, room);
    if (group.row() > 0)
      tile_ -= tile_ % group.row();
    else
      for (const Step& step : steps_)
        if (!step.flat && step.nest.inner_size() < room)
          tile_ = std::min(tile_, room - room % step.nest.inner_size());
    if (numel_ <= tile_) make_single();
  }

  void run() override {
    if (!single_.empty()) return run_single();
    if (numel_ <= kGrainSize) return run_range(0, numel_);
    const int64_t unit = std::max<int64_t>(1, group_.row());
    parallel_for(0, numel_ / unit, kGrainSize / unit,
                 [&](int64_t begin, int64_t end) {
                   run_range(begin * unit, end * unit);
                 });
  }

 private:
  static constexpr size_t kOperands = LoopNest::kMaxOperands;
  struct alignas(kLine) Slots {
    char bytes[kSlotsBytes];
  };
  struct Step {
    LoopNest::Inner inner;
    const void* context;
    // Address of the first element: in memory, or from where the slots begin.
    std::array<uintptr_t, kOperands> data;
    // All ones for operands in slots.
    std::array<uintptr_t, kOperands> in_slot;
    // Bytes by which a tile's data is further on for each element before it:
    // none in slots.
    std::array<int64_t, kOperands> step;
    LoopNest::Strides strides;
    // Set if the nest has one dimension, so that these say all.
    bool flat;
    const FusedPart* part;
    LoopNest nest;
  };

  static int64_t lines(int64_t n) { return (n + kLine - 1) / kLine * kLine; }

  /// A step of what is one tile: addresses don't change.
  struct Single {
    LoopNest::Inner inner;
    const void* context;
    LoopNest::Pointers data;
    LoopNest::Strides strides;
    const Step* other;  // null if flat
  };

  std::vector<int> find_order() const {
    const size_t dims = group_.sizes().size();
    std::vector<std::vector<int64_t>> all;
    for (const bool writes : {true, false})
      for (const FusedPart& part : group_.parts())
        for (const Operand& operand : part.node->call().operands())
          if (operand.writes() == writes && !group_.slot(*operand.tensor))
            all.push_back(broadcast_strides(*operand.tensor, dims));
    std::vector<int64_t> strides(dims * all.size());
    for (size_t i = 0; i < all.size(); ++i)
      for (size_t d = 0; d < dims; ++d) strides[d * all.size() + i] = all[i][d];
    std::vector<int> order(dims);
    std::iota(order.rbegin(), order.rend(), 0);
    if (group_.row() > 0) return order;  // row-major
    sort_dims(int64_t(dims), int64_t(all.size()), strides.data(), order.data());
    return order;
  }

  void add(const FusedPart& part, std::span<const int> order, IntSpan sizes,
           int64_t room) {
    const auto operands = part.node->call().operands();
    std::vector<LoopNest::Strides> strides(order.size(), LoopNest::Strides{});
    const bool loops = part.loop.has_value();
    Step step{loops ? part.loop->inner : nullptr,
              loops ? part.loop->context : nullptr,
              {},
              {},
              {},
              {},
              false,
              &part,
              LoopNest(0, {}, {}, {})};
    for (size_t i = 0; i < operands.size(); ++i) {
      const Tensor& t = *operands[i].tensor;
      if (const FusedGroup::Slot* slot = group_.slot(t)) {
        step.data[i] = uintptr_t(slot->before * room);
        step.in_slot[i] = ~uintptr_t{0};
        int64_t stride = slot->item;
        for (size_t d = 0; d < order.size(); ++d) {
          strides[d][i] = stride;
          stride *= sizes[d];
        }
        continue;
      }
      step.data[i] = reinterpret_cast<uintptr_t>(t.raw_data());
      const std::vector<int64_t> own = broadcast_strides(t, order.size());
      for (size_t d = 0; d < order.size(); ++d)
        strides[d][i] = own[size_t(order[d])];
    }
    step.nest = LoopNest(int(operands.size()), {}, sizes, strides);
    step.flat = loops && step.nest.dims() == 1;
    step.strides = step.nest.inner_strides();
    for (size_t i = 0; i < operands.size(); ++i)
      if (!step.in_slot[i]) step.step[i] = step.strides[i];
    if (!loops)
      for (size_t i = 0; i < 2; ++i)
        step.strides[i] = int64_t(itemsize(operands[i].tensor->dtype()));
    steps_.push_back(step);
  }

  void make_single() {
    slots_ = std::make_unique<Slots>();
    for (const Step& step : steps_) {
      Single single{step.inner,
                    step.context,
                    {},
                    step.strides,
                    step.flat ? nullptr : &step};
      for (size_t i = 0; i < kOperands; ++i)
        single.data[i] = reinterpret_cast<char*>(
            step.data[i] +
            (reinterpret_cast<uintptr_t>(slots_.get()) & step.in_slot[i]));
      single_.push_back(single);
    }
  }

  void run_single() const {
    const Single* step = single_.data();
    const Single* const last = step + single_.size();
    try {
      for (; step != last; ++step)
        if (step->other)
          run_tile(*step->other, reinterpret_cast<uintptr_t>(slots_.get()), 0,
                   numel_);
        else
          step->inner(step->context, step->data.data(), step->strides.data(),
                      numel_);
    } catch (...) {
      fail_in(size_t(step - single_.data()));
    }
  }

  /// In a catch block.
  [[noreturn]] void fail_in(size_t step) const {
    std::rethrow_exception(
        with_call("a part of the call", steps_[step].part->node->call()));
  }

  void run_range(int64_t begin, int64_t end) const {
    Slots slots;
    const auto base = reinterpret_cast<uintptr_t>(&slots);
    const Step* step = steps_.data();
    const Step* const last = step + steps_.size();
    try {
      for (int64_t at = begin; at < end; at += tile_) {
        const int64_t n = std::min(tile_, end - at);
        for (step = steps_.data(); step != last; ++step)
          run_tile(*step, base, at, n);
      }
    } catch (...) {
      fail_in(size_t(step - steps_.data()));
    }
  }

  void run_rows(const Step& step, uintptr_t slots, int64_t at,
                int64_t n) const {
    const int64_t row = group_.row();
    const auto* x = reinterpret_cast<const char*>(
        step.data[1] +
        (step.in_slot[1] ? slots : uintptr_t(at * step.strides[1])));
    auto* out =
        reinterpret_cast<char*>(step.data[0]) + at / row * step.strides[0];
    const RowReduction& reduction = step.part->row;
    for (int64_t i = 0; i < n; i += row, out += step.strides[0])
      reduction.run(reduction.context, x + i * step.strides[1], row, out);
  }

  void run_tile(const Step& step, uintptr_t slots, int64_t at,
                int64_t n) const {
    if (!step.inner) return run_rows(step, slots, at, n);
    std::array<uintptr_t, kOperands> data;
    for (size_t i = 0; i < kOperands; ++i)
      data[i] = step.data[i] + (slots & step.in_slot[i]);
    LoopNest::Pointers pointers;
    if (step.flat) {
      for (size_t i = 0; i < kOperands; ++i)
        pointers[i] =
            reinterpret_cast<char*>(data[i] + uintptr_t(at * step.step[i]));
      return step.inner(step.context, pointers.data(), step.strides.data(), n);
    }
    // As if a slot held the whole space, of which this tile is there.
    for (size_t i = 0; i < kOperands; ++i)
      pointers[i] = reinterpret_cast<char*>(
          data[i] - (uintptr_t(at * step.strides[i]) & step.in_slot[i]));
    step.nest.run_range(pointers, at, at + n, step.inner, step.context);
  }

  const FusedGroup& group_;
  std::vector<Step> steps_;
  int64_t numel_;
  // Elements that are worked on at a time.
  int64_t tile_;
  // If that is all of them.
  std::vector<Single> single_;
  std::unique_ptr<Slots> slots_;
};

std::unique_ptr<PreparedCall> prepare(const KernelCall& call) {
  return std::make_unique<FusedCall>(*fused_group(call));
}
void run(const KernelCall& call) {
  FusedCall(*fused_group(call)).run();
}

const bool registered = [] {
  Kernel& fused = kernel("graph_fused");
  fused.set(DeviceType::kCPU, &run);
  fused.set_prepare(DeviceType::kCPU, &prepare);
  return true;
}();

}  // namespace

FusedGroup::FusedGroup(std::vector<FusedPart> parts,
                       std::span<const Storage* const> inner, int64_t row)
    : parts_(std::move(parts)), row_(row) {
  place(inner);
}

void FusedGroup::place(std::span<const Storage* const> inner) {
  struct Life {
    const Storage* storage;
    int64_t item;
    size_t first, last;
  };
  std::vector<Life> lives;  // in the order in which they begin
  for (size_t i = 0; i < parts_.size(); ++i)
    for (const Operand& operand : parts_[i].node->call().operands()) {
      const Storage* storage = operand.tensor->storage().get();
      if (std::find(inner.begin(), inner.end(), storage) == inner.end())
        continue;
      const auto life =
          std::find_if(lives.begin(), lives.end(),
                       [&](const Life& l) { return l.storage == storage; });
      if (life == lives.end())
        lives.push_back(
            {storage, int64_t(itemsize(operand.tensor->dtype())), i, i});
      else
        life->last = i;
    }
  std::vector<size_t> busy_until;
  for (const Life& life : lives) {
    size_t at = 0;
    while (at < slots_.size() &&
           (slots_[at].item != life.item || busy_until[at] >= life.first))
      ++at;
    if (at == slots_.size()) {
      const int64_t bytes = slot_bytes_ + life.item;
      // A row with all its slots has to fit.
      if (bytes > kMaxSlotBytes || bytes * (row_ + kLine) > kSlotsBytes)
        continue;
      slots_.push_back({life.item, slot_bytes_});
      busy_until.push_back(0);
      slot_bytes_ += life.item;
    }
    busy_until[at] = life.last;
    slot_of_.emplace(life.storage, at);
  }
}

const FusedGroup::Slot* FusedGroup::slot(const Tensor& value) const {
  const auto at = slot_of_.find(value.storage().get());
  return at == slot_of_.end() ? nullptr : &slots_[at->second];
}

namespace {

/// All operands of the parts that `counts` is true for, each once.
template <class Counts>
std::vector<Operand> operands_of(std::span<const FusedPart> parts,
                                 const Counts& counts) {
  std::vector<Operand> operands;
  for (const FusedPart& part : parts)
    for (const Operand& operand : part.node->call().operands()) {
      if (!counts(*operand.tensor)) continue;
      const auto at = std::find_if(
          operands.begin(), operands.end(), [&](const Operand& known) {
            return same_elements(*known.tensor, *operand.tensor);
          });
      if (at == operands.end())
        operands.push_back(operand);
      else if (at->access == Access::kRead && operand.writes())
        at->access = Access::kReadWrite;
    }
  return operands;
}

}  // namespace

std::unique_ptr<Node> fused_node(std::shared_ptr<const FusedGroup> group) {
  const auto operands = operands_of(
      group->parts(), [&](const Tensor& t) { return !group->slot(t); });
  return std::make_unique<Node>(
      KernelCall(kFused, operands, Attributes{std::move(group)}));
}

std::unique_ptr<Node> fused_calls_node(std::vector<FusedPart> parts,
                                       std::span<const Storage* const> inner,
                                       int64_t row, bool reduces) {
  static const Kernel& kernel = hotaru::kernel("fused_calls");
  const auto kept =
      std::make_shared<const std::vector<FusedPart>>(std::move(parts));
  auto calls = std::make_shared<FusedCalls>();
  for (const FusedPart& part : *kept)
    calls->calls.push_back(&part.node->call());
  calls->inner.insert(inner.begin(), inner.end());
  calls->columns = row;
  calls->reduces = reduces;
  calls->owner = kept;
  const auto operands =
      operands_of(*kept, [](const Tensor& t) { return t.defined(); });
  return std::make_unique<Node>(
      KernelCall(kernel, operands, FusedAttributes{std::move(calls)}));
}

const FusedGroup* fused_group(const KernelCall& call) {
  return &call.kernel() == &kFused ? call.attributes<Attributes>().group.get()
                                   : nullptr;
}

std::string title(const Node& node) {
  std::string out;
  const auto add = [&](const std::string& name) {
    out += (out.empty() ? "" : " + ") + name;
  };
  if (const FusedGroup* group = fused_group(node.call()))
    for (const FusedPart& part : group->parts()) add(part.node->name());
  else if (node.call().kernel().name() == "fused_calls")
    for (const KernelCall* call :
         node.call().attributes<FusedAttributes>().calls->calls)
      add(call->kernel().name());
  return out.empty() ? node.name() : out;
}

}  // namespace hotaru::graph
