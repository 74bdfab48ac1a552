#include "hotaru/backend/cpu/conv_patches.h"

#include <algorithm>
#include <array>
#include <optional>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/conv_patches.cpp"
#include "hotaru/backend/cpu/simd.h"
#include "hotaru/backend/cpu/simd_load-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
void copy_runs(const T* image, const int64_t* offsets, int64_t rows,
               const ConvRun* runs, int64_t run_count, int64_t width, T* to) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (const ConvRun* run = runs; run != runs + run_count; ++run) {
    const int64_t whole = run->length / lanes * lanes;
    const auto rest = hn::FirstN(d, static_cast<size_t>(run->length - whole));
    const bool has_rest = whole < run->length;
    for (int64_t k = 0; k < rows; ++k) {
      const T* from = image + offsets[k] + run->offset;
      T* at = to + k * width + run->column;
      for (int64_t i = 0; i < whole; i += lanes) {
        hn::StoreU(hn::LoadU(d, from + i), d, at + i);
      }
      if (has_rest) {
        hn::BlendedStore(load_first(rest, d, from + whole), rest, d,
                         at + whole);
      }
    }
  }
}

template <class T>
void gather(const T* image, const int64_t* offsets, int64_t rows,
            const int64_t* positions, int64_t width, T* to) {
  for (int64_t k = 0; k < rows; ++k) {
    const T* from = image + offsets[k];
    T* at = to + k * width;
    for (int64_t j = 0; j < width; ++j) at[j] = from[positions[j]];
  }
}

/// Adjacent outputs in kVectors vectors, `rest` of them in the last one. With
/// kAdjacent their inputs are adjacent too.
template <int kVectors, bool kAdjacent, class T>
void depthwise_block(const T* HWY_RESTRICT from, const int64_t* offsets,
                     const T* HWY_RESTRICT weight, int64_t taps, int64_t rest,
                     int64_t step, T bias, T* HWY_RESTRICT y) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto mask = hn::FirstN(d, static_cast<size_t>(rest));
  V sum[kVectors];
  HWY_UNROLL(4)
  for (int v = 0; v < kVectors; ++v) sum[v] = hn::Set(d, bias);
  HWY_ALIGN T spread[HWY_MAX_BYTES / sizeof(T)] = {};
  for (int64_t k = 0; k < taps; ++k) {
    const V w = hn::Set(d, weight[k]);
    HWY_UNROLL(4)
    for (int v = 0; v < kVectors; ++v) {
      const T* at = from + offsets[k] + v * lanes * step;
      const bool last = v == kVectors - 1;
      V x;
      if constexpr (kAdjacent) {
        x = last ? load_first(mask, d, at) : hn::LoadU(d, at);
      } else {
        const int64_t used = last ? rest : lanes;
        for (int64_t i = 0; i < used; ++i) spread[i] = at[i * step];
        x = hn::Load(d, spread);
      }
      sum[v] = hn::MulAdd(w, x, sum[v]);
    }
  }
  HWY_UNROLL(4)
  for (int v = 0; v < kVectors; ++v) {
    if (v == kVectors - 1) {
      hn::BlendedStore(sum[v], mask, d, y + v * lanes);
    } else {
      hn::StoreU(sum[v], d, y + v * lanes);
    }
  }
}

template <bool kAdjacent, class T>
void depthwise_runs(const T* image, const int64_t* offsets, const T* weight,
                    int64_t taps, const ConvRun* runs, int64_t run_count,
                    int64_t step, T bias, T* y) {
  constexpr int64_t kLanes =
      static_cast<int64_t>(hn::MaxLanes(hn::ScalableTag<T>()));
  constexpr decltype(&depthwise_block<1, kAdjacent, T>) kBlocks[] = {
      &depthwise_block<1, kAdjacent, T>, &depthwise_block<2, kAdjacent, T>,
      &depthwise_block<3, kAdjacent, T>, &depthwise_block<4, kAdjacent, T>};
  for (const ConvRun* run = runs; run != runs + run_count; ++run) {
    for (int64_t i = 0; i < run->length;) {
      const int64_t count = std::min(run->length - i, 4 * kLanes);
      const int64_t vectors = (count + kLanes - 1) / kLanes;
      kBlocks[vectors - 1](image + run->offset + i * step, offsets, weight,
                           taps, count - (vectors - 1) * kLanes, step, bias,
                           y + run->column + i);
      i += count;
    }
  }
}

template <class T>
void depthwise(const T* image, const int64_t* offsets, const T* weight,
               int64_t taps, const ConvRun* runs, int64_t run_count,
               int64_t step, T bias, T* y) {
  const auto fn =
      step == 1 ? &depthwise_runs<true, T> : &depthwise_runs<false, T>;
  fn(image, offsets, weight, taps, runs, run_count, step, bias, y);
}

ConvKernels<float> conv_kernels_float() {
  return {&copy_runs<float>, &gather<float>, &depthwise<float>};
}
ConvKernels<double> conv_kernels_double() {
  return {&copy_runs<double>, &gather<double>, &depthwise<double>};
}

}  // namespace hotaru::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru {

HWY_EXPORT(conv_kernels_float);
HWY_EXPORT(conv_kernels_double);

template <>
const ConvKernels<float>& conv_kernels() {
  static const ConvKernels<float> table =
      HWY_DYNAMIC_DISPATCH(conv_kernels_float)();
  return table;
}

template <>
const ConvKernels<double>& conv_kernels() {
  static const ConvKernels<double> table =
      HWY_DYNAMIC_DISPATCH(conv_kernels_double)();
  return table;
}

ConvLayout::ConvLayout(const ConvGeometry& g)
    : in_(g.in),
      out_(g.out()),
      stride_(g.stride),
      padding_(g.padding),
      is_padded_(g.padding != ConvGeometry::Sizes{0, 0, 0}),
      step_(g.stride[2]) {
  for (size_t i = 0; i < 3; ++i) padded_[i] = in_[i] + 2 * padding_[i];
  row_offsets_.reserve(static_cast<size_t>(g.patch_size()));
  for (int64_t c = 0; c < g.channels_per_group(); ++c) {
    for (int64_t z = 0; z < g.kernel[0]; ++z) {
      for (int64_t y = 0; y < g.kernel[1]; ++y) {
        for (int64_t x = 0; x < g.kernel[2]; ++x) {
          row_offsets_.push_back(
              ((c * padded_[0] + z * g.dilation[0]) * padded_[1] +
               y * g.dilation[1]) *
                  padded_[2] +
              x * g.dilation[2]);
        }
      }
    }
  }
}

const ConvLayout& ConvLayout::cached(const ConvGeometry& geometry) {
  struct Entry {
    ConvGeometry geometry;
    std::optional<ConvLayout> layout;
  };
  thread_local std::array<Entry, kCached> entries;
  thread_local size_t oldest = 0;
  for (const Entry& entry : entries) {
    if (entry.layout && entry.geometry == geometry) return *entry.layout;
  }
  Entry& entry = entries[oldest];
  oldest = (oldest + 1) % kCached;
  entry.layout.emplace(geometry);
  entry.geometry = geometry;
  return *entry.layout;
}

int64_t ConvLayout::channel_size() const {
  return padded_[0] * padded_[1] * padded_[2];
}

void ConvLayout::runs(int64_t col, int64_t cols,
                      std::vector<ConvRun>& to) const {
  to.clear();
  for (int64_t done = 0; done < cols;) {
    const int64_t position = col + done;
    const int64_t x = position % out_[2];
    const int64_t y = position / out_[2] % out_[1];
    const int64_t z = position / out_[2] / out_[1];
    const int64_t length = std::min(out_[2] - x, cols - done);
    const int64_t offset =
        (z * stride_[0] * padded_[1] + y * stride_[1]) * padded_[2] +
        x * stride_[2];
    ConvRun* last = to.empty() ? nullptr : &to.back();
    if (last && offset == last->offset + last->length * step_) {
      last->length += length;  // rows without a gap between them
    } else {
      to.push_back({done, length, offset});
    }
    done += length;
  }
}

/// f(offset in x, offset in the padded copy) for each row of the input.
template <class F>
void ConvLayout::for_rows(int64_t channels, const F& f) const {
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t z = 0; z < in_[0]; ++z) {
      for (int64_t y = 0; y < in_[1]; ++y) {
        f(((c * in_[0] + z) * in_[1] + y) * in_[2],
          ((c * padded_[0] + z + padding_[0]) * padded_[1] + y + padding_[1]) *
                  padded_[2] +
              padding_[2]);
      }
    }
  }
}

template <class T>
const T* ConvLayout::pad(const T* x, int64_t channels, T* to) const {
  if (!is_padded_) return x;
  std::fill_n(to, channels * channel_size(), T(0));
  for_rows(channels, [&](int64_t from, int64_t at) {
    std::copy_n(x + from, in_[2], to + at);
  });
  return to;
}

template <class T>
void ConvLayout::unpad(const T* padded, int64_t channels, T* x) const {
  for_rows(channels, [&](int64_t at, int64_t from) {
    std::copy_n(padded + from, in_[2], x + at);
  });
}

template <class T>
void ConvPatches<T>::pack(int64_t row, int64_t rows, int64_t col, int64_t cols,
                          int64_t width, T* to) const {
  const ConvKernels<T>& kernels = conv_kernels<T>();
  const int64_t* offsets = layout_.row_offsets().data() + row;
  thread_local std::vector<ConvRun> runs;
  layout_.runs(col, cols, runs);
  if (layout_.step() == 1) {
    if (cols < width) std::fill_n(to, rows * width, T(0));
    return kernels.copy_runs(image_, offsets, rows, runs.data(),
                             static_cast<int64_t>(runs.size()), width, to);
  }
  thread_local std::vector<int64_t> positions;
  positions.assign(static_cast<size_t>(width), runs[0].offset);
  for (const ConvRun& run : runs) {
    for (int64_t i = 0; i < run.length; ++i) {
      positions[static_cast<size_t>(run.column + i)] =
          run.offset + i * layout_.step();
    }
  }
  kernels.gather(image_, offsets, rows, positions.data(), width, to);
}

template class ConvPatches<float>;
template class ConvPatches<double>;
template const float* ConvLayout::pad(const float*, int64_t, float*) const;
template const double* ConvLayout::pad(const double*, int64_t, double*) const;
template void ConvLayout::unpad(const float*, int64_t, float*) const;
template void ConvLayout::unpad(const double*, int64_t, double*) const;

}  // namespace hotaru
#endif
