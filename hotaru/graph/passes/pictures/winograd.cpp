#include "hotaru/graph/passes/pictures/winograd.h"

#include <array>

#include "hotaru/graph/passes/known_kernels.h"
#include "hotaru/graph/passes/pictures/remade_weights.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/ways.h"

namespace hotaru::graph {
namespace {

/// Operands of a "blocked_conv" call with that weight.
std::array<Operand, 5> with_weight(const KernelCall& call,
                                   const Tensor& weight) {
  return {call.operands()[0], call.operands()[1], read(weight),
          call.operands()[3], call.operands()[4]};
}

/// Tells whether the first row of the other kernel's table, which is that
/// kernel, serves a "blocked_conv" call and pays.
bool pays(const KernelCall& call) {
  const KernelCall asked(known::kWinogradConv, call.operands(),
                         call.attributes<BlockedConvAttributes>());
  const WayAnswers ways = asked.kernel().explain(DeviceType::kCPU, asked);
  return !ways.empty() && ways.front().runs;
}

RemadeWeights::Form winograd_form(const Tensor& packed, const Tensor&,
                                  const BlockedWeightAttributes& a) {
  return {allocate(Dims{packed.numel() / 9 * 16}, DType::kFloat32, Device{}),
          a};
}

class Changer {
 public:
  explicit Changer(Region& region)
      : region_(region),
        weights_(region, known::kWinogradWeight, &winograd_form) {}

  void run() {
    for (auto& node : region_.nodes)
      if (is(node->call(), known::kBlockedConv) && pays(node->call()))
        change(node);
    weights_.drop_unread();
  }

 private:
  void change(std::unique_ptr<Node>& node) {
    const KernelCall& call = node->call();
    const Tensor weight = weights_.of(call.tensor(2));
    if (!weight.defined()) return;
    node = std::make_unique<Node>(
        KernelCall(known::kWinogradConv, with_weight(call, weight),
                   call.attributes<BlockedConvAttributes>()));
  }

  Region& region_;
  RemadeWeights weights_;
};

}  // namespace

void winograd(Region& region) {
  Changer(region).run();
}

}  // namespace hotaru::graph
