// Parameters by name.
#pragma once

#include <string>
#include <vector>

#include "torch/nn/cloneable.h"

namespace torch::nn {

class ParameterDictImpl : public Cloneable<ParameterDictImpl> {
 public:
  using Iterator = OrderedDict<std::string, Tensor>::Iterator;
  using ConstIterator = OrderedDict<std::string, Tensor>::ConstIterator;

  ParameterDictImpl() = default;
  explicit ParameterDictImpl(const OrderedDict<std::string, Tensor>& given) {
    for (const auto& item : given) insert(item.key(), item.value());
  }
  void reset() override {}
  void pretty_print(std::ostream& out) const override {
    out << "torch::nn::ParameterDict(\n";
    for (const auto& item : parameters_)
      out << "(" << item.key() << "): Parameter containing: ["
          << item.value().scalar_type() << " of size " << item.value().sizes()
          << "]\n";
    out << ")";
  }

  /// Throws for a name that is taken.
  Tensor& insert(std::string key, Tensor parameter) {
    const bool grad = parameter.requires_grad();
    return register_parameter(std::move(key), std::move(parameter), grad);
  }
  /// Takes it out. Throws for a name that is not there, as do the following.
  Tensor pop(const std::string& key) {
    Tensor parameter = parameters_[key];
    parameters_.erase(key);
    return parameter;
  }
  Tensor& get(const std::string& key) { return parameters_[key]; }
  const Tensor& get(const std::string& key) const { return parameters_[key]; }
  Tensor& operator[](const std::string& key) { return get(key); }
  const Tensor& operator[](const std::string& key) const { return get(key); }
  bool contains(const std::string& key) const noexcept {
    return parameters_.contains(key);
  }
  std::vector<std::string> keys() const { return parameters_.keys(); }
  std::vector<Tensor> values() const { return parameters_.values(); }
  Iterator begin() { return parameters_.begin(); }
  ConstIterator begin() const { return parameters_.begin(); }
  Iterator end() { return parameters_.end(); }
  ConstIterator end() const { return parameters_.end(); }
  size_t size() const noexcept { return parameters_.size(); }
  bool empty() const noexcept { return parameters_.is_empty(); }
  void clear() { parameters_.clear(); }
  /// Other tensors under the same names.
  template <class Container>
  void update(const Container& given) {
    for (const auto& item : given) parameters_[item.key()] = item.value();
  }
};
HOTARU_TORCH_MODULE(ParameterDict);

}  // namespace torch::nn
