// The algorithms of convolutions on blocked pictures, which graphs alone call,
// and which of them a call takes: "blocked_conv" and "winograd_conv".
#include "hotaru/backend/common/ways.h"

#include <algorithm>
#include <array>
#include <memory>

#include "hotaru/backend/common/conv/blocked.h"
#include "hotaru/backend/cpu/conv/amx/blocked_amx.h"
#include "hotaru/backend/cpu/conv/blocked/blocked_conv.h"
#include "hotaru/backend/cpu/conv/blocked/blocked_whole.h"
#include "hotaru/backend/cpu/conv/blocked/winograd.h"
#include "hotaru/backend/cpu/prepared.h"
#include "hotaru/core/tensor.h"

namespace hotaru::cpu {
namespace {

// Fewer channels don't pay for Winograd's additions, fewer tiles not for its
// weights, of which there are 16 in place of 9.
constexpr int64_t kWinogradChannels = 24, kWinogradTiles = 16;

/// A call of either kernel, and what its row makes to run it; null where the
/// table is only asked.
struct BlockedCall {
  const KernelCall& call;
  std::unique_ptr<PreparedCall>* made = nullptr;

  const BlockedConvAttributes& attributes() const {
    return call.attributes<BlockedConvAttributes>();
  }
  bool reads_floats() const {
    return call.tensor(0).dtype() == DType::kFloat32 &&
           call.tensor(1).dtype() == DType::kFloat32;
  }
};

/// A convolution of class Conv that runs again and again.
template <class Conv>
class PreparedConv final : public PreparedCall {
 public:
  explicit PreparedConv(const KernelCall& call) : call_(call), conv_(call) {}
  void run() override {
    const Tensor& residual = call_.tensor(4);
    conv_.run({call_.tensor(1).data<float>(), call_.tensor(2).data<float>(),
               call_.tensor(3).data<float>(),
               residual.defined() ? residual.data<float>() : nullptr,
               call_.tensor(0).data<float>()});
  }

 private:
  const KernelCall& call_;
  const Conv conv_;
};

template <class Conv>
void make(const BlockedCall& c) {
  *c.made = std::make_unique<PreparedConv<Conv>>(c.call);
}

bool serves_whole(const BlockedCall& c) {
  return c.reads_floats() && c.call.tensor(2).dtype() == DType::kFloat32 &&
         c.attributes().conv.groups == 1 && BlockedWhole::serves(c.call);
}
/// One tap's part of a weight's line is soon done: tiles that use a
/// pixel for several blocks are faster.
bool pays_whole(const BlockedCall& c) {
  return numel_of(c.attributes().kernel) > 1;
}

constexpr auto kBlockedWays = std::to_array<Way<BlockedCall>>({
    {"depthwise", "each channel's taps added up, a block of channels a vector",
     "one input channel a group",
     [](const BlockedCall& c) { return c.attributes().depthwise; }, "", nullptr,
     &make<BlockedDepthwise>},
    {"amx", "pairs of channels of bfloat16, multiplied by AMX",
     "AMX; weights of bfloat16; plain pictures without dilation along rows",
     [](const BlockedCall& c) { return BlockedAmx::serves(c.call); }, "",
     nullptr, &make<BlockedAmx>},
    {"whole", "all pixels of an output block in registers, each weight once",
     "AVX-512; float32 in one group; blocked pictures, results of 3 x 3 to "
     "5 x 5 of which a tap reaches one pixel outside at most",
     &serves_whole, "several taps", &pays_whole, &make<BlockedWhole>},
    {"tiles", "tiles of pixels by blocks of output channels", "", nullptr, "",
     nullptr, &make<BlockedConv>},
});

bool serves_winograd(const BlockedCall& c) {
  const auto& a = c.attributes();
  const auto all = [](const Dims& list, int64_t value) {
    return std::all_of(list.begin(), list.end(),
                       [value](int64_t n) { return n == value; });
  };
  return c.reads_floats() && !a.depthwise && a.conv.groups == 1 &&
         !a.plain_input && a.kernel.size() == 2 && all(a.kernel, 3) &&
         all(a.conv.stride, 1) && all(a.conv.dilation, 1);
}
bool pays_winograd(const BlockedCall& c) {
  const auto& a = c.attributes();
  const IntSpan y = c.call.tensor(0).sizes();
  const int64_t tiles = y[0] * ((y[2] + 1) / 2) * ((y[3] + 1) / 2);
  return a.in_channels >= kWinogradChannels &&
         a.out_channels >= kWinogradChannels && tiles >= kWinogradTiles;
}

/// Ways of a "blocked_conv" call that a graph's pass asks about, and makes.
constexpr auto kWinogradWays = std::to_array<Way<BlockedCall>>({
    {"winograd", "16 multiplications in place of 36, other roundings",
     "float32 in one group; blocked pictures; 3 x 3 taps, strides of 1, no "
     "dilation",
     &serves_winograd, "24 channels in and out, 16 tiles of 2 x 2 results",
     &pays_winograd, &make<Winograd>},
    {"direct", "\"blocked_conv\", with weights of its own", "", nullptr, "",
     nullptr, nullptr},
});

std::unique_ptr<PreparedCall> prepare_conv(const KernelCall& call) {
  std::unique_ptr<PreparedCall> made;
  run_first<kBlockedWays>(BlockedCall{call, &made});
  return made;
}
[[gnu::cold]] WayAnswers explain_conv(const KernelCall& call) {
  return explain<kBlockedWays>(BlockedCall{call});
}
[[gnu::cold]] WayAnswers explain_winograd(const KernelCall& call) {
  return explain<kWinogradWays>(BlockedCall{call});
}

const PreparedKernel<prepare_conv> registered_conv("blocked_conv");
const PreparedKernel<prepare_as<PreparedConv<Winograd>>> registered_winograd(
    "winograd_conv");
const KernelWays conv_ways(DeviceType::kCPU, "blocked_conv", explain_conv),
    winograd_ways(DeviceType::kCPU, "winograd_conv", explain_winograd);

}  // namespace
}  // namespace hotaru::cpu
