#include "hotaru/graph/passes/known_kernels.h"

#include <vector>

namespace hotaru::graph {
namespace {

std::vector<const Kernel*>& list() {
  static std::vector<const Kernel*> kernels;
  return kernels;
}

}  // namespace

KnownKernel::KnownKernel(std::string_view name) : kernel_(kernel(name)) {
  list().push_back(&kernel_);
}

std::span<const Kernel* const> KnownKernel::all() {
  return list();
}

namespace known {

const KnownKernel kAdd("add"), kClamp("clamp"), kClampMax("clamp_max"),
    kClampMin("clamp_min"), kCopy("copy_"), kGelu("gelu"),
    kGeluTanh("gelu_tanh"), kHardsigmoid("hardsigmoid"),
    kHardswish("hardswish"), kHardtanh("hardtanh"), kMul("mul"), kRelu("relu"),
    kSigmoid("sigmoid"), kSilu("silu"), kTanh("tanh");
const KnownKernel kBatchNorm("batch_norm"), kCat("cat"), kMaxPool("max_pool"),
    kPad("pad"), kResample("resample"), kSoftmax("softmax"), kSum("sum");
const KnownKernel kInt8Matmul("int8_matmul"), kLinear("linear"),
    kMatmul("matmul"), kPackInt8("pack_int8"), kPackMatrix("pack_matrix"),
    kRnnLayer("rnn_layer"), kSoftmaxProduct("softmax_product");
const KnownKernel kConvData("conv_data"), kConvForward("conv_forward"),
    kConvFused("conv_fused"), kInt8Conv("int8_conv"),
    kPackInt8Conv("pack_int8_conv"), kWinogradConv("winograd_conv"),
    kWinogradWeight("winograd_weight");
const KnownKernel kBlockChannels("block_channels"),
    kBlockedAvgPool("blocked_avg_pool"), kBlockedConv("blocked_conv"),
    kBlockedMaxPool("blocked_max_pool"), kBlockedMean("blocked_mean"),
    kBlockedScale("blocked_scale"), kBlockedWeight("blocked_weight"),
    kUnblockChannels("unblock_channels");

}  // namespace known
}  // namespace hotaru::graph
