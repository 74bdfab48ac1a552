#include "hotaru/core/scalar.h"

#include "hotaru/core/checks/check.h"

namespace hotaru {

DType Scalar::dtype() const {
  switch (kind_) {
    case Kind::kBool:
      return DType::kBool;
    case Kind::kInt:
      return DType::kInt64;
    case Kind::kDouble:
      return default_dtype();
    case Kind::kComplex:
      return default_dtype() == DType::kFloat16
                 ? DType::kComplex32
                 : hotaru::to_complex(default_dtype());
  }
  return DType::kInt64;
}

void Scalar::check_real() const {
  HOTARU_CHECK(
      imag_ == 0,
      "value cannot be converted to a real type without overflow: ", *this);
}

Scalar operator-(const Scalar& value) {
  if (value.is_complex()) return -value.to_complex();
  // The smallest integer stays, as in tensors.
  if (value.is_integral()) return int64_t(-uint64_t(value.to_int()));
  return -value.to_double();
}

bool operator==(const Scalar& a, const Scalar& b) {
  if (a.is_integral() && b.is_integral()) return a.to_int() == b.to_int();
  return a.to_complex() == b.to_complex();
}

std::ostream& operator<<(std::ostream& out, const Scalar& value) {
  switch (value.kind()) {
    case Scalar::Kind::kBool:
      return out << (value.to_int() ? "True" : "False");
    case Scalar::Kind::kInt:
      return out << value.to_int();
    case Scalar::Kind::kDouble:
      return out << value.to_double();
    case Scalar::Kind::kComplex:
      return out << value.to_complex();
  }
  return out;
}

}  // namespace hotaru
