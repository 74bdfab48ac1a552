// Launching histograms; see params/histogram.h.
#include "hotaru/backend/common/reduce/histogram.h"

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cuda/clear.h"
#include "hotaru/backend/cuda/index/ordered.h"
#include "hotaru/backend/cuda/params/histogram.h"

namespace hotaru::cuda {
namespace {

constexpr KernelTypes<FloatTypes> kTypes{0, "histogramdd"};

const void* address_of(const Tensor& t) {
  return t.defined() && t.numel() > 0 ? device_address(t) : nullptr;
}

/// So many blocks as the device holds at once, or as there is work for.
unsigned blocks_of(uint64_t numel) {
  const auto& device = properties(launching_timeline().device());
  const int64_t room = int64_t{device.processors} *
                       (device.threads_per_processor / int64_t{kBlock});
  return unsigned(
      std::min(room, ceil_divide(int64_t(numel), kBlock * kHistogramEach)));
}

/// As many elements at a time as a sort takes.
void weigh_ordered(HistogramParams p, DType dtype) {
  static constinit const Functions finding("HistogramTargets");
  const size_t item = itemsize(dtype);
  const uint64_t most = std::min(p.numel, uint64_t(most_ordered()));
  const Workspace targets{size_t(most) * sizeof(*p.targets)};
  p.targets = static_cast<int64_t*>(targets.data());
  for (uint64_t left = p.numel; left > 0; left -= p.numel) {
    p.numel = std::min(left, most);
    HOTARU_CUDA(cuMemsetD8Async, reinterpret_cast<CUdeviceptr>(p.targets), 0xFF,
                size_t(p.numel) * sizeof(*p.targets),
                launching_timeline().handle());
    static_assert(kNoTarget == -1);
    launch(finding.of(dtype), {blocks_of(p.numel)}, kBlock, p);
    add_ordered(p.weights, p.out, p.targets, int64_t(p.numel), dtype);
    p.in = static_cast<const char*>(p.in) + p.numel * item;
    p.weights = static_cast<const char*>(p.weights) + p.numel * item;
  }
}

void weigh(const HistogramParams& p, DType dtype) {
  static constinit const Functions functions("HistogramWeigh");
  clear(p.out, size_t(p.bins) * itemsize(dtype));
  if (keeps_order(dtype, WriteMode::kAdd)) return weigh_ordered(p, dtype);
  launch(functions.of(dtype), {blocks_of(p.numel)}, kBlock, p,
         p.shared_bytes(uint32_t(itemsize(dtype))));
}

void count(HistogramParams& p, DType dtype) {
  static constinit const Functions counting("HistogramCount"),
      storing("HistogramStore");
  const Workspace counts{size_t(p.bins) * sizeof(*p.counts)};
  p.counts = static_cast<unsigned long long*>(counts.data());
  clear(p.counts, size_t(p.bins) * sizeof(*p.counts));
  launch(counting.of(dtype), {blocks_of(p.numel)}, kBlock, p,
         p.shared_bytes(sizeof(unsigned)));
  launch(storing.of(dtype), {blocks_for(p.bins, kBlock)}, kBlock, p);
}

void histogram(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1);
  if (out.numel() == 0) return;
  const auto& a = call.attributes<HistogramAttributes>();
  HistogramParams p;
  p.out = device_address(out);
  p.in = address_of(in);
  p.edges = address_of(call.tensor(2));
  p.weights = address_of(call.tensor(3));
  p.numel = uint64_t(in.numel());
  p.bins = out.numel();
  p.low = a.low;
  p.high = a.high;
  p.equal = a.equal;
  if (p.weights)
    weigh(p, out.dtype());
  else
    count(p, out.dtype());
}

HOTARU_KERNEL(kCUDA, "histogram", histogram, check_types<kTypes>);

}  // namespace
}  // namespace hotaru::cuda
