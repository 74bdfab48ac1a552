// The dtypes of device kernels, and what symbols call them.
#pragma once

#include "hotaru/core/dtype.h"

// HOTARU_DEVICE_TYPES_<list>(M, ...) is M(..., C++ type, suffix) for each dtype
// of that list, see core/dtype.h.
#define HOTARU_DEVICE_TYPES_FloatTypes(M, ...) \
  M(__VA_ARGS__, float, f32) \
  M(__VA_ARGS__, double, f64)
#define HOTARU_DEVICE_TYPES_FloatingTypes(M, ...) \
  HOTARU_DEVICE_TYPES_FloatTypes(M, __VA_ARGS__) \
      M(__VA_ARGS__, ::hotaru::Half, f16) \
          M(__VA_ARGS__, ::hotaru::BFloat16, bf16)
#define HOTARU_DEVICE_TYPES_IntTypes(M, ...) \
  M(__VA_ARGS__, uint8_t, u8) \
  M(__VA_ARGS__, int8_t, i8) \
  M(__VA_ARGS__, int16_t, i16) \
  M(__VA_ARGS__, int32_t, i32) \
  M(__VA_ARGS__, int64_t, i64)
#define HOTARU_DEVICE_TYPES_BitTypes(M, ...) \
  HOTARU_DEVICE_TYPES_IntTypes(M, __VA_ARGS__) \
      M(__VA_ARGS__, ::hotaru::Bool, b8)
#define HOTARU_DEVICE_TYPES_RealTypes(M, ...) \
  HOTARU_DEVICE_TYPES_FloatingTypes(M, __VA_ARGS__) \
      HOTARU_DEVICE_TYPES_IntTypes(M, __VA_ARGS__)
#define HOTARU_DEVICE_TYPES_RealAndBoolTypes(M, ...) \
  HOTARU_DEVICE_TYPES_FloatingTypes(M, __VA_ARGS__) \
      HOTARU_DEVICE_TYPES_BitTypes(M, __VA_ARGS__)
#define HOTARU_DEVICE_TYPES_ComplexTypes(M, ...) \
  M(__VA_ARGS__, ::std::complex<float>, c64) \
  M(__VA_ARGS__, ::std::complex<double>, c128)
#define HOTARU_DEVICE_TYPES_NumberTypes(M, ...) \
  HOTARU_DEVICE_TYPES_RealTypes(M, __VA_ARGS__) \
      HOTARU_DEVICE_TYPES_ComplexTypes(M, __VA_ARGS__)
#define HOTARU_DEVICE_TYPES_FloatingAndComplexTypes(M, ...) \
  HOTARU_DEVICE_TYPES_FloatingTypes(M, __VA_ARGS__) \
      HOTARU_DEVICE_TYPES_ComplexTypes(M, __VA_ARGS__)
#define HOTARU_DEVICE_TYPES_AllTypes(M, ...) \
  HOTARU_DEVICE_TYPES_RealAndBoolTypes(M, __VA_ARGS__) \
      HOTARU_DEVICE_TYPES_ComplexTypes(M, __VA_ARGS__)

namespace hotaru::cuda {

/// Name of the dtype in a kernel's symbol.
constexpr const char* type_suffix(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return "f32";
    case DType::kFloat64:
      return "f64";
    case DType::kFloat16:
      return "f16";
    case DType::kBFloat16:
      return "bf16";
    case DType::kUInt8:
      return "u8";
    case DType::kInt8:
      return "i8";
    case DType::kInt16:
      return "i16";
    case DType::kInt32:
      return "i32";
    case DType::kInt64:
      return "i64";
    case DType::kBool:
      return "b8";
    case DType::kComplex64:
      return "c64";
    case DType::kComplex128:
      return "c128";
    default:
      break;  // no kernel computes with them
  }
  return nullptr;
}

}  // namespace hotaru::cuda
