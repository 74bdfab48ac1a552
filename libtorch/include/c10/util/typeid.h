// Type that Tensor::dtype() gives: a ScalarType with its C++ type's name and
// size.
#pragma once

#include <ostream>

#include "c10/core/ScalarType.h"

namespace caffe2 {

class TypeMeta {
 public:
  constexpr TypeMeta() = default;
  constexpr TypeMeta(c10::ScalarType type) : type_(type) {}

  template <class T>
  static constexpr TypeMeta Make() {
    return {c10::CppTypeToScalarType<T>::value};
  }
  static constexpr TypeMeta fromScalarType(c10::ScalarType type) {
    return {type};
  }
  template <class T>
  constexpr bool Match() const {
    return type_ == c10::CppTypeToScalarType<T>::value;
  }
  constexpr bool isScalarType() const {
    return type_ != c10::ScalarType::Undefined;
  }
  constexpr bool isScalarType(c10::ScalarType type) const {
    return type_ == type;
  }
  constexpr c10::ScalarType toScalarType() const { return type_; }
  size_t itemsize() const {
    return isScalarType() ? c10::elementSize(type_) : 0;
  }
  /// The C++ type's: "float", "long".
  std::string_view name() const;

 private:
  c10::ScalarType type_ = c10::ScalarType::Undefined;
};

constexpr bool operator==(TypeMeta a, TypeMeta b) {
  return a.toScalarType() == b.toScalarType();
}
constexpr bool operator!=(TypeMeta a, TypeMeta b) {
  return !(a == b);
}
std::ostream& operator<<(std::ostream& out, TypeMeta type);

}  // namespace caffe2

namespace c10 {

inline caffe2::TypeMeta scalarTypeToTypeMeta(ScalarType type) {
  return type;
}
inline ScalarType typeMetaToScalarType(caffe2::TypeMeta type) {
  return type.toScalarType();
}
constexpr bool operator==(ScalarType a, caffe2::TypeMeta b) {
  return a == b.toScalarType();
}
constexpr bool operator==(caffe2::TypeMeta a, ScalarType b) {
  return b == a.toScalarType();
}
constexpr bool operator!=(ScalarType a, caffe2::TypeMeta b) {
  return !(a == b);
}
constexpr bool operator!=(caffe2::TypeMeta a, ScalarType b) {
  return !(a == b);
}

/// torch.get_default_dtype().
caffe2::TypeMeta get_default_dtype();
inline ScalarType get_default_dtype_as_scalartype() {
  return get_default_dtype().toScalarType();
}
void set_default_dtype(caffe2::TypeMeta type);

}  // namespace c10

namespace at {
using c10::get_default_dtype;
}
