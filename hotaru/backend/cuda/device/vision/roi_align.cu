// Regions of interest as grids of averages of bilinear samples, and the
// gradients. See params/vision.h for how they are launched; formulas
// are in common/vision/taps.h.
#include "hotaru/backend/common/vision/taps.h"
#include "hotaru/backend/cuda/device/atomic.h"
#include "hotaru/backend/cuda/device/vision/region.h"

namespace hotaru::cuda {
namespace {

/// The samples of a grid's cell.
template <class T>
struct Samples {
  uint32_t row, column;
  BinAxis<T> down, across;

  /// Samples of a cell; of a region that has too many there is none.
  __device__ Samples(const RegionParams& p, const RegionCell<T>& cell)
      : row(cell.row),
        column(cell.column),
        down(cell.box[1], cell.box[3], p.attributes, p.rows.divisor, p.height),
        across(cell.box[0], cell.box[2], p.attributes, p.columns.divisor,
               p.width) {
    check(p, down);
    check(p, across);
    if (down.count < 0 || across.count < 0) down.count = 0;
  }

  /// How many, as a divisor.
  __device__ T count() const {
    const int64_t n = down.count * across.count;
    return n > 0 ? T(n) : T(1);
  }
  /// f(offset in the plane, share) for all samples' neighbours.
  template <class F>
  __device__ void each(const RegionParams& p, const F& f) const {
    HOTARU_NO_UNROLL
    for (int64_t i = 0; i < down.count; ++i) {
      const Tap<T> y = down.tap(row, i);
      if (y.is_outside()) continue;
      const int64_t low = y.low * p.width, high = y.high * p.width;
      HOTARU_NO_UNROLL
      for (int64_t j = 0; j < across.count; ++j) {
        const Tap<T> x = across.tap(column, j);
        if (x.is_outside()) continue;
        f(low + x.low, y.low_share * x.low_share);
        f(low + x.high, y.low_share * x.high_share);
        f(high + x.low, y.high_share * x.low_share);
        f(high + x.high, y.high_share * x.high_share);
      }
    }
  }

 private:
  __device__ static void check(const RegionParams& p, const BinAxis<T>& axis) {
    if (axis.count < 0)
      report_error(p.errors, int64_t(RegionError::kSamples),
                   std::bit_cast<int64_t>(double(axis.extent)),
                   std::bit_cast<int64_t>(double(std::ceil(axis.bin))));
  }
};

template <class T, bool kByPlace>
__device__ void roi_align(const RegionParams& p) {
  RegionCell<T> cell(p);
  T sum = 0;
  if (cell.template find<kByPlace>(p)) {
    const Samples<T> samples(p, cell);
    const T* picture = cell.picture(p);
    samples.each(p, [&](int64_t at, T share) { sum += share * picture[at]; });
    sum /= samples.count();
  }
  if (cell.number < p.numel) *cell.grid(p) = sum;
}

template <class T, bool kByPlace>
__device__ void roi_align_grad(const RegionParams& p) {
  RegionCell<T> cell(p);
  if (!cell.template find<kByPlace>(p)) return;
  const Samples<T> samples(p, cell);
  T* picture = cell.picture(p);
  const T g = *cell.grid(p) / samples.count();
  samples.each(p, [&](int64_t at, T share) {
    AtomicAdd::at<T>(picture + at, share * g);
  });
}

}  // namespace

#define HOTARU_ROI_ALIGN(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(RoiAlign_##suffix, RegionParams, roi_align<T, false>) \
  HOTARU_CUDA_KERNEL(RoiAlignGrad_##suffix, RegionParams, \
                     roi_align_grad<T, false>) \
  HOTARU_CUDA_KERNEL(PsRoiAlign_##suffix, RegionParams, roi_align<T, true>) \
  HOTARU_CUDA_KERNEL(PsRoiAlignGrad_##suffix, RegionParams, \
                     roi_align_grad<T, true>)
HOTARU_DEVICE_TYPES_FloatTypes(HOTARU_ROI_ALIGN, )

}  // namespace hotaru::cuda
