#include "hotaru/backend/cpu/resample/grid_simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/resample/grid_simd.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: it, too, is compiled for each target.
#include "hotaru/backend/cpu/simd/simd_load-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void sums(const float* from, const int32_t* offsets, const float* weights,
          int64_t slots, float* out) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<int32_t, decltype(d)> di;
  const int64_t lanes = int64_t(hn::Lanes(d));
  const auto zero = hn::Zero(di), none = hn::Set(di, -1);
  for (int64_t p = 0; p < kGatherRun; p += lanes) {
    auto sum = hn::Zero(d);
    for (int64_t s = 0; s < slots; ++s) {
      const auto at = hn::LoadU(di, offsets + s * kGatherRun + p);
      const auto x =
          hn::IfThenElseZero(hn::RebindMask(d, hn::Gt(at, none)),
                             hn::GatherIndex(d, from, hn::Max(at, zero)));
      sum = hn::MulAdd(hn::LoadU(d, weights + s * kGatherRun + p), x, sum);
    }
    hn::StoreU(sum, d, out + p);
  }
}

using D = hn::ScalableTag<float>;
using DI = hn::Rebind<int32_t, D>;

/// Where coordinates in [-1, 1] are among `size` elements.
HWY_INLINE hn::Vec<D> positions(hn::Vec<D> grid, int64_t size,
                                bool align_corners) {
  const D d;
  const auto one = hn::Set(d, 1.0f), n = hn::Set(d, float(size));
  const auto half = hn::Set(d, 0.5f), from = hn::Add(grid, one);
  return align_corners ? hn::Mul(from, hn::Mul(hn::Sub(n, one), half))
                       : hn::Mul(hn::Sub(hn::Mul(from, n), one), half);
}

/// Whole numbers as indices, -1 outside.
HWY_INLINE hn::Vec<DI> indices(hn::Vec<D> whole, int64_t size) {
  const D d;
  const DI di;
  const auto inside = hn::And(hn::Ge(whole, hn::Zero(d)),
                              hn::Lt(whole, hn::Set(d, float(size))));
  return hn::IfThenElse(hn::RebindMask(di, inside),
                        hn::ConvertTo(di, hn::IfThenElseZero(inside, whole)),
                        hn::Set(di, -1));
}

/// Positions in a plane, -1 where one of both is outside.
HWY_INLINE hn::Vec<DI> offsets_of(hn::Vec<DI> y, hn::Vec<DI> x, int64_t width) {
  const DI di;
  const auto outside = hn::Or(hn::Lt(y, hn::Zero(di)), hn::Lt(x, hn::Zero(di)));
  return hn::IfThenElse(outside, hn::Set(di, -1),
                        hn::Add(hn::Mul(y, hn::Set(di, int32_t(width))), x));
}

/// Along a dimension: positions of both taps, -1 outside, and their weights.
struct Axis {
  hn::Vec<DI> index[2];
  hn::Vec<D> weight[2];

  Axis(hn::Vec<D> grid, int64_t size, bool align_corners) {
    const D d;
    const auto one = hn::Set(d, 1.0f);
    const auto at = positions(grid, size, align_corners);
    const auto whole = hn::Floor(at);
    weight[1] = hn::Sub(at, whole);
    weight[0] = hn::Sub(one, weight[1]);
    index[0] = indices(whole, size);
    index[1] = indices(hn::Add(whole, one), size);
  }
};

void nearest(const float* grid, int64_t height, int64_t width,
             bool align_corners, int32_t* offsets) {
  const D d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  for (int64_t p = 0; p < kGatherRun; p += lanes) {
    hn::Vec<D> gx, gy;
    hn::LoadInterleaved2(d, grid + 2 * p, gx, gy);
    const auto x = hn::Round(positions(gx, width, align_corners));
    const auto y = hn::Round(positions(gy, height, align_corners));
    hn::StoreU(offsets_of(indices(y, height), indices(x, width), width), DI(),
               offsets + p);
  }
}

bool linear(const float* grid, int64_t height, int64_t width,
            bool align_corners, int32_t* offsets, float* weights) {
  const D d;
  const DI di;
  const int64_t lanes = int64_t(hn::Lanes(d));
  bool known = true;
  for (int64_t p = 0; p < kGatherRun; p += lanes) {
    hn::Vec<D> gx, gy;
    hn::LoadInterleaved2(d, grid + 2 * p, gx, gy);
    const Axis x(gx, width, align_corners), y(gy, height, align_corners);
    const auto sum = hn::Add(x.weight[0], y.weight[0]);
    known &= hn::AllTrue(d, hn::Eq(sum, sum));
    for (int j = 0; j < 2; ++j)
      for (int k = 0; k < 2; ++k) {
        const int64_t to = (2 * j + k) * kGatherRun + p;
        hn::StoreU(offsets_of(y.index[j], x.index[k], width), di, offsets + to);
        hn::StoreU(hn::Mul(y.weight[j], x.weight[k]), d, weights + to);
      }
  }
  return known;
}

void pixels(const float* from, int64_t channels, const int32_t* offsets,
            const float* weights, int64_t slots, int64_t count, float* out) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  for (int64_t p = 0; p < count; ++p, out += channels) {
    // At most as many as there are slots, those outside left out.
    const float* pixel[16];
    float weight[16];
    int64_t taps = 0;
    for (int64_t s = 0; s < slots; ++s) {
      const int32_t at = offsets[s * kGatherRun + p];
      if (at < 0) continue;
      pixel[taps] = from + at * channels;
      weight[taps++] = weights[s * kGatherRun + p];
    }
    int64_t c = 0;
    for (; c + lanes <= channels; c += lanes) {
      auto sum = hn::Zero(d);
      for (int64_t t = 0; t < taps; ++t)
        sum =
            hn::MulAdd(hn::Set(d, weight[t]), hn::LoadU(d, pixel[t] + c), sum);
      hn::StoreU(sum, d, out + c);
    }
    if (c == channels) continue;
    const auto mask = hn::FirstN(d, size_t(channels - c));
    auto sum = hn::Zero(d);
    for (int64_t t = 0; t < taps; ++t)
      sum = hn::MulAdd(hn::Set(d, weight[t]),
                       hotaru::HWY_NAMESPACE::load_first(mask, d, pixel[t] + c),
                       sum);
    hn::BlendedStore(sum, mask, d, out + c);
  }
}

/// f(load, store, c) for each vector of channels.
template <class F>
HWY_INLINE void for_channels(int64_t channels, const F& f) {
  const D d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  int64_t c = 0;
  for (; c + lanes <= channels; c += lanes)
    f([&](const float* p) HOTARU_SIMD_LAMBDA { return hn::LoadU(d, p + c); },
      [&](hn::Vec<D> v, float* p)
          HOTARU_SIMD_LAMBDA { hn::StoreU(v, d, p + c); });
  if (c == channels) return;
  const auto mask = hn::FirstN(d, size_t(channels - c));
  f(
      [&](const float* p) HOTARU_SIMD_LAMBDA {
        return hotaru::HWY_NAMESPACE::load_first(mask, d, p + c);
      },
      [&](hn::Vec<D> v, float* p)
          HOTARU_SIMD_LAMBDA { hn::BlendedStore(v, mask, d, p + c); });
}

void gradients(int64_t channels, const int64_t* offsets, const float* weights,
               int64_t taps, const float* g, float* to, const float* from,
               float* dots) {
  const D d;
  for (int64_t t = 0; t < taps; ++t) {
    const int64_t at = offsets[t] * channels;
    if (to) {
      const auto weight = hn::Set(d, weights[t]);
      for_channels(channels, [&](auto load, auto store) HOTARU_SIMD_LAMBDA {
        store(hn::MulAdd(weight, load(g), load(to + at)), to + at);
      });
    }
    if (!from) continue;
    auto sum = hn::Zero(d);
    for_channels(channels, [&](auto load, auto) HOTARU_SIMD_LAMBDA {
      sum = hn::MulAdd(load(g), load(from + at), sum);
    });
    dots[t] = hn::GetLane(hn::SumOfLanes(d, sum));
  }
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

HWY_EXPORT(sums);
void gather_sums(const float* from, const int32_t* offsets,
                 const float* weights, int64_t slots, float* out) {
  HWY_DYNAMIC_DISPATCH(sums)(from, offsets, weights, slots, out);
}

HWY_EXPORT(linear);
bool linear_taps(const float* grid, int64_t height, int64_t width,
                 bool align_corners, int32_t* offsets, float* weights) {
  return HWY_DYNAMIC_DISPATCH(linear)(grid, height, width, align_corners,
                                      offsets, weights);
}

HWY_EXPORT(nearest);
void nearest_taps(const float* grid, int64_t height, int64_t width,
                  bool align_corners, int32_t* offsets) {
  HWY_DYNAMIC_DISPATCH(nearest)(grid, height, width, align_corners, offsets);
}

HWY_EXPORT(pixels);
void pixel_sums(const float* from, int64_t channels, const int32_t* offsets,
                const float* weights, int64_t slots, int64_t count,
                float* out) {
  HWY_DYNAMIC_DISPATCH(pixels)
  (from, channels, offsets, weights, slots, count, out);
}

HWY_EXPORT(gradients);
void pixel_gradients(int64_t channels, const int64_t* offsets,
                     const float* weights, int64_t taps, const float* g,
                     float* to, const float* from, float* dots) {
  HWY_DYNAMIC_DISPATCH(gradients)
  (channels, offsets, weights, taps, g, to, from, dots);
}

}  // namespace hotaru::cpu
#endif
