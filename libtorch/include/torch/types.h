// The names of at:: under torch::, and tensors out of numbers.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "ATen/ATen.h"

namespace torch {

using namespace at;  // NOLINT: PyTorch's torch:: has all of at::
using std::nullopt;
using std::optional;

using Dtype = at::ScalarType;
constexpr auto kU8 = at::kByte;
constexpr auto kI8 = at::kChar;
constexpr auto kI16 = at::kShort;
constexpr auto kI32 = at::kInt;
constexpr auto kI64 = at::kLong;
constexpr auto kF16 = at::kHalf;
constexpr auto kF32 = at::kFloat;
constexpr auto kF64 = at::kDouble;

namespace detail {

/// Numbers in nested braces: {{1, 2}, {3, 4}}. Their tensor is made when it is
/// asked for; what is borrowed has to live until then.
class TensorDataContainer {
 public:
  /// {}: a tensor of no elements.
  TensorDataContainer()
      : list_(true), sizes_{0}, type_(c10::get_default_dtype_as_scalartype()) {}
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T> ||
                                              hotaru::kIsReduced<T>>>
  TensorDataContainer(T value) : number_(value), type_(dtype_of<T>()) {}
  template <class T>
  TensorDataContainer(std::complex<T> value)
      : number_(value),
        type_(c10::CppTypeToScalarType<std::complex<T>>::value) {}
  /// Throws PyTorch's texts for lists of different sizes or types.
  TensorDataContainer(std::initializer_list<TensorDataContainer> items);
  template <class T>
  TensorDataContainer(const at::ArrayRef<T>& values)
      : list_(true), sizes_{int64_t(values.size())}, type_(dtype_of<T>()) {
    items_.reserve(values.size());
    for (const T& value : values) items_.emplace_back(value);
  }
  template <class T>
  TensorDataContainer(const std::vector<T>& values)
      : list_(true), sizes_{int64_t(values.size())}, type_(dtype_of<T>()) {
    items_.reserve(values.size());
    for (const T value : values) items_.emplace_back(value);
  }

  bool is_scalar() const { return !list_; }
  const std::vector<int64_t>& sizes() const { return sizes_; }
  /// double and float stand for the default dtype, int for int64.
  at::ScalarType scalar_type() const { return type_; }
  at::Tensor convert_to_tensor(at::TensorOptions options) const;
  /// "{1, 2}".
  void pretty_print_recursive(std::ostream& out) const;

 private:
  template <class T>
  static at::ScalarType dtype_of() {
    if constexpr (std::is_same_v<T, double> || std::is_same_v<T, float>)
      return c10::get_default_dtype_as_scalartype();
    else if constexpr (std::is_same_v<T, int>)
      return at::kLong;
    else
      return c10::CppTypeToScalarType<T>::value;
  }

  bool list_ = false;
  std::vector<int64_t> sizes_;
  at::Scalar number_;
  at::ScalarType type_;
  std::vector<TensorDataContainer> items_;
};

std::ostream& operator<<(std::ostream& out,
                         const TensorDataContainer& container);

}  // namespace detail

/// torch::tensor({1., 2.}), torch::tensor({{1, 2}, {3, 4}}, torch::kFloat).
/// Numbers without a dtype of the options give the default one, integers int64.
at::Tensor tensor(detail::TensorDataContainer data,
                  const at::TensorOptions& options = {});

}  // namespace torch
