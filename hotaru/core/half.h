// The 16-bit floating types: storage formats that compute in float.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace hotaru {

/// IEEE 754 binary16. Converts with round-to-nearest-even, without branches,
/// so that loops over halves vectorise.
struct Half {
  union {
    uint16_t bits = 0;
    uint16_t x;  // as PyTorch's programs call them
  };

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
    // Below half's smallest normal the addition of 0.5 rounds at the right
    // bit: the unit in the last place of 0.5 is half's subnormal step, 2^-24.
    const bool small = magnitude < 0x38800000u;
    const float shifted = std::bit_cast<float>(small ? magnitude : 0u) + 0.5f;
    const uint32_t subnormal = std::bit_cast<uint32_t>(shifted) - 0x3f000000u;
    const uint32_t odd = (magnitude >> 13) & 1u;
    const uint32_t rounded = magnitude + 0xfffu + odd - 0x38000000u;
    const uint32_t limit = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
    const uint32_t normal =
        magnitude < 0x47800000u ? rounded >> 13 : limit;  // 2^16
    return uint16_t(sign | (small ? subnormal : normal));
  }
  static constexpr float decode(uint16_t h) {
    const uint32_t sign = uint32_t(h & 0x8000u) << 16;
    const uint32_t shifted = uint32_t(h & 0x7fffu) << 13;
    // Infinity and NaN move to the top of float's exponents. A subnormal is
    // what its bits add to the smallest normal.
    const bool limit = (h & 0x7c00u) == 0x7c00u;
    const uint32_t normal = shifted + (limit ? 0x70000000u : 0x38000000u);
    const float subnormal =
        std::bit_cast<float>(shifted + 0x38800000u) - 0x1p-14f;
    const uint32_t magnitude =
        h & 0x7c00u ? normal : std::bit_cast<uint32_t>(subnormal);
    return std::bit_cast<float>(sign | magnitude);
  }
};

/// The upper half of a float. Converts with round-to-nearest-even.
struct BFloat16 {
  union {
    uint16_t bits = 0;
    uint16_t x;  // as PyTorch's programs call them
  };

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
    const uint32_t rounded = (f + 0x7fffu + ((f >> 16) & 1u)) >> 16;
    return uint16_t((f & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : rounded);
  }
};

}  // namespace hotaru

template <>
struct std::numeric_limits<hotaru::Half> {
  static constexpr bool is_specialized = true, is_signed = true;
  static constexpr bool has_infinity = true, has_quiet_NaN = true;
  static constexpr bool has_signaling_NaN = true, is_integer = false;
  static constexpr int digits = 11, radix = 2;
  static constexpr hotaru::Half from(uint16_t b) {
    return hotaru::Half::from_bits(b);
  }
  static constexpr hotaru::Half max() { return from(0x7bff); }
  static constexpr hotaru::Half lowest() { return from(0xfbff); }
  static constexpr hotaru::Half min() { return from(0x0400); }
  static constexpr hotaru::Half epsilon() { return from(0x1400); }
  static constexpr hotaru::Half infinity() { return from(0x7c00); }
  static constexpr hotaru::Half quiet_NaN() { return from(0x7e00); }
  static constexpr hotaru::Half signaling_NaN() { return from(0x7d00); }
};

template <>
struct std::numeric_limits<hotaru::BFloat16> {
  static constexpr bool is_specialized = true, is_signed = true;
  static constexpr bool has_infinity = true, has_quiet_NaN = true;
  static constexpr bool has_signaling_NaN = true, is_integer = false;
  static constexpr int digits = 8, radix = 2;
  static constexpr hotaru::BFloat16 from(uint16_t b) {
    return hotaru::BFloat16::from_bits(b);
  }
  static constexpr hotaru::BFloat16 max() { return from(0x7f7f); }
  static constexpr hotaru::BFloat16 lowest() { return from(0xff7f); }
  static constexpr hotaru::BFloat16 min() { return from(0x0080); }
  static constexpr hotaru::BFloat16 epsilon() { return from(0x3c00); }
  static constexpr hotaru::BFloat16 infinity() { return from(0x7f80); }
  static constexpr hotaru::BFloat16 quiet_NaN() { return from(0x7fc0); }
  static constexpr hotaru::BFloat16 signaling_NaN() { return from(0x7fa0); }
};
