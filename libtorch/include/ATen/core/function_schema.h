// Signatures of operators, as programs ask about them.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "ATen/core/ivalue.h"
#include "ATen/core/jit_type.h"
#include "hotaru/ops/schema.h"

namespace c10 {

/// "ns::name" and an overload.
struct OperatorName {
  OperatorName(std::string name, std::string overload)
      : name(std::move(name)), overload_name(std::move(overload)) {}
  std::string name, overload_name;
  bool operator==(const OperatorName&) const = default;
};
inline std::string toString(const OperatorName& n) {
  return n.overload_name.empty() ? n.name : n.name + "." + n.overload_name;
}
inline std::ostream& operator<<(std::ostream& out, const OperatorName& n) {
  return out << toString(n);
}

/// One argument or result.
class Argument {
 public:
  explicit Argument(const hotaru::Argument& argument) : argument_(argument) {}
  const std::string& name() const { return argument_.name; }
  /// As schemas write it: "Tensor?", "int[]".
  const std::string& type_text() const { return argument_.type.text; }
  TypePtr type() const { return type_of_text(argument_.type.text); }
  bool kwarg_only() const { return argument_.keyword_only; }
  bool is_write() const { return argument_.type.written; }
  std::optional<IValue> default_value() const {
    if (!argument_.default_value) return std::nullopt;
    return IValue(*argument_.default_value);
  }

 private:
  hotaru::Argument argument_;
};

class FunctionSchema {
 public:
  /// `name` with its namespace.
  FunctionSchema(std::string name, hotaru::Schema schema)
      : name_(std::move(name)), schema_(std::move(schema)) {}

  const std::string& name() const { return name_; }
  const std::string& overload_name() const { return schema_.overload; }
  OperatorName operator_name() const { return {name_, schema_.overload}; }
  std::vector<Argument> arguments() const {
    return {schema_.arguments.begin(), schema_.arguments.end()};
  }
  std::vector<Argument> returns() const {
    return {schema_.results.begin(), schema_.results.end()};
  }
  bool is_mutable() const;
  const hotaru::Schema& hotaru_schema() const { return schema_; }

 private:
  std::string name_;
  hotaru::Schema schema_;
};

/// "ns::name.overload(Tensor x) -> Tensor".
std::string toString(const FunctionSchema& schema);
inline std::ostream& operator<<(std::ostream& out, const FunctionSchema& s) {
  return out << toString(s);
}

}  // namespace c10

namespace torch {

using c10::FunctionSchema;

namespace jit {
/// Reads a schema's text; throws c10::Error with the place of what is wrong.
c10::FunctionSchema parseSchema(const std::string& text);
}  // namespace jit
}  // namespace torch
