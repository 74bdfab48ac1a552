// Modules that can be copied whole.
#pragma once

#include "c10/macros/Export.h"
#include "torch/nn/module.h"

namespace torch::nn {

/// Derive from Cloneable<YourImpl>; reset() registers everything that the
/// constructor would, and starts it anew.
template <class Derived>
class Cloneable : public Module {
 public:
  using Module::Module;

  virtual void reset() = 0;

  std::shared_ptr<Module> clone(
      const std::optional<Device>& device = std::nullopt) const override;

 private:
  static Tensor copied(const Tensor& tensor,
                       const std::optional<Device>& device) {
    return device && tensor.device() != *device ? tensor.to(*device)
                                                : tensor.clone();
  }
  static void check_same(const char* what, size_t copy, size_t original) {
    TORCH_CHECK(copy == original,
                "The cloned module does not have the same number of ", what,
                " as the original module after calling reset(). Are you sure "
                "you called register_...() inside reset() and not the "
                "constructor?");
  }
  void clone_(Module& other, const std::optional<Device>& device) final;
};

template <class Derived>
std::shared_ptr<Module> Cloneable<Derived>::clone(
    const std::optional<Device>& device) const {
  const NoGradGuard no_grad;
  auto copy = std::make_shared<Derived>(static_cast<const Derived&>(*this));
  copy->parameters_.clear();
  copy->buffers_.clear();
  copy->children_.clear();
  copy->reset();
  check_same("parameters", copy->parameters_.size(), parameters_.size());
  check_same("buffers", copy->buffers_.size(), buffers_.size());
  check_same("child modules", copy->children_.size(), children_.size());
  for (const auto& item : named_parameters(false))
    copy->parameters_[item.key()].set_data(copied(*item, device));
  for (const auto& item : named_buffers(false))
    copy->buffers_[item.key()].set_data(copied(*item, device));
  for (const auto& child : children_)
    copy->children_[child.key()]->clone_(*child.value(), device);
  return copy;
}

template <class Derived>
void Cloneable<Derived>::clone_(Module& other,
                                const std::optional<Device>& device) {
  // *other is a copy of a module of this class.
  auto clone = std::dynamic_pointer_cast<Derived>(other.clone(device));
  TORCH_CHECK(clone != nullptr,
              "Attempted to clone submodule, but it is of a different type "
              "than the submodule it was to be cloned into");
  static_cast<Derived&>(*this) = *clone;
}

}  // namespace torch::nn

/// Makes the holder Name of NameImpl, a module of this library.
#define HOTARU_TORCH_MODULE(Name) \
  TORCH_MODULE(Name); \
  HOTARU_TORCH_EXTERN template class Cloneable<Name##Impl>
