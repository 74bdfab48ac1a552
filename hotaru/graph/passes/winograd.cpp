#include "hotaru/graph/passes/winograd.h"

#include <algorithm>
#include <map>

#include "hotaru/backend/common/conv/blocked.h"
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
  if (a.depthwise || a.plain_input || a.kernel.size() != 2 ||
      !all(a.kernel, 3) || !all(a.conv.stride, 1) || !all(a.conv.dilation, 1))
    return false;
  const IntSpan y = call.tensor(0).sizes();
  const int64_t tiles = y[0] * ((y[2] + 1) / 2) * ((y[3] + 1) / 2);
  return a.in_channels >= kFewestChannels &&
         a.out_channels >= kFewestChannels && tiles >= kFewestTiles;
}

class Changer {
 public:
  explicit Changer(Region& region) : region_(region) {}

  void run() {
    for (auto& node : region_.nodes)
      if (node->name() == "blocked_conv" && pays(node->call())) change(node);
    drop_unread();
  }

 private:
  void change(std::unique_ptr<Node>& node) {
    static const Kernel& kernel = hotaru::kernel("winograd_conv");
    const KernelCall& call = node->call();
    const Tensor* weight = numbers_of(call.tensor(2));
    if (!weight) return;
    const Operand operands[] = {call.operands()[0], call.operands()[1],
                                read(*weight), call.operands()[3],
                                call.operands()[4]};
    node = std::make_unique<Node>(
        KernelCall(kernel, operands, call.attributes<BlockedConvAttributes>()));
  }

  /// The weight that stands for a packed one; made at its first use.
  const Tensor* numbers_of(const Tensor& packed) {
    const auto [at, fresh] = made_.try_emplace(packed.storage().get());
    if (!fresh) return &at->second;
    static const Kernel& kernel = hotaru::kernel("winograd_weight");
    const auto source = std::find_if(
        region_.once.begin(), region_.once.end(), [&](const auto& node) {
          return node->call().tensor(0).storage() == packed.storage();
        });
    if (source == region_.once.end()) return nullptr;
    const KernelCall& call = (*source)->call();
    at->second =
        allocate(Dims{packed.numel() / 9 * 16}, DType::kFloat32, Device{});
    std::vector<Operand> operands(call.operands().begin(),
                                  call.operands().end());
    operands[0] = write(at->second);
    region_.once.push_back(std::make_unique<Node>(KernelCall(
        kernel, operands, call.attributes<BlockedWeightAttributes>())));
    return &at->second;
  }

  /// Packed weights that no call reads any more.
  void drop_unread() {
    std::erase_if(region_.once, [&](const auto& once) {
      const Storage* packed = once->call().tensor(0).storage().get();
      if (!made_.contains(packed)) return false;
      return std::none_of(
          region_.nodes.begin(), region_.nodes.end(), [&](const auto& node) {
            return node->name() == "blocked_conv" &&
                   node->call().tensor(2).storage().get() == packed;
          });
    });
  }

  Region& region_;
  std::map<const Storage*, Tensor> made_;
};

}  // namespace

void winograd(Region& region) {
  Changer(region).run();
}

}  // namespace hotaru::graph
