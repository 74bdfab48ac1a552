#include "hotaru/backend/cpu/conv/gradients/conv_gradients.h"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "hotaru/backend/cpu/conv/conv_patches.h"
#include "hotaru/backend/cpu/conv/gradients/gradient_ways.h"
#include "hotaru/backend/cpu/matmul/areas.h"
#include "hotaru/backend/cpu/scratch.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru {
namespace {

/// Memory that is freed with the call: a patch matrix may be large.
template <class T>
using Temporary = std::unique_ptr<T[], AlignedDelete>;
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
      if (step == 1)
        for (int64_t i = 0; i < run.length; ++i) to[i] += from[i];
      else
        for (int64_t i = 0; i < run.length; ++i) to[i * step] += from[i];
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
void depthwise_data(const ConvGradient<T>& call) {
  const ConvGeometry& g = call.geometry;
  const T *dy = call.dy, *weight = call.other;
  const ConvGeometry::Sizes out = g.out();
  ConvGeometry turned = g;
  bool spread = false;
  for (size_t i = 0; i < 3; ++i) {
    turned.padding[i] = g.dilation[i] * (g.kernel[i] - 1) - g.padding[i];
    turned.in[i] =
        g.in[i] + 2 * g.padding[i] - g.dilation[i] * (g.kernel[i] - 1);
    turned.stride[i] = 1;
    spread |= turned.in[i] != out[i];
  }
  const int64_t taps = volume(g.kernel), planes = g.batch * g.in_channels;
  const Temporary<T> kernels = temporary<T>(g.in_channels * taps);
  for (int64_t c = 0; c < g.in_channels; ++c)
    std::reverse_copy(weight + c * taps, weight + (c + 1) * taps,
                      kernels.get() + c * taps);
  Temporary<T> wide;
  if (spread) {
    const int64_t size = volume(turned.in), from = volume(out);
    wide = temporary<T>(planes * size);
    parallel_for(
        0, planes, std::max<int64_t>(1, kGrainSize / size),
        [&](int64_t at, int64_t end) {
          std::fill(wide.get() + at * size, wide.get() + end * size, T(0));
          for (; at < end; ++at) {
            const T* next = dy + at * from;
            T* const to = wide.get() + at * size;
            for (int64_t z = 0; z < out[0]; ++z)
              for (int64_t y = 0; y < out[1]; ++y) {
                T* row =
                    to + (z * g.stride[0] * turned.in[1] + y * g.stride[1]) *
                             turned.in[2];
                for (int64_t x = 0; x < out[2]; ++x)
                  row[x * g.stride[2]] = *next++;
              }
          }
        });
    dy = wide.get();
  }
  conv_forward<T>(turned, dy, kernels.get(), call.bias, Activation::kNone,
                  call.out);
}

namespace {

/// dy of all images, a row for each position: [n * positions, outputs].
template <class T>
Temporary<T> rows_of_positions(const ConvGeometry& g, const T* dy) {
  const int64_t positions = g.out_positions(), outputs = g.out_channels;
  Temporary<T> rows = temporary<T>(g.batch * positions * outputs);
  for (int64_t n = 0; n < g.batch; ++n)
    gemm_kernels<T>().pack(rows.get() + n * positions * outputs, outputs,
                           positions,
                           {dy + n * positions * outputs, positions, 1});
  return rows;
}

}  // namespace

template <class T>
void few_positions_data(const ConvGradient<T>& call) {
  const ConvGeometry& g = call.geometry;
  const T *weight = call.other, *bias = call.bias;
  T* const dx = call.out;
  const int64_t positions = g.out_positions(), patch = g.patch_size();
  const int64_t rows = g.batch * positions, plane = volume(g.in);
  const Temporary<T> turned = rows_of_positions(g, call.dy);
  const Temporary<T> patches = temporary<T>(rows * patch);
  gemm<T>(rows, patch, g.out_channels, T(1), {turned.get(), g.out_channels, 1},
          {weight, patch, 1}, T(0), patches.get(), patch);
  const int64_t taps = volume(g.kernel);
  const ConvGeometry::Sizes out = g.out();
  // Places in the plane that each tap and position adds to; or nowhere.
  std::vector<int64_t> places;
  for (int64_t t = 0; t < taps; ++t)
    for (int64_t p = 0; p < positions; ++p) {
      const int64_t at[3] = {p / out[2] / out[1], p / out[2] % out[1],
                             p % out[2]};
      const int64_t tap[3] = {t / g.kernel[2] / g.kernel[1],
                              t / g.kernel[2] % g.kernel[1], t % g.kernel[2]};
      int64_t place = 0;
      for (size_t i = 0; i < 3 && place >= 0; ++i) {
        const int64_t x =
            at[i] * g.stride[i] - g.padding[i] + tap[i] * g.dilation[i];
        place = x < 0 || x >= g.in[i] ? -1 : place * g.in[i] + x;
      }
      places.push_back(place);
    }
  const int64_t grain = std::max<int64_t>(1, kGrainSize / (taps * positions));
  parallel_for(0, g.batch * g.in_channels, grain, [&](int64_t i, int64_t end) {
    for (; i < end; ++i) {
      const int64_t c = i % g.in_channels;
      T* const to = dx + i * plane;
      std::fill_n(to, plane, bias ? bias[c] : T(0));
      const T* from =
          patches.get() + i / g.in_channels * positions * patch + c * taps;
      for (int64_t t = 0; t < taps; ++t)
        for (int64_t p = 0; p < positions; ++p)
          if (const int64_t place = places[size_t(t * positions + p)];
              place >= 0)
            to[place] += from[p * patch + t];
    }
  });
}

template <class T>
void pointwise_data(const ConvGradient<T>& call) {
  const ConvGeometry& g = call.geometry;
  const int64_t positions = g.out_positions();
  const int64_t channels = g.in_channels, outputs = g.out_channels;
  Epilogue<T> epilogue;
  epilogue.bias = call.bias;
  epilogue.bias_per_row = true;
  for_batch(g.batch, positions * channels * outputs, [&](int64_t n) {
    gemm<T>(channels, positions, outputs, T(1), {call.other, 1, channels},
            {call.dy + n * outputs * positions, positions, 1}, T(0),
            call.out + n * channels * positions, positions, epilogue);
  });
}

template <class T>
void patches_data(const ConvGradient<T>& call) {
  DataGradient<T>(call.geometry, call.dy, call.other, call.bias, call.out)
      .run();
}

template <class T>
void few_positions_weight(const ConvGradient<T>& call) {
  const ConvGeometry& g = call.geometry;
  const ConvLayout& layout = ConvLayout::cached(g);
  const int64_t positions = g.out_positions(), patch = g.patch_size();
  const int64_t rows = g.batch * positions, size = volume(g.in) * g.in_channels;
  const Temporary<T> turned = rows_of_positions(g, call.dy);
  const Temporary<T> patches = temporary<T>(rows * patch);
  Temporary<T> padded;
  if (layout.is_padded())
    padded = temporary<T>(g.in_channels * layout.channel_size() + kRoomBehind);
  std::vector<ConvRun> runs;
  layout.runs(0, positions, runs);
  T* to = patches.get();
  for (int64_t n = 0; n < g.batch; ++n) {
    const T* image =
        layout.pad(call.other + n * size, g.in_channels, padded.get());
    for (const ConvRun& run : runs)
      for (int64_t j = 0; j < run.length; ++j)
        for (const int64_t offset : layout.row_offsets())
          *to++ = image[offset + run.offset + j * layout.step()];
  }
  gemm<T>(g.out_channels, patch, rows, T(1), {turned.get(), 1, g.out_channels},
          {patches.get(), patch, 1}, T(0), call.out, patch);
}

template <class T>
void pointwise_weight(const ConvGradient<T>& call) {
  const ConvGeometry& g = call.geometry;
  const int64_t positions = call.positions, patch = g.patch_size();
  const int64_t outputs = g.outputs_per_group();
  const int64_t in_size = volume(g.in) * g.channels_per_group();
  for (int64_t n = 0; n < g.batch; ++n)
    gemm<T>(outputs, patch, positions, T(1),
            {call.dy + n * outputs * positions, positions, 1},
            {call.other + n * in_size, 1, positions}, T(n == 0 ? 0 : 1),
            call.out, patch);
}

template <class T>
void patches_weight(const ConvGradient<T>& call) {
  const ConvGeometry& g = call.geometry;
  const ConvLayout& layout = ConvLayout::cached(g);
  const int64_t positions = call.positions, patch = g.patch_size();
  const int64_t channels = g.channels_per_group();
  const int64_t outputs = g.outputs_per_group();
  const int64_t in_size = volume(g.in) * channels;
  const auto range = [&](int64_t begin, int64_t end) {
    const Temporary<T> patches = temporary<T>(patch * positions);
    Temporary<T> padded;
    if (layout.is_padded())
      padded = temporary<T>(channels * layout.channel_size());
    for (int64_t group = begin; group < end; ++group) {
      for (int64_t n = 0; n < g.batch; ++n) {
        const int64_t i = n * g.groups + group;
        const T* image =
            layout.pad(call.other + i * in_size, channels, padded.get());
        ConvPatches<T>(layout, image)
            .pack(0, patch, 0, positions, positions, patches.get());
        gemm<T>(outputs, patch, positions, T(1),
                {call.dy + i * outputs * positions, positions, 1},
                {patches.get(), 1, positions}, T(n == 0 ? 0 : 1),
                call.out + group * outputs * patch, patch);
      }
    }
  };
  if (g.groups < get_num_threads())
    range(0, g.groups);
  else
    parallel_for(0, g.groups, 1, range);
}

template <class T>
void conv_backward_data(const ConvGeometry& g, const T* dy, const T* weight,
                        const T* bias, T* dx) {
  if (g.batch * g.in_channels == 0) return;
  data_gradient<T>(
      {.geometry = g, .dy = dy, .other = weight, .bias = bias, .out = dx});
}

template <class T>
void conv_backward_weight(const ConvGeometry& g, const T* dy, const T* x,
                          T* dweight) {
  if (g.batch == 0 || g.out_positions() == 0) {
    std::fill_n(dweight, g.out_channels * g.patch_size(), T(0));
    return;
  }
  weight_gradient<T>({.geometry = g, .dy = dy, .other = x, .out = dweight});
}

#define HOTARU_INSTANTIATE(T) \
  template void depthwise_data(const ConvGradient<T>&); \
  template void few_positions_data(const ConvGradient<T>&); \
  template void pointwise_data(const ConvGradient<T>&); \
  template void patches_data(const ConvGradient<T>&); \
  template void few_positions_weight(const ConvGradient<T>&); \
  template void pointwise_weight(const ConvGradient<T>&); \
  template void patches_weight(const ConvGradient<T>&); \
  template void conv_backward_data(const ConvGeometry&, const T*, const T*, \
                                   const T*, T*); \
  template void conv_backward_weight(const ConvGeometry&, const T*, const T*, \
                                     T*);
HOTARU_INSTANTIATE(float)
HOTARU_INSTANTIATE(double)
#undef HOTARU_INSTANTIATE

}  // namespace hotaru
