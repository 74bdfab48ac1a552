#include "hotaru/core/dtype.h"

#include <atomic>

namespace hotaru {
namespace {

struct Names {
  const char* dtype;
  const char* scalar_type;
};

constexpr Names kUnknown{nullptr, nullptr};

constexpr Names names_of(DType dtype) {
  switch (dtype) {
    case DType::kUInt8:
      return {"uint8", "Byte"};
    case DType::kInt8:
      return {"int8", "Char"};
    case DType::kInt16:
      return {"int16", "Short"};
    case DType::kInt32:
      return {"int32", "Int"};
    case DType::kInt64:
      return {"int64", "Long"};
    case DType::kFloat16:
      return {"float16", "Half"};
    case DType::kFloat32:
      return {"float32", "Float"};
    case DType::kFloat64:
      return {"float64", "Double"};
    case DType::kComplex64:
      return {"complex64", "ComplexFloat"};
    case DType::kComplex128:
      return {"complex128", "ComplexDouble"};
    case DType::kBool:
      return {"bool", "Bool"};
    case DType::kBFloat16:
      return {"bfloat16", "BFloat16"};
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

std::atomic<DType> current_default{DType::kFloat32};

}  // namespace

const char* dtype_name(DType dtype) {
  return names_of(dtype).dtype;
}

const char* scalar_type_name(DType dtype) {
  return names_of(dtype).scalar_type;
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
