// The kernel "int8_conv": for each picture, group and band of outputs the
// planes of pairs, which weights then multiply without unrolled windows.
#include <algorithm>

#include "hotaru/backend/common/conv/int8.h"
#include "hotaru/backend/cpu/conv/pair_planes.h"
#include "hotaru/backend/cpu/matmul/areas.h"
#include "hotaru/backend/cpu/matmul/int8_numbers.h"
#include "hotaru/backend/cpu/scratch.h"
#include "hotaru/runtime/kernel.h"

namespace hotaru::cpu {
namespace {

// Pairs of planes that stay in the second-level cache.
constexpr int64_t kPlanePairs = 48 << 10;
// Pairs of weights that the bands of a group multiply by before the next ones.
constexpr int64_t kWeightPairs = 96 << 10;

int64_t ceil_div(int64_t a, int64_t b) {
  return a / b + (a % b > 0);
}

class Conv {
 public:
  explicit Conv(const KernelCall& call)
      : y_(call.tensor(0)), x_(call.tensor(1)), w_(call.tensor(2)) {
    const auto& a = call.attributes<Int8ConvAttributes>();
    const size_t dims = a.stride.size();
    for (size_t i = 0; i < 3; ++i) {
      const bool missing = i + dims < 3;
      const size_t d = i + dims - 3;
      windows_.in[i] = missing ? 1 : x_.sizes()[d + 2];
      windows_.out[i] = missing ? 1 : y_.sizes()[d + 2];
      windows_.kernel[i] = missing ? 1 : w_.sizes()[d + 2];
      windows_.stride[i] = missing ? 1 : a.stride[d];
      windows_.padding[i] = missing ? 0 : a.padding[d];
      windows_.dilation[i] = missing ? 1 : a.dilation[d];
    }
    groups_ = a.groups;
    outputs_ = y_.size(1) / groups_;
    windows_.channels = w_.size(1);
    windows_.flip = x_.dtype() == DType::kInt8 ? 0x80 : 0;
    int32_t zero;
    read_zeros(call.tensor(3), 0, 0, 1, &zero);
    windows_.zero = zero + windows_.flip;
    windows_.choose();
    out_.kind = output_kind(y_);
    out_.stride = volume(windows_.out);
    if (call.tensor(5).defined()) out_.bias = call.tensor(5).data<int32_t>();
    set_weights(call.tensor(4));
    if (call.tensor(9).defined()) set_scales(call);
    set_bands();
  }

  void run() const {
    const int64_t parts = x_.size(0) * groups_ * bands_ * row_parts_;
    const int64_t work = std::max<int64_t>(
        1, y_.numel() * windows_.pairs() * 2 / std::max<int64_t>(1, parts));
    parallel_for(0, parts, std::max<int64_t>(1, kProductsPerThread / work),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) compute(i);
                 });
  }

 private:
  /// All weights as pairs, in this thread's memory.
  void set_weights(const Tensor& zero) {
    const int64_t rows = w_.size(0), pairs = windows_.pairs();
    const int flip = w_.dtype() == DType::kInt8 ? 0x80 : 0;
    const int64_t row = windows_.channels * volume(windows_.kernel);
    auto* zeros = scratch<int32_t>(ScratchUse::kInt8Zeros, 2 * rows);
    read_zeros(zero, 0, zero.defined() && zero.numel() > 1 ? 1 : 0, rows,
               zeros);
    scales_ = reinterpret_cast<float*>(zeros + rows);
    auto* to = scratch<int32_t>(ScratchUse::kInt8Weights, rows * pairs);
    const auto* from = static_cast<const uint8_t*>(w_.raw_data());
    parallel_for(0, rows, std::max<int64_t>(1, kProductsPerThread / (row + 1)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i)
                     windows_.pair_weights(from + i * row, flip,
                                           zeros[i] + flip, to + i * pairs);
                 });
    weights_ = to;
  }

  void set_scales(const KernelCall& call) {
    const float x = *call.tensor(6).data<float>();
    const Tensor& w = call.tensor(7);
    const float y = *call.tensor(8).data<float>();
    for (int64_t i = 0; i < w_.size(0); ++i)
      scales_[i] = x * w.data<float>()[w.numel() > 1 ? i : 0] / y;
    out_.row_scale = scales_;
    out_.zero = byte_at(call.tensor(9), 0);
  }

  /// Cuts the first dimension with more than one output so that planes stay
  /// near and all threads have work.
  void set_bands() {
    while (along_ < 2 && windows_.out[along_] == 1) ++along_;
    const int64_t threads = in_parallel_region() ? 1 : get_num_threads();
    const PairPlanes whole(windows_, {0, 0, 0}, windows_.out);
    const int64_t steps = windows_.out[along_];
    bands_ = std::min(steps, ceil_div(whole.size(), kPlanePairs));
    const double products = 2.0 * double(y_.numel()) * double(windows_.pairs());
    const int64_t parts = x_.size(0) * groups_;
    if (threads == 1 || parts * bands_ >= threads ||
        products < 2.0 * kProductsPerThread)
      return;
    // Bands of few outputs would leave tiles half empty: channels are cut.
    const int64_t missing = ceil_div(threads, parts);
    if (volume(windows_.out) / missing >= 4 * int8_kernels().max_cols)
      bands_ = std::min(steps, missing);
    else
      row_parts_ = std::min(ceil_div(threads, parts * bands_),
                            ceil_div(outputs_, int8_kernels().max_rows));
  }

  void compute(int64_t part) const {
    const int64_t rows = part % row_parts_, band = part / row_parts_ % bands_;
    const int64_t picture = part / row_parts_ / bands_;
    const int64_t group = picture % groups_;
    Extents begin{0, 0, 0}, length = windows_.out;
    const int64_t steps = windows_.out[along_];
    begin[along_] = steps * band / bands_;
    length[along_] = steps * (band + 1) / bands_ - begin[along_];
    const PairPlanes planes(windows_, begin, length);
    auto* pairs = scratch<int32_t>(ScratchUse::kConvPatches, planes.size());
    planes.fill(static_cast<const uint8_t*>(x_.raw_data()) +
                    picture * windows_.channels * volume(windows_.in),
                pairs);
    const int64_t first = outputs_ * rows / row_parts_,
                  last = outputs_ * (rows + 1) / row_parts_;
    const int64_t done = begin[along_] * volume(windows_.out) / steps;
    Int8Output out = out_;
    const int64_t bytes = out.kind == Int8Output::Kind::kSums ? 4 : 1;
    out.data = static_cast<char*>(y_.raw_data()) +
               (picture * outputs_ * out.stride + done) * bytes;
    if (out.bias) out.bias += group * outputs_;
    if (out.row_scale) out.row_scale += group * outputs_;
    const int64_t together =
        std::max<int64_t>(kWeightPairs / (windows_.pairs() + 1), 1);
    const int64_t blocks = ceil_div(last - first, together);
    for (int64_t i = 0; i < blocks; ++i)
      multiply(planes, pairs, group * outputs_,
               first + (last - first) * i / blocks,
               first + (last - first) * (i + 1) / blocks, volume(length), out);
  }

  /// Channels [first, last) of n outputs.
  void multiply(const PairPlanes& planes, const int32_t* pairs,
                int64_t group_first, int64_t first, int64_t last, int64_t n,
                const Int8Output& out) const {
    const Int8Kernels& kernels = int8_kernels();
    const int64_t width = kernels.max_cols, depth = windows_.pairs();
    const int64_t tiles = ceil_div(last - first, kernels.max_rows);
    int32_t* panel = nullptr;
    for (int64_t at = 0; at < n; at += width) {
      const int64_t count = std::min(width, n - at);
      const int64_t where = planes.position(at);
      const bool together =
          planes.position(at + count - 1) == where + count - 1;
      if (!together) {
        panel = scratch<int32_t>(ScratchUse::kGemmB, (depth + 1) * width);
        gather(planes, pairs, at, count, panel);
      }
      for (int64_t t = 0; t < tiles; ++t) {
        const int64_t begin = first + (last - first) * t / tiles,
                      end = first + (last - first) * (t + 1) / tiles;
        const int32_t* a = weights_ + (group_first + begin) * depth;
        const int rows = static_cast<int>(end - begin),
                  cols = static_cast<int>(count);
        if (together)
          kernels.offset_tile(rows, cols, depth, a, depth, pairs + where,
                              planes.offsets().data(), out.at(begin, at));
        else
          kernels.tile(rows, cols, depth, a, depth, panel, out.at(begin, at));
      }
    }
  }

  /// Outputs [at, at + count) of several rows as a panel.
  void gather(const PairPlanes& planes, const int32_t* pairs, int64_t at,
              int64_t count, int32_t* panel) const {
    const int64_t width = int8_kernels().max_cols;
    // Where each run of neighbours starts and what it is copied to: whole
    // widths, of which the next run overwrites the rest.
    int64_t from[kMostRuns], to[kMostRuns], runs = 0;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t where = planes.position(at + i);
      if (runs == 0 || where != from[runs - 1] + (i - to[runs - 1])) {
        from[runs] = where;
        to[runs++] = i;
      }
    }
    for (const int64_t offset : planes.offsets()) {
      for (int64_t r = 0; r < runs; ++r)
        std::copy_n(pairs + offset + from[r], width - to[r], panel + to[r]);
      panel += width;
    }
  }

  static constexpr int64_t kMostRuns = 32;

  const Tensor &y_, &x_, &w_;
  PairedWindows windows_{};
  int64_t groups_ = 1, outputs_ = 1, bands_ = 1, row_parts_ = 1;
  size_t along_ = 0;
  const int32_t* weights_ = nullptr;
  float* scales_ = nullptr;
  Int8Output out_{};
};

void int8_conv(const KernelCall& call) {
  Conv(call).run();
}

HOTARU_KERNEL(kCPU, "int8_conv", int8_conv);

}  // namespace
}  // namespace hotaru::cpu
