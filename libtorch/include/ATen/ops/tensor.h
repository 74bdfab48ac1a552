// at::tensor: numbers to a tensor of their own type; torch::tensor, which takes
// nested lists and the default dtype, is another.
#pragma once

#include <initializer_list>
#include <type_traits>
#include <vector>

#include "ATen/Functions.h"

namespace at {

template <class T>
concept Number = std::is_arithmetic_v<T> || hotaru::kIsReduced<T> ||
    std::is_same_v<T, c10::complex<float>> ||
    std::is_same_v<T, c10::complex<double>>;

/// Tensor of shape (n), a copy. Without options the dtype is T's, with options
/// what they say.
template <class T>
Tensor tensor(ArrayRef<T> values, const TensorOptions& options) {
  const TensorOptions own = c10::CppTypeToScalarType<T>::value;
  const ScalarType type = options.dtype().toScalarType();
  TORCH_CHECK_NOT_IMPLEMENTED(
      c10::isComplexType(type) ||
          !c10::isComplexType(own.dtype().toScalarType()),
      "\"tensor_cpu\" not implemented for '", c10::toString(type), "'");
  const Tensor there =
      from_blob(const_cast<T*>(values.data()),  // NOLINT: only read
                {int64_t(values.size())}, own);
  return there.to(options.dtype(options.dtype()), false, true);
}
template <class T>
Tensor tensor(ArrayRef<T> values) {
  return tensor(values, TensorOptions(c10::CppTypeToScalarType<T>::value));
}
template <class T>
Tensor tensor(std::initializer_list<T> values, const TensorOptions& options) {
  return tensor(ArrayRef<T>(values), options);
}
template <class T>
Tensor tensor(std::initializer_list<T> values) {
  return tensor(ArrayRef<T>(values));
}
template <class T>
Tensor tensor(const std::vector<T>& values, const TensorOptions& options) {
  return tensor(ArrayRef<T>(values), options);
}
template <class T>
Tensor tensor(const std::vector<T>& values) {
  return tensor(ArrayRef<T>(values));
}
/// Tensor of one element, shape (1).
template <Number T>
Tensor tensor(T value, const TensorOptions& options) {
  return tensor(ArrayRef<T>(value), options);
}
template <Number T>
Tensor tensor(T value) {
  return tensor(ArrayRef<T>(value));
}

}  // namespace at
