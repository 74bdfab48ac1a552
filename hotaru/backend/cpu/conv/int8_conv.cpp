// The kernel "int8_conv": for each picture, group and band of outputs the
// planes of words, which weights then multiply without unrolled windows.
#include <algorithm>
#include <optional>
#include <vector>

#include "hotaru/backend/common/conv/int8.h"
#include "hotaru/backend/cpu/conv/int8_lines.h"
#include "hotaru/backend/cpu/conv/pair_planes.h"
#include "hotaru/backend/cpu/matmul/areas.h"
#include "hotaru/backend/cpu/matmul/int8/int8_numbers.h"
#include "hotaru/backend/cpu/scratch.h"
#include "hotaru/runtime/kernel.h"

namespace hotaru::cpu {
namespace {

// Pairs of planes that stay in the second-level cache.
constexpr int64_t kPlanePairs = 48 << 10;
// Pairs of weights that the bands of a group multiply by before the next ones.
constexpr int64_t kWeightPairs = 96 << 10;
// Words of windows that are kept for all blocks of weights, likewise.
constexpr int64_t kPanelWords = 128 << 10;

int64_t ceil_div(int64_t a, int64_t b) {
  return a / b + (a % b > 0);
}

/// Three dimensions, of which missing ones have one element.
Extents extents(IntSpan list, int64_t missing = 1) {
  Extents out{missing, missing, missing};
  std::copy(list.begin(), list.end(), out.end() - list.size());
  return out;
}

/// Weights [rows, channels, kernel] as words; zeros: of each row. Behind quads
/// a QuadRow for each row.
void pair_weights(const PairedWindows& windows, const Tensor& w,
                  const int32_t* zeros, int32_t* to) {
  const int64_t depth = windows.pairs(), rows = w.size(0);
  const bool quads = windows.lanes == 4, is_signed = w.dtype() == DType::kInt8;
  // Pairs are of unsigned bytes, quads of signed ones.
  const int flip = is_signed == quads ? 0 : 0x80;
  const int64_t row = windows.channels * volume(windows.kernel);
  const auto* from = static_cast<const uint8_t*>(w.raw_data());
  auto* of_rows = reinterpret_cast<QuadRow*>(to + rows * depth);
  const auto make = [&](int64_t i) {
    if (!quads)
      return windows.pair_weights(from + i * row, flip, zeros[i] + flip,
                                  to + i * depth);
    const int32_t zero = zeros[i] - flip;
    const int32_t sum =
        windows.quad_weights(from + i * row, flip, to + i * depth);
    of_rows[i] = {int32_t(uint32_t(sum) - uint32_t(row) * uint32_t(zero)),
                  zero};
  };
  parallel_for(0, rows, std::max<int64_t>(1, kProductsPerThread / (row + 1)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) make(i);
               });
}

void set_words(PairedWindows& windows, int64_t channels, IntSpan kernel) {
  windows.channels = channels;
  windows.lanes = quad_kernels() ? 4 : 2;
  windows.along_kernel =
      int8_lanes_along_kernel(channels, kernel, windows.lanes);
}

void read_channel_zeros(const Tensor& t, int64_t n, int32_t* to) {
  read_zeros(t, 0, t.defined() && t.numel() > 1 ? 1 : 0, n, to);
}

class Conv {
 public:
  explicit Conv(const KernelCall& call)
      : y_(call.tensor(0)), x_(call.tensor(1)) {
    const auto& a = call.attributes<Int8ConvAttributes>();
    windows_.in = extents(x_.sizes().subspan(2));
    windows_.out = extents(y_.sizes().subspan(2));
    windows_.kernel = extents(a.kernel);
    windows_.stride = extents(a.stride);
    windows_.padding = extents(a.padding, 0);
    windows_.dilation = extents(a.dilation);
    set_words(windows_, a.channels, a.kernel);
    windows_.flip = x_.dtype() == DType::kInt8 ? 0x80 : 0;
    merge();
    groups_ = a.groups;
    outputs_ = y_.size(1) / groups_;
    int32_t zero;
    read_zeros(call.tensor(3), 0, 0, 1, &zero);
    windows_.zero = zero + windows_.flip;
    out_.kind = output_kind(y_);
    out_.data = y_.raw_data();
    out_.stride = volume(windows_.out);
    if (call.tensor(5).defined()) out_.bias = call.tensor(5).data<int32_t>();
    set_weights(call.tensor(2), call.tensor(4), a.packed);
    if (call.tensor(9).defined()) set_scales(call);
    set_bands();
  }

  void run() const {
    if (PaddedLines::fit(windows_) && outputs_ <= kFewChannels &&
        x_.size(0) * groups_ >= (in_parallel_region() ? 1 : get_num_threads()))
      return by_lines();
    const int64_t parts = x_.size(0) * groups_ * bands_ * row_parts_;
    const int64_t work = std::max<int64_t>(
        1, y_.numel() * windows_.pairs() * 2 / std::max<int64_t>(1, parts));
    parallel_for(0, parts, std::max<int64_t>(1, kProductsPerThread / work),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) compute(i);
                 });
  }

 private:
  /// Merges rows of windows of one element, that each output has, into one.
  void merge() {
    constexpr Extents kOnes{1, 1, 1}, kNone{0, 0, 0};
    if (windows_.kernel != kOnes || windows_.stride != kOnes ||
        windows_.padding != kNone || windows_.in != windows_.out)
      return;
    windows_.in = windows_.out = {1, 1, volume(windows_.in)};
  }

  /// All weights as pairs; what is made here is this thread's.
  void set_weights(const Tensor& w, const Tensor& zero, bool packed) {
    const int64_t rows = y_.size(1);
    auto* zeros = scratch<int32_t>(ScratchUse::kInt8Zeros, 2 * rows);
    scales_ = reinterpret_cast<float*>(zeros + rows);
    const int64_t depth = windows_.pairs();
    if (packed) {
      weights_ = w.data<int32_t>();
    } else {
      read_channel_zeros(zero, rows, zeros);
      auto* to = scratch<int32_t>(ScratchUse::kInt8Weights, rows * (depth + 2));
      pair_weights(windows_, w, zeros, to);
      weights_ = to;
    }
    if (windows_.lanes == 2) return;
    rows_ = reinterpret_cast<const QuadRow*>(weights_ + rows * depth);
    if (std::all_of(rows_, rows_ + rows,
                    [](const QuadRow& row) { return row.zero == 0; }))
      return;
    const std::vector<uint8_t> ones(
        size_t(windows_.channels * volume(windows_.kernel)), 1);
    ones_.resize(size_t(depth));
    windows_.quad_weights(ones.data(), 0, ones_.data());
  }

  void set_scales(const KernelCall& call) {
    const float x = *call.tensor(6).data<float>();
    const Tensor& w = call.tensor(7);
    const float y = *call.tensor(8).data<float>();
    for (int64_t i = 0; i < y_.size(1); ++i)
      scales_[i] = x * w.data<float>()[w.numel() > 1 ? i : 0] / y;
    out_.row_scale = scales_;
    out_.zero = byte_at(call.tensor(9), 0);
  }

  /// Cuts the first dimension with more than one output so that planes stay
  /// near and all threads have work.
  void set_bands() {
    while (along_ < 2 && windows_.out[along_] == 1) ++along_;
    const int64_t threads = in_parallel_region() ? 1 : get_num_threads();
    whole_.emplace(windows_, Extents{0, 0, 0}, windows_.out);
    const int64_t steps = windows_.out[along_];
    bands_ = std::min(steps, ceil_div(whole_->size(), kPlanePairs));
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

  /// Channel by channel, without planes.
  void by_lines() const {
    const int64_t work = std::max<int64_t>(
        1, outputs_ * windows_.pairs() * 4 * volume(windows_.out));
    parallel_for(0, x_.size(0) * groups_,
                 std::max<int64_t>(1, kProductsPerThread / work),
                 [&](int64_t begin, int64_t end) {
                   PaddedLines lines(windows_);
                   for (int64_t i = begin; i < end; ++i) {
                     lines.fill(static_cast<const uint8_t*>(x_.raw_data()) +
                                i * volume(windows_.in));
                     for (int64_t o = 0; o < outputs_; ++o)
                       finish_lines(lines, i, o);
                   }
                 });
  }

  /// Output o of the group of channel i, pictures and groups counted as one.
  void finish_lines(const PaddedLines& lines, int64_t i, int64_t o) const {
    const int64_t row = i % groups_ * outputs_ + o, n = volume(windows_.out);
    auto* sums = scratch<int32_t>(ScratchUse::kGemmB, lines.sums_size());
    lines.multiply(weights_ + row * windows_.pairs(), rows_[row], ones_.data(),
                   sums);
    Int8Output out = out_.at(row, 0);
    out.data = static_cast<char*>(out.data) +
               i / groups_ * y_.size(1) * n * out.item();
    int8_kernels().finish_rows(sums, 1, n, n, out);
  }

  void compute(int64_t part) const {
    const int64_t rows = part % row_parts_, band = part / row_parts_ % bands_;
    const int64_t picture = part / row_parts_ / bands_;
    const int64_t group = picture % groups_;
    Extents begin{0, 0, 0}, length = windows_.out;
    const int64_t steps = windows_.out[along_];
    begin[along_] = steps * band / bands_;
    length[along_] = steps * (band + 1) / bands_ - begin[along_];
    std::optional<PairPlanes> band_planes;
    if (bands_ > 1) band_planes.emplace(windows_, begin, length);
    const PairPlanes& planes = bands_ > 1 ? *band_planes : *whole_;
    auto* pairs = scratch<int32_t>(ScratchUse::kConvPatches, planes.size());
    planes.fill(static_cast<const uint8_t*>(x_.raw_data()) +
                    picture * windows_.channels * volume(windows_.in),
                pairs);
    const int64_t first = outputs_ * rows / row_parts_,
                  last = outputs_ * (rows + 1) / row_parts_;
    const int64_t done = begin[along_] * volume(windows_.out) / steps;
    Int8Output out = out_;
    out.data = static_cast<char*>(y_.raw_data()) +
               (picture * outputs_ * out.stride + done) * out.item();
    if (out.bias) out.bias += group * outputs_;
    if (out.row_scale) out.row_scale += group * outputs_;
    const int64_t n = volume(length), depth = windows_.pairs();
    const int64_t together = std::max<int64_t>(kWeightPairs / (depth + 1), 1);
    const int64_t blocks = ceil_div(last - first, together);
    // Operands of several blocks of weights are put together once.
    const int64_t slot = (depth + 2) * int8_kernels().max_cols;
    const int64_t most =
        blocks == 1 ? 1 : std::max<int64_t>(kPanelWords / slot, 1);
    auto* slots = scratch<int32_t>(ScratchUse::kGemmB, most * slot);
    std::vector<Panel> panels;
    for (int64_t at = 0; at < n;) {
      panels.clear();
      for (; at < n && int64_t(panels.size()) < most; at += panels.back().cols)
        panels.push_back(panel(planes, pairs, at, n, last - first,
                               slots + int64_t(panels.size()) * slot));
      for (int64_t i = 0; i < blocks; ++i)
        for (const Panel& panel : panels)
          multiply(panel, group * outputs_, first + (last - first) * i / blocks,
                   first + (last - first) * (i + 1) / blocks, out);
    }
  }

  /// Outputs [at, at + cols), as tiles read them: with offsets in the planes.
  struct Panel {
    int64_t at;
    int cols;
    const int32_t* from;
    const int64_t* offsets;
    const int32_t* sums;  // of quads
  };

  /// Panel of the outputs from `at` on; `slot` has what is put together for
  /// them.
  Panel panel(const PairPlanes& planes, const int32_t* pairs, int64_t at,
              int64_t n, int64_t channels, int32_t* slot) const {
    const int64_t width = int8_kernels().max_cols;
    int64_t count = std::min(width, n - at);
    const int64_t run = planes.run(at);
    // Where few channels share a panel, tiles end with the planes' rows.
    if (channels <= kFewChannels) count = std::min(count, run);
    Panel out{at, int(count), pairs + planes.position(at),
              planes.offsets().data(), nullptr};
    if (run < count) {
      gather(planes, pairs, at, count, slot);
      out.from = slot;
      out.offsets = nullptr;
    }
    if (!rows_) return out;
    int32_t* sums = slot + (windows_.pairs() + 1) * width;
    std::fill_n(sums, width, 0);
    if (!ones_.empty()) sum_columns(out, sums);
    out.sums = sums;
    return out;
  }

  /// Channels [first, last) of a panel.
  void multiply(const Panel& panel, int64_t group_first, int64_t first,
                int64_t last, const Int8Output& out) const {
    const Int8Kernels& kernels = int8_kernels();
    const int64_t depth = windows_.pairs();
    const int64_t tiles = ceil_div(last - first, kernels.max_rows);
    for (int64_t t = 0; t < tiles; ++t) {
      const int64_t begin = first + (last - first) * t / tiles,
                    end = first + (last - first) * (t + 1) / tiles;
      const int32_t* a = weights_ + (group_first + begin) * depth;
      const int rows = int(end - begin);
      const Int8Output to = out.at(begin, panel.at);
      if (rows_)
        quad_kernels()->conv_tile(rows, panel.cols, depth, a,
                                  rows_ + group_first + begin, panel.from,
                                  panel.offsets, windows_.zero, panel.sums, to);
      else if (!panel.offsets)
        kernels.tile(rows, panel.cols, depth, a, depth, panel.from, to);
      else
        kernels.offset_tile(rows, panel.cols, depth, a, depth, panel.from,
                            panel.offsets, to);
    }
  }

  /// Adds up the windows of quads.
  void sum_columns(const Panel& panel, int32_t* sums) const {
    alignas(64) static constexpr int32_t kNone[kMostColumns] = {};
    const QuadRow none{0, 0};
    Int8Output out{};
    out.data = sums;
    out.stride = kMostColumns;
    quad_kernels()->conv_tile(1, panel.cols, windows_.pairs(), ones_.data(),
                              &none, panel.from, panel.offsets, 0, kNone, out);
  }

  /// Outputs [at, at + count) of several rows as a panel.
  static void gather(const PairPlanes& planes, const int32_t* pairs, int64_t at,
                     int64_t count, int32_t* panel) {
    // A run is copied as a whole width, of which the next one overwrites what
    // is too much.
    int64_t from[kMostRuns], to[kMostRuns];
    int runs = 0;
    for (int64_t i = 0; i < count; i += planes.run(at + i)) {
      from[runs] = planes.position(at + i);
      to[runs++] = i;
    }
    int8_kernels().gather(panel, int64_t(planes.offsets().size()), pairs,
                          planes.offsets().data(), runs, from, to);
  }

  static constexpr int kMostRuns = 32, kMostColumns = 32;
  static constexpr int64_t kFewChannels = 4;

  const Tensor &y_, &x_;
  PairedWindows windows_{};
  int64_t groups_ = 1, outputs_ = 1, bands_ = 1, row_parts_ = 1;
  size_t along_ = 0;
  std::optional<PairPlanes> whole_;  // of all outputs
  const int32_t* weights_ = nullptr;
  const QuadRow* rows_ = nullptr;  // of quads
  std::vector<int32_t> ones_;  // in the place of weights, if some have zeros
  float* scales_ = nullptr;
  Int8Output out_{};
};

void int8_conv(const KernelCall& call) {
  Conv(call).run();
}

void pack(const KernelCall& call) {
  const auto& a = call.attributes<PackInt8ConvAttributes>();
  PairedWindows windows{};
  windows.kernel = extents(a.kernel);
  set_words(windows, a.channels, a.kernel);
  const Tensor& w = call.tensor(1);
  auto* zeros = scratch<int32_t>(ScratchUse::kInt8Zeros, w.size(0));
  read_channel_zeros(call.tensor(2), w.size(0), zeros);
  pair_weights(windows, w, zeros, call.tensor(0).data<int32_t>());
}

HOTARU_KERNEL(kCPU, "int8_conv", int8_conv);
HOTARU_KERNEL(kCPU, "pack_int8_conv", pack);

}  // namespace
}  // namespace hotaru::cpu
