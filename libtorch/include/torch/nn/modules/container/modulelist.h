// Modules in a list, which are not called by it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "torch/nn/cloneable.h"

namespace torch::nn {

class ModuleListImpl : public Cloneable<ModuleListImpl> {
 public:
  using Iterator = std::vector<std::shared_ptr<Module>>::iterator;
  using ConstIterator = std::vector<std::shared_ptr<Module>>::const_iterator;

  ModuleListImpl() = default;
  template <class... Modules,
            class = std::enable_if_t<(sizeof...(Modules) > 0)>>
  explicit ModuleListImpl(Modules&&... modules) {
    (push_back(std::forward<Modules>(modules)), ...);
  }

  std::shared_ptr<Module> clone(
      const std::optional<Device>& device = std::nullopt) const override {
    auto copy = std::make_shared<ModuleListImpl>();
    for (const auto& module : modules_) copy->push_back(module->clone(device));
    return copy;
  }
  void reset() override {}
  void pretty_print(std::ostream& out) const override {
    out << "torch::nn::ModuleList";
  }

  void push_back(std::shared_ptr<Module> module) {
    insert(size(), std::move(module));
  }
  template <class M, class = std::enable_if_t<
                         std::is_base_of_v<Module, std::decay_t<M>>>>
  void push_back(M&& module) {
    push_back(std::make_shared<std::decay_t<M>>(std::forward<M>(module)));
  }
  template <class M>
  void push_back(const ModuleHolder<M>& holder) {
    push_back(std::static_pointer_cast<Module>(holder.ptr()));
  }
  template <class Container>
  void extend(const Container& modules) {
    for (const auto& module : modules) push_back(module);
  }
  /// Before the i-th; those behind are renamed.
  void insert(size_t i, std::shared_ptr<Module> module) {
    TORCH_CHECK(i <= size(), "Index out of range");
    modules_.insert(modules_.begin() + std::ptrdiff_t(i), std::move(module));
    for (; i < size(); ++i) {
      const std::string name = std::to_string(i);
      if (i + 1 == size())
        register_module(name, modules_[i]);
      else
        replace_module(name, modules_[i]);
    }
  }
  template <class M>
  void insert(size_t i, const ModuleHolder<M>& holder) {
    insert(i, std::static_pointer_cast<Module>(holder.ptr()));
  }

  Iterator begin() { return modules_.begin(); }
  ConstIterator begin() const { return modules_.begin(); }
  Iterator end() { return modules_.end(); }
  ConstIterator end() const { return modules_.end(); }
  template <class M>
  M& at(size_t i) {
    auto* found = ptr(i)->template as<M>();
    TORCH_CHECK(found, "Unable to cast module[", i, "] to ",
                c10::demangle_type<M>());
    return *found;
  }
  std::shared_ptr<Module> ptr(size_t i) const {
    TORCH_CHECK(i < size(), "Index out of range");
    return modules_[i];
  }
  template <class M>
  std::shared_ptr<M> ptr(size_t i) const {
    return std::dynamic_pointer_cast<M>(ptr(i));
  }
  std::shared_ptr<Module> operator[](size_t i) const { return ptr(i); }
  size_t size() const noexcept { return modules_.size(); }
  bool is_empty() const noexcept { return modules_.empty(); }

 private:
  std::vector<std::shared_ptr<Module>> modules_;
};
HOTARU_TORCH_MODULE(ModuleList);

}  // namespace torch::nn
