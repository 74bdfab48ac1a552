// The kernels that passes look for and put into place, each named once.
#pragma once

#include <span>
#include <string_view>

#include "hotaru/runtime/kernel.h"

namespace hotaru::graph {

/// A kernel that some pass knows. Passes compare kernels by these, never by the
/// text of a name: a misspelt one would be a pass that never fires, and here is
/// a kernel without code, which a test of all() finds.
class KnownKernel {
 public:
  explicit KnownKernel(std::string_view name);
  KnownKernel(const KnownKernel&) = delete;

  operator const Kernel&() const { return kernel_; }
  /// Every one of them.
  static std::span<const Kernel* const> all();

 private:
  const Kernel& kernel_;
};

/// True if a call is one of that kernel.
inline bool is(const KernelCall& call, const Kernel& kernel) {
  return &call.kernel() == &kernel;
}
/// True if a call is one of any of these kernels.
template <class... Kernels>
bool is_any(const KernelCall& call, const Kernels&... kernels) {
  return (is(call, kernels) || ...);
}

namespace known {

// Elementwise.
extern const KnownKernel kAdd, kClamp, kClampMax, kClampMin, kCopy, kGelu,
    kGeluTanh, kHardsigmoid, kHardswish, kHardtanh, kMul, kRelu, kSigmoid,
    kSilu, kTanh;
// Shapes, sums and lines.
extern const KnownKernel kBatchNorm, kCat, kMaxPool, kPad, kResample, kSoftmax,
    kSum;
// Products, and what recurrent layers are.
extern const KnownKernel kInt8Matmul, kLinear, kMatmul, kPackInt8, kPackMatrix,
    kRnnLayer, kSoftmaxProduct;
// Convolutions.
extern const KnownKernel kConvData, kConvForward, kConvFused, kInt8Conv,
    kPackInt8Conv, kWinogradConv, kWinogradWeight;
// Pictures in blocks of channels.
extern const KnownKernel kBlockChannels, kBlockedAvgPool, kBlockedConv,
    kBlockedMaxPool, kBlockedMean, kBlockedScale, kBlockedWeight,
    kUnblockChannels;

}  // namespace known
}  // namespace hotaru::graph
