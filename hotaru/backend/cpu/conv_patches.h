// The patches of one image as a matrix: row k belongs to a weight of the
// patch (channel, kernel position), column p to an output position.
#pragma once

#include <cstdint>
#include <vector>

#include "hotaru/backend/cpu/conv_kernel.h"
#include "hotaru/backend/cpu/gemm_kernel.h"

namespace hotaru {

/// Output positions that follow each other in an output row: columns
/// [column, column + length), the first patch beginning at offset.
struct ConvRun {
  int64_t column;
  int64_t length;
  int64_t offset;
};

/// Where patches lie in an input that already contains its padding. An element
/// is at row_offset(k) + the run's offset + i * step() for the i-th position.
class ConvLayout {
 public:
  explicit ConvLayout(const ConvGeometry& geometry);
  /// The same, kept by the calling thread for its latest geometries, since a
  /// small convolution takes no longer than this does. Valid until the thread
  /// asks kCached more times.
  static const ConvLayout& cached(const ConvGeometry& geometry);
  static constexpr size_t kCached = 16;

  /// Sizes of the padded input and elements of one channel of it.
  const ConvGeometry::Sizes& padded() const { return padded_; }
  int64_t channel_size() const;
  bool is_padded() const { return is_padded_; }
  const std::vector<int64_t>& row_offsets() const { return row_offsets_; }
  int64_t step() const { return step_; }
  /// The runs of columns [col, col + cols), their columns counted from col.
  void runs(int64_t col, int64_t cols, std::vector<ConvRun>& to) const;

  /// x with its padding: x itself if there is none, else a copy in `to` of
  /// channels * channel_size() elements.
  template <class T>
  const T* pad(const T* x, int64_t channels, T* to) const;
  /// The reverse: copies the inner part of padded channels to x.
  template <class T>
  void unpad(const T* padded, int64_t channels, T* x) const;

 private:
  template <class F>
  void for_rows(int64_t channels, const F& f) const;

  ConvGeometry::Sizes in_, out_, stride_, padding_, padded_;
  bool is_padded_;
  int64_t step_;
  std::vector<int64_t> row_offsets_;
};

/// See PanelSource. image points at the group's padded channels.
template <class T>
class ConvPatches final : public PanelSource<T> {
 public:
  ConvPatches(const ConvLayout& layout, const T* image)
      : layout_(layout), image_(image) {}

  void pack(int64_t row, int64_t rows, int64_t col, int64_t cols, int64_t width,
            T* to) const override;

 private:
  const ConvLayout& layout_;
  const T* image_;
};

/// SIMD parts, chosen at run time. T: float, double.
template <class T>
struct ConvKernels {
  /// to[k * width + run.column + i] = image[offsets[k] + run.offset +
  /// i * step] for each run; step 1.
  void (*copy_runs)(const T* image, const int64_t* offsets, int64_t rows,
                    const ConvRun* runs, int64_t run_count, int64_t width,
                    T* to);
  /// to[k * width + j] = image[offsets[k] + positions[j]]; positions are for
  /// width lanes, a multiple of the vector's.
  void (*gather)(const T* image, const int64_t* offsets, int64_t rows,
                 const int64_t* positions, int64_t width, T* to);
  /// y[run.column + i] = bias + sum over k of weight[k] *
  /// image[offsets[k] + run.offset + i * step].
  void (*depthwise)(const T* image, const int64_t* offsets, const T* weight,
                    int64_t taps, const ConvRun* runs, int64_t run_count,
                    int64_t step, T bias, T* y);
};

template <class T>
const ConvKernels<T>& conv_kernels();

}  // namespace hotaru
