// Regions of interest as grids of maxima (arXiv:1504.08083), and of averages
// with a channel for each cell (arXiv:1605.06409): both of whole cells.
#include <algorithm>
#include <limits>
#include <vector>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/vision/bins.h"
#include "hotaru/backend/common/vision/regions.h"
#include "hotaru/backend/cpu/grain.h"
#include "hotaru/backend/cpu/vision/region.h"

namespace hotaru::cpu {
namespace {

/// The cells of each bin along one axis.
template <class T>
std::vector<Cells> bins_of(const CellAxis<T>& axis, int64_t bins) {
  std::vector<Cells> out;
  for (int64_t i = 0; i < bins; ++i) out.push_back(axis.cells(i));
  return out;
}

template <class T>
struct Place {
  int64_t image;
  std::vector<Cells> rows, columns;
};

struct Sizes {
  Sizes(const Tensor& grid, const Tensor& image)
      : regions(grid.size(0)),
        channels(grid.size(1)),
        rows(grid.size(2)),
        columns(grid.size(3)),
        images(image.size(0)),
        planes(image.size(1)),
        height(image.size(2)),
        width(image.size(3)) {}

  int64_t cells() const { return rows * columns; }
  int64_t plane() const { return height * width; }

  int64_t regions, channels, rows, columns, images, planes, height, width;
};

/// The regions' bins.
template <class T>
std::vector<Place<T>> places_of(const KernelCall& call, const Tensor& rois,
                                const Sizes& n, Cut cut) {
  std::vector<Place<T>> out;
  const T scale = T(call.attributes<RegionAttributes>().scale);
  for (const Region<T>& r :
       regions_of<T>(call.kernel().name().c_str(), rois, n.images)) {
    const auto bins = [&](T from, T to, int64_t count, int64_t size) {
      return bins_of<T>({from * scale, to * scale, count, size, cut}, count);
    };
    out.push_back({r.image, bins(r.top, r.bottom, n.rows, n.height),
                   bins(r.left, r.right, n.columns, n.width)});
  }
  return out;
}

constexpr KernelTypes<FloatTypes> kTypes{0, "roi_pool"};

template <class T>
void largest(const T* plane, int64_t width, Cells rows, Cells columns, T* out,
             int32_t* at) {
  const bool empty = rows.count() == 0 || columns.count() == 0;
  T most = empty ? T(0) : std::numeric_limits<T>::lowest();
  int32_t place = -1;
  for (int64_t y = rows.begin; y < rows.end; ++y)
    for (int64_t x = columns.begin; x < columns.end; ++x)
      if (plane[y * width + x] > most) {
        most = plane[y * width + x];
        place = int32_t(y * width + x);
      }
  *out = most;
  *at = place;
}

void roi_pool(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &in = call.tensor(2);
  kTypes.visit(call, [&]<class T>() {
    if (out.numel() == 0) return;
    const Sizes n(out, in);
    const auto places = places_of<T>(call, call.tensor(3), n, Cut::kMaxima);
    parallel_for(0, n.regions * n.channels, row_grain(n.plane()),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     const Place<T>& place = places[size_t(i / n.channels)];
                     const T* plane =
                         in.data<T>() +
                         (place.image * n.planes + i % n.channels) * n.plane();
                     T* to = out.data<T>() + i * n.cells();
                     int32_t* at =
                         call.tensor(1).data<int32_t>() + i * n.cells();
                     for (const Cells& rows : place.rows)
                       for (const Cells& columns : place.columns)
                         largest(plane, n.width, rows, columns, to++, at++);
                   }
                 });
  });
}

/// By channels, each of which one thread adds up in the order of regions.
void roi_pool_backward(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &grad = call.tensor(1);
  kTypes.visit(call, [&]<class T>() {
    std::fill_n(out.data<T>(), out.numel(), T(0));
    if (grad.numel() == 0 || out.numel() == 0) return;
    const Sizes n(grad, out);
    const auto regions =
        regions_of<T>("roi_pool_backward", call.tensor(3), n.images);
    parallel_for(
        0, n.channels, row_grain(n.regions * n.cells()),
        [&](int64_t begin, int64_t end) {
          for (int64_t r = 0; r < n.regions; ++r)
            for (int64_t c = begin; c < end; ++c) {
              const int64_t from = (r * n.channels + c) * n.cells();
              const T* g = grad.data<T>() + from;
              const int32_t* at = call.tensor(2).data<int32_t>() + from;
              T* plane = out.data<T>() +
                         (regions[size_t(r)].image * n.planes + c) * n.plane();
              for (int64_t i = 0; i < n.cells(); ++i)
                if (at[i] >= 0 && at[i] < n.plane()) plane[at[i]] += g[i];
            }
        });
  });
}

/// f(plane's offset, its bin of rows, of columns, the grid's element) for each
/// cell of the channels [begin, end) of one region.
template <class T, class F>
void for_places(const Sizes& n, const Place<T>& place, int64_t region,
                int64_t begin, int64_t end, const F& f) {
  for (int64_t c = begin; c < end; ++c)
    for (int64_t k = 0; k < n.cells(); ++k)
      f((place.image * n.planes + c * n.cells() + k) * n.plane(),
        place.rows[size_t(k / n.columns)], place.columns[size_t(k % n.columns)],
        (region * n.channels + c) * n.cells() + k);
}

int64_t area(Cells rows, Cells columns) {
  return rows.count() * columns.count();
}

void ps_roi_pool(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1);
  kTypes.visit(call, [&]<class T>() {
    if (out.numel() == 0) return;
    const Sizes n(out, in);
    const auto places = places_of<T>(call, call.tensor(2), n, Cut::kAverages);
    const auto average = [&](int64_t plane, Cells rows, Cells columns,
                             int64_t to) {
      T sum = 0;
      for (int64_t y = rows.begin; y < rows.end; ++y)
        for (int64_t x = columns.begin; x < columns.end; ++x)
          sum += in.data<T>()[plane + y * n.width + x];
      const int64_t count = area(rows, columns);
      out.data<T>()[to] = count ? sum / T(count) : T(0);
    };
    parallel_for(0, n.regions, row_grain(n.channels * n.plane()),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t r = begin; r < end; ++r)
                     for_places(n, places[size_t(r)], r, 0, n.channels,
                                average);
                 });
  });
}

void ps_roi_pool_backward(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &grad = call.tensor(1);
  kTypes.visit(call, [&]<class T>() {
    std::fill_n(out.data<T>(), out.numel(), T(0));
    if (grad.numel() == 0 || out.numel() == 0) return;
    const Sizes n(grad, out);
    const auto places = places_of<T>(call, call.tensor(2), n, Cut::kGradients);
    const auto spread = [&](int64_t plane, Cells rows, Cells columns,
                            int64_t from) {
      const T share = grad.data<T>()[from] / T(area(rows, columns));
      for (int64_t y = rows.begin; y < rows.end; ++y)
        for (int64_t x = columns.begin; x < columns.end; ++x)
          out.data<T>()[plane + y * n.width + x] += share;
    };
    parallel_for(0, n.channels, row_grain(n.regions * n.plane()),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t r = 0; r < n.regions; ++r)
                     for_places(n, places[size_t(r)], r, begin, end, spread);
                 });
  });
}

HOTARU_KERNEL(kCPU, "roi_pool", roi_pool, check_types<kTypes>);
HOTARU_KERNEL(kCPU, "roi_pool_backward", roi_pool_backward,
              check_types<kTypes>);
HOTARU_KERNEL(kCPU, "ps_roi_pool", ps_roi_pool, check_types<kTypes>);
HOTARU_KERNEL(kCPU, "ps_roi_pool_backward", ps_roi_pool_backward,
              check_types<kTypes>);

}  // namespace
}  // namespace hotaru::cpu
