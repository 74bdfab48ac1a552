// Modules one after the other.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "torch/nn/modules/container/any.h"
#include "torch/nn/modules/container/named_any.h"

namespace torch::nn {

/// Calls its modules in turn, each with what the one before gave. Elements may
/// be holders, modules, shared pointers, AnyModules, or named ones.
class SequentialImpl : public Cloneable<SequentialImpl> {
 public:
  using Iterator = std::vector<AnyModule>::iterator;
  using ConstIterator = std::vector<AnyModule>::const_iterator;

  SequentialImpl() = default;
  template <class... Modules,
            class = std::enable_if_t<(sizeof...(Modules) > 0)>>
  explicit SequentialImpl(Modules&&... modules) {
    (push_back(std::forward<Modules>(modules)), ...);
  }
  explicit SequentialImpl(OrderedDict<std::string, AnyModule>&& modules) {
    for (auto& item : modules) push_back(item.key(), std::move(*item));
  }
  explicit SequentialImpl(std::initializer_list<NamedAnyModule> modules) {
    for (const NamedAnyModule& m : modules) push_back(m.name(), m.module());
  }

  std::shared_ptr<Module> clone(
      const std::optional<Device>& device = std::nullopt) const override {
    auto copy = std::make_shared<SequentialImpl>();
    const auto names = named_children().keys();
    for (size_t i = 0; i < modules_.size(); ++i)
      copy->push_back(names[i], modules_[i].clone(device));
    return copy;
  }
  /// Nothing: its modules are those it was given.
  void reset() override {}
  void pretty_print(std::ostream& out) const override {
    out << "torch::nn::Sequential";
  }

  template <class R = Tensor, class... Args>
  R forward(Args&&... args) {
    TORCH_CHECK(!is_empty(), "Cannot call forward() on an empty Sequential");
    AnyValue value = modules_[0].any_forward(std::forward<Args>(args)...);
    for (size_t i = 1; i < modules_.size(); ++i)
      value = modules_[i].any_forward(std::move(value));
    if (auto* result = value.template try_get<R>()) return std::move(*result);
    hotaru::fail(c10::str("The type of the return value is ",
                          c10::demangle(value.type_info().name()),
                          ", but you asked for type ",
                          c10::demangle_type<R>()));
  }

  template <class M, class = std::enable_if_t<std::is_base_of_v<Module, M>>>
  void push_back(std::shared_ptr<M> module) {
    push_back(std::to_string(size()), std::move(module));
  }
  template <class M, class = std::enable_if_t<std::is_base_of_v<Module, M>>>
  void push_back(std::string name, std::shared_ptr<M> module) {
    push_back(std::move(name), AnyModule(std::move(module)));
  }
  template <
      class M,
      class = std::enable_if_t<std::is_base_of_v<Module, std::decay_t<M>>>,
      class = void>
  void push_back(M&& module) {
    push_back(std::make_shared<std::decay_t<M>>(std::forward<M>(module)));
  }
  template <
      class M,
      class = std::enable_if_t<std::is_base_of_v<Module, std::decay_t<M>>>,
      class = void>
  void push_back(std::string name, M&& module) {
    push_back(std::move(name),
              std::make_shared<std::decay_t<M>>(std::forward<M>(module)));
  }
  template <class M>
  void push_back(const ModuleHolder<M>& holder) {
    push_back(std::to_string(size()), holder);
  }
  template <class M>
  void push_back(std::string name, const ModuleHolder<M>& holder) {
    push_back(std::move(name), holder.ptr());
  }
  void push_back(AnyModule module) {
    push_back(std::to_string(size()), std::move(module));
  }
  void push_back(std::string name, AnyModule module) {
    modules_.push_back(std::move(module));
    register_module(std::move(name), modules_.back().ptr());
  }
  void push_back(const NamedAnyModule& named) {
    push_back(named.name(), named.module());
  }
  template <class Container>
  void extend(const Container& modules) {
    for (const auto& module : modules) push_back(module);
  }

  Iterator begin() { return modules_.begin(); }
  ConstIterator begin() const { return modules_.begin(); }
  Iterator end() { return modules_.end(); }
  ConstIterator end() const { return modules_.end(); }
  /// Throw for an index beyond the last.
  template <class M>
  M& at(size_t i) {
    check_index(i);
    return modules_[i].get<M>();
  }
  std::shared_ptr<Module> ptr(size_t i) const {
    check_index(i);
    return modules_[i].ptr();
  }
  template <class M>
  std::shared_ptr<M> ptr(size_t i) const {
    return std::dynamic_pointer_cast<M>(ptr(i));
  }
  std::shared_ptr<Module> operator[](size_t i) const { return ptr(i); }
  size_t size() const noexcept { return modules_.size(); }
  bool is_empty() const noexcept { return modules_.empty(); }

 private:
  void check_index(size_t i) const {
    TORCH_CHECK(i < size(), "Index out of range");
  }

  std::vector<AnyModule> modules_;
};

/// The holder: Sequential(Linear(3, 4), Functional(torch::relu)).
class Sequential : public ModuleHolder<SequentialImpl> {
 public:
  using ModuleHolder<SequentialImpl>::ModuleHolder;
  Sequential() = default;
  Sequential(std::initializer_list<NamedAnyModule> modules)
      : ModuleHolder(std::make_shared<SequentialImpl>(modules)) {}
};
HOTARU_TORCH_EXTERN template class Cloneable<SequentialImpl>;

}  // namespace torch::nn
