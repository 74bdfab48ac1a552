// Regions of interest as grids of maxima and of averages, both of whole cells,
// and the gradients. See params/vision.h for how they are launched;
// formulas are in common/vision/bins.h.
#include <limits>

#include "hotaru/backend/common/vision/bins.h"
#include "hotaru/backend/cuda/device/atomic.h"
#include "hotaru/backend/cuda/device/vision/region.h"

namespace hotaru::cuda {
namespace {

/// The cells of a bin.
template <class T>
struct Bin {
  Cells rows, columns;

  __device__ Bin(const RegionParams& p, const RegionCell<T>& cell, Cut cut)
      : rows(axis(p, cell.box[1], cell.box[3], p.rows, p.height, cut)
                 .cells(cell.row)),
        columns(axis(p, cell.box[0], cell.box[2], p.columns, p.width, cut)
                    .cells(cell.column)) {}

  __device__ int64_t count() const { return rows.count() * columns.count(); }
  /// f(offset in the plane), in row-major order.
  template <class F>
  __device__ void each(const RegionParams& p, const F& f) const {
    HOTARU_NO_UNROLL
    for (int64_t y = rows.begin; y < rows.end; ++y) HOTARU_NO_UNROLL
    for (int64_t x = columns.begin; x < columns.end; ++x) f(y * p.width + x);
  }

 private:
  __device__ static CellAxis<T> axis(const RegionParams& p, T from, T to,
                                     const Divider& bins, int64_t size,
                                     Cut cut) {
    const T scale = T(p.attributes.scale);
    return {from * scale, to * scale, bins.divisor, size, cut};
  }
};

template <class T>
__device__ void roi_pool(const RegionParams& p) {
  RegionCell<T> cell(p);
  T most = 0;
  int32_t place = -1;
  if (cell.template find<false>(p)) {
    const Bin<T> bin(p, cell, Cut::kMaxima);
    if (bin.count() > 0) most = std::numeric_limits<T>::lowest();
    const T* picture = cell.picture(p);
    bin.each(p, [&](int64_t at) {
      if (picture[at] > most) {
        most = picture[at];
        place = int32_t(at);
      }
    });
  }
  if (cell.number >= p.numel) return;
  *cell.grid(p) = most;
  p.places[cell.number] = place;
}

template <class T>
__device__ void roi_pool_grad(const RegionParams& p) {
  RegionCell<T> cell(p);
  if (!cell.template find<false>(p)) return;
  const int64_t at = p.places[cell.number];
  if (at >= 0 && at < p.height * p.width)
    AtomicAdd::at<T>(cell.picture(p) + at, *cell.grid(p));
}

template <class T>
__device__ void ps_roi_pool(const RegionParams& p) {
  RegionCell<T> cell(p);
  T sum = 0;
  if (cell.template find<true>(p)) {
    const Bin<T> bin(p, cell, Cut::kAverages);
    const T* picture = cell.picture(p);
    bin.each(p, [&](int64_t at) { sum += picture[at]; });
    if (bin.count() > 0) sum /= T(bin.count());
  }
  if (cell.number < p.numel) *cell.grid(p) = sum;
}

template <class T>
__device__ void ps_roi_pool_grad(const RegionParams& p) {
  RegionCell<T> cell(p);
  if (!cell.template find<true>(p)) return;
  const Bin<T> bin(p, cell, Cut::kGradients);
  const T share = *cell.grid(p) / T(bin.count());
  T* picture = cell.picture(p);
  bin.each(p, [&](int64_t at) { AtomicAdd::at<T>(picture + at, share); });
}

}  // namespace

#define HOTARU_ROI_POOL(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(RoiPool_##suffix, RegionParams, roi_pool<T>) \
  HOTARU_CUDA_KERNEL(RoiPoolGrad_##suffix, RegionParams, roi_pool_grad<T>) \
  HOTARU_CUDA_KERNEL(PsRoiPool_##suffix, RegionParams, ps_roi_pool<T>) \
  HOTARU_CUDA_KERNEL(PsRoiPoolGrad_##suffix, RegionParams, ps_roi_pool_grad<T>)
HOTARU_DEVICE_TYPES_FloatTypes(HOTARU_ROI_POOL, )

}  // namespace hotaru::cuda
