#include "hotaru/core/dtype.h"

#include <atomic>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/cpp_type.h"

namespace hotaru {
namespace {

struct Names {
  const char* dtype;
  const char* scalar_type;
  const char* cpp;
};

constexpr Names kUnknown{nullptr, nullptr, "unknown"};

constexpr Names names_of(DType dtype) {
  switch (dtype) {
    case DType::kUInt8:
      return {"uint8", "Byte", "unsigned char"};
    case DType::kInt8:
      return {"int8", "Char", "signed char"};
    case DType::kInt16:
      return {"int16", "Short", "short int"};
    case DType::kInt32:
      return {"int32", "Int", "int"};
    case DType::kInt64:
      return {"int64", "Long", "long int"};
    case DType::kFloat16:
      return {"float16", "Half", "c10::Half"};
    case DType::kFloat32:
      return {"float32", "Float", "float"};
    case DType::kFloat64:
      return {"float64", "Double", "double"};
    case DType::kComplex64:
      return {"complex64", "ComplexFloat", "c10::complex<float>"};
    case DType::kComplex128:
      return {"complex128", "ComplexDouble", "c10::complex<double>"};
    case DType::kBool:
      return {"bool", "Bool", "bool"};
    case DType::kBFloat16:
      return {"bfloat16", "BFloat16", "c10::BFloat16"};
    case DType::kComplex32:
      return {"complex32", "ComplexHalf", "c10::complex<c10::Half>"};
    case DType::kFloat8E5M2:
      return {"float8_e5m2", "Float8_e5m2", "c10::Float8_e5m2"};
    case DType::kFloat8E4M3FN:
      return {"float8_e4m3fn", "Float8_e4m3fn", "c10::Float8_e4m3fn"};
    case DType::kFloat8E5M2FNUZ:
      return {"float8_e5m2fnuz", "Float8_e5m2fnuz", "c10::Float8_e5m2fnuz"};
    case DType::kFloat8E4M3FNUZ:
      return {"float8_e4m3fnuz", "Float8_e4m3fnuz", "c10::Float8_e4m3fnuz"};
    case DType::kUInt16:
      return {"uint16", "UInt16", "short unsigned int"};
    case DType::kUInt32:
      return {"uint32", "UInt32", "unsigned int"};
    case DType::kUInt64:
      return {"uint64", "UInt64", "long unsigned int"};
    case DType::kBits1x8:
      return {"bits1x8", "Bits1x8", "c10::bits1x8"};
    case DType::kBits2x4:
      return {"bits2x4", "Bits2x4", "c10::bits2x4"};
    case DType::kBits4x2:
      return {"bits4x2", "Bits4x2", "c10::bits4x2"};
    case DType::kBits8:
      return {"bits8", "Bits8", "c10::bits8"};
    case DType::kBits16:
      return {"bits16", "Bits16", "c10::bits16"};
    case DType::kUInt1:
      return {"uint1", "UInt1", "c10::dummy_uint1_7_t<1>"};
    case DType::kUInt2:
      return {"uint2", "UInt2", "c10::dummy_uint1_7_t<2>"};
    case DType::kUInt3:
      return {"uint3", "UInt3", "c10::dummy_uint1_7_t<3>"};
    case DType::kUInt4:
      return {"uint4", "UInt4", "c10::dummy_uint1_7_t<4>"};
    case DType::kUInt5:
      return {"uint5", "UInt5", "c10::dummy_uint1_7_t<5>"};
    case DType::kUInt6:
      return {"uint6", "UInt6", "c10::dummy_uint1_7_t<6>"};
    case DType::kUInt7:
      return {"uint7", "UInt7", "c10::dummy_uint1_7_t<7>"};
    case DType::kInt1:
      return {"int1", "Int1", "c10::dummy_int1_7_t<1>"};
    case DType::kInt2:
      return {"int2", "Int2", "c10::dummy_int1_7_t<2>"};
    case DType::kInt3:
      return {"int3", "Int3", "c10::dummy_int1_7_t<3>"};
    case DType::kInt4:
      return {"int4", "Int4", "c10::dummy_int1_7_t<4>"};
    case DType::kInt5:
      return {"int5", "Int5", "c10::dummy_int1_7_t<5>"};
    case DType::kInt6:
      return {"int6", "Int6", "c10::dummy_int1_7_t<6>"};
    case DType::kInt7:
      return {"int7", "Int7", "c10::dummy_int1_7_t<7>"};
    case DType::kFloat8E8M0FNU:
      return {"float8_e8m0fnu", "Float8_e8m0fnu", "c10::Float8_e8m0fnu"};
    case DType::kFloat4E2M1FNX2:
      return {"float4_e2m1fn_x2", "Float4_e2m1fn_x2", "c10::Float4_e2m1fn_x2"};
  }
  return kUnknown;
}

enum class Category { kBool, kIntegral, kFloating, kComplex };

Category category(DType d) {
  if (d == DType::kBool) return Category::kBool;
  if (is_complex(d)) return Category::kComplex;
  return is_floating_point(d) ? Category::kFloating : Category::kIntegral;
}

DType promote_integral(DType a, DType b) {
  if (itemsize(a) < itemsize(b)) std::swap(a, b);
  // Equal widths differ only as uint8 and int8, whose union needs 16 bits.
  return itemsize(a) == itemsize(b) ? DType::kInt16 : a;
}

DType promote_floating(DType a, DType b) {
  if (itemsize(a) == itemsize(b)) return DType::kFloat32;
  return itemsize(a) > itemsize(b) ? a : b;
}

[[noreturn]] void refuse_promotion(const char* types, DType a, DType b) {
  fail("Promotion for ", types, " is not supported, attempted to promote ",
       scalar_type_name(a), " and ", scalar_type_name(b));
}

/// Promotes two dtypes that differ, where one is_rare.
DType promote_rare(DType a, DType b) {
  if (is_bits(a) || is_bits(b))
    fail("Promotion from ", scalar_type_name(a), " and ", scalar_type_name(b),
         " is unsupported.");
  if (is_float8(a) || is_float8(b)) refuse_promotion("Float8 Types", a, b);
  const auto is_barebones = [](DType d) {
    return is_wide_unsigned(d) || is_small_unsigned(d);
  };
  if (is_barebones(a) || is_barebones(b)) {
    const DType other = is_barebones(a) ? b : a;
    if (is_floating_point(other)) return other;
    refuse_promotion("uint16, uint32, uint64 types", a, b);
  }
  if (is_stored_only(a) || is_stored_only(b))
    refuse_promotion("types that are only stored", a, b);
  const DType other = a == DType::kComplex32 ? b : a;
  if (is_complex(other)) return other;
  if (!is_floating_point(other) || other == DType::kFloat16)
    return DType::kComplex32;
  return to_complex(other);
}

std::atomic<DType> current_default{DType::kFloat32};

}  // namespace

bool checked_signed(DType d) {
  HOTARU_CHECK(!is_bits(d), "Bits types are undefined");
  return is_signed(d);
}

const char* dtype_name(DType dtype) {
  return names_of(dtype).dtype;
}

const char* scalar_type_name(DType dtype) {
  return names_of(dtype).scalar_type;
}

const char* cpp_type_name(DType dtype) {
  return names_of(dtype).cpp;
}

DType dtype_from_int(int64_t value) {
  const auto dtype = static_cast<DType>(value);
  HOTARU_CHECK_AS(TypeError,
                  value >= 0 && value <= 127 && names_of(dtype).dtype,
                  "dtype number ", value, " is unknown or not supported");
  return dtype;
}

DType promote_types(DType a, DType b) {
  if (a == b) return a;
  if (is_rare(a) || is_rare(b)) return promote_rare(a, b);
  if (category(a) > category(b)) std::swap(a, b);
  if (category(a) != category(b)) {
    if (!is_complex(b)) return b;
    const bool wide = a == DType::kFloat64 || b == DType::kComplex128;
    return wide ? DType::kComplex128 : DType::kComplex64;
  }
  switch (category(a)) {
    case Category::kIntegral:
      return promote_integral(a, b);
    case Category::kFloating:
      return promote_floating(a, b);
    default:
      return DType::kComplex128;
  }
}

bool can_cast(DType from, DType to) {
  // As in PyTorch: only from floating numbers to integers nothing goes.
  if (is_stored_only(to)) return !is_complex(from);
  if (is_stored_only(from) && !is_floating_point(from))
    return to != DType::kBool;
  if (category(from) == Category::kBool) return true;
  return category(from) <= category(to);
}

DType default_dtype() {
  return current_default.load(std::memory_order_relaxed);
}

void set_default_dtype(DType dtype) {
  HOTARU_CHECK_AS(
      TypeError, is_floating_point(dtype),
      "only floating-point types are supported as the default type");
  HOTARU_CHECK_AS(TypeError, !is_rare(dtype), "couldn't find storage object ",
                  scalar_type_name(dtype), "Storage");
  current_default.store(dtype, std::memory_order_relaxed);
}

std::ostream& operator<<(std::ostream& out, DType dtype) {
  return out << "torch." << dtype_name(dtype);
}

void refuse_dtype(const char* op, DType dtype) {
  fail<NotImplementedError>("\"", op, "\" not implemented for '",
                            scalar_type_name(dtype), "'");
}

}  // namespace hotaru
