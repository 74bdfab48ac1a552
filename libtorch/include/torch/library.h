// Operators of a program's own: TORCH_LIBRARY defines them, TORCH_LIBRARY_IMPL
// registers kernels. Python, TorchScript and graphs then know them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ATen/core/LegacyTypeDispatch.h"
#include "ATen/core/boxing/kernel.h"
#include "ATen/core/dispatch/Dispatcher.h"
#include "ATen/core/enum_tag.h"
#include "ATen/core/function_schema.h"
#include "c10/core/impl/LocalDispatchKeySet.h"
#include "torch/types.h"

namespace c10 {
enum class AliasAnalysisKind : uint8_t {
  INTERNAL_SPECIAL_CASE,
  CONSERVATIVE,
  FROM_SCHEMA,
  PURE_FUNCTION,
};
}  // namespace c10

namespace torch {

template <class T>
class class_;

/// A kernel: made of a function, a lambda, TORCH_FN(f), or one that takes the
/// values as a stack.
class CppFunction final {
 public:
  template <class F>
  requires(!std::is_same_v<std::decay_t<F>, CppFunction>) CppFunction(F&& f)
      : native_(hotaru::libtorch::native_kernel(std::decay_t<F>(f))) {}

  template <void (*function)(const c10::OperatorHandle&, c10::Stack*)>
  static CppFunction makeFromBoxedFunction() {
    return boxed(function);
  }
  template <class F>
  static CppFunction makeFromUnboxedFunction(F* f) {
    return CppFunction(f);
  }
  template <class F>
  static CppFunction makeFromUnboxedLambda(F&& f) {
    return CppFunction(std::forward<F>(f));
  }
  /// Hands calls on to the layer below.
  static CppFunction makeFallthrough();

  /// A text about where it comes from.
  CppFunction&& debug(std::string text) && {
    native_.debug = std::move(text);
    return std::move(*this);
  }

 private:
  friend class Library;
  template <class F>
  friend CppFunction dispatch(c10::DispatchKey key, F&& f);
  using BoxedFunction = void(const c10::OperatorHandle&, c10::Stack*);
  CppFunction() = default;
  static CppFunction boxed(BoxedFunction* function);

  hotaru::libtorch::NativeKernel native_;
  BoxedFunction* boxed_ = nullptr;
  std::optional<c10::DispatchKey> key_;
};

/// A kernel for a key, in TORCH_LIBRARY: m.impl("f", dispatch(kCPU, f)).
template <class F>
CppFunction dispatch(c10::DispatchKey key, F&& f) {
  CppFunction out(std::forward<F>(f));
  out.key_ = key;
  return out;
}
c10::DispatchKey dispatch_key_of(c10::DeviceType type);
template <class F>
CppFunction dispatch(c10::DeviceType type, F&& f) {
  return dispatch(dispatch_key_of(type), std::forward<F>(f));
}

/// A schema as it is, where only a text would do.
inline std::string schema(const char* text) {
  return text;
}
inline std::string schema(const char* text, c10::AliasAnalysisKind) {
  return text;
}

/// Definitions and registrations of a block, in one namespace; taken back when
/// it goes. Errors are c10::Error with PyTorch's texts: a name that is taken, a
/// schema that is none, a function that does not fit the schema.
class Library final {
 public:
  enum Kind { DEF, IMPL, FRAGMENT };
  Library(Kind kind, std::string space, std::optional<c10::DispatchKey> key,
          const char* file, uint32_t line);
  Library(Library&&) noexcept;
  ~Library();

  /// Defines "name.overload(Tensor x) -> Tensor".
  Library& def(const std::string& schema, const std::vector<at::Tag>& = {});
  /// The same with a kernel for all devices, which is differentiable if what it
  /// calls is. Of a name alone the schema is what the C++ types say; it may
  /// then write to any of its arguments, as far as anybody knows.
  template <class F>
  requires(!std::is_convertible_v<F, std::vector<at::Tag>>) Library& def(
      const std::string& name_or_schema, F&& f,
      const std::vector<at::Tag>& = {}) {
    return define(name_or_schema, CppFunction(std::forward<F>(f)));
  }
  /// Registers a kernel for "name.overload", for the block's key, the kernel's
  /// or all of them.
  template <class F>
  Library& impl(const std::string& name, F&& f) {
    return implement(name, CppFunction(std::forward<F>(f)));
  }
  template <class F>
  Library& impl(const std::string& name, c10::DispatchKey key, F&& f) {
    return impl(name, dispatch(key, std::forward<F>(f)));
  }
  /// Only one that falls through: a kernel for all operators needs PyTorch's
  /// dispatcher, and is an error.
  template <class F>
  Library& fallback(F&& f) {
    return implement_all(CppFunction(std::forward<F>(f)));
  }
  /// The Python module with the operators' fake kernels, which a program
  /// imports itself.
  Library& set_python_module(const char* module, const char* context = "");
  Library& impl_abstract_pystub(const char* module, const char* context = "") {
    return set_python_module(module, context);
  }
  /// A class of the program's: torch/custom_class.h.
  template <class T>
  torch::class_<T> class_(const std::string& name);
  const std::string& space() const;

 private:
  struct State;
  Library& define(const std::string& schema, bool conservative);
  Library& define(const std::string& name_or_schema, CppFunction f);
  Library& implement(const std::string& name, CppFunction f);
  Library& implement_all(CppFunction f);
  std::unique_ptr<State> state_;
};

namespace detail {
/// Runs a block when its library is loaded.
class TorchLibraryInit final {
 public:
  TorchLibraryInit(Library::Kind kind, void (*block)(Library&),
                   const char* space, std::optional<c10::DispatchKey> key,
                   const char* file, uint32_t line)
      : library_(kind, space, key, file, line) {
    block(library_);
  }

 private:
  Library library_;
};
}  // namespace detail

}  // namespace torch

/// A function known when the program is compiled.
#define TORCH_FN(function) (&(function))
#define TORCH_FN_TYPE(function) decltype(&(function))
#define TORCH_SELECTIVE_NAME(name) name
#define TORCH_SELECTIVE_SCHEMA(schema) schema
#define TORCH_SELECTIVE_CLASS(name) name

#define HOTARU_TORCH_BLOCK(kind, name, space, key, m) \
  static void HOTARU_CONCAT(name, _block)(torch::Library&); \
  static const torch::detail::TorchLibraryInit HOTARU_CONCAT(name, _made)( \
      torch::Library::kind, &HOTARU_CONCAT(name, _block), #space, key, \
      __FILE__, __LINE__); \
  void HOTARU_CONCAT(name, _block)(torch::Library & m)

/// The one block that defines a namespace's operators; m is the Library.
#define TORCH_LIBRARY(space, m) \
  HOTARU_TORCH_BLOCK(DEF, TORCH_LIBRARY_##space, space, std::nullopt, m)
/// One of several blocks.
#define TORCH_LIBRARY_FRAGMENT(space, m) \
  HOTARU_TORCH_BLOCK( \
      FRAGMENT, HOTARU_CONCAT(TORCH_LIBRARY_FRAGMENT_##space##_, __COUNTER__), \
      space, std::nullopt, m)
/// Kernels for one key: CPU, CUDA, Meta, Autograd, CompositeImplicitAutograd.
#define TORCH_LIBRARY_IMPL(space, key, m) \
  HOTARU_TORCH_BLOCK( \
      IMPL, HOTARU_CONCAT(TORCH_LIBRARY_IMPL_##space##_##key##_, __COUNTER__), \
      space, c10::DispatchKey::key, m)
