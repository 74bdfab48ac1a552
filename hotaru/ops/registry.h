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

/// One overload of an operator. Immutable once registered; thread-safe.
class Operator {
 public:
  Operator(const char* text, GenericFunction function, Invoke invoke)
      : text_(text), function_(function), invoke_(invoke) {}

  /// Parsed at first use, so that start-up does not pay for it.
  const Schema& schema() const;
  /// As registered.
  std::string_view text() const { return text_; }
  /// The name up to '.' or '(', without parsing the rest.
  std::string_view name() const;

  /// Calls it with one value an argument, all present, in schema order. The
  /// arguments may be moved from; results are written to results[0..n).
  void call(Value* arguments, Value* results) const {
    invoke_(function_, arguments, results);
  }

 private:
  const char* text_;
  GenericFunction function_;
  Invoke invoke_;
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
  /// Every name, sorted.
  std::vector<std::string_view> names() const;

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
