#include "hotaru/backend/cpu/conv/amx/plane_pixels.h"

#include <algorithm>
#include <cstring>

#include "hotaru/backend/cpu/scratch.h"
#include "hotaru/backend/cpu/simd/simd_target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/conv/amx/plane_pixels.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/simd/pairs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

const uint16_t* bits(const BFloat16* x) {
  return reinterpret_cast<const uint16_t*>(x);
}

// Rows of pictures are often shorter than a vector: what is left of one is
// done by halves of it.

void pair_row(const BFloat16* first, const BFloat16* second, int64_t n,
              uint32_t* to) {
  int64_t i = 0;
  const auto vectors = [&](auto d) HOTARU_SIMD_LAMBDA {
    const hn::Rebind<uint16_t, decltype(d)> half;
    for (; i + int64_t(hn::MaxLanes(d)) <= n; i += int64_t(hn::MaxLanes(d))) {
      auto v = hn::PromoteTo(d, hn::LoadU(half, bits(first + i)));
      if (second)
        v = hn::Or(v, hn::ShiftLeft<16>(
                          hn::PromoteTo(d, hn::LoadU(half, bits(second + i)))));
      hn::StoreU(v, d, to + i);
    }
  };
  vectors(hn::CappedTag<uint32_t, 16>());
  vectors(hn::CappedTag<uint32_t, 8>());
  vectors(hn::CappedTag<uint32_t, 4>());
  for (; i < n; ++i)
    to[i] = first[i].bits | (second ? uint32_t{second[i].bits} << 16 : 0u);
}

void copy_row(const BFloat16* x, int64_t n, BFloat16* to) {
  int64_t i = 0;
  const auto vectors = [&](auto d) HOTARU_SIMD_LAMBDA {
    for (; i + int64_t(hn::MaxLanes(d)) <= n; i += int64_t(hn::MaxLanes(d)))
      hn::StoreU(hn::LoadU(d, bits(x + i)), d,
                 reinterpret_cast<uint16_t*>(to + i));
  };
  vectors(hn::CappedTag<uint16_t, 32>());
  vectors(hn::CappedTag<uint16_t, 16>());
  vectors(hn::CappedTag<uint16_t, 8>());
  for (; i < n; ++i) to[i] = x[i];
}

template <class Products>
void end_row(const float* sums, int64_t n, float bias, BFloat16* y) {
  int64_t i = 0;
  const auto vectors = [&](auto d) HOTARU_SIMD_LAMBDA {
    for (; i + int64_t(hn::MaxLanes(d)) <= n; i += int64_t(hn::MaxLanes(d)))
      hotaru::HWY_NAMESPACE::store_rounded<Products>(
          hn::Add(hn::LoadU(d, sums + i), hn::Set(d, bias)), y + i);
  };
  vectors(hn::CappedTag<float, 16>());
  vectors(hn::CappedTag<float, 8>());
  for (; i < n; ++i) y[i] = BFloat16(sums[i] + bias);
}

template <class Products>
void end_rows(const float* sums, const PlaneEnd& end, BFloat16* y) {
  const PlaneEnd e = end;  // stores might change the other's
  BFloat16* const row =
      e.y_step == 1 ? nullptr
                    : scratch<BFloat16>(ScratchUse::kNarrowRows, e.cols);
  for (int64_t r = 0; r < e.rows; ++r, sums += e.pitch, y += e.y_row) {
    end_row<Products>(sums, e.cols, e.bias, row ? row : y);
    for (int64_t i = 0; row && i < e.cols; ++i) y[i * e.y_step] = row[i];
  }
}

void end_split(const float* sums, const PlaneEnd& end, BFloat16* y) {
  end_rows<hotaru::HWY_NAMESPACE::SplitProducts>(sums, end, y);
}
void end_native(const float* sums, const PlaneEnd& end, BFloat16* y) {
#if HWY_TARGET == HWY_AVX3
  end_rows<hotaru::HWY_NAMESPACE::PairProducts>(sums, end, y);
#else
  end_split(sums, end, y);
#endif
}

/// Columns of a plane whose pixels lie inside of the picture, and the first
/// one's pixel.
struct Inside {
  int64_t begin, end, pixel;
};
Inside inside(const PlanePixels& p) {
  const auto up_to = [&](int64_t pixel) {
    const int64_t apart = pixel - p.first_w;
    const int64_t at = (apart + p.stride_w - 1) / p.stride_w;
    return apart <= 0 ? 0 : std::min(p.pitch, at);
  };
  const int64_t begin = up_to(0);
  return {begin, std::max(begin, up_to(p.w)), p.first_w + begin * p.stride_w};
}

/// row(pixels before, to): fills what lies inside of a row of the plane, which
/// was zeros.
template <class T, class F>
void for_rows(const PlanePixels& p, T* to, const F& row) {
  std::memset(static_cast<void*>(to), 0, size_t(p.rows * p.pitch) * sizeof(T));
  const Inside in = inside(p);
  for (int64_t r = 0; r < p.rows; ++r, to += p.pitch) {
    const int64_t h = p.first_h + r * p.stride_h;
    if (h >= 0 && h < p.h)
      row(h * p.w + in.pixel, in.end - in.begin, to + in.begin);
  }
}

void pack_one(const PlanePixels& p, const BFloat16* x, BFloat16* to) {
  const int64_t step = p.stride_w;
  for_rows(p, to, [&](int64_t at, int64_t n, BFloat16* out) HOTARU_SIMD_LAMBDA {
    const BFloat16* const from = x + at;
    if (step == 1) return copy_row(from, n, out);
    for (int64_t i = 0; i < n; ++i) out[i] = from[i * step];
  });
}

void pack_pairs(const PlanePixels& p, const BFloat16* first,
                const BFloat16* second, uint32_t* to) {
  const int64_t step = p.stride_w;
  for_rows(p, to, [&](int64_t at, int64_t n, uint32_t* out) HOTARU_SIMD_LAMBDA {
    const BFloat16* const one = first + at;
    const BFloat16* const two = second ? second + at : nullptr;
    if (step == 1) return pair_row(one, two, n, out);
    for (int64_t i = 0; i < n; ++i)
      out[i] =
          one[i * step].bits | (two ? uint32_t{two[i * step].bits} << 16 : 0u);
  });
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

HWY_EXPORT(pack_one);
HWY_EXPORT(pack_pairs);
HWY_EXPORT(end_split);
HWY_EXPORT(end_native);

void pack_plane(const PlanePixels& p, const BFloat16* x, BFloat16* to) {
  HWY_DYNAMIC_DISPATCH(pack_one)(p, x, to);
}

void pack_plane_pairs(const PlanePixels& p, const BFloat16* first,
                      const BFloat16* second, uint32_t* to) {
  HWY_DYNAMIC_DISPATCH(pack_pairs)(p, first, second, to);
}

void end_plane(const float* sums, const PlaneEnd& end, BFloat16* y) {
  static const bool native = simd_has_bf16_products();
  native ? HWY_DYNAMIC_DISPATCH(end_native)(sums, end, y)
         : HWY_DYNAMIC_DISPATCH(end_split)(sums, end, y);
}

}  // namespace hotaru::cpu
#endif
