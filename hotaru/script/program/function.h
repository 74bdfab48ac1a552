// Functions and methods: signature, graph and code, each made at first need.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hotaru/core/value.h"
#include "hotaru/script/ir/ir.h"
#include "hotaru/script/source/ast.h"
#include "hotaru/script/types/type.h"

namespace hotaru::script {

class Code;
class CompilationUnit;
class Resolver;

struct Parameter {
  std::string name;
  TypePtr type = nullptr;
  bool has_default = false;
  bool keyword_only = false;
  /// A Tensor only because nothing else is said.
  bool inferred = false;
  /// BroadcastingListN: one number stands for a list of N.
  int broadcast = 0;
  Value default_value = {};
};

/// One function of a compilation unit. Compiling happens at first use, under
/// the unit's lock; afterwards any number of threads may run it.
class Function {
 public:
  /// `resolver` gives meaning to the names that the body doesn't define; it
  /// must outlive the function. `owner` is the class of a method or null.
  Function(CompilationUnit& unit, std::string name, const Def& def,
           const Resolver& resolver, ClassType* owner);
  /// A function made of a graph: a forked closure.
  Function(CompilationUnit& unit, std::string name,
           std::unique_ptr<Graph> graph, TypePtr result);
  ~Function();
  Function(const Function&) = delete;
  Function& operator=(const Function&) = delete;

  CompilationUnit& unit() const { return unit_; }
  /// Qualified name.
  const std::string& name() const { return name_; }
  std::string_view short_name() const;
  ClassType* owner() const { return owner_; }
  /// The definition's own text, or empty.
  std::string_view source() const;
  const Def* def() const { return def_; }
  const Resolver& resolver() const { return *resolver_; }

  /// `self` included. Throws ScriptError for unknown types.
  const std::vector<Parameter>& params();
  /// The annotation, or what the body's return statements agree on.
  TypePtr result_type();
  bool has_declared_result() const;
  /// Parameters' defaults that Python has evaluated, by name, in place of what
  /// the source spells. Before anything else is asked of the function.
  void set_defaults(std::map<std::string, Value, std::less<>> defaults) {
    defaults_ = std::move(defaults);
  }

  /// The compiled and simplified graph, calls included. Throws ScriptError,
  /// e.g. for an operator that does not exist, and remembers nothing then.
  Graph& graph();
  /// A new compilation, simplified but without calls inlined, as graph() is
  /// before the first run. Throws ScriptError.
  std::unique_ptr<Graph> compile_again();
  /// Code that the interpreter runs.
  const Code& code();

  /// "f(Tensor x, int n=2) -> Tensor".
  std::string schema();

  /// Runs with positional arguments and the defaults for the rest; converts
  /// and checks them. Returns the result.
  Value operator()(std::vector<Value> arguments);
  /// Converts one argument to the parameter's type where Python would accept
  /// it (int for float, tuple for list); throws TypeError otherwise.
  void check_argument(size_t i, Value& value);
  /// Puts positional and keyword arguments in order, adds defaults, checks.
  std::vector<Value> bind(std::vector<Value> arguments,
                          std::vector<std::pair<std::string, Value>> keywords);

 private:
  friend class FunctionCompiler;

  void resolve_signature();

  CompilationUnit& unit_;
  std::string name_;
  const Def* def_ = nullptr;
  const Resolver* resolver_ = nullptr;
  ClassType* owner_ = nullptr;
  bool resolved_ = false;
  bool compiling_ = false;
  std::vector<Parameter> params_;
  std::map<std::string, Value, std::less<>> defaults_;
  TypePtr result_ = nullptr;
  std::unique_ptr<Graph> graph_;
  std::unique_ptr<Code> code_;
  std::atomic<const Code*> ready_{nullptr};
};

}  // namespace hotaru::script
