// Holders: Linear is a shared pointer to a LinearImpl that calls forward.
#pragma once

#include <memory>
#include <ostream>
#include <type_traits>
#include <utility>

#include "c10/util/Exception.h"
#include "torch/arg.h"

namespace torch::nn {

struct ModuleHolderIndicator {};
template <class T>
inline constexpr bool kIsHolder =
    std::is_base_of_v<ModuleHolderIndicator, std::decay_t<T>>;

/// Shares a module. Made from the arguments of the module's constructor, from
/// a pointer, or empty from nullptr.
template <class Contained>
class ModuleHolder : ModuleHolderIndicator {
 public:
  using ContainedType = Contained;

  ModuleHolder() : impl_(make_default()) {
    static_assert(std::is_default_constructible_v<Contained>,
                  "this module has no default constructor: write "
                  "`Linear linear = nullptr;` for an empty holder");
  }
  ModuleHolder(std::nullptr_t) {}
  template <class Head, class... Tail,
            class = std::enable_if_t<
                !(sizeof...(Tail) == 0 &&
                  (std::is_base_of_v<ModuleHolder, std::decay_t<Head>> ||
                   std::is_convertible_v<Head, std::shared_ptr<Contained>>))>>
  explicit ModuleHolder(Head&& head, Tail&&... tail)
      : impl_(new Contained(std::forward<Head>(head),
                            std::forward<Tail>(tail)...)) {}
  ModuleHolder(std::shared_ptr<Contained> module) : impl_(std::move(module)) {}

  explicit operator bool() const noexcept { return !is_empty(); }
  bool is_empty() const noexcept { return impl_ == nullptr; }
  const std::shared_ptr<Contained>& ptr() const {
    TORCH_CHECK(!is_empty(), "Accessing empty ModuleHolder");
    return impl_;
  }
  Contained* get() { return ptr().get(); }
  const Contained* get() const { return ptr().get(); }
  Contained* operator->() { return get(); }
  const Contained* operator->() const { return get(); }
  Contained& operator*() { return *get(); }
  const Contained& operator*() const { return *get(); }

  template <class... Args, class C = Contained>
  auto operator()(Args&&... args)
      -> decltype(std::declval<C&>().forward(std::forward<Args>(args)...)) {
    return get()->forward(std::forward<Args>(args)...);
  }
  template <class Arg>
  auto operator[](Arg&& arg) {
    return (*get())[std::forward<Arg>(arg)];
  }

 protected:
  std::shared_ptr<Contained> impl_;

 private:
  template <class T = Contained>
  static std::shared_ptr<T> make_default() {
    if constexpr (std::is_default_constructible_v<T>)
      return std::make_shared<T>();
    else
      return nullptr;
  }
};

template <class Contained>
std::ostream& operator<<(std::ostream& out,
                         const ModuleHolder<Contained>& module) {
  return out << *module;
}

}  // namespace torch::nn

#define TORCH_MODULE_IMPL(Name, ImplType) \
  class Name : public ::torch::nn::ModuleHolder<ImplType> { \
   public: \
    using ::torch::nn::ModuleHolder<ImplType>::ModuleHolder; \
    using Impl [[maybe_unused]] = ImplType; \
  }
/// Makes the holder Name of NameImpl.
#define TORCH_MODULE(Name) TORCH_MODULE_IMPL(Name, Name##Impl)
