// Gradients of convolution by way of the matrix of patches.
#include <algorithm>
#include <memory>

#include "hotaru/backend/cpu/conv/conv_kernel.h"
#include "hotaru/backend/cpu/conv/conv_patches.h"
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

/// Adds each patch to the place of the padded image where it came from.
template <class T>
void add_patches(const ConvLayout& layout, const std::vector<ConvRun>& runs,
                 int64_t positions, const T* patches, T* image) {
  const int64_t step = layout.step();
  for (const int64_t offset : layout.row_offsets()) {
    for (const ConvRun& run : runs) {
      const T* from = patches + run.column;
      T* to = image + offset + run.offset;
      if (step == 1) {
        for (int64_t i = 0; i < run.length; ++i) to[i] += from[i];
      } else {
        for (int64_t i = 0; i < run.length; ++i) to[i * step] += from[i];
      }
    }
    patches += positions;
  }
}

}  // namespace

template <class T>
void conv_backward_data(const ConvGeometry& g, const T* dy, const T* weight,
                        T* dx) {
  const ConvLayout& layout = ConvLayout::cached(g);
  const int64_t positions = g.out_positions(), patch = g.patch_size();
  const int64_t channels = g.channels_per_group();
  const int64_t outputs = g.outputs_per_group();
  const int64_t in_size = g.in[0] * g.in[1] * g.in[2] * channels;
  const int64_t count = g.batch * g.groups;
  std::vector<ConvRun> runs;
  layout.runs(0, positions, runs);
  const auto range = [&](int64_t begin, int64_t end) {
    const Temporary<T> patches = temporary<T>(patch * positions);
    const int64_t padded_size = channels * layout.channel_size();
    Temporary<T> padded;
    if (layout.is_padded()) padded = temporary<T>(padded_size);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t group = i % g.groups;
      gemm<T>(patch, positions, outputs, T(1),
              {weight + group * outputs * patch, 1, patch},
              {dy + i * outputs * positions, positions, 1}, T(0), patches.get(),
              positions);
      T* image = padded ? padded.get() : dx + i * in_size;
      std::fill_n(image, padded_size, T(0));
      add_patches(layout, runs, positions, patches.get(), image);
      if (padded) layout.unpad(image, channels, dx + i * in_size);
    }
  };
  if (count < get_num_threads()) {
    range(0, count);  // the products are divided
  } else {
    parallel_for(0, count, 1, range);
  }
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
                                 const float*, float*);
template void conv_backward_data(const ConvGeometry&, const double*,
                                 const double*, double*);
template void conv_backward_weight(const ConvGeometry&, const float*,
                                   const float*, float*);
template void conv_backward_weight(const ConvGeometry&, const double*,
                                   const double*, double*);

}  // namespace hotaru
