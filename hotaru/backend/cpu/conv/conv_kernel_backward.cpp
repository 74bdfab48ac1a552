// Gradients of convolution by way of the matrix of patches.
#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "hotaru/backend/cpu/conv/conv_kernel.h"
#include "hotaru/backend/cpu/conv/conv_patches.h"
#include "hotaru/backend/cpu/matmul/areas.h"
#include "hotaru/backend/cpu/scratch.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru {
namespace {

/// Memory that is freed with the call: a patch matrix may be large.
template <class T>
struct Free {
  void operator()(T* p) const { aligned_delete(p); }
};
template <class T>
using Temporary = std::unique_ptr<T[], Free<T>>;
template <class T>
Temporary<T> temporary(int64_t count) {
  return Temporary<T>(aligned_new<T>(std::max<int64_t>(count, 1)));
}

/// Adds rows of patches to the places of the padded image where they came
/// from; `offsets` are the rows' own.
template <class T>
void add_patches(std::span<const int64_t> offsets, int64_t step,
                 const std::vector<ConvRun>& runs, int64_t width,
                 const T* patches, T* image) {
  for (const int64_t offset : offsets) {
    for (const ConvRun& run : runs) {
      const T* from = patches + run.column;
      T* to = image + offset + run.offset;
      if (step == 1) {
        for (int64_t i = 0; i < run.length; ++i) to[i] += from[i];
      } else {
        for (int64_t i = 0; i < run.length; ++i) to[i * step] += from[i];
      }
    }
    patches += width;
  }
}

// Rows of patches that are multiplied at once, about, and elements of them:
// they are added to the image before they leave the second-level cache.
constexpr int64_t kPatchRows = 64;
constexpr int64_t kPatchElements = int64_t{1} << 16;

/// The gradient of a convolution's input, by channels of one group at a time:
/// they share no place of the image.
template <class T>
class DataGradient {
 public:
  DataGradient(const ConvGeometry& g, const T* dy, const T* weight,
               const T* bias, T* dx)
      : g_(g),
        layout_(ConvLayout::cached(g)),
        dy_(dy),
        weight_(weight),
        bias_(bias),
        dx_(dx) {
    taps_ = g.patch_size() / channels_;
    chunk_ = std::clamp<int64_t>(kPatchRows / taps_, 1, channels_);
  }

  void run() const {
    const int64_t chunks = (channels_ + chunk_ - 1) / chunk_;
    const int64_t work =
        g_.patch_size() * g_.out_positions() * g_.outputs_per_group() / chunks;
    for_batch(g_.batch * g_.groups * chunks, work, [&](int64_t at) {
      const int64_t first = at % chunks * chunk_;
      add(at / chunks, first, std::min(chunk_, channels_ - first));
    });
  }

 private:
  /// Channels [first, first + count) of image and group i.
  void add(int64_t i, int64_t first, int64_t count) const {
    const int64_t patch = g_.patch_size(), outputs = g_.outputs_per_group();
    const int64_t positions = g_.out_positions(), rows = count * taps_;
    const int64_t width = std::min(positions, kPatchElements / rows + 1);
    T* dx = dx_ + (i * channels_ + first) * g_.in[0] * g_.in[1] * g_.in[2];
    const int64_t padded = count * layout_.channel_size();
    T* image = dx;
    if (layout_.is_padded()) image = scratch<T>(ScratchUse::kConv, padded);
    std::fill_n(image, padded, T(0));
    T* patches = scratch<T>(ScratchUse::kConvPatches, rows * width);
    const T* weight = weight_ + i % g_.groups * outputs * patch + first * taps_;
    std::vector<ConvRun> runs;
    for (int64_t col = 0; col < positions; col += width) {
      const int64_t cols = std::min(width, positions - col);
      gemm<T>(rows, cols, outputs, T(1), {weight, 1, patch},
              {dy_ + i * outputs * positions + col, positions, 1}, T(0),
              patches, cols);
      layout_.runs(col, cols, runs);
      add_patches(std::span(layout_.row_offsets()).first(size_t(rows)),
                  layout_.step(), runs, cols, patches, image);
    }
    if (layout_.is_padded()) layout_.unpad(image, count, dx);
    if (bias_) add_bias(bias_ + i % g_.groups * channels_ + first, count, dx);
  }

  void add_bias(const T* bias, int64_t count, T* dx) const {
    const int64_t plane = g_.in[0] * g_.in[1] * g_.in[2];
    for (int64_t c = 0; c < count; ++c, dx += plane)
      for (int64_t j = 0; j < plane; ++j) dx[j] += bias[c];
  }

  const ConvGeometry& g_;
  const ConvLayout& layout_;
  const T *dy_, *weight_, *bias_;
  T* dx_;
  const int64_t channels_ = g_.channels_per_group();
  int64_t taps_, chunk_;
};

}  // namespace

template <class T>
void conv_backward_data(const ConvGeometry& g, const T* dy, const T* weight,
                        const T* bias, T* dx) {
  if (g.batch * g.channels_per_group() * g.groups == 0) return;
  DataGradient<T>(g, dy, weight, bias, dx).run();
}

template <class T>
void conv_backward_weight(const ConvGeometry& g, const T* dy, const T* x,
                          T* dweight) {
  const ConvLayout& layout = ConvLayout::cached(g);
  const int64_t positions = g.out_positions(), patch = g.patch_size();
  const int64_t channels = g.channels_per_group();
  const int64_t outputs = g.outputs_per_group();
  const int64_t in_size = g.in[0] * g.in[1] * g.in[2] * channels;
  if (g.batch == 0 || positions == 0) {
    std::fill_n(dweight, g.out_channels * patch, T(0));
    return;
  }
  const auto range = [&](int64_t begin, int64_t end) {
    const Temporary<T> patches = temporary<T>(patch * positions);
    Temporary<T> padded;
    if (layout.is_padded()) {
      padded = temporary<T>(channels * layout.channel_size());
    }
    for (int64_t group = begin; group < end; ++group) {
      for (int64_t n = 0; n < g.batch; ++n) {
        const int64_t i = n * g.groups + group;
        const T* image = layout.pad(x + i * in_size, channels, padded.get());
        ConvPatches<T>(layout, image)
            .pack(0, patch, 0, positions, positions, patches.get());
        gemm<T>(outputs, patch, positions, T(1),
                {dy + i * outputs * positions, positions, 1},
                {patches.get(), 1, positions}, T(n == 0 ? 0 : 1),
                dweight + group * outputs * patch, patch);
      }
    }
  };
  if (g.groups < get_num_threads()) {
    range(0, g.groups);
  } else {
    parallel_for(0, g.groups, 1, range);
  }
}

template void conv_backward_data(const ConvGeometry&, const float*,
                                 const float*, const float*, float*);
template void conv_backward_data(const ConvGeometry&, const double*,
                                 const double*, const double*, double*);
template void conv_backward_weight(const ConvGeometry&, const float*,
                                   const float*, float*);
template void conv_backward_weight(const ConvGeometry&, const double*,
                                   const double*, double*);

}  // namespace hotaru
