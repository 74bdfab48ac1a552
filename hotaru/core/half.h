// The 16-bit floating types: storage formats that compute in float.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace hotaru {

/// IEEE 754 binary16. Converts with round-to-nearest-even.
struct Half {
  uint16_t bits = 0;

  Half() = default;
  constexpr Half(float value) : bits(encode(value)) {}
  constexpr operator float() const { return decode(bits); }
  static constexpr Half from_bits(uint16_t bits) {
    Half h{0.0f};
    h.bits = bits;
    return h;
  }

 private:
  static constexpr uint16_t encode(float value) {
    const uint32_t f = std::bit_cast<uint32_t>(value);
    const uint32_t sign = (f >> 16) & 0x8000u;
    const uint32_t magnitude = f & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return uint16_t(sign | 0x7e00u);
    // Below half's smallest normal the addition of 0.5 rounds at the right
    // bit: the unit in the last place of 0.5 is half's subnormal step, 2^-24.
    if (magnitude < 0x38800000u) {
      const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
      return uint16_t(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
    }
    const uint32_t odd = (magnitude >> 13) & 1u;
    const uint32_t rounded = magnitude + 0xfffu + odd - 0x38000000u;
    const uint32_t half = rounded >> 13;
    return uint16_t(sign | (half > 0x7c00u ? 0x7c00u : half));
  }
  static constexpr float decode(uint16_t h) {
    const uint32_t sign = uint32_t(h & 0x8000u) << 16;
    const uint32_t exponent = (h >> 10) & 0x1fu;
    const uint32_t mantissa = h & 0x3ffu;
    if (exponent == 0x1fu)
      return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
    if (exponent == 0) {
      const float value = float(mantissa) * 0x1p-24f;
      return sign ? -value : value;
    }
    return std::bit_cast<float>(sign | ((exponent + 112u) << 23) |
                                (mantissa << 13));
  }
};

/// The upper half of a float. Converts with round-to-nearest-even.
struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  constexpr BFloat16(float value) : bits(encode(value)) {}
  constexpr operator float() const {
    return std::bit_cast<float>(uint32_t(bits) << 16);
  }
  static constexpr BFloat16 from_bits(uint16_t bits) {
    BFloat16 b{0.0f};
    b.bits = bits;
    return b;
  }

 private:
  static constexpr uint16_t encode(float value) {
    const uint32_t f = std::bit_cast<uint32_t>(value);
    if ((f & 0x7fffffffu) > 0x7f800000u) return 0x7fc0u;
    return uint16_t((f + 0x7fffu + ((f >> 16) & 1u)) >> 16);
  }
};

}  // namespace hotaru

template <>
struct std::numeric_limits<hotaru::Half> {
  static constexpr bool is_specialized = true, is_signed = true;
  static constexpr bool has_infinity = true, has_quiet_NaN = true;
  static constexpr hotaru::Half from(uint16_t b) {
    return hotaru::Half::from_bits(b);
  }
  static constexpr hotaru::Half max() { return from(0x7bff); }
  static constexpr hotaru::Half lowest() { return from(0xfbff); }
  static constexpr hotaru::Half min() { return from(0x0400); }
  static constexpr hotaru::Half epsilon() { return from(0x1400); }
  static constexpr hotaru::Half infinity() { return from(0x7c00); }
  static constexpr hotaru::Half quiet_NaN() { return from(0x7e00); }
};

template <>
struct std::numeric_limits<hotaru::BFloat16> {
  static constexpr bool is_specialized = true, is_signed = true;
  static constexpr bool has_infinity = true, has_quiet_NaN = true;
  static constexpr hotaru::BFloat16 from(uint16_t b) {
    return hotaru::BFloat16::from_bits(b);
  }
  static constexpr hotaru::BFloat16 max() { return from(0x7f7f); }
  static constexpr hotaru::BFloat16 lowest() { return from(0xff7f); }
  static constexpr hotaru::BFloat16 min() { return from(0x0080); }
  static constexpr hotaru::BFloat16 epsilon() { return from(0x3c00); }
  static constexpr hotaru::BFloat16 infinity() { return from(0x7f80); }
  static constexpr hotaru::BFloat16 quiet_NaN() { return from(0x7fc0); }
};
