// A module with the name it is registered under.
#pragma once

#include <string>

#include "torch/nn/modules/container/any.h"

namespace torch::nn {

/// {"fc", Linear(3, 4)} in the lists that containers are made of.
class NamedAnyModule {
 public:
  template <class M>
  NamedAnyModule(std::string name, M&& module)
      : name_(std::move(name)), module_(AnyModule(std::forward<M>(module))) {}
  NamedAnyModule(std::string name, AnyModule module)
      : name_(std::move(name)), module_(std::move(module)) {}

  const std::string& name() const noexcept { return name_; }
  const AnyModule& module() const noexcept { return module_; }

 private:
  std::string name_;
  AnyModule module_;
};

}  // namespace torch::nn
