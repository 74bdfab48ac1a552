// Element types under PyTorch's names.
#pragma once

#include <cstdint>
#include <ostream>

#include "c10/util/Exception.h"
#include "c10/util/Half.h"
#include "hotaru/core/dtype.h"

namespace c10 {}
namespace at {
using namespace c10;  // NOLINT: PyTorch's at:: has all of c10::
}

namespace c10 {

/// The numbers are hotaru::DType's.
enum class ScalarType : int8_t {
  Byte = 0,
  Char = 1,
  Short = 2,
  Int = 3,
  Long = 4,
  Half = 5,
  Float = 6,
  Double = 7,
  ComplexHalf = 8,
  ComplexFloat = 9,
  ComplexDouble = 10,
  Bool = 11,
  BFloat16 = 15,
  Bits1x8 = 18,
  Bits2x4 = 19,
  Bits4x2 = 20,
  Bits8 = 21,
  Bits16 = 22,
  Float8_e5m2 = 23,
  Float8_e4m3fn = 24,
  Float8_e5m2fnuz = 25,
  Float8_e4m3fnuz = 26,
  UInt16 = 27,
  UInt32 = 28,
  UInt64 = 29,
  UInt1 = 30,
  UInt2 = 31,
  UInt3 = 32,
  UInt4 = 33,
  UInt5 = 34,
  UInt6 = 35,
  UInt7 = 36,
  Int1 = 37,
  Int2 = 38,
  Int3 = 39,
  Int4 = 40,
  Int5 = 41,
  Int6 = 42,
  Int7 = 43,
  Float8_e8m0fnu = 44,
  Float4_e2m1fn_x2 = 45,
  Undefined = 46,
};

constexpr ScalarType kByte = ScalarType::Byte, kUInt8 = kByte;
constexpr ScalarType kChar = ScalarType::Char, kInt8 = kChar;
constexpr ScalarType kShort = ScalarType::Short, kInt16 = kShort;
constexpr ScalarType kInt = ScalarType::Int, kInt32 = kInt;
constexpr ScalarType kLong = ScalarType::Long, kInt64 = kLong;
constexpr ScalarType kHalf = ScalarType::Half, kFloat16 = kHalf;
constexpr ScalarType kFloat = ScalarType::Float, kFloat32 = kFloat;
constexpr ScalarType kDouble = ScalarType::Double, kFloat64 = kDouble;
constexpr ScalarType kComplexHalf = ScalarType::ComplexHalf,
                     kComplex32 = kComplexHalf;
constexpr ScalarType kComplexFloat = ScalarType::ComplexFloat,
                     kComplex64 = kComplexFloat;
constexpr ScalarType kComplexDouble = ScalarType::ComplexDouble,
                     kComplex128 = kComplexDouble;
constexpr ScalarType kBool = ScalarType::Bool;
constexpr ScalarType kBFloat16 = ScalarType::BFloat16;
constexpr ScalarType kFloat8_e5m2 = ScalarType::Float8_e5m2;
constexpr ScalarType kFloat8_e4m3fn = ScalarType::Float8_e4m3fn;
constexpr ScalarType kFloat8_e5m2fnuz = ScalarType::Float8_e5m2fnuz;
constexpr ScalarType kFloat8_e4m3fnuz = ScalarType::Float8_e4m3fnuz;
constexpr ScalarType kFloat8_e8m0fnu = ScalarType::Float8_e8m0fnu;
constexpr ScalarType kFloat4_e2m1fn_x2 = ScalarType::Float4_e2m1fn_x2;
constexpr ScalarType kUInt16 = ScalarType::UInt16;
constexpr ScalarType kUInt32 = ScalarType::UInt32;
constexpr ScalarType kUInt64 = ScalarType::UInt64;

constexpr hotaru::DType to_hotaru(ScalarType type) {
  return static_cast<hotaru::DType>(type);
}
constexpr ScalarType from_hotaru(hotaru::DType dtype) {
  return static_cast<ScalarType>(dtype);
}

/// "Float", "Long", "Undefined".
const char* toString(ScalarType type);
std::ostream& operator<<(std::ostream& out, ScalarType type);

/// The ScalarType of a C++ type.
template <class T>
struct CppTypeToScalarType {
  static_assert(hotaru::kDTypeOf<T> != hotaru::DType{-1},
                "no tensor has elements of this type");
  static constexpr ScalarType value = from_hotaru(hotaru::kDTypeOf<T>);
};
template <>
struct CppTypeToScalarType<bool> {
  static constexpr ScalarType value = ScalarType::Bool;
};
template <>
struct CppTypeToScalarType<uint16_t> {
  static constexpr ScalarType value = ScalarType::UInt16;
};
template <>
struct CppTypeToScalarType<uint32_t> {
  static constexpr ScalarType value = ScalarType::UInt32;
};
template <>
struct CppTypeToScalarType<uint64_t> {
  static constexpr ScalarType value = ScalarType::UInt64;
};

namespace impl {
/// The other way round.
template <ScalarType type>
struct ScalarTypeToCPPType;
#define HOTARU_TORCH_CPP_TYPE(cpp, name) \
  template <> \
  struct ScalarTypeToCPPType<ScalarType::name> { \
    using type = cpp; \
  };
HOTARU_TORCH_CPP_TYPE(uint8_t, Byte)
HOTARU_TORCH_CPP_TYPE(int8_t, Char)
HOTARU_TORCH_CPP_TYPE(int16_t, Short)
HOTARU_TORCH_CPP_TYPE(int32_t, Int)
HOTARU_TORCH_CPP_TYPE(int64_t, Long)
HOTARU_TORCH_CPP_TYPE(uint16_t, UInt16)
HOTARU_TORCH_CPP_TYPE(uint32_t, UInt32)
HOTARU_TORCH_CPP_TYPE(uint64_t, UInt64)
HOTARU_TORCH_CPP_TYPE(c10::Half, Half)
HOTARU_TORCH_CPP_TYPE(c10::BFloat16, BFloat16)
HOTARU_TORCH_CPP_TYPE(float, Float)
HOTARU_TORCH_CPP_TYPE(double, Double)
HOTARU_TORCH_CPP_TYPE(std::complex<float>, ComplexFloat)
HOTARU_TORCH_CPP_TYPE(std::complex<double>, ComplexDouble)
HOTARU_TORCH_CPP_TYPE(bool, Bool)
#undef HOTARU_TORCH_CPP_TYPE
template <ScalarType type>
using ScalarTypeToCPPTypeT = typename ScalarTypeToCPPType<type>::type;
}  // namespace impl

inline size_t elementSize(ScalarType type) {
  return hotaru::itemsize(to_hotaru(type));
}
inline bool isComplexType(ScalarType type) {
  return hotaru::is_complex(to_hotaru(type));
}
inline bool isFloatingType(ScalarType type) {
  return hotaru::is_floating_point(to_hotaru(type));
}
inline bool isReducedFloatingType(ScalarType type) {
  return type == ScalarType::Half || type == ScalarType::BFloat16;
}
inline bool isIntegralType(ScalarType type, bool includeBool) {
  return hotaru::is_integral(to_hotaru(type), includeBool);
}
inline bool isFloat8Type(ScalarType type) {
  return hotaru::is_float8(to_hotaru(type));
}
inline bool isBitsType(ScalarType type) {
  return hotaru::is_bits(to_hotaru(type));
}
inline bool isBarebonesUnsignedType(ScalarType type) {
  return hotaru::is_wide_unsigned(to_hotaru(type)) ||
         hotaru::is_small_unsigned(to_hotaru(type));
}
/// Throws of bits.
inline bool isSignedType(ScalarType type) {
  return hotaru::checked_signed(to_hotaru(type));
}
inline ScalarType toComplexType(ScalarType type) {
  return from_hotaru(hotaru::to_complex(to_hotaru(type)));
}
inline ScalarType toRealValueType(ScalarType type) {
  return from_hotaru(hotaru::to_real(to_hotaru(type)));
}
inline ScalarType promoteTypes(ScalarType a, ScalarType b) {
  return from_hotaru(hotaru::promote_types(to_hotaru(a), to_hotaru(b)));
}
inline bool canCast(ScalarType from, ScalarType to) {
  return hotaru::can_cast(to_hotaru(from), to_hotaru(to));
}

}  // namespace c10

/// f(C++ type, name) for the types that have arithmetic in C++.
#define AT_FORALL_SCALAR_TYPES(f) \
  f(uint8_t, Byte) f(int8_t, Char) f(int16_t, Short) f(int, Int) \
      f(int64_t, Long) f(float, Float) f(double, Double)
#define AT_FORALL_SCALAR_TYPES_WITH_COMPLEX_AND_QINTS(f) \
  AT_FORALL_SCALAR_TYPES(f) \
  f(at::Half, Half) f(c10::complex<float>, ComplexFloat) \
      f(c10::complex<double>, ComplexDouble) f(bool, Bool) \
          f(at::BFloat16, BFloat16)
