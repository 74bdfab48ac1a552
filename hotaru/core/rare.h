// Element types that are stored and converted but hardly computed with:
// complex32, the 8-bit floats, and unsigned integers of more than a byte. Each
// goes through a type that kernels compute with, its carrier, so that no kernel
// but copies and fills has code for them. Those that is_stored_only() names
// have no carrier: their bytes move and are viewed as others.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "hotaru/core/dtype.h"

namespace hotaru {

/// A complex number of two halves.
struct ComplexHalf {
  Half real, imag;

  ComplexHalf() = default;
  ComplexHalf(std::complex<float> z) : real(z.real()), imag(z.imag()) {}
  operator std::complex<float>() const { return {real, imag}; }
};

/// How an 8-bit float says what lies beyond its numbers.
enum class Float8Kind {
  kIeee,         ///< infinities, NaNs
  kFinite,       ///< no infinities, all ones is NaN; saturates
  kUnsignedZero  ///< no infinities, 0x80 is NaN, no -0
};

/// A float of 8 bits (https://arxiv.org/abs/2209.05433 and, those with an
/// unsigned zero, https://arxiv.org/abs/2206.02915). Converts with
/// round-to-nearest-even.
template <int kMantissa, int kBias, Float8Kind kKind>
struct Float8 {
  uint8_t bits = 0;

  Float8() = default;
  Float8(float value) : bits(encode(value)) {}
  operator float() const { return decode(bits); }

 private:
  static constexpr bool kFnuz = kKind == Float8Kind::kUnsignedZero;
  static constexpr uint8_t kOnes = 0x7f;
  /// The largest number's bits.
  static constexpr uint8_t kMost = kKind == Float8Kind::kIeee
                                       ? uint8_t(kOnes - (1 << kMantissa))
                                       : (kFnuz ? kOnes : uint8_t(kOnes - 1));

  static uint8_t encode(float value) {
    const auto sign = uint8_t(std::signbit(value) ? 0x80 : 0);
    if (std::isnan(value)) return kFnuz ? 0x80 : uint8_t(sign | kOnes);
    const float magnitude = std::fabs(value);
    int exponent = 0;
    if (magnitude > 0 && std::isfinite(magnitude))
      exponent = std::max(std::ilogb(magnitude), 1 - kBias);
    // In units of the last place, which rounds as the mode of the machine.
    const float units =
        std::nearbyint(std::ldexp(magnitude, kMantissa - exponent));
    // The hidden bit carries into the exponent; a subnormal has none.
    const float code = units + float((exponent + kBias - 1) * (1 << kMantissa));
    const bool over = !std::isfinite(magnitude) || code > float(kMost);
    if (over) return beyond(sign);
    const auto out = uint8_t(magnitude > 0 ? code : 0);
    return kFnuz && out == 0 ? 0 : uint8_t(sign | out);
  }

  static uint8_t beyond(uint8_t sign) {
    if (kFnuz) return 0x80;
    return uint8_t(sign | (kKind == Float8Kind::kIeee ? kMost + 1 : kMost));
  }

  static float decode(uint8_t b) {
    const int code = b & kOnes, exponent = code >> kMantissa;
    const int fraction = code & ((1 << kMantissa) - 1);
    const float sign = b & 0x80 ? -1.0f : 1.0f;
    if (kFnuz ? b == 0x80 : code > kMost) {
      const bool infinite = kKind == Float8Kind::kIeee && code == kMost + 1;
      return infinite ? sign * std::numeric_limits<float>::infinity()
                      : std::numeric_limits<float>::quiet_NaN();
    }
    const int hidden = exponent > 0 ? 1 << kMantissa : 0;
    const int scale = std::max(exponent, 1) - kBias - kMantissa;
    return sign * std::ldexp(float(hidden + fraction), scale);
  }
};

using Float8E5M2 = Float8<2, 15, Float8Kind::kIeee>;
using Float8E4M3FN = Float8<3, 7, Float8Kind::kFinite>;
using Float8E5M2FNUZ = Float8<2, 16, Float8Kind::kUnsignedZero>;
using Float8E4M3FNUZ = Float8<3, 8, Float8Kind::kUnsignedZero>;

/// A power of two: an exponent of float32 without sign and fraction, all ones
/// being NaN (https://www.opencompute.org/documents/
/// ocp-microscaling-formats-mx-v1-0-spec-final-pdf). Rounds as PyTorch: by the
/// fraction's bits alone, ties up but for float32's subnormals.
struct Float8E8M0FNU {
  uint8_t bits = 0;

  Float8E8M0FNU() = default;
  Float8E8M0FNU(float value) : bits(encode(std::bit_cast<uint32_t>(value))) {}
  operator float() const {
    if (bits == 0xff) return std::numeric_limits<float>::quiet_NaN();
    return std::bit_cast<float>(bits == 0 ? kHalf : uint32_t{bits} << 23);
  }

 private:
  /// The first bit of a fraction.
  static constexpr uint32_t kHalf = 1u << 22;

  static uint8_t encode(uint32_t value) {
    const uint32_t exponent = (value >> 23) & 0xff;
    const uint32_t below = value & (kHalf - 1);
    const bool up = (value & kHalf) != 0 && (below != 0 || exponent > 0);
    return uint8_t(exponent == 0xff ? exponent : exponent + up);
  }
};

using Float8Types = TypeList<Float8E5M2, Float8E4M3FN, Float8E5M2FNUZ,
                             Float8E4M3FNUZ, Float8E8M0FNU>;
using RareTypes =
    TypeList<ComplexHalf, Float8E5M2, Float8E4M3FN, Float8E5M2FNUZ,
             Float8E4M3FNUZ, Float8E8M0FNU, uint16_t, uint32_t, uint64_t>;

template <>
inline constexpr DType kDTypeOf<ComplexHalf> = DType::kComplex32;
template <>
inline constexpr DType kDTypeOf<Float8E5M2> = DType::kFloat8E5M2;
template <>
inline constexpr DType kDTypeOf<Float8E4M3FN> = DType::kFloat8E4M3FN;
template <>
inline constexpr DType kDTypeOf<Float8E5M2FNUZ> = DType::kFloat8E5M2FNUZ;
template <>
inline constexpr DType kDTypeOf<Float8E4M3FNUZ> = DType::kFloat8E4M3FNUZ;
template <>
inline constexpr DType kDTypeOf<Float8E8M0FNU> = DType::kFloat8E8M0FNU;
template <>
inline constexpr DType kDTypeOf<uint16_t> = DType::kUInt16;
template <>
inline constexpr DType kDTypeOf<uint32_t> = DType::kUInt32;
template <>
inline constexpr DType kDTypeOf<uint64_t> = DType::kUInt64;

/// A type that kernels compute with and that holds each value of a rare one;
/// of uint64 its bits. Other types are their own.
constexpr DType carrier(DType d) {
  if (d == DType::kComplex32) return DType::kComplex64;
  if (is_float8(d)) return DType::kFloat32;
  if (d == DType::kUInt16) return DType::kInt32;
  return is_wide_unsigned(d) ? DType::kInt64 : d;
}

/// Integers of as many bytes as an element of a dtype that is_stored_only().
constexpr DType stored_as(DType d) {
  return itemsize(d) == 2 ? DType::kInt16 : DType::kUInt8;
}

/// Every dtype: those that PyTorch 1 had first, then the rare ones, then those
/// that are only stored.
inline constexpr DType kAllDTypes[] = {
    DType::kUInt8,          DType::kInt8,           DType::kInt16,
    DType::kInt32,          DType::kInt64,          DType::kFloat16,
    DType::kFloat32,        DType::kFloat64,        DType::kComplex64,
    DType::kComplex128,     DType::kBool,           DType::kBFloat16,
    DType::kComplex32,      DType::kFloat8E5M2,     DType::kFloat8E4M3FN,
    DType::kFloat8E5M2FNUZ, DType::kFloat8E4M3FNUZ, DType::kUInt16,
    DType::kUInt32,         DType::kUInt64,         DType::kFloat8E8M0FNU,
    DType::kFloat4E2M1FNX2, DType::kBits1x8,        DType::kBits2x4,
    DType::kBits4x2,        DType::kBits8,          DType::kBits16,
    DType::kUInt1,          DType::kUInt2,          DType::kUInt3,
    DType::kUInt4,          DType::kUInt5,          DType::kUInt6,
    DType::kUInt7,          DType::kInt1,           DType::kInt2,
    DType::kInt3,           DType::kInt4,           DType::kInt5,
    DType::kInt6,           DType::kInt7,
};

}  // namespace hotaru
