// Regions of interest as grids of averages (arXiv:1703.06870), also with a
// channel for each cell of the grid (arXiv:1605.06409).
//
// The bilinear samples of a bin and their average are products of shares of
// rows and shares of columns. So rows are added up first, all columns of the
// region at a time, and a gradient goes the same way back.
#include <algorithm>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/vision/regions.h"
#include "hotaru/backend/cpu/grain.h"
#include "hotaru/backend/cpu/independent.h"
#include "hotaru/backend/cpu/vision/region.h"

namespace hotaru::cpu {
namespace {

/// Where a region lies in its image.
template <class T>
struct Place {
  int64_t image;
  Taps<T> rows, columns;

  /// The sum of `rows`' bin p in all columns that the region touches.
  void add_rows(T* line, const T* plane, int64_t width, int64_t p) const {
    const int64_t from = columns.first, count = columns.last - from + 1;
    std::fill_n(line, count, T(0));
    for (int64_t k = 0; k < rows.count; ++k) {
      const Tap<T>& tap = rows.of(p)[k];
      if (tap.is_outside()) continue;
      const T *low = plane + tap.low * width + from,
              *high = plane + tap.high * width + from;
      HOTARU_INDEPENDENT
      for (int64_t x = 0; x < count; ++x)
        line[x] += tap.low_share * low[x] + tap.high_share * high[x];
    }
  }
  void add_rows_back(T* plane, const T* line, int64_t width, int64_t p) const {
    const int64_t from = columns.first, count = columns.last - from + 1;
    for (int64_t k = 0; k < rows.count; ++k) {
      const Tap<T>& tap = rows.of(p)[k];
      if (tap.is_outside()) continue;
      for (const auto& [row, share] :
           {std::pair(tap.low, tap.low_share), {tap.high, tap.high_share}}) {
        T* to = plane + row * width + from;
        HOTARU_INDEPENDENT
        for (int64_t x = 0; x < count; ++x) to[x] += share * line[x];
      }
    }
  }

  T add_columns(const T* line, int64_t q) const {
    T sum = 0;
    for (int64_t k = 0; k < columns.count; ++k) {
      const Tap<T>& tap = columns.of(q)[k];
      if (tap.is_outside()) continue;
      sum += tap.low_share * line[tap.low - columns.first] +
             tap.high_share * line[tap.high - columns.first];
    }
    return sum;
  }
  void add_columns_back(T* line, T g, int64_t q) const {
    for (int64_t k = 0; k < columns.count; ++k) {
      const Tap<T>& tap = columns.of(q)[k];
      if (tap.is_outside()) continue;
      line[tap.low - columns.first] += tap.low_share * g;
      line[tap.high - columns.first] += tap.high_share * g;
    }
  }

  bool is_empty() const { return rows.count == 0 || columns.count == 0; }
  int64_t touched() const { return columns.last - columns.first + 1; }
};

template <class T>
struct Grids {
  Grids(const KernelCall& call, const Tensor& grid, const Tensor& image,
        const Tensor& rois)
      : bins{grid.size(2), grid.size(3)},
        channels(grid.size(1)),
        planes(image.size(1)),
        height(image.size(2)),
        width(image.size(3)) {
    if (grid.numel() == 0 || image.numel() == 0) return;
    const auto& a = call.attributes<RegionAttributes>();
    for (const Region<T>& r :
         regions_of<T>(call.kernel().name().c_str(), rois, image.size(0)))
      places.push_back({r.image,
                        {{r.top, r.bottom, a, bins[0], height}, bins[0]},
                        {{r.left, r.right, a, bins[1], width}, bins[1]}});
  }

  /// Where the plane of the grid's channel c, or the first of them, begins.
  template <bool kByPlace>
  int64_t first(const Place<T>& place, int64_t c) const {
    return (place.image * planes + (kByPlace ? c * cells() : c)) * plane();
  }
  int64_t cells() const { return bins[0] * bins[1]; }
  int64_t plane() const { return height * width; }
  /// About what one channel of one region costs.
  int64_t work() const {
    return places.empty()
               ? 1
               : cells() * 4 * places[0].rows.count * places[0].columns.count +
                     1;
  }

  int64_t bins[2], channels, planes, height, width;
  std::vector<Place<T>> places;
};

constexpr KernelTypes<FloatTypes> kTypes{0, "roi_align"};

/// kByPlace: each cell of the grid has a channel of its own.
template <bool kByPlace>
void align(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1);
  kTypes.visit(call, [&]<class T>() {
    const Grids<T> g(call, out, in, call.tensor(2));
    std::fill_n(out.data<T>(), out.numel(), T(0));
    const auto each = [&](int64_t begin, int64_t end) {
      std::vector<T> line(size_t(g.width));
      for (int64_t i = begin; i < end; ++i) {
        const Place<T>& place = g.places[size_t(i / g.channels)];
        if (place.is_empty()) continue;
        T* to = out.data<T>() + i * g.cells();
        const T* plane =
            in.data<T>() + g.template first<kByPlace>(place, i % g.channels);
        for (int64_t p = 0; p < g.bins[0]; ++p)
          for (int64_t q = 0; q < g.bins[1]; ++q) {
            if (kByPlace || q == 0)
              place.add_rows(line.data(), plane, g.width, p);
            *to++ = place.add_columns(line.data(), q);
            if (kByPlace) plane += g.plane();
          }
      }
    };
    parallel_for(0, int64_t(g.places.size()) * g.channels, row_grain(g.work()),
                 each);
  });
}

/// By channels, each of which one thread adds up in the order of regions.
template <bool kByPlace>
void align_backward(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &grad = call.tensor(1);
  kTypes.visit(call, [&]<class T>() {
    const Grids<T> g(call, grad, out, call.tensor(2));
    std::fill_n(out.data<T>(), out.numel(), T(0));
    const auto add = [&](const Place<T>& place, const T* from, T* plane,
                         T* line) {
      for (int64_t p = 0; p < g.bins[0]; ++p)
        for (int64_t q = 0; q < g.bins[1]; ++q) {
          if (kByPlace || q == 0) std::fill_n(line, place.touched(), T(0));
          place.add_columns_back(line, *from++, q);
          if (kByPlace || q + 1 == g.bins[1])
            place.add_rows_back(plane, line, g.width, p);
          if (kByPlace) plane += g.plane();
        }
    };
    const auto each = [&](int64_t begin, int64_t end) {
      std::vector<T> line(size_t(g.width));
      const T* from = grad.data<T>();
      for (const Place<T>& place : g.places) {
        if (!place.is_empty())
          for (int64_t c = begin; c < end; ++c)
            add(place, from + c * g.cells(),
                out.data<T>() + g.template first<kByPlace>(place, c),
                line.data());
        from += g.channels * g.cells();
      }
    };
    parallel_for(0, g.channels, row_grain(g.work() * int64_t(g.places.size())),
                 each);
  });
}

HOTARU_KERNEL(kCPU, "roi_align", align<false>, check_types<kTypes>);
HOTARU_KERNEL(kCPU, "roi_align_backward", align_backward<false>,
              check_types<kTypes>);
HOTARU_KERNEL(kCPU, "ps_roi_align", align<true>, check_types<kTypes>);
HOTARU_KERNEL(kCPU, "ps_roi_align_backward", align_backward<true>,
              check_types<kTypes>);

}  // namespace
}  // namespace hotaru::cpu
