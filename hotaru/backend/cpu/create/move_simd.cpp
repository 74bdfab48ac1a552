#include "hotaru/backend/cpu/create/move_simd.h"

#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/create/move_simd.cpp"
#include "hotaru/backend/cpu/simd/simd.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void reverse_line(const uint32_t* x, uint32_t* to, int64_t n) {
  const hn::ScalableTag<uint32_t> d;
  const auto lanes = int64_t(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(hn::Reverse(d, hn::LoadU(d, x + (n - i - lanes))), d, to + i);
  for (; i < n; ++i) to[i] = x[n - 1 - i];
}

void copy_byte_lines(const char* from, int64_t from_step, char* to,
                     int64_t to_step, int64_t n, int64_t count) {
  const hn::ScalableTag<uint8_t> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  if (n == 0) return;  // there may be no memory at all
  for (; count > 0; --count, from += from_step, to += to_step) {
    if (n < lanes) {
      std::memcpy(to, from, size_t(n));
      continue;
    }
    const auto move = [&](int64_t at) HOTARU_SIMD_LAMBDA {
      hn::StoreU(hn::LoadU(d, reinterpret_cast<const uint8_t*>(from) + at), d,
                 reinterpret_cast<uint8_t*>(to) + at);
    };
    for (int64_t at = 0; at + lanes < n; at += lanes) move(at);
    move(n - lanes);  // some of it once more
  }
}

void truncate_line(const float* x, int32_t* to, int64_t n) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<int32_t, decltype(d)> di;
  const auto lanes = int64_t(hn::Lanes(d));
  constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();
  const auto limit = hn::Set(d, 0x1p31f);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto v = hn::LoadU(d, x + i);
    // Comparisons with NaN are false.
    const auto fits = hn::Lt(hn::Abs(v), limit);
    const auto whole = hn::ConvertTo(di, hn::IfThenElseZero(fits, v));
    hn::StoreU(
        hn::IfThenElse(hn::RebindMask(di, fits), whole, hn::Set(di, kLeast)),
        di, to + i);
  }
  for (; i < n; ++i)
    to[i] = x[i] > -0x1p31f && x[i] < 0x1p31f ? int32_t(x[i]) : kLeast;
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

HWY_EXPORT(reverse_line);
HWY_EXPORT(truncate_line);
HWY_EXPORT(copy_byte_lines);

void reverse_words(const uint32_t* x, uint32_t* to, int64_t n) {
  HWY_DYNAMIC_DISPATCH(reverse_line)(x, to, n);
}
void copy_lines(const char* from, int64_t from_step, char* to, int64_t to_step,
                int64_t n, int64_t count) {
  HWY_DYNAMIC_DISPATCH(copy_byte_lines)(from, from_step, to, to_step, n, count);
}
void truncate_floats(const float* x, int32_t* to, int64_t n) {
  HWY_DYNAMIC_DISPATCH(truncate_line)(x, to, n);
}

}  // namespace hotaru::cpu
#endif
