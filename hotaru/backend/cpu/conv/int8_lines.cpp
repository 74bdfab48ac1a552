#include "hotaru/backend/cpu/conv/int8_lines.h"

#include <algorithm>

#include "hotaru/backend/cpu/scratch.h"

namespace hotaru::cpu {
namespace {

// Outputs that are computed at a time, and bytes that those read at most.
constexpr int64_t kTogether = 16;
constexpr int64_t kBehind = 128;

}  // namespace

bool PaddedLines::fit(const PairedWindows& windows) {
  return windows.channels == 1 && windows.lanes == 4 && windows.along_kernel &&
         windows.stride[2] <= 2 && windows.dilation[2] == 1;
}

PaddedLines::PaddedLines(const PairedWindows& windows) : w_(windows) {
  for (size_t d = 0; d < 3; ++d)
    whole_[d] = (w_.out[d] - 1) * w_.stride[d] +
                (w_.kernel[d] - 1) * w_.dilation[d] + 1;
  pitch_ = whole_[2] + kBehind;
}

void PaddedLines::fill(const uint8_t* x) {
  const QuadKernels& kernels = *quad_kernels();
  lines_ = scratch<uint8_t>(ScratchUse::kConvPatches,
                            whole_[0] * whole_[1] * pitch_);
  const auto zero = uint8_t(w_.zero);
  const int64_t left = std::min(w_.padding[2], whole_[2]);
  const int64_t inside = std::clamp<int64_t>(whole_[2] - left, 0, w_.in[2]);
  uint8_t* to = lines_;
  for (int64_t d = 0; d < whole_[0]; ++d)
    for (int64_t h = 0; h < whole_[1]; ++h, to += pitch_) {
      const int64_t z = d - w_.padding[0], y = h - w_.padding[1];
      if (z < 0 || z >= w_.in[0] || y < 0 || y >= w_.in[1]) {
        std::fill_n(to, pitch_, zero);
        continue;
      }
      std::fill_n(to, left, zero);
      kernels.copy(to + left, inside, x + (z * w_.in[1] + y) * w_.in[2],
                   w_.flip);
      std::fill(to + left + inside, to + pitch_, zero);
    }
}

int64_t PaddedLines::sums_size() const {
  return volume(w_.out) + kTogether;
}

void PaddedLines::add_up(const int32_t* weights, int32_t first,
                         int32_t* sums) const {
  const QuadKernels& kernels = *quad_kernels();
  const int count = int(w_.kernel[0] * w_.kernel[1]);
  auto* lines = scratch<const uint8_t*>(ScratchUse::kInt8Columns, count);
  // Rows end with what belongs to the next one, which writes it again.
  for (int64_t d = 0; d < w_.out[0]; ++d)
    for (int64_t h = 0; h < w_.out[1]; ++h, sums += w_.out[2]) {
      int at = 0;
      for (int64_t i = 0; i < w_.kernel[0]; ++i)
        for (int64_t j = 0; j < w_.kernel[1]; ++j) {
          const int64_t z = d * w_.stride[0] + i * w_.dilation[0];
          const int64_t y = h * w_.stride[1] + j * w_.dilation[1];
          lines[at++] = lines_ + (z * whole_[1] + y) * pitch_;
        }
      kernels.lines(sums, w_.out[2], lines, count, int(w_.taps()[2]), weights,
                    int(w_.stride[2]), first);
    }
}

void PaddedLines::multiply(const int32_t* weights, const QuadRow& row,
                           const int32_t* ones, int32_t* sums) const {
  add_up(weights, int32_t(0u - uint32_t(w_.zero) * uint32_t(row.sum)), sums);
  if (row.zero == 0) return;
  auto* windows = scratch<int32_t>(ScratchUse::kConvOutput, sums_size());
  add_up(ones, 0, windows);
  for (int64_t i = 0; i < volume(w_.out); ++i)
    sums[i] =
        int32_t(uint32_t(sums[i]) - uint32_t(windows[i]) * uint32_t(row.zero));
}

}  // namespace hotaru::cpu
