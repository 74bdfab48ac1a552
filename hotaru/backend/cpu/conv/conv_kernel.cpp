#include "hotaru/backend/cpu/conv/conv_kernel.h"

#include <algorithm>

#include "hotaru/backend/cpu/conv/conv_call.h"
#include "hotaru/backend/cpu/conv/conv_patches.h"
#include "hotaru/backend/cpu/conv/ways.h"
#include "hotaru/backend/cpu/matmul/gemm_kernel.h"
#include "hotaru/backend/cpu/scratch.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru {
namespace {

// Rows of patches from which weights are read as they lie, and lanes hold
// patches of several images.
constexpr int64_t kLeastPatches = 16;
// Patches multiplied at once when lanes hold channels.
constexpr int64_t kPatchRows = 256;
// Multiply-adds that pay for one more thread.
constexpr int64_t kWorkPerThread = 1 << 19;

/// x of an image and group, with its padding.
template <class T>
const T* image_of(const ConvCall<T>& call, int64_t n, int64_t group,
                  T* buffer) {
  const ConvGeometry& g = call.geometry;
  const int64_t size = volume(g.in) * call.in_channels;
  return call.layout->pad(call.x + (n * g.groups + group) * size,
                          call.in_channels, buffer);
}
template <class T>
T* image_buffer(const ConvCall<T>& call) {
  return call.layout->is_padded()
             ? scratch<T>(
                   ScratchUse::kConv,
                   call.in_channels * call.layout->channel_size() + kRoomBehind)
             : nullptr;
}

/// Epilogue that is left for channels from the given one on, a row each.
template <class T>
Epilogue<T> last(const ConvCall<T>& call, int64_t n, int64_t channel) {
  Epilogue<T> e;
  e.activation = call.activation;
  if (call.tail.scale) {
    e.scale = call.tail.scale + channel;
    e.shift = call.tail.shift + channel;
  }
  if (call.tail.residual) {
    e.residual = call.tail.residual +
                 (n * call.geometry.out_channels + channel) * call.positions;
    e.residual_stride = call.positions;
  }
  return e;
}
/// Epilogue of the product whose rows, or columns, are a group's channels. Only
/// rows take the tail along; else finish() does.
template <class T>
Epilogue<T> epilogue_of(const ConvCall<T>& call, int64_t n, int64_t group,
                        bool per_row) {
  Epilogue<T> e;
  if (per_row) e = last(call, n, group * call.out_channels);
  if (per_row || call.tail.empty()) e.activation = call.activation;
  e.bias = call.bias ? call.bias + group * call.out_channels : nullptr;
  e.bias_per_row = per_row;
  return e;
}

/// f(image, group) for all of them, concurrently if there are enough.
template <class T, class F>
void for_images(const ConvCall<T>& call, const F& f) {
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

/// Runs of all positions; valid until the thread's next call.
template <class T>
const std::vector<ConvRun>& all_runs(const ConvCall<T>& call) {
  thread_local std::vector<ConvRun> runs;
  call.layout->runs(0, call.positions, runs);
  return runs;
}

/// Fields that all planes of depthwise3 have in common.
template <class T>
Depthwise3<T> common_of(const ConvCall<T>& call) {
  const ConvGeometry& g = call.geometry;
  const auto& out = g.out();
  const std::vector<int64_t>& taps = call.layout->row_offsets();
  Depthwise3<T> p{};
  p.pitch = call.layout->pitch();
  std::copy_n(taps.begin(), 3, p.taps);
  p.stride = g.stride[1];
  p.relu = call.activation == Activation::kRelu;
  p.rows = out[1];
  p.columns = out[2];
  return p;
}

}  // namespace

template <class T>
void forward_depthwise3(const ConvCall<T>& call) {
  const Depthwise3<T> common = common_of(call);
  for_images(call, [&](int64_t n, int64_t group) {
    Depthwise3<T> p = common;
    p.x = image_of(call, n, group, image_buffer(call));
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

template <class T>
void forward_depthwise(const ConvCall<T>& call) {
  const std::vector<ConvRun>& runs = all_runs(call);
  const ConvKernels<T>& kernels = conv_kernels<T>();
  for_images(call, [&](int64_t n, int64_t group) {
    const T* image = image_of(call, n, group, image_buffer(call));
    for (int64_t c = 0; c < call.out_channels; ++c) {
      const int64_t channel = group * call.out_channels + c;
      T* y =
          call.y + (n * call.geometry.out_channels + channel) * call.positions;
      kernels.depthwise(image, call.layout->row_offsets().data(),
                        call.weight + channel * call.patch, call.patch,
                        runs.data(), int64_t(runs.size()), call.layout->step(),
                        call.bias ? call.bias[channel] : T(0), y);
      const Epilogue<T> rest = last(call, n, channel);
      if (!rest.empty())
        gemm_kernels<T>().finish(y, call.positions, 1, call.positions, rest);
    }
  });
}

namespace {

/// weight times the patches of one plane's spread positions, which are read
/// where they lie in the image: `from` is the first one's, to is channels x
/// spread_plane().
template <class T>
void multiply_plane(const ConvCall<T>& call, const T* weight, const T* from,
                    T* to) {
  constexpr int64_t kDepth = 512;
  const GemmKernels<T>& kernels = gemm_kernels<T>();
  const int64_t plane = call.layout->spread_plane(), rows = call.out_channels;
  const int64_t tiles = detail::divide_up(rows, kernels.max_rows);
  // The last tile begins anew what the one before had of its columns.
  const auto columns = [&](int64_t column, int64_t p) {
    const int64_t depth = std::min(kDepth, call.patch - p);
    for (int64_t t = 0; t < tiles; ++t) {
      const int64_t row = rows * t / tiles, end = rows * (t + 1) / tiles;
      kernels.offset_tile(int(end - row), depth,
                          {weight + row * call.patch + p, call.patch, 1},
                          from + column, call.layout->row_offsets().data() + p,
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
void multiply_spread(const ConvCall<T>& call, const T* weight, const T* image,
                     T* y, const Epilogue<T>& epilogue) {
  const auto out = call.geometry.out();
  const int64_t plane = call.layout->spread_plane(), rows = call.out_channels;
  const int64_t grain = std::max<int64_t>(
      1, kWorkPerThread / std::max<int64_t>(1, plane * rows * call.patch));
  parallel_for(0, out[0], grain, [&](int64_t begin, int64_t end) {
    T* wide = scratch<T>(ScratchUse::kConvOutput, plane * rows);
    for (int64_t z = begin; z < end; ++z) {
      multiply_plane(call, weight, image + z * call.layout->plane_step(), wide);
      for (int64_t c = 0; c < rows; ++c)
        conv_kernels<T>().copy_rows(
            {wide + c * plane, y + c * call.positions + z * out[1] * out[2],
             out[1], call.layout->pitch(), out[2]},
            out[2], 0);
    }
  });
  if (!epilogue.empty())
    gemm_kernels<T>().finish(y, call.positions, rows, call.positions, epilogue);
}

/// product(weight, image, y, epilogue) of each image and group.
template <class T, class F>
void for_products(const ConvCall<T>& call, const F& product) {
  const ConvGeometry& g = call.geometry;
  for_images(call, [&](int64_t n, int64_t group) {
    const T* image = image_of(call, n, group, image_buffer(call));
    const MatrixRef<T> weight{
        call.weight + group * call.out_channels * call.patch, call.patch, 1};
    T* y = call.y + (n * g.groups + group) * call.out_channels * call.positions;
    product(weight, image, y, epilogue_of(call, n, group, true));
  });
}

}  // namespace

template <class T>
void forward_in_place(const ConvCall<T>& call) {
  for_products(call, [&](const MatrixRef<T>& weight, const T* image, T* y,
                         const Epilogue<T>& epilogue) {
    gemm<T>(call.out_channels, call.positions, call.patch, T(1), weight,
            {image, call.positions, 1}, T(0), y, call.positions, epilogue);
  });
}

template <class T>
void forward_spread(const ConvCall<T>& call) {
  for_products(call, [&](const MatrixRef<T>& weight, const T* image, T* y,
                         const Epilogue<T>& epilogue) {
    multiply_spread(call, weight.data, image, y, epilogue);
  });
}

template <class T>
void forward_patches(const ConvCall<T>& call) {
  for_products(call, [&](const MatrixRef<T>& weight, const T* image, T* y,
                         const Epilogue<T>& epilogue) {
    gemm_from_panels<T>(call.out_channels, call.positions, call.patch, T(1),
                        weight, ConvPatches<T>(*call.layout, image), T(0), y,
                        call.positions, epilogue);
  });
}

namespace {

/// Patches of images [n, n + count) of a group, one per row.
template <class T>
void gather_rows(const ConvCall<T>& call, int64_t n, int64_t count,
                 int64_t group, const std::vector<ConvRun>& runs, T* to) {
  T* buffer = image_buffer(call);
  const std::vector<int64_t>& offsets = call.layout->row_offsets();
  for (int64_t i = 0; i < count; ++i) {
    const T* image = image_of(call, n + i, group, buffer);
    for (const ConvRun& run : runs) {
      const T* from = image + run.offset;
      for (int64_t j = 0; j < run.length; ++j, from += call.layout->step())
        for (int64_t offset : offsets) *to++ = from[offset];
    }
  }
}

/// weight (channels x patch) times the patches of several images (patch x
/// rows), of which each takes its part.
template <class T>
void multiply_images(const ConvCall<T>& call, int64_t n, int64_t count,
                     int64_t group, const T* weight, MatrixRef<T> patches) {
  const int64_t rows = count * call.positions;
  T* product = scratch<T>(ScratchUse::kConvOutput, rows * call.out_channels);
  gemm<T>(call.out_channels, rows, call.patch, T(1), {weight, call.patch, 1},
          patches.transposed(), T(0), product, rows,
          epilogue_of(call, n, group, true));
  T* y = call.y + (n * call.geometry.groups + group) * call.out_channels *
                      call.positions;
  const int64_t image = call.geometry.out_channels * call.positions;
  for (int64_t i = 0; i < count; ++i)
    conv_kernels<T>().copy_rows({product + i * call.positions, y + i * image,
                                 call.out_channels, rows, call.positions},
                                call.positions, 0);
}

}  // namespace

template <class T>
void forward_channels(const ConvCall<T>& call) {
  const ConvGeometry& g = call.geometry;
  const std::vector<ConvRun>& runs = all_runs(call);
  const int64_t images = std::max<int64_t>(1, kPatchRows / call.positions);
  // With one channel along the width, patches lie in the input as they are.
  const bool in_place = call.in_channels == 1 && runs.size() == 1 &&
                        g.kernel[0] == 1 && g.kernel[1] == 1 &&
                        !call.layout->is_split();
  // Rows of one position are already what y holds.
  const bool direct = call.positions == 1 && g.groups == 1;
  for (int64_t n = 0; n < g.batch;) {
    const int64_t count = in_place ? 1 : std::min(images, g.batch - n);
    const int64_t rows = count * call.positions;
    for (int64_t group = 0; group < g.groups; ++group) {
      MatrixRef<T> a;
      if (in_place) {
        const T* image = image_of(call, n, group, image_buffer(call));
        a = {image + runs[0].offset, call.layout->step(), g.dilation[2]};
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
      const Epilogue<T> epilogue = epilogue_of(call, n, group, false);
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
                                 last(call, n + i, group * call.out_channels));
    }
    n += count;
  }
}

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
  if (g.batch == 0 || g.out_positions() == 0) return;
  convolve_floats<T>({.geometry = g,
                      .x = x,
                      .weight = weight,
                      .bias = bias,
                      .y = y,
                      .activation = activation,
                      .packed = packed,
                      .tail = tail});
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

#define HOTARU_INSTANTIATE(T) \
  template void forward_depthwise3(const ConvCall<T>&); \
  template void forward_depthwise(const ConvCall<T>&); \
  template void forward_channels(const ConvCall<T>&); \
  template void forward_in_place(const ConvCall<T>&); \
  template void forward_spread(const ConvCall<T>&); \
  template void forward_patches(const ConvCall<T>&);
HOTARU_INSTANTIATE(float)
HOTARU_INSTANTIATE(double)
#undef HOTARU_INSTANTIATE

}  // namespace hotaru
