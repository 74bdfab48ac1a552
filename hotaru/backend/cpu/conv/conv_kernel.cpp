#include "hotaru/backend/cpu/conv/conv_kernel.h"

#include <algorithm>
#include <optional>

#include "hotaru/backend/cpu/conv/conv_patches.h"
#include "hotaru/backend/cpu/matmul/gemm_kernel.h"
#include "hotaru/backend/cpu/scratch.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru {
namespace {

// Below this many output positions lanes hold channels instead of positions.
constexpr int64_t kFewPositions = 16;
// Rows of patches from which weights are read as they lie, and lanes hold
// patches of several images.
constexpr int64_t kLeastPatches = 16;
// Patches multiplied at once when lanes hold channels.
constexpr int64_t kPatchRows = 256;
// Multiply-adds that pay for one more thread.
constexpr int64_t kWorkPerThread = 1 << 19;

/// One convolution call: its sizes, operands and what follows from them.
template <class T>
struct Call {
  const ConvGeometry& geometry;
  const ConvLayout& layout;
  const T* x;
  const T* weight;
  const T* bias;
  Activation activation;
  T* y;
  const PackedConvWeight<T>* packed;
  ConvTail<T> tail;
  int64_t positions;
  int64_t patch;
  int64_t in_channels;   // of a group
  int64_t out_channels;  // of a group

  /// x of an image and group, with its padding.
  const T* image(int64_t n, int64_t group, T* buffer) const {
    const int64_t size = volume(geometry.in) * in_channels;
    return layout.pad(x + (n * geometry.groups + group) * size, in_channels,
                      buffer);
  }
  T* image_buffer(int64_t images) const {
    return layout.is_padded()
               ? scratch<T>(
                     ScratchUse::kConv,
                     images * in_channels * layout.channel_size() + kRoomBehind)
               : nullptr;
  }
  /// Of the product whose rows, or columns, are a group's channels. Only rows
  /// take the tail along; else finish() does.
  Epilogue<T> epilogue(int64_t n, int64_t group, bool per_row) const {
    Epilogue<T> e;
    if (per_row) e = last(n, group * out_channels);
    if (per_row || tail.empty()) e.activation = activation;
    e.bias = bias ? bias + group * out_channels : nullptr;
    e.bias_per_row = per_row;
    return e;
  }
  /// What is left for channels from the given one on, a row each.
  Epilogue<T> last(int64_t n, int64_t channel) const {
    Epilogue<T> e;
    e.activation = activation;
    if (tail.scale) {
      e.scale = tail.scale + channel;
      e.shift = tail.shift + channel;
    }
    if (tail.residual) {
      e.residual =
          tail.residual + (n * geometry.out_channels + channel) * positions;
      e.residual_stride = positions;
    }
    return e;
  }
};

/// f(image, group) for all of them, concurrently if there are enough.
template <class T, class F>
void for_images(const Call<T>& call, const F& f) {
  const int64_t groups = call.geometry.groups;
  const int64_t count = call.geometry.batch * groups;
  const auto range = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i / groups, i % groups);
  };
  // Fewer images than threads are divided inside.
  if (count < get_num_threads()) return range(0, count);
  const int64_t work =
      std::max<int64_t>(1, call.positions * call.patch * call.out_channels);
  parallel_for(0, count, std::max<int64_t>(1, kWorkPerThread / work), range);
}

/// Of all positions; valid until the thread's next call.
template <class T>
const std::vector<ConvRun>& all_runs(const Call<T>& call) {
  thread_local std::vector<ConvRun> runs;
  call.layout.runs(0, call.positions, runs);
  return runs;
}

/// What depthwise3 needs, but for the operands; none if it does not serve this.
template <class T>
std::optional<Depthwise3<T>> as_depthwise3(const Call<T>& call) {
  const ConvGeometry& g = call.geometry;
  const auto& out = g.out();
  const bool plane = g.in[0] == 1 && g.kernel == ConvGeometry::Sizes{1, 3, 3} &&
                     g.padding[0] == 0;
  const bool simple = call.layout.is_padded() && call.layout.step() == 1 &&
                      g.dilation[1] == 1 && g.stride[1] <= 2 &&
                      !call.tail.residual &&
                      (call.activation == Activation::kNone ||
                       call.activation == Activation::kRelu);
  if (!plane || !simple) return {};
  const std::vector<int64_t>& taps = call.layout.row_offsets();
  Depthwise3<T> p{};
  p.pitch = call.layout.pitch();
  std::copy_n(taps.begin(), 3, p.taps);
  p.stride = g.stride[1];
  p.relu = call.activation == Activation::kRelu;
  p.rows = out[1];
  p.columns = out[2];
  return p;
}

template <class T>
void forward_depthwise3(const Call<T>& call, const Depthwise3<T>& common) {
  for_images(call, [&](int64_t n, int64_t group) {
    Depthwise3<T> p = common;
    p.x = call.image(n, group, call.image_buffer(1));
    for (int64_t c = 0; c < call.out_channels; ++c) {
      const int64_t channel = group * call.out_channels + c;
      p.weight = call.weight + channel * call.patch;
      p.bias = call.bias ? call.bias[channel] : T(0);
      p.scale = call.tail.scale ? call.tail.scale[channel] : T(1);
      p.shift = call.tail.scale ? call.tail.shift[channel] : T(0);
      p.y =
          call.y + (n * call.geometry.out_channels + channel) * call.positions;
      conv_kernels<T>().depthwise3(p);
    }
  });
}

/// One weight row per channel: taps are added up without a matrix product.
template <class T>
void forward_depthwise(const Call<T>& call) {
  if (const auto plane = as_depthwise3(call))
    return forward_depthwise3(call, *plane);
  const std::vector<ConvRun>& runs = all_runs(call);
  const ConvKernels<T>& kernels = conv_kernels<T>();
  for_images(call, [&](int64_t n, int64_t group) {
    const T* image = call.image(n, group, call.image_buffer(1));
    for (int64_t c = 0; c < call.out_channels; ++c) {
      const int64_t channel = group * call.out_channels + c;
      T* y =
          call.y + (n * call.geometry.out_channels + channel) * call.positions;
      kernels.depthwise(image, call.layout.row_offsets().data(),
                        call.weight + channel * call.patch, call.patch,
                        runs.data(), static_cast<int64_t>(runs.size()),
                        call.layout.step(),
                        call.bias ? call.bias[channel] : T(0), y);
      const Epilogue<T> last = call.last(n, channel);
      if (!last.empty())
        gemm_kernels<T>().finish(y, call.positions, 1, call.positions, last);
    }
  });
}

/// Whether panels of patches would consist of pieces of vectors, since rows of
/// outputs are short, and the gaps between them are few. Of two dimensions it
/// is not worth the copy of the outputs.
template <class T>
bool is_worth_spreading(const Call<T>& call) {
  const int64_t width = gemm_kernels<T>().max_cols;  // two vectors
  const auto out = call.geometry.out();
  const int64_t plane = call.layout.spread_plane();
  return call.geometry.kernel[0] > 1 && call.layout.can_spread() &&
         plane >= width && out[2] < 2 * width && out[2] % (width / 2) != 0 &&
         5 * call.positions >= 4 * plane * out[0];
}

/// weight times the patches of one plane's spread positions, which are read
/// where they lie in the image: `from` is the first one's, to is channels x
/// spread_plane().
template <class T>
void multiply_plane(const Call<T>& call, const T* weight, const T* from,
                    T* to) {
  constexpr int64_t kDepth = 512;
  const GemmKernels<T>& kernels = gemm_kernels<T>();
  const int64_t plane = call.layout.spread_plane(), rows = call.out_channels;
  const int64_t tiles = detail::divide_up(rows, kernels.max_rows);
  // The last tile begins anew what the one before had of its columns.
  const auto columns = [&](int64_t column, int64_t p) {
    const int64_t depth = std::min(kDepth, call.patch - p);
    for (int64_t t = 0; t < tiles; ++t) {
      const int64_t row = rows * t / tiles, end = rows * (t + 1) / tiles;
      kernels.offset_tile(int(end - row), depth,
                          {weight + row * call.patch + p, call.patch, 1},
                          from + column, call.layout.row_offsets().data() + p,
                          {to + row * plane + column, plane, T(1), T(p > 0)});
    }
  };
  for (int64_t done = 0; done < plane; done += kernels.max_cols)
    for (int64_t p = 0; p < call.patch; p += kDepth)
      columns(std::min(done, plane - kernels.max_cols), p);
}

/// forward_positions() of one image and group by way of spread positions, a
/// plane at a time.
template <class T>
void multiply_spread(const Call<T>& call, const T* weight, const T* image, T* y,
                     const Epilogue<T>& epilogue) {
  const auto out = call.geometry.out();
  const int64_t plane = call.layout.spread_plane(), rows = call.out_channels;
  const int64_t grain = std::max<int64_t>(
      1, kWorkPerThread / std::max<int64_t>(1, plane * rows * call.patch));
  parallel_for(0, out[0], grain, [&](int64_t begin, int64_t end) {
    T* wide = scratch<T>(ScratchUse::kConvOutput, plane * rows);
    for (int64_t z = begin; z < end; ++z) {
      multiply_plane(call, weight, image + z * call.layout.plane_step(), wide);
      for (int64_t c = 0; c < rows; ++c)
        conv_kernels<T>().copy_rows(
            {wide + c * plane, y + c * call.positions + z * out[1] * out[2],
             out[1], call.layout.pitch(), out[2]},
            out[2], 0);
    }
  });
  if (!epilogue.empty())
    gemm_kernels<T>().finish(y, call.positions, rows, call.positions, epilogue);
}

/// weight (channels x patch) times patches (patch x positions).
template <class T>
void forward_positions(const Call<T>& call) {
  const ConvGeometry& g = call.geometry;
  // A 1 x 1 kernel's patches are the input itself.
  const bool in_place = call.patch == call.in_channels && g.in == g.out() &&
                        !call.layout.is_padded();
  const bool spread = !in_place && is_worth_spreading(call);
  for_images(call, [&](int64_t n, int64_t group) {
    const T* image = call.image(n, group, call.image_buffer(1));
    const MatrixRef<T> weight{
        call.weight + group * call.out_channels * call.patch, call.patch, 1};
    T* y = call.y + (n * g.groups + group) * call.out_channels * call.positions;
    const Epilogue<T> epilogue = call.epilogue(n, group, true);
    if (in_place) {
      gemm<T>(call.out_channels, call.positions, call.patch, T(1), weight,
              {image, call.positions, 1}, T(0), y, call.positions, epilogue);
    } else if (spread) {
      multiply_spread(call, weight.data, image, y, epilogue);
    } else {
      gemm_from_panels<T>(call.out_channels, call.positions, call.patch, T(1),
                          weight, ConvPatches<T>(call.layout, image), T(0), y,
                          call.positions, epilogue);
    }
  });
}

/// Patches of images [n, n + count) of a group, one per row.
template <class T>
void gather_rows(const Call<T>& call, int64_t n, int64_t count, int64_t group,
                 const std::vector<ConvRun>& runs, T* to) {
  T* buffer = call.image_buffer(1);
  const std::vector<int64_t>& offsets = call.layout.row_offsets();
  for (int64_t i = 0; i < count; ++i) {
    const T* image = call.image(n + i, group, buffer);
    for (const ConvRun& run : runs) {
      const T* from = image + run.offset;
      for (int64_t j = 0; j < run.length; ++j, from += call.layout.step()) {
        for (int64_t offset : offsets) *to++ = from[offset];
      }
    }
  }
}

/// weight (channels x patch) times the patches of several images (patch x
/// rows), of which each takes its part.
template <class T>
void multiply_images(const Call<T>& call, int64_t n, int64_t count,
                     int64_t group, const T* weight, MatrixRef<T> patches) {
  const int64_t rows = count * call.positions;
  T* product = scratch<T>(ScratchUse::kConvOutput, rows * call.out_channels);
  gemm<T>(call.out_channels, rows, call.patch, T(1), {weight, call.patch, 1},
          patches.transposed(), T(0), product, rows,
          call.epilogue(n, group, true));
  T* y = call.y + (n * call.geometry.groups + group) * call.out_channels *
                      call.positions;
  const int64_t image = call.geometry.out_channels * call.positions;
  for (int64_t i = 0; i < count; ++i)
    conv_kernels<T>().copy_rows({product + i * call.positions, y + i * image,
                                 call.out_channels, rows, call.positions},
                                call.positions, 0);
}

/// patches (positions of several images x patch) times weight (patch x
/// channels), then transposed.
template <class T>
void forward_channels(const Call<T>& call) {
  const ConvGeometry& g = call.geometry;
  const std::vector<ConvRun>& runs = all_runs(call);
  const int64_t images = std::max<int64_t>(1, kPatchRows / call.positions);
  // With one channel along the width, patches lie in the input as they are.
  const bool in_place = call.in_channels == 1 && runs.size() == 1 &&
                        g.kernel[0] == 1 && g.kernel[1] == 1 &&
                        !call.layout.is_split();
  // Rows of one position are already what y holds.
  const bool direct = call.positions == 1 && g.groups == 1;
  for (int64_t n = 0; n < g.batch;) {
    const int64_t count = in_place ? 1 : std::min(images, g.batch - n);
    const int64_t rows = count * call.positions;
    for (int64_t group = 0; group < g.groups; ++group) {
      MatrixRef<T> a;
      if (in_place) {
        const T* image = call.image(n, group, call.image_buffer(1));
        a = {image + runs[0].offset, call.layout.step(), g.dilation[2]};
      } else {
        T* patches = scratch<T>(ScratchUse::kConvPatches, rows * call.patch);
        gather_rows(call, n, count, group, runs, patches);
        a = {patches, call.patch, 1};
      }
      if (rows >= kLeastPatches && !call.packed && !call.tail.residual) {
        const T* weight = call.weight + group * call.out_channels * call.patch;
        multiply_images(call, n, count, group, weight, a);
        continue;
      }
      T* y =
          call.y + (n * g.groups + group) * call.out_channels * call.positions;
      T* product = direct ? y
                          : scratch<T>(ScratchUse::kConvOutput,
                                       rows * call.out_channels);
      const Epilogue<T> epilogue = call.epilogue(n, group, false);
      if (call.packed) {
        gemm<T>(rows, T(1), a, call.packed->group(group), T(0), product,
                call.out_channels, epilogue);
      } else {
        const T* weight = call.weight + group * call.out_channels * call.patch;
        gemm<T>(rows, call.out_channels, call.patch, T(1), a,
                {weight, 1, call.patch}, T(0), product, call.out_channels,
                epilogue);
      }
      for (int64_t i = 0; i < count && !direct; ++i) {
        // pack() stores column by column: the transpose of a row-major matrix.
        gemm_kernels<T>().pack(
            y + i * g.out_channels * call.positions, call.positions,
            call.out_channels,
            {product + i * call.positions * call.out_channels,
             call.out_channels, 1});
      }
      for (int64_t i = 0; i < count && !call.tail.empty(); ++i)
        gemm_kernels<T>().finish(y + i * g.out_channels * call.positions,
                                 call.positions, call.out_channels,
                                 call.positions,
                                 call.last(n + i, group * call.out_channels));
    }
    n += count;
  }
}

}  // namespace

ConvGeometry::Sizes ConvGeometry::out() const {
  Sizes sizes;
  for (size_t i = 0; i < 3; ++i) {
    const int64_t room =
        in[i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1;
    sizes[i] = room < 0 ? 0 : room / stride[i] + 1;
  }
  return sizes;
}

int64_t ConvGeometry::out_positions() const {
  return volume(out());
}

int64_t ConvGeometry::patch_size() const {
  return channels_per_group() * volume(kernel);
}

template <class T>
PackedConvWeight<T>::PackedConvWeight(const ConvGeometry& g, const T* weight) {
  const int64_t patch = g.patch_size(), outputs = g.outputs_per_group();
  for (int64_t group = 0; group < g.groups; ++group) {
    groups_.emplace_back(
        patch, outputs,
        MatrixRef<T>{weight + group * outputs * patch, 1, patch});
  }
}

template <class T>
void conv_forward(const ConvGeometry& g, const T* x, const T* weight,
                  const T* bias, Activation activation, T* y,
                  const PackedConvWeight<T>* packed, const ConvTail<T>& tail) {
  const ConvLayout& layout = ConvLayout::cached(g);
  const Call<T> call{g,
                     layout,
                     x,
                     weight,
                     bias,
                     activation,
                     y,
                     packed,
                     tail,
                     g.out_positions(),
                     g.patch_size(),
                     g.channels_per_group(),
                     g.outputs_per_group()};
  if (call.positions == 0 || g.batch == 0) return;
  if (call.in_channels == 1 && g.groups > 1) {
    forward_depthwise(call);
  } else if (call.positions < kFewPositions ||
             (g.batch > 1 && g.groups == 1 && !packed && !tail.residual &&
              call.positions < 2 * kFewPositions)) {
    forward_channels(call);
  } else {
    forward_positions(call);
  }
}

template class PackedConvWeight<float>;
template class PackedConvWeight<double>;
template void conv_forward(const ConvGeometry&, const float*, const float*,
                           const float*, Activation, float*,
                           const PackedConvWeight<float>*,
                           const ConvTail<float>&);
template void conv_forward(const ConvGeometry&, const double*, const double*,
                           const double*, Activation, double*,
                           const PackedConvWeight<double>*,
                           const ConvTail<double>&);

}  // namespace hotaru
