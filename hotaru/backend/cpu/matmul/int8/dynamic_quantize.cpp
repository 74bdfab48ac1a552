// The kernel "dynamic_quantize".
#include "hotaru/backend/common/matmul/dynamic_quantize.h"

#include <algorithm>
#include <cmath>

#include "hotaru/backend/cpu/matmul/int8/quantize_lines.h"
#include "hotaru/core/tensor.h"
#include "hotaru/runtime/kernel.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

/// ONNX's.
struct FloatParameters {
  float scale, zero;
};

FloatParameters onnx_parameters(const Extent& all) {
  float scale = (all.high - all.low) / 255.0f;
  if (scale == 0) scale = 1;
  // 0 for NaN, which infinite elements give: those of fmin and fmax ignore it.
  const float zero = std::fmin(std::fmax(-all.low / scale, 0.0f), 255.0f);
  return {scale, std::nearbyint(zero)};
}

void quantize_as_onnx(const KernelCall& call, const Extent& all) {
  const Tensor& x = call.tensor(3);
  auto* to = call.tensor(0).data<uint8_t>();
  const bool some = !std::isnan(all.low);
  const auto [scale, zero] =
      some ? onnx_parameters(all) : FloatParameters{all.low, 0};
  *call.tensor(1).data<float>() = scale;
  *call.tensor(2).data<uint8_t>() = uint8_t(zero);
  if (!some) {
    std::fill_n(to, x.numel(), uint8_t{0});
    return;
  }
  const float* from = x.data<float>();
  parallel_for(0, x.numel(), kGrainSize, [&](int64_t begin, int64_t end) {
    quantize_lines().divide(from + begin, end - begin, scale, zero, to + begin);
  });
}

void dynamic_quantize(const KernelCall& call) {
  const Tensor &integers = call.tensor(0), &x = call.tensor(3);
  const auto& g = call.attributes<DynamicQuantizeAttributes>();
  const QuantizeLines& lines = quantize_lines();
  const float* from = x.data<float>();
  const Extent all = parallel_reduce(
      0, x.numel(), kGrainSize, Extent{},
      [&](int64_t begin, int64_t end, Extent found) {
        return merged(found, lines.extent(from + begin, end - begin));
      },
      merged);
  if (g.onnx) return quantize_as_onnx(call, all);
  const auto [scale, zero] =
      choose_qparams(all.low, all.high, 0, 255, g.reduce_range, false);
  *call.tensor(1).data<float>() = float(scale);
  *call.tensor(2).data<uint8_t>() = uint8_t(zero);
  auto* to = integers.data<uint8_t>();
  const float inverse = 1.0f / float(scale), shift = float(zero);
  parallel_for(0, x.numel(), kGrainSize, [&](int64_t begin, int64_t end) {
    lines.quantize(from + begin, end - begin, inverse, shift, to + begin);
  });
}

HOTARU_KERNEL(kCPU, "dynamic_quantize", dynamic_quantize);

}  // namespace
}  // namespace hotaru::cpu
