// Element types, their names and PyTorch's promotion rules.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ostream>
#include <type_traits>

#include "hotaru/core/boolean.h"
#include "hotaru/core/half.h"

namespace hotaru {

/// Element type of a tensor. The values are those of PyTorch's ScalarType, as
/// they stand in TorchScript archives.
enum class DType : int8_t {
  kUInt8 = 0,
  kInt8 = 1,
  kInt16 = 2,
  kInt32 = 3,
  kInt64 = 4,
  kFloat16 = 5,
  kFloat32 = 6,
  kFloat64 = 7,
  kComplex32 = 8,
  kComplex64 = 9,
  kComplex128 = 10,
  kBool = 11,
  kBFloat16 = 15,
  kBits1x8 = 18,
  kBits2x4 = 19,
  kBits4x2 = 20,
  kBits8 = 21,
  kBits16 = 22,
  kFloat8E5M2 = 23,
  kFloat8E4M3FN = 24,
  kFloat8E5M2FNUZ = 25,
  kFloat8E4M3FNUZ = 26,
  kUInt16 = 27,
  kUInt32 = 28,
  kUInt64 = 29,
  kUInt1 = 30,
  kUInt2 = 31,
  kUInt3 = 32,
  kUInt4 = 33,
  kUInt5 = 34,
  kUInt6 = 35,
  kUInt7 = 36,
  kInt1 = 37,
  kInt2 = 38,
  kInt3 = 39,
  kInt4 = 40,
  kInt5 = 41,
  kInt6 = 42,
  kInt7 = 43,
  kFloat8E8M0FNU = 44,
  kFloat4E2M1FNX2 = 45,
};

/// Short name, e.g. "float32".
const char* dtype_name(DType dtype);
/// PyTorch's name of the C type in messages, e.g. "Float", "Long", "Half".
const char* scalar_type_name(DType dtype);
/// Throws TypeError unless value is one of the enumerators above.
DType dtype_from_int(int64_t value);

/// Bytes of one element.
constexpr size_t itemsize(DType dtype) {
  switch (dtype) {
    case DType::kUInt8:
    case DType::kInt8:
    case DType::kBool:
    case DType::kFloat8E5M2:
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E5M2FNUZ:
    case DType::kFloat8E4M3FNUZ:
    case DType::kBits1x8:
    case DType::kBits2x4:
    case DType::kBits4x2:
    case DType::kBits8:
    case DType::kUInt1:
    case DType::kUInt2:
    case DType::kUInt3:
    case DType::kUInt4:
    case DType::kUInt5:
    case DType::kUInt6:
    case DType::kUInt7:
    case DType::kInt1:
    case DType::kInt2:
    case DType::kInt3:
    case DType::kInt4:
    case DType::kInt5:
    case DType::kInt6:
    case DType::kInt7:
    case DType::kFloat8E8M0FNU:
    case DType::kFloat4E2M1FNX2:
      return 1;
    case DType::kInt16:
    case DType::kUInt16:
    case DType::kFloat16:
    case DType::kBFloat16:
    case DType::kBits16:
      return 2;
    case DType::kInt32:
    case DType::kUInt32:
    case DType::kFloat32:
    case DType::kComplex32:
      return 4;
    case DType::kInt64:
    case DType::kUInt64:
    case DType::kFloat64:
    case DType::kComplex64:
      return 8;
    case DType::kComplex128:
      return 16;
  }
  return 0;
}

constexpr bool is_complex(DType d) {
  return d >= DType::kComplex32 && d <= DType::kComplex128;
}
constexpr bool is_float8(DType d) {
  return (d >= DType::kFloat8E5M2 && d <= DType::kFloat8E4M3FNUZ) ||
         d == DType::kFloat8E8M0FNU;
}
/// Bits that say nothing about numbers.
constexpr bool is_bits(DType d) {
  return d >= DType::kBits1x8 && d <= DType::kBits16;
}
/// Integers of less than a byte, each in a byte of its own.
constexpr bool is_small_integer(DType d) {
  return d >= DType::kUInt1 && d <= DType::kInt7;
}
constexpr bool is_small_unsigned(DType d) {
  return d >= DType::kUInt1 && d <= DType::kUInt7;
}
/// Named and stored only: bytes move, and no kernel reads a number in them.
constexpr bool is_stored_only(DType d) {
  return is_bits(d) || is_small_integer(d) || d == DType::kFloat4E2M1FNX2;
}
/// Integers without sign of more than a byte.
constexpr bool is_wide_unsigned(DType d) {
  return d >= DType::kUInt16 && d <= DType::kUInt64;
}
/// Stored and converted rather than computed with; see core/rare.h.
constexpr bool is_rare(DType d) {
  return d > DType::kBFloat16 || d == DType::kComplex32;
}
constexpr bool is_floating_point(DType d) {
  return d == DType::kFloat32 || d == DType::kFloat64 || d == DType::kFloat16 ||
         d == DType::kBFloat16 || is_float8(d) || d == DType::kFloat4E2M1FNX2;
}
/// Floating or complex: the dtypes that can carry a gradient.
constexpr bool is_differentiable(DType d) {
  return is_floating_point(d) || is_complex(d);
}
/// Integer types with arithmetic; bool only when asked for.
constexpr bool is_integral(DType d, bool include_bool = false) {
  return d == DType::kBool ? include_bool
                           : !is_differentiable(d) && !is_stored_only(d);
}
/// Makes no sense of bits.
constexpr bool is_signed(DType d) {
  return d != DType::kUInt8 && d != DType::kBool && !is_wide_unsigned(d) &&
         !is_small_unsigned(d) && d != DType::kFloat8E8M0FNU;
}
/// Throws Error for bits.
bool checked_signed(DType d);
/// The real type of a complex dtype's parts; other dtypes unchanged.
constexpr DType to_real(DType d) {
  return d == DType::kComplex32    ? DType::kFloat16
         : d == DType::kComplex64  ? DType::kFloat32
         : d == DType::kComplex128 ? DType::kFloat64
                                   : d;
}
/// The complex type that holds a floating dtype's values.
constexpr DType to_complex(DType d) {
  return d == DType::kFloat64 || d == DType::kComplex128 ? DType::kComplex128
                                                         : DType::kComplex64;
}

/// The dtype of the result of an operation on both, by PyTorch's lattice
/// (https://pytorch.org/docs/stable/tensor_attributes.html). Throws Error for
/// float8 with another dtype, for unsigned integers but uint8 with any but
/// floating ones, and for bits, int1 to int7 and float4 with any other.
DType promote_types(DType a, DType b);
/// Tells whether a result of dtype `from` may be stored into `to`.
bool can_cast(DType from, DType to);

/// torch.get_default_dtype(): float32 unless changed. Thread-safe.
DType default_dtype();
void set_default_dtype(DType dtype);

std::ostream& operator<<(std::ostream& out, DType dtype);

template <class... Ts>
struct TypeList {};

using FloatTypes = TypeList<float, double>;
using FloatingTypes = TypeList<float, double, Half, BFloat16>;
using ComplexTypes = TypeList<std::complex<float>, std::complex<double>>;
using IntTypes = TypeList<uint8_t, int8_t, int16_t, int32_t, int64_t>;
using RealTypes = TypeList<float, double, Half, BFloat16, uint8_t, int8_t,
                           int16_t, int32_t, int64_t>;
using RealAndBoolTypes = TypeList<float, double, Half, BFloat16, uint8_t,
                                  int8_t, int16_t, int32_t, int64_t, Bool>;
using NumberTypes =
    TypeList<float, double, Half, BFloat16, uint8_t, int8_t, int16_t, int32_t,
             int64_t, std::complex<float>, std::complex<double>>;
using FloatingAndComplexTypes =
    TypeList<float, double, Half, BFloat16, std::complex<float>,
             std::complex<double>>;
using AllTypes =
    TypeList<float, double, Half, BFloat16, uint8_t, int8_t, int16_t, int32_t,
             int64_t, Bool, std::complex<float>, std::complex<double>>;

/// The DType of a C++ element type.
template <class T>
inline constexpr DType kDTypeOf = DType{-1};
template <>
inline constexpr DType kDTypeOf<uint8_t> = DType::kUInt8;
template <>
inline constexpr DType kDTypeOf<int8_t> = DType::kInt8;
template <>
inline constexpr DType kDTypeOf<int16_t> = DType::kInt16;
template <>
inline constexpr DType kDTypeOf<int32_t> = DType::kInt32;
template <>
inline constexpr DType kDTypeOf<int64_t> = DType::kInt64;
template <>
inline constexpr DType kDTypeOf<Half> = DType::kFloat16;
template <>
inline constexpr DType kDTypeOf<BFloat16> = DType::kBFloat16;
template <>
inline constexpr DType kDTypeOf<float> = DType::kFloat32;
template <>
inline constexpr DType kDTypeOf<double> = DType::kFloat64;
template <>
inline constexpr DType kDTypeOf<std::complex<float>> = DType::kComplex64;
template <>
inline constexpr DType kDTypeOf<std::complex<double>> = DType::kComplex128;
template <>
inline constexpr DType kDTypeOf<Bool> = DType::kBool;

template <class T>
inline constexpr bool kIsComplex = false;
template <class T>
inline constexpr bool kIsComplex<std::complex<T>> = true;
template <class T>
inline constexpr bool kIsReduced =
    std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <class T>
inline constexpr bool kIsFloating =
    std::is_floating_point_v<T> || kIsReduced<T>;

template <class T>
inline constexpr bool kIsBool = std::is_same_v<T, Bool>;
/// Integers and bool.
template <class T>
inline constexpr bool kIsIntegral = std::is_integral_v<T> || kIsBool<T>;

/// The type arithmetic on T is carried out in: float for the 16-bit types.
template <class T>
using OpMath = std::conditional_t<kIsReduced<T>, float,
                                  std::conditional_t<kIsBool<T>, bool, T>>;

/// A floating number without its fraction; the smallest integer where int64
/// cannot hold it, as x86 converts, and PyTorch on it.
template <class F>
requires kIsFloating<F>
inline int64_t truncated(F x) {
  const auto v = static_cast<OpMath<F>>(x);
  return v >= -0x1p63f && v < 0x1p63f ? int64_t(v)
                                      : std::numeric_limits<int64_t>::min();
}

/// Calls f.template operator()<T>() for the C++ type of dtype; false when the
/// list lacks it.
template <class F, class... Ts>
bool visit_if_listed(TypeList<Ts...>, DType dtype, F&& f) {
  return (
      (dtype == kDTypeOf<Ts> ? (f.template operator()<Ts>(), true) : false) ||
      ...);
}

/// Throws NotImplementedError with PyTorch's text.
[[noreturn]] void refuse_dtype(const char* op, DType dtype);

/// Calls f.template operator()<T>() for the C++ type of dtype. Throws
/// NotImplementedError with PyTorch's text when the list lacks it.
template <class F, class... Ts>
void visit_dtype(TypeList<Ts...> types, DType dtype, const char* op, F&& f) {
  if (!visit_if_listed(types, dtype, f)) [[unlikely]]
    refuse_dtype(op, dtype);
}

}  // namespace hotaru
