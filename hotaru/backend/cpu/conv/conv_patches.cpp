#include "hotaru/backend/cpu/conv/conv_patches.h"

#include <algorithm>
#include <array>
#include <optional>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/conv/conv_patches.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
#include "hotaru/backend/cpu/simd/simd_load-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// BlendedStore where the whole vector's memory is the caller's own: AVX2's
/// masked stores take a dozen cycles on AMD's processors.
template <class D, class V, class M>
HWY_INLINE void blend_own(V v, M mask, D d, hn::TFromD<D>* to) {
#if HWY_TARGET == HWY_AVX2
  hn::StoreU(hn::IfThenElse(mask, v, hn::LoadU(d, to)), d, to);
#else
  hn::BlendedStore(v, mask, d, to);
#endif
}

/// One run of all rows: kWhole vectors (negative: as many as fit) and, if
/// kRest, a part of one.
template <int kWhole, bool kRest, class T>
void copy_run(const T* image, const int64_t* offsets, int64_t rows,
              int64_t length, int64_t width, T* to) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  const int64_t whole = kWhole < 0 ? length / lanes * lanes : kWhole * lanes;
  const auto rest = hn::FirstN(d, size_t(length - whole));
  // A vector reaches into the rows behind its own, of which there are enough.
  const int64_t inner = rows - (lanes + width - 1) / width;
  for (int64_t k = 0; k < rows; ++k, to += width) {
    const T* from = image + offsets[k];
    for (int64_t i = 0; i < whole; i += lanes)
      hn::StoreU(hn::LoadU(d, from + i), d, to + i);
    if constexpr (!kRest) continue;
    const auto last = load_first(rest, d, from + whole);
    if (k < inner)
      blend_own(last, rest, d, to + whole);
    else
      hn::BlendedStore(last, rest, d, to + whole);
  }
}

template <class T>
void copy_runs(const T* image, const int64_t* offsets, int64_t rows,
               const ConvRun* runs, int64_t run_count, int64_t width, T* to) {
  constexpr int64_t kLanes = int64_t(hn::MaxLanes(hn::ScalableTag<T>()));
  // Panels are two vectors wide.
  constexpr decltype(&copy_run<0, true, T>) kCopies[3][2] = {
      {&copy_run<0, true, T>, &copy_run<0, true, T>},
      {&copy_run<1, false, T>, &copy_run<1, true, T>},
      {&copy_run<2, false, T>, &copy_run<-1, true, T>}};
  for (const ConvRun* run = runs; run != runs + run_count; ++run) {
    const int64_t whole = std::min<int64_t>(2, run->length / kLanes);
    kCopies[whole][run->length > whole * kLanes](image + run->offset, offsets,
                                                 rows, run->length, width,
                                                 to + run->column);
  }
}

template <class T>
void copy_rows(const RowCopy<T>& rows, int64_t n, int64_t at) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  const int64_t whole = n / lanes * lanes;
  const auto rest = hn::FirstN(d, size_t(n - whole));
  for (int64_t r = 0; r < rows.count; ++r) {
    const T* from = rows.from + r * rows.from_pitch;
    T* to = rows.to + r * rows.to_pitch + at;
    for (int64_t i = 0; i < whole; i += lanes)
      hn::StoreU(hn::LoadU(d, from + i), d, to + i);
    if (whole < n)
      hn::BlendedStore(load_first(rest, d, from + whole), rest, d, to + whole);
  }
}

template <class T>
void split_rows(const RowCopy<T>& rows, int64_t n, int64_t odd, int64_t first,
                int64_t second) {
  for (int64_t r = 0; r < rows.count; ++r) {
    const T* from = rows.from + r * rows.from_pitch;
    T* to[2] = {rows.to + r * rows.to_pitch + first,
                rows.to + r * rows.to_pitch + second};
    // Elements 0, 2, ... go to one part, 1, 3, ... to the other.
    if (odd) std::swap(to[0], to[1]);
    const bool both = second >= 0;
    const bool wanted[2] = {both || !odd, both || odd};
    int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
    const hn::ScalableTag<T> d;
    const int64_t lanes = int64_t(hn::Lanes(d));
    for (; i + 2 * lanes <= n; i += 2 * lanes) {
      const auto low = hn::LoadU(d, from + i);
      const auto high = hn::LoadU(d, from + i + lanes);
      if (wanted[0]) hn::StoreU(hn::ConcatEven(d, high, low), d, to[0] + i / 2);
      if (wanted[1]) hn::StoreU(hn::ConcatOdd(d, high, low), d, to[1] + i / 2);
    }
    if (const int64_t left = n - i; left > 0) {
      const auto first_n = [&](int64_t count) HOTARU_SIMD_LAMBDA {
        return hn::FirstN(d, size_t(std::max<int64_t>(0, count)));
      };
      const auto low = load_first(first_n(left), d, from + i);
      auto high = hn::Zero(d);
      if (left > lanes)
        high = load_first(first_n(left - lanes), d, from + i + lanes);
      if (wanted[0])
        hn::BlendedStore(hn::ConcatEven(d, high, low), first_n((left + 1) / 2),
                         d, to[0] + i / 2);
      if (wanted[1])
        hn::BlendedStore(hn::ConcatOdd(d, high, low), first_n(left / 2), d,
                         to[1] + i / 2);
    }
#else
    for (; i < n; ++i)
      if (wanted[i % 2]) to[i % 2][i / 2] = from[i];
#endif
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
  const int64_t lanes = int64_t(hn::Lanes(d));
  const auto mask = hn::FirstN(d, size_t(rest));
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
  for (int v = 0; v < kVectors; ++v)
    if (v == kVectors - 1)
      hn::BlendedStore(sum[v], mask, d, y + v * lanes);
    else
      hn::StoreU(sum[v], d, y + v * lanes);
}

template <bool kAdjacent, class T>
void depthwise_runs(const T* image, const int64_t* offsets, const T* weight,
                    int64_t taps, const ConvRun* runs, int64_t run_count,
                    int64_t step, T bias, T* y) {
  constexpr int64_t kLanes = int64_t(hn::MaxLanes(hn::ScalableTag<T>()));
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

/// Keeps the compiler from reading memory again at each use, which it takes for
/// free; across cache lines it is not.
template <class V>
HWY_INLINE void load_once([[maybe_unused]] V& v) {
#if HWY_TARGET == HWY_AVX3
  asm("" : "+v"(v.raw));
#elif HWY_TARGET == HWY_AVX2
  asm("" : "+x"(v.raw));
#endif
}

// Output rows at a time: they share the rows that they read.
constexpr int64_t kRowsAtOnce = 4;

/// kRows rows of a plane, from output row `row` on.
template <int kRows, int kStride, class T>
HWY_INLINE void depthwise_rows(const Depthwise3<T>& p, int64_t row) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const int64_t lanes = int64_t(hn::Lanes(d));
  V w[9];
  for (int k = 0; k < 9; ++k) w[k] = hn::Set(d, p.weight[k]);
  for (int64_t x = 0; x < p.columns; x += lanes) {
    V sum[kRows];
    HWY_UNROLL(4)
    for (V& s : sum) s = hn::Set(d, p.bias);
    const T* from = p.x + row * kStride * p.pitch + x;
    HWY_UNROLL(9)
    for (int r = 0; r < (kRows - 1) * kStride + 3; ++r, from += p.pitch) {
      HWY_UNROLL(3)
      for (int k = 0; k < 3; ++k) {
        // Lanes beyond the row read the next one, or the room behind.
        V v = hn::LoadU(d, from + p.taps[k]);
        load_once(v);
        HWY_UNROLL(4)
        for (int o = 0; o < kRows; ++o) {
          const int tap = r - o * kStride;
          if (tap >= 0 && tap < 3)
            sum[o] = hn::MulAdd(w[tap * 3 + k], v, sum[o]);
        }
      }
    }
    const int64_t left = p.columns - x;
    HWY_UNROLL(4)
    for (int o = 0; o < kRows; ++o) {
      T* to = p.y + (row + o) * p.columns + x;
      V v = hn::MulAdd(sum[o], hn::Set(d, p.scale), hn::Set(d, p.shift));
      if (p.relu) v = hn::IfThenZeroElse(hn::Lt(v, hn::Zero(d)), v);
      if (left >= lanes)
        hn::StoreU(v, d, to);
      else
        hn::BlendedStore(v, hn::FirstN(d, size_t(left)), d, to);
    }
  }
}

template <int kStride, class T>
HWY_INLINE void depthwise_plane(const Depthwise3<T>& p) {
  if (p.rows < kRowsAtOnce) {
    for (int64_t row = 0; row < p.rows; ++row)
      depthwise_rows<1, kStride>(p, row);
    return;
  }
  // The last block may compute rows again.
  for (int64_t row = 0; row < p.rows; row += kRowsAtOnce)
    depthwise_rows<kRowsAtOnce, kStride>(p,
                                         std::min(row, p.rows - kRowsAtOnce));
}

template <class T>
void depthwise3(const Depthwise3<T>& p) {
  p.stride == 1 ? depthwise_plane<1>(p) : depthwise_plane<2>(p);
}

ConvKernels<float> conv_kernels_float() {
  return {&copy_rows<float>, &split_rows<float>, &copy_runs<float>,
          &gather<float>,    &depthwise<float>,  &depthwise3<float>};
}
ConvKernels<double> conv_kernels_double() {
  return {&copy_rows<double>, &split_rows<double>, &copy_runs<double>,
          &gather<double>,    &depthwise<double>,  &depthwise3<double>};
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

namespace {

// Rows are split for strides up to this, and where there are so many outputs
// that they are worth a copy of the input.
constexpr int64_t kMaxSplit = 4;
constexpr int64_t kMinPositions = 16;

int64_t split_of(const ConvGeometry& g) {
  const int64_t stride = g.stride[2];
  return stride <= kMaxSplit && g.out_positions() >= kMinPositions ? stride : 1;
}

}  // namespace

ConvLayout::ConvLayout(const ConvGeometry& g)
    : in_(g.in),
      out_(g.out()),
      stride_(g.stride),
      padding_(g.padding),
      kernel_(g.kernel),
      split_(split_of(g)),
      is_padded_(split_ > 1 || g.padding != ConvGeometry::Sizes{0, 0, 0}),
      step_(g.stride[2] / split_) {
  for (size_t i = 0; i < 3; ++i) padded_[i] = in_[i] + 2 * padding_[i];
  part_ = (padded_[2] + split_ - 1) / split_;
  padded_[2] = part_ * split_;
  row_offsets_.reserve(size_t(g.patch_size()));
  for (int64_t c = 0; c < g.channels_per_group(); ++c) {
    for (int64_t z = 0; z < g.kernel[0]; ++z) {
      for (int64_t y = 0; y < g.kernel[1]; ++y) {
        for (int64_t x = 0; x < g.kernel[2]; ++x) {
          row_offsets_.push_back(
              ((c * padded_[0] + z * g.dilation[0]) * padded_[1] +
               y * g.dilation[1]) *
                  padded_[2] +
              in_row(x * g.dilation[2]));
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
  for (const Entry& entry : entries)
    if (entry.layout && entry.geometry == geometry) return *entry.layout;
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
        (z * stride_[0] * padded_[1] + y * stride_[1]) * padded_[2] + x * step_;
    ConvRun* last = to.empty() ? nullptr : &to.back();
    if (last && offset == last->offset + last->length * step_)
      last->length += length;  // rows without a gap between them
    else
      to.push_back({done, length, offset});
    done += length;
  }
}

/// f(offset in x, offset in the padded copy) for the first row of each plane.
template <class F>
void ConvLayout::for_planes(int64_t channels, const F& f) const {
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t z = 0; z < in_[0]; ++z)
      f((c * in_[0] + z) * in_[1] * in_[2],
        ((c * padded_[0] + z + padding_[0]) * padded_[1] + padding_[1]) *
            padded_[2]);
}

template <class T>
const T* ConvLayout::pad(const T* x, int64_t channels, T* to) const {
  if (!is_padded_) return x;
  if (padding_ != ConvGeometry::Sizes{0, 0, 0})
    std::fill_n(to, channels * channel_size(), T(0));
  // A kernel of one row reads every stride-th only.
  const int64_t step = kernel_[1] == 1 ? stride_[1] : 1;
  const int64_t first = (step - padding_[1] % step) % step;
  const int64_t rows = (in_[1] - first + step - 1) / step;
  const int64_t pad = padding_[2], even = pad % 2;
  const ConvKernels<T>& kernels = conv_kernels<T>();
  for_planes(channels, [&](int64_t from, int64_t at) {
    const RowCopy<T> copy{x + from + first * in_[2],
                          to + at + first * padded_[2], rows, step * in_[2],
                          step * padded_[2]};
    if (split_ == 1) return kernels.copy_rows(copy, in_[2], pad);
    if (split_ == 2)
      return kernels.split_rows(copy, in_[2], even, (pad + even) / 2,
                                kernel_[2] == 1 ? -1 : part_ + pad / 2);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t i = 0; i < in_[2]; ++i)
        copy.to[r * copy.to_pitch + in_row(i + pad)] =
            copy.from[r * copy.from_pitch + i];
  });
  return to;
}

template <class T>
void ConvLayout::unpad(const T* padded, int64_t channels, T* x) const {
  for_planes(channels, [&](int64_t at, int64_t from) {
    for (int64_t r = 0; r < in_[1]; ++r) {
      T* to = x + at + r * in_[2];
      const T* row = padded + from + r * padded_[2];
      if (split_ == 1) {
        std::copy_n(row + padding_[2], in_[2], to);
        continue;
      }
      for (int64_t part = 0; part < split_; ++part) {
        int64_t i = (part - padding_[2] % split_ + split_) % split_;
        const T* next = row + part * part_ + (i + padding_[2]) / split_;
        for (; i < in_[2]; i += split_) to[i] = *next++;
      }
    }
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
                             int64_t(runs.size()), width, to);
  }
  thread_local std::vector<int64_t> positions;
  positions.assign(size_t(width), runs[0].offset);
  for (const ConvRun& run : runs)
    for (int64_t i = 0; i < run.length; ++i)
      positions[size_t(run.column + i)] = run.offset + i * layout_.step();
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
