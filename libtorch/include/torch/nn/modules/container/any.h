// Modules of any class behind one type, called with what their forward takes.
#pragma once

#include <memory>
#include <type_traits>
#include <vector>

#include "torch/nn/cloneable.h"
#include "torch/nn/module.h"
#include "torch/nn/modules/container/any_value.h"
#include "torch/nn/pimpl.h"

namespace torch::nn {

struct AnyModulePlaceholder {
  virtual ~AnyModulePlaceholder() = default;
  virtual AnyValue forward(std::vector<AnyValue>&& arguments) = 0;
  virtual std::shared_ptr<Module> ptr() = 0;
  virtual std::unique_ptr<AnyModulePlaceholder> copy() const = 0;
  virtual std::unique_ptr<AnyModulePlaceholder> clone_module(
      std::optional<Device> device) const = 0;
  virtual const std::type_info& type_info() const = 0;
};

/// A module of class M whose forward takes Args.
template <class M, class... Args>
struct AnyModuleHolder final : AnyModulePlaceholder {
  explicit AnyModuleHolder(std::shared_ptr<M> module)
      : module(std::move(module)) {}

  AnyValue forward(std::vector<AnyValue>&& arguments) override {
    if (module->_forward_has_default_args()) {
      const unsigned required = module->_forward_num_required_args();
      TORCH_CHECK(
          arguments.size() >= required && arguments.size() <= sizeof...(Args),
          module->name(), "'s forward() method expects at least ", required,
          " argument(s) and at most ", sizeof...(Args),
          " argument(s), but received ", arguments.size(), ".");
      arguments = module->_forward_populate_default_args(std::move(arguments));
    } else {
      TORCH_CHECK(arguments.size() == sizeof...(Args), module->name(),
                  "'s forward() method expects ", sizeof...(Args),
                  " argument(s), but received ", arguments.size(), ". If ",
                  module->name(),
                  "'s forward() method has default arguments, please make "
                  "sure the forward() method is declared with a corresponding "
                  "`FORWARD_HAS_DEFAULT_ARGS` macro.");
    }
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return AnyValue(module->forward(get<Args>(arguments, I)...));
    }
    (std::index_sequence_for<Args...>{});
  }
  std::shared_ptr<Module> ptr() override { return module; }
  std::unique_ptr<AnyModulePlaceholder> copy() const override {
    return std::make_unique<AnyModuleHolder>(*this);
  }
  std::unique_ptr<AnyModulePlaceholder> clone_module(
      std::optional<Device> device) const override {
    return std::make_unique<AnyModuleHolder>(
        std::dynamic_pointer_cast<M>(module->clone(device)));
  }
  const std::type_info& type_info() const override { return typeid(M); }

  std::shared_ptr<M> module;

 private:
  template <class T>
  static std::decay_t<T> get(std::vector<AnyValue>& arguments, size_t i) {
    auto* value = arguments[i].template try_get<std::decay_t<T>>();
    TORCH_CHECK(value, "Expected argument #", i, " to be of type ",
                c10::demangle_type<std::decay_t<T>>(),
                ", but received value of type ",
                c10::demangle(arguments[i].type_info().name()));
    return std::move(*value);
  }
};

/// Holds any module with a forward that is no template. forward(x) gives the
/// result as R, a Tensor unless said otherwise.
class AnyModule {
 public:
  AnyModule() = default;
  template <class M, class = std::enable_if_t<std::is_base_of_v<Module, M>>>
  explicit AnyModule(std::shared_ptr<M> module)
      : content_(make(std::move(module), &M::forward)) {}
  template <class M, class = std::enable_if_t<std::is_base_of_v<Module, M>>>
  explicit AnyModule(M&& module)
      : AnyModule(std::make_shared<std::decay_t<M>>(std::forward<M>(module))) {}
  template <class M>
  explicit AnyModule(const ModuleHolder<M>& holder) : AnyModule(holder.ptr()) {}
  AnyModule(AnyModule&&) = default;
  AnyModule& operator=(AnyModule&&) = default;
  AnyModule(const AnyModule& other)
      : content_(other.content_ ? other.content_->copy() : nullptr) {}
  AnyModule& operator=(const AnyModule& other) {
    content_ = other.content_ ? other.content_->copy() : nullptr;
    return *this;
  }
  template <class M>
  AnyModule& operator=(std::shared_ptr<M> module) {
    return *this = AnyModule(std::move(module));
  }

  AnyModule clone(std::optional<Device> device = std::nullopt) const {
    AnyModule out;
    if (content_) out.content_ = content_->clone_module(device);
    return out;
  }

  template <class... Args>
  AnyValue any_forward(Args&&... args) {
    AnyModulePlaceholder& module = checked("any_forward");
    std::vector<AnyValue> values;
    values.reserve(sizeof...(Args));
    (values.emplace_back(AnyValue(std::forward<Args>(args))), ...);
    return module.forward(std::move(values));
  }
  template <class R = Tensor, class... Args>
  R forward(Args&&... args) {
    checked("forward");
    return any_forward(std::forward<Args>(args)...).template get<R>();
  }

  /// Throws where it is of another class.
  template <class M, class = std::enable_if_t<std::is_base_of_v<Module, M>>>
  M& get() {
    return static_cast<M&>(*of_class<M>("get"));
  }
  template <class M, class C = typename M::ContainedType>
  M get() const {
    return M(std::dynamic_pointer_cast<C>(ptr()));
  }
  std::shared_ptr<Module> ptr() const { return checked("ptr").ptr(); }
  template <class M>
  std::shared_ptr<M> ptr() const {
    return std::static_pointer_cast<M>(of_class<M>("ptr"));
  }
  const std::type_info& type_info() const {
    return checked("type_info").type_info();
  }
  bool is_empty() const noexcept { return !content_; }

 private:
  template <class M, class Class, class R, class... Args>
  static std::unique_ptr<AnyModulePlaceholder> make(std::shared_ptr<M> module,
                                                    R (Class::*)(Args...)) {
    static_assert(!std::is_void_v<R>,
                  "AnyModule cannot store modules that return void (you can "
                  "return a dummy value).");
    return std::make_unique<AnyModuleHolder<M, std::decay_t<Args>...>>(
        std::move(module));
  }
  template <class M, class Class, class R, class... Args>
  static std::unique_ptr<AnyModulePlaceholder> make(std::shared_ptr<M> module,
                                                    R (Class::*)(Args...)
                                                        const) {
    return std::make_unique<AnyModuleHolder<M, std::decay_t<Args>...>>(
        std::move(module));
  }
  AnyModulePlaceholder& checked(const char* method) const {
    TORCH_CHECK(content_, "Cannot call ", method, "() on an empty AnyModule");
    return *content_;
  }
  template <class M>
  std::shared_ptr<Module> of_class(const char* method) const {
    const std::type_info& mine = checked(method).type_info();
    TORCH_CHECK(mine == typeid(M), "Attempted to cast module of type ",
                c10::demangle(mine.name()), " to type ",
                c10::demangle_type<M>());
    return content_->ptr();
  }

  std::unique_ptr<AnyModulePlaceholder> content_;
};

}  // namespace torch::nn

/// In a module whose forward has defaults:
/// FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(2)}) for a second argument of 2.
#define FORWARD_HAS_DEFAULT_ARGS(...) \
  template <class M, class... Args> \
  friend struct torch::nn::AnyModuleHolder; \
  bool _forward_has_default_args() override { \
    return true; \
  } \
  unsigned _forward_num_required_args() override { \
    const std::vector<std::pair<unsigned, torch::nn::AnyValue>> defaults = { \
        __VA_ARGS__}; \
    return defaults[0].first; \
  } \
  std::vector<torch::nn::AnyValue> _forward_populate_default_args( \
      std::vector<torch::nn::AnyValue>&& arguments) override { \
    const std::vector<std::pair<unsigned, torch::nn::AnyValue>> defaults = { \
        __VA_ARGS__}; \
    std::vector<torch::nn::AnyValue> out = std::move(arguments); \
    for (const auto& [index, value] : defaults) \
      if (index >= out.size()) out.push_back(value); \
    return out; \
  }
