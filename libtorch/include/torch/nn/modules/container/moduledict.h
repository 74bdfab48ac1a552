// Modules by name, which are not called by it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "torch/nn/cloneable.h"

namespace torch::nn {

class ModuleDictImpl : public Cloneable<ModuleDictImpl> {
 public:
  using Item = OrderedDict<std::string, std::shared_ptr<Module>>::Item;
  using Iterator = OrderedDict<std::string, std::shared_ptr<Module>>::Iterator;
  using ConstIterator =
      OrderedDict<std::string, std::shared_ptr<Module>>::ConstIterator;

  ModuleDictImpl() = default;
  explicit ModuleDictImpl(
      const std::vector<std::pair<std::string, std::shared_ptr<Module>>>&
          modules) {
    update(modules);
  }
  explicit ModuleDictImpl(
      const OrderedDict<std::string, std::shared_ptr<Module>>& modules) {
    update(modules);
  }

  std::shared_ptr<Module> clone(
      const std::optional<Device>& device = std::nullopt) const override {
    auto copy = std::make_shared<ModuleDictImpl>();
    for (const Item& item : modules_)
      copy->insert(item.key(), item.value()->clone(device));
    return copy;
  }
  void reset() override {}
  void pretty_print(std::ostream& out) const override {
    out << "torch::nn::ModuleDict";
  }

  std::vector<std::pair<std::string, std::shared_ptr<Module>>> items() const {
    return modules_.pairs();
  }
  std::vector<std::string> keys() const { return modules_.keys(); }
  std::vector<std::shared_ptr<Module>> values() const {
    return modules_.values();
  }
  Iterator begin() { return modules_.begin(); }
  ConstIterator begin() const { return modules_.begin(); }
  Iterator end() { return modules_.end(); }
  ConstIterator end() const { return modules_.end(); }
  size_t size() const noexcept { return modules_.size(); }
  bool empty() const noexcept { return modules_.is_empty(); }
  bool contains(const std::string& key) const noexcept {
    return modules_.contains(key);
  }

  void clear() {
    for (const std::string& key : keys()) unregister_module(key);
    modules_.clear();
  }
  /// Adds these, in the place of those of the same names.
  void update(
      const std::vector<std::pair<std::string, std::shared_ptr<Module>>>&
          modules) {
    for (const auto& [key, module] : modules) insert(key, module);
  }
  void update(
      const OrderedDict<std::string, std::shared_ptr<Module>>& modules) {
    for (const auto& item : modules) insert(item.key(), item.value());
  }
  template <class Container>
  void update(const Container& modules) {
    for (const auto& item : modules) insert(item.key(), item.value());
  }

  /// Takes it out. Throws for a name that is not there, as do the following.
  std::shared_ptr<Module> pop(const std::string& key) {
    std::shared_ptr<Module> module = modules_[key];
    modules_.erase(key);
    unregister_module(key);
    return module;
  }
  template <class M>
  M& at(const std::string& key) {
    auto* found = modules_[key]->template as<M>();
    TORCH_CHECK(found, "Unable to cast module[", key, "] to ",
                c10::demangle_type<M>());
    return *found;
  }
  std::shared_ptr<Module> operator[](const std::string& key) const {
    return modules_[key];
  }

 private:
  void insert(const std::string& key, std::shared_ptr<Module> module) {
    if (modules_.contains(key)) {
      modules_[key] = replace_module(key, std::move(module));
      return;
    }
    modules_.insert(key, register_module(key, std::move(module)));
  }

  OrderedDict<std::string, std::shared_ptr<Module>> modules_;
};
HOTARU_TORCH_MODULE(ModuleDict);

}  // namespace torch::nn
