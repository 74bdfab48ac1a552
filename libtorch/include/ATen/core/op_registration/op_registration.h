// PyTorch's older way to register operators:
// torch::RegisterOperators().op(...).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "torch/library.h"

namespace c10 {

/// Registers for as long as it lives. Errors as torch::Library's.
class RegisterOperators final {
 public:
  /// Options that op() takes beside a schema: kernels by key.
  class Options final {
   public:
    Options& schema(const std::string& text) & { return schema_ = text, *this; }
    Options&& schema(const std::string& text) && {
      return schema_ = text, std::move(*this);
    }
    template <class F>
    Options&& kernel(DispatchKey key, F&& f) && {
      kernels_.push_back(torch::dispatch(key, std::forward<F>(f)));
      return std::move(*this);
    }
    template <class Type, Type* function>
    Options&& kernel(DispatchKey key) && {
      return std::move(*this).kernel(key, function);
    }
    template <class F>
    Options&& catchAllKernel(F&& f) && {
      kernels_.emplace_back(std::forward<F>(f));
      return std::move(*this);
    }
    template <class Type, Type* function>
    Options&& catchAllKernel() && {
      return std::move(*this).catchAllKernel(function);
    }

   private:
    friend class RegisterOperators;
    std::string schema_;
    std::vector<torch::CppFunction> kernels_;
  };

  RegisterOperators() = default;
  RegisterOperators(RegisterOperators&&) noexcept = default;
  template <class F>
  RegisterOperators(const std::string& name_or_schema, F&& f) {
    std::move(*this).op(name_or_schema, std::forward<F>(f));
  }

  static Options options() { return {}; }

  /// "ns::name" with a function, whose C++ types are the schema, or a schema.
  template <class F>
  requires(!std::is_same_v<std::decay_t<F>, Options>) RegisterOperators &&
      op(const std::string& name_or_schema, F&& f) && {
    block(name_or_schema).def(name_or_schema, std::forward<F>(f));
    return std::move(*this);
  }
  RegisterOperators&& op(const std::string& name_or_schema,
                         Options options) && {
    torch::Library& m = block(name_or_schema);
    m.def(name_or_schema);
    const std::string name = name_or_schema.substr(0, name_or_schema.find('('));
    for (torch::CppFunction& f : options.kernels_) m.impl(name, std::move(f));
    return std::move(*this);
  }
  RegisterOperators&& op(Options options) && {
    const std::string schema = options.schema_;
    return std::move(*this).op(schema, std::move(options));
  }

 private:
  torch::Library& block(const std::string& name) {
    const size_t end = name.find("::");
    TORCH_CHECK(end != std::string::npos, "RegisterOperators: '", name,
                "' has no namespace: it is \"ns::name\"");
    blocks_.emplace_back(torch::Library::FRAGMENT, name.substr(0, end),
                         std::nullopt, "RegisterOperators", 0);
    return blocks_.back();
  }

  std::vector<torch::Library> blocks_;
};

}  // namespace c10

namespace torch {
using c10::RegisterOperators;
namespace jit {
using c10::RegisterOperators;
}
}  // namespace torch
