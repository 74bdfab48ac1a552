#include "hotaru/graph/passes/pictures/winograd.h"

#include <algorithm>

#include "hotaru/graph/passes/known_kernels.h"
#include "hotaru/graph/passes/pictures/remade_weights.h"
#include "hotaru/runtime/backend.h"

namespace hotaru::graph {
namespace {

// Fewer channels don't pay for the additions, fewer tiles not for the weights,
// of which there are 16 in place of 9.
constexpr int64_t kFewestChannels = 24, kFewestTiles = 16;

bool pays(const KernelCall& call) {
  const auto& a = call.attributes<BlockedConvAttributes>();
  const auto all = [](const Dims& list, int64_t value) {
    return std::all_of(list.begin(), list.end(),
                       [value](int64_t n) { return n == value; });
  };
  if (call.tensor(0).dtype() != DType::kFloat32 ||
      call.tensor(1).dtype() != DType::kFloat32 || a.depthwise ||
      a.conv.groups != 1 || a.plain_input || a.kernel.size() != 2 ||
      !all(a.kernel, 3) || !all(a.conv.stride, 1) || !all(a.conv.dilation, 1))
    return false;
  const IntSpan y = call.tensor(0).sizes();
  const int64_t tiles = y[0] * ((y[2] + 1) / 2) * ((y[3] + 1) / 2);
  return a.in_channels >= kFewestChannels &&
         a.out_channels >= kFewestChannels && tiles >= kFewestTiles;
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
    const Operand operands[] = {call.operands()[0], call.operands()[1],
                                read(weight), call.operands()[3],
                                call.operands()[4]};
    node = std::make_unique<Node>(
        KernelCall(known::kWinogradConv, operands,
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
