// Operators by name: hotaru's own and those that programs defined.
#pragma once

#include "ATen/core/boxing/arguments.h"
#include "ATen/core/function_schema.h"
#include "ATen/core/stack.h"
#include "c10/core/DispatchKeySet.h"
#include "hotaru/ops/registry.h"

namespace c10 {

template <class Signature>
class TypedOperatorHandle;

/// One overload. Valid as long as the process.
class OperatorHandle {
 public:
  OperatorHandle(std::string name, const hotaru::Operator& op)
      : name_(std::move(name)), op_(&op) {}

  OperatorName operator_name() const { return {name_, op_->schema().overload}; }
  FunctionSchema schema() const { return {name_, op_->schema()}; }
  bool hasKernelForDispatchKey(DispatchKey key) const;
  /// Takes the arguments off the stack and puts the results there.
  void callBoxed(Stack* stack) const;
  void callBoxed(Stack& stack) const { callBoxed(&stack); }
  /// Throws c10::Error where the signature has another number of arguments.
  template <class Signature>
  TypedOperatorHandle<Signature> typed() const {
    return TypedOperatorHandle<Signature>(*this);
  }
  const hotaru::Operator& hotaru_operator() const { return *op_; }

 private:
  std::string name_;
  const hotaru::Operator* op_;
};

template <class R, class... A>
class TypedOperatorHandle<R(A...)> : public OperatorHandle {
 public:
  explicit TypedOperatorHandle(const OperatorHandle& op) : OperatorHandle(op) {
    const auto& schema = op.hotaru_operator().schema();
    TORCH_CHECK(schema.arguments.size() == sizeof...(A), operator_name(),
                " takes ", schema.arguments.size(), " arguments, not ",
                sizeof...(A));
  }
  R call(A... arguments) const {
    using namespace hotaru;  // NOLINT
    std::array<Value, sizeof...(A)> values{
        libtorch::Boxed<std::decay_t<A>>::to(arguments)...};
    std::vector<Value> results(
        std::max<size_t>(1, hotaru_operator().schema().results.size()));
    hotaru_operator().call(values.data(), results.data());
    if constexpr (!std::is_void_v<R>)
      return libtorch::TakenResult<R>::from(results);
  }
};

/// Finds operators. Thread-safe.
class Dispatcher final {
 public:
  static Dispatcher& singleton();

  /// "ns::name" and overload; nothing if there is none.
  std::optional<OperatorHandle> findSchema(const OperatorName& name) const;
  std::optional<OperatorHandle> findOp(const OperatorName& name) const {
    return findSchema(name);
  }
  /// Throws c10::Error if there is none.
  OperatorHandle findSchemaOrThrow(const char* name,
                                   const char* overload) const;
  /// Names of operators that programs defined in C++, as "ns::name.overload".
  std::vector<std::string> getDefinedNames() const;

 private:
  Dispatcher() = default;
};

}  // namespace c10
