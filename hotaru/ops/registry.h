// The registry of operators. One registration, a schema and a function, is an
// operator's identity: Python, TorchScript and the documentation's list all
// come from it.
#pragma once

#include <atomic>
#include <string_view>
#include <vector>

#include "hotaru/ops/boxing.h"
#include "hotaru/ops/schema.h"

namespace hotaru {

/// One overload of an operator. Immutable once registered, but for autocast;
/// thread-safe.
class Operator {
 public:
  Operator(const char* text, GenericFunction function, Invoke invoke)
      : text_(text), callee_{function, invoke, invoke} {}

  /// Parsed at first use, so that start-up does not pay for it.
  const Schema& schema() const;
  /// As registered.
  std::string_view text() const { return text_; }
  /// The name up to '.' or '(', without parsing the rest.
  std::string_view name() const;

  /// Calls it with one value an argument, all present, in schema order. The
  /// arguments may be moved from; results are written to results[0..n).
  void call(Value* arguments, Value* results) const {
    callee_.invoke.load(std::memory_order_acquire)(callee_, arguments, results);
  }
  /// Has calls from now on go through `wrapper`, which finds `rule` there; at
  /// most once (ops/autocast.h).
  void set_autocast(const AutocastRule* rule, Invoke wrapper) const;

 private:
  const char* text_;
  Callee callee_;
  mutable std::atomic<const Schema*> schema_{nullptr};
};

/// Every operator of the process, by name.
class Registry {
 public:
  static Registry& instance();

  void add(const char* text, GenericFunction function, Invoke invoke);
  /// The overloads of a name, in order of registration; empty if unknown.
  const std::vector<const Operator*>& find(std::string_view name) const;
  /// The overload of that exact name, or null.
  const Operator* find(std::string_view name, std::string_view overload) const;
  /// Every name that the library itself registered, sorted.
  std::vector<std::string_view> names() const;
  /// True if the library itself registered that name.
  bool is_native(std::string_view name) const;

  /// Operators that programs define while others look names up (ops/own). Name
  /// and operator live as long as the process.
  void add_late(std::string_view name, const Operator& op);
  void remove_late(std::string_view name, const Operator& op);

 private:
  struct Table;
  Registry();
  Table* table_;
};

struct OperatorRegistration {
  template <class R, class... A>
  OperatorRegistration(const char* schema, R (*function)(A...)) {
    Registry::instance().add(schema, generic(function), &invoke<R, A...>);
  }
};

}  // namespace hotaru

/// At namespace scope: registers a function, or a captureless lambda with a
/// leading +, under a schema.
#define HOTARU_OP(schema, ...) \
  static const ::hotaru::OperatorRegistration HOTARU_CONCAT( \
      operator_, __COUNTER__)(schema, __VA_ARGS__)
