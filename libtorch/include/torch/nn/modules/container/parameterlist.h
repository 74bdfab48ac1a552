// Parameters in a list.
#pragma once

#include <string>
#include <vector>

#include "torch/nn/cloneable.h"

namespace torch::nn {

class ParameterListImpl : public Cloneable<ParameterListImpl> {
 public:
  using Iterator = OrderedDict<std::string, Tensor>::Iterator;
  using ConstIterator = OrderedDict<std::string, Tensor>::ConstIterator;

  ParameterListImpl() = default;
  template <class... Tensors,
            class = std::enable_if_t<(sizeof...(Tensors) > 0)>>
  explicit ParameterListImpl(Tensors&&... parameters) {
    (append(std::forward<Tensors>(parameters)), ...);
  }
  void reset() override {}
  void pretty_print(std::ostream& out) const override {
    out << "torch::nn::ParameterList(\n";
    for (const auto& item : parameters_)
      out << "(" << item.key() << "): Parameter containing: ["
          << item.value().scalar_type() << " of size " << item.value().sizes()
          << "]\n";
    out << ")";
  }

  /// Under the next number.
  void append(Tensor parameter) {
    const bool grad = parameter.requires_grad();
    register_parameter(std::to_string(size()), std::move(parameter), grad);
  }
  void append(const OrderedDict<std::string, Tensor>::Item& item) {
    append(item.value());
  }
  template <class Container>
  void extend(const Container& parameters) {
    for (const auto& parameter : parameters) append(parameter);
  }
  /// Appends the other's.
  void operator+=(const ParameterListImpl& other) { extend(other); }
  Iterator begin() { return parameters_.begin(); }
  ConstIterator begin() const { return parameters_.begin(); }
  Iterator end() { return parameters_.end(); }
  ConstIterator end() const { return parameters_.end(); }
  /// Throw for an index that is out of range.
  Tensor& at(size_t i) {
    TORCH_CHECK(i < size(), "Index out of range");
    return parameters_[std::to_string(i)];
  }
  const Tensor& at(size_t i) const {
    TORCH_CHECK(i < size(), "Index out of range");
    return parameters_[std::to_string(i)];
  }
  Tensor& operator[](size_t i) { return at(i); }
  const Tensor& operator[](size_t i) const { return at(i); }
  size_t size() const noexcept { return parameters_.size(); }
  bool is_empty() const noexcept { return parameters_.is_empty(); }
};
HOTARU_TORCH_MODULE(ParameterList);

}  // namespace torch::nn
