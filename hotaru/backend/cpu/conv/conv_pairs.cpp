#include "hotaru/backend/cpu/conv/conv_pairs.h"

#include <algorithm>
#include <type_traits>

#include "hotaru/backend/cpu/conv/conv_patches.h"
#include "hotaru/backend/cpu/grain.h"
#include "hotaru/backend/cpu/matmul/gemm_bf16.h"
#include "hotaru/backend/cpu/scratch.h"
#include "hotaru/backend/cpu/simd/reduced_simd.h"
#include "hotaru/backend/cpu/wide.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru {
namespace {

/// The same of words.
ConvGeometry paired(ConvGeometry g) {
  g.in_channels = g.groups * bf16_pairs(g.channels_per_group());
  return g;
}

void pair_lines(float* to, int64_t n, const BFloat16* first,
                const BFloat16* second) {
  pair_makers().pair(to, n, first, second);
}
void pair_lines(float* to, int64_t n, const float* first, const float* second) {
  pair_makers().pair_floats(to, n, first, second);
}

/// One call: its sizes, and operands as words.
template <class T>
class PairConv {
 public:
  PairConv(const ConvGeometry& g, const T* x, const T* bias, T* y)
      : g_(paired(g)),
        layout_(ConvLayout::cached(g_)),
        channels_(g.channels_per_group()),
        positions_(g.out_positions()),
        x_(x),
        bias_(bias),
        y_(y) {}

  /// [out_channels, words of a patch], rows as they are.
  const float* pair_weights(const T* w) const {
    const int64_t taps = volume(g_.kernel), row = channels_ * taps;
    float* to =
        scratch<float>(ScratchUse::kBf16A, g_.out_channels * g_.patch_size());
    parallel_for(0, g_.out_channels, cpu::row_grain(row),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t o = begin; o < end; ++o)
                     pair_row(rounded(w + o * row, row), taps,
                              to + o * g_.patch_size());
                 });
    return to;
  }

  void run(const float* weights) const {
    const int64_t count = g_.batch * g_.groups;
    const auto range = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) multiply(weights, i);
    };
    // Fewer images than threads are divided inside.
    if (count < get_num_threads()) return range(0, count);
    parallel_for(0, count, 1, range);
  }

 private:
  static const BFloat16* rounded(const BFloat16* row, int64_t) { return row; }
  static const BFloat16* rounded(const float* row, int64_t n) {
    BFloat16* to = scratch<BFloat16>(ScratchUse::kBf16Columns, n);
    pair_makers().round(row, to, n);
    return to;
  }

  /// Channels [channels, taps] as words [pairs, taps].
  void pair_row(const BFloat16* row, int64_t taps, float* to) const {
    auto* out = reinterpret_cast<uint32_t*>(to);
    for (int64_t c = 0; c < channels_; c += 2, row += 2 * taps, out += taps) {
      const bool both = c + 1 < channels_;
      for (int64_t t = 0; t < taps; ++t)
        out[t] = row[t].bits | (both ? uint32_t{row[taps + t].bits} << 16 : 0u);
    }
  }

  /// Image and group i / groups and i % groups of x as words, with padding.
  const float* image(int64_t i) const {
    const int64_t size = volume(g_.in), pairs = g_.channels_per_group();
    const T* from = x_ + i * channels_ * size;
    float* words =
        scratch<float>(ScratchUse::kBf16Rows, pairs * size + kRoomBehind);
    parallel_for(0, pairs, cpu::row_grain(2 * size),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t p = begin; p < end; ++p) {
                     const T* first = from + 2 * p * size;
                     pair_lines(words + p * size, size, first,
                                2 * p + 1 < channels_ ? first + size : nullptr);
                   }
                 });
    if (!layout_.is_padded()) return words;
    float* to = scratch<float>(ScratchUse::kConv,
                               pairs * layout_.channel_size() + kRoomBehind);
    return layout_.pad(words, pairs, to);
  }

  void multiply(const float* weights, int64_t i) const {
    const int64_t rows = g_.outputs_per_group(), patch = g_.patch_size();
    const int64_t group = i % g_.groups;
    const float* words = image(i);
    const ConvPatches<float> patches(layout_, words);
    Factor<float> right;
    // A 1 x 1 kernel's patches are the input itself.
    if (patch == g_.channels_per_group() && g_.in == g_.out() &&
        !layout_.is_padded())
      right.matrix = {words, positions_, 1};
    else
      right.source = &patches;
    float* wide = nullptr;
    Epilogue<float> epilogue;
    epilogue.bias_per_row = true;
    T* y = y_ + i * rows * positions_;
    if constexpr (std::is_same_v<T, float>) {
      wide = y;
      if (bias_) epilogue.bias = bias_ + group * rows;
    } else {
      wide = scratch<float>(ScratchUse::kConvOutput, rows * positions_ + rows);
      float* bias = wide + rows * positions_;
      if (bias_) cpu::widen(bias_ + group * rows, bias, rows);
      if (bias_) epilogue.bias = bias;
    }
    const auto* const left =
        reinterpret_cast<const BFloat16*>(weights + group * rows * patch);
    gemm_pairs(rows, positions_, 2 * patch, 1.0f,
               MatrixRef<BFloat16>{left, 2 * patch, 1}, right, 0.0f, wide,
               positions_, epilogue);
    if constexpr (!std::is_same_v<T, float>)
      cpu::narrowed(wide, y, rows * positions_);
  }

  ConvGeometry g_;  // of words
  const ConvLayout& layout_;
  int64_t channels_;  // of a group
  int64_t positions_;
  const T *x_, *bias_;
  T* y_;
};

}  // namespace

template <class T>
void conv_forward_pairs(const ConvGeometry& geometry, const T* x,
                        const T* weight, const T* bias, T* y) {
  const PairConv<T> conv(geometry, x, bias, y);
  conv.run(conv.pair_weights(weight));
}

template void conv_forward_pairs(const ConvGeometry&, const float*,
                                 const float*, const float*, float*);
template void conv_forward_pairs(const ConvGeometry&, const BFloat16*,
                                 const BFloat16*, const BFloat16*, BFloat16*);

}  // namespace hotaru
