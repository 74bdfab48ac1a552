// Histograms of one column, in one pass over it.
#include "hotaru/backend/common/reduce/histogram.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/reduce/bins.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

constexpr KernelTypes<FloatTypes> kTypes{0, "histogramdd"};

/// Without weights whole numbers are counted, in any order.
template <class T, class Bin>
void count(const Tensor& out, const Tensor& in, const Bin& bin) {
  const auto bins = size_t(out.numel());
  std::vector<int64_t> total(bins);
  std::mutex mutex;
  parallel_for(0, in.numel(), kGrainSize, [&](int64_t begin, int64_t end) {
    const T* x = in.data<T>();
    std::vector<int64_t> counts(bins +
                                1);  // the last one takes what is outside
    for (int64_t i = begin; i < end; ++i)
      ++counts[bin.holds(x[i]) ? size_t(bin(x[i])) : bins];
    const std::lock_guard lock(mutex);
    for (size_t b = 0; b < bins; ++b) total[b] += counts[b];
  });
  std::copy(total.begin(), total.end(), out.data<T>());
}

/// In one thread, so that sums have one order.
template <class T, class Bin>
void weigh(const Tensor& out, const Tensor& in, const Tensor& weights,
           const Bin& bin) {
  T* y = out.data<T>();
  const T *x = in.data<T>(), *weight = weights.data<T>();
  std::fill_n(y, out.numel(), T(0));
  for (int64_t i = 0; i < in.numel(); ++i)
    if (bin.holds(x[i])) y[bin(x[i])] += weight[i];
}

void histogram(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1);
  const Tensor &edges = call.tensor(2), &weights = call.tensor(3);
  const auto& a = call.attributes<HistogramAttributes>();
  kTypes.visit(call, [&]<class T>() {
    const int64_t bins = out.numel();
    const auto go = [&](const auto& bin) {
      weights.defined() ? weigh<T>(out, in, weights, bin)
                        : count<T>(out, in, bin);
    };
    if (edges.defined())
      go(BetweenEdges<T>{edges.data<T>(), bins, a.equal});
    else
      go(EqualBins<T>{T(a.low), T(a.high), T(a.high - a.low), bins});
  });
}

HOTARU_KERNEL(kCPU, "histogram", histogram, check_types<kTypes>);

}  // namespace
}  // namespace hotaru::cpu
