#include "hotaru/graph/passes/cost.h"

#include <algorithm>

#include "hotaru/backend/common/attention/softmax_product.h"
#include "hotaru/backend/common/conv/blocked.h"
#include "hotaru/backend/common/conv/conv.h"
#include "hotaru/backend/common/conv/int8.h"
#include "hotaru/backend/common/matmul/linear.h"
#include "hotaru/backend/common/matmul/matmul.h"
#include "hotaru/backend/common/rnn/rnn.h"
#include "hotaru/core/tensor.h"
#include "hotaru/graph/passes/known_kernels.h"

namespace hotaru::graph {
namespace {

constexpr double kFlopsPerNs = 50, kBytesPerNs = 20, kElementsPerNs = 2;
/// Cost of any call, and from how much work on kernels take more threads.
constexpr double kCall = 20, kDivided = 20'000;
/// Gates and the way from one step of a recurrent layer to the next.
constexpr double kStep = 200;

double elements(const Tensor& t) {
  return t.defined() ? double(t.numel()) : 0;
}

/// Multiplications and additions, 0 where it does not go by them.
double flops_of(const KernelCall& call) {
  if (is(call, known::kMatmul)) {
    const auto& a = call.attributes<MatmulAttributes>();
    return 2.0 * double(a.batch) * double(a.m) * double(a.n) * double(a.k);
  }
  if (is(call, known::kLinear)) {
    const auto& a = call.attributes<LinearAttributes>();
    return 2.0 * double(a.batch) * double(a.m) * double(a.n) * double(a.k);
  }
  if (is(call, known::kSoftmaxProduct)) {
    const auto& a = call.attributes<SoftmaxProductAttributes>();
    return 2.0 * double(a.batch) * double(a.m) * double(a.n) *
           double(a.k + a.width);
  }
  if (is(call, known::kInt8Matmul)) {
    const auto& a = call.attributes<Int8MatmulAttributes>();
    return 2.0 * double(a.batch) * double(a.m) * double(a.n) * double(a.k);
  }
  if (is(call, known::kInt8Conv)) {
    const auto& a = call.attributes<Int8ConvAttributes>();
    return 2 * elements(call.tensor(0)) * double(a.channels) *
           double(numel_of(a.kernel));
  }
  if (is_any(call, known::kConvForward, known::kConvFused))
    return 2 * elements(call.tensor(0)) * elements(call.tensor(2)) /
           double(call.tensor(2).size(0));
  if (is(call, known::kBlockedConv)) {
    const auto& a = call.attributes<BlockedConvAttributes>();
    return 2 * elements(call.tensor(0)) * double(numel_of(a.kernel)) *
           double(a.depthwise ? 1 : a.in_channels);
  }
  if (is(call, known::kRnnLayer)) {
    const Tensor& x = call.tensor(3);
    return 2 * double(x.size(0)) * double(x.size(1)) *
           (elements(call.tensor(6)) + elements(call.tensor(7)) +
            elements(call.tensor(10)));
  }
  return 0;
}

}  // namespace

Cost cost_of(const KernelCall& call, int threads) {
  double bytes = 0, written = 0;
  for (const Operand& operand : call.operands()) {
    if (operand.object || !operand.tensor->defined()) continue;
    bytes +=
        elements(*operand.tensor) * double(itemsize(operand.tensor->dtype()));
    if (operand.writes()) written += elements(*operand.tensor);
  }
  const double flops = flops_of(call);
  const double arithmetic =
      flops > 0 ? flops / kFlopsPerNs : written / kElementsPerNs;
  double alone = kCall + std::max(arithmetic, bytes / kBytesPerNs);
  const bool recurrent = is(call, known::kRnnLayer);
  if (recurrent) alone += kStep * double(call.tensor(3).size(0));
  // A recurrent layer's steps follow each other.
  const bool divides = alone > kDivided && !recurrent;
  return {alone, divides ? alone / threads : alone};
}

}  // namespace hotaru::graph
