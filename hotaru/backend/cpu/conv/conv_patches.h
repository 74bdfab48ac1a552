// The patches of one image as a matrix: row k belongs to a weight of the
// patch (channel, kernel position), column p to an output position.
#pragma once

#include <cstdint>
#include <vector>

#include "hotaru/backend/cpu/conv/conv_kernel.h"
#include "hotaru/backend/cpu/matmul/gemm_kernel.h"

namespace hotaru {

/// Elements behind a padded image that vectors may read.
inline constexpr int64_t kRoomBehind = 64;

/// Output positions that follow each other in an output row: columns
/// [column, column + length), the first patch beginning at offset.
struct ConvRun {
  int64_t column;
  int64_t length;
  int64_t offset;
};

/// Where patches lie in an input that already contains its padding. An element
/// is at row_offset(k) + the run's offset + i * step() for the i-th position.
///
/// With a small stride along the width a padded row is split: first the
/// elements at multiples of the stride, then those one further, and so on. What
/// adjacent positions read is then adjacent, too.
class ConvLayout {
 public:
  explicit ConvLayout(const ConvGeometry& geometry);
  /// The same, kept by the calling thread for its latest geometries, since a
  /// small convolution takes no longer than this does. Valid until the thread
  /// asks kCached more times.
  static const ConvLayout& cached(const ConvGeometry& geometry);
  static constexpr size_t kCached = 16;

  /// Elements of one channel of the padded input, and of a row of it.
  int64_t channel_size() const;
  int64_t pitch() const { return padded_[2]; }
  /// True if the padded input is a copy.
  bool is_padded() const { return is_padded_; }
  bool is_split() const { return split_ > 1; }
  const std::vector<int64_t>& row_offsets() const { return row_offsets_; }
  int64_t step() const { return step_; }
  /// The runs of columns [col, col + cols), their columns counted from col.
  void runs(int64_t col, int64_t cols, std::vector<ConvRun>& to) const;

  /// Positions of one output plane if its rows are taken to be as far apart as
  /// those of the input, gaps included: adjacent positions then read adjacent
  /// elements throughout the plane. For strides of 1 along height and width.
  int64_t spread_plane() const { return (out_[1] - 1) * padded_[2] + out_[2]; }
  bool can_spread() const { return stride_[1] == 1 && stride_[2] == 1; }
  /// From an output plane to the next in the padded input.
  int64_t plane_step() const { return stride_[0] * padded_[1] * padded_[2]; }

  /// x with its padding: x itself if there is none, else a copy in `to` of
  /// channels * channel_size() elements.
  template <class T>
  const T* pad(const T* x, int64_t channels, T* to) const;
  /// The reverse: copies the inner part of padded channels to x.
  template <class T>
  void unpad(const T* padded, int64_t channels, T* x) const;

 private:
  template <class F>
  void for_planes(int64_t channels, const F& f) const;
  /// Where an element of a padded row lies in it.
  int64_t in_row(int64_t x) const { return x % split_ * part_ + x / split_; }

  ConvGeometry::Sizes in_, out_, stride_, padding_, kernel_, padded_;
  int64_t split_;  // parts of a row, and the length of each
  int64_t part_;
  bool is_padded_;
  int64_t step_;
  std::vector<int64_t> row_offsets_;
};

/// See PanelSource. image points at the group's padded channels. Columns are
/// output positions.
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

/// One channel under a kernel of 3 x 3: y = act(conv * scale + shift).
template <class T>
struct Depthwise3 {
  const T* x;       // padded; a vector's room behind it may be read
  int64_t pitch;    // from row to row
  int64_t taps[3];  // of a row of the kernel, from the first output's place
  int64_t stride;   // along the height, 1 or 2
  const T* weight;  // 9
  T bias, scale, shift;
  bool relu;
  int64_t rows, columns;
  T* y;
};

/// Rows of one plane and where their copies go.
template <class T>
struct RowCopy {
  const T* from;
  T* to;
  int64_t count;
  int64_t from_pitch, to_pitch;
};

/// SIMD parts, chosen at run time. T: float, double.
template <class T>
struct ConvKernels {
  /// Copies n elements of each row to element `at` of its copy.
  void (*copy_rows)(const RowCopy<T>& rows, int64_t n, int64_t at);
  /// Elements odd, odd + 2, ... of n go to `first` of the copy and on, the
  /// others, unless second is negative, to `second` and on; odd: 0 or 1.
  void (*split_rows)(const RowCopy<T>& rows, int64_t n, int64_t odd,
                     int64_t first, int64_t second);
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
  void (*depthwise3)(const Depthwise3<T>& plane);
};

template <class T>
const ConvKernels<T>& conv_kernels();

}  // namespace hotaru
