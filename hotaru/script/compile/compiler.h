// Syntax tree to graph, for one function at a time.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hotaru/script/ir/ir.h"
#include "hotaru/script/program/function.h"
#include "hotaru/script/program/resolver.h"
#include "hotaru/script/program/unit.h"
#include "hotaru/script/source/ast.h"

namespace hotaru::script {

/// Meaning of an expression before it is known how it is used.
struct Sugared {
  enum class Kind : uint8_t {
    kVar,
    kMeaning,        // a global name
    kMethod,         // self.function
    kBuiltinMethod,  // self.text: an operator with self as first argument
    kModuleMethod,   // self.text of an interface, found when it runs
    kConstructor,    // meaning.type's __new__
    kClosure,        // a nested def
    kSlice,          // slice(begin, end, step)
  };
  Kind kind = Kind::kVar;
  Var* var = nullptr;
  Function* function = nullptr;
  std::string text = {};
  Meaning meaning = {};
  const Def* closure = nullptr;
  /// Begin, end and step of a kSlice; null where there is none.
  std::array<Var*, 3> slice = {};
};

/// Name in messages: "function", "builtin"; empty for types and the like.
std::string_view kind_of(const Sugared& sugared);

/// Mark of the node of a [] whose elements' type nothing tells.
constexpr int64_t kEmptyLiteral = 1;

/// Throws ScriptError where a list stands for something else by annotation.
void check_list_annotation(const Expr& expr, TypePtr type);

/// True if Python knows an operator by that name and PyTorch by another.
bool is_renamed(std::string_view name);

/// True if `ops.aten.name.overload` is an operator.
bool has_overload(std::string_view name, std::string_view overload);

/// One argument of a call.
struct CallArg {
  Var* var = nullptr;
  std::string_view keyword;  // empty: positional
  SourceRange range;
  /// Object of a method: the parameter `self`, wherever it stands.
  bool is_self = false;
};

/// Names whose type is known better where a condition holds.
struct Refinements {
  std::map<std::string_view, TypePtr> when_true;
  std::map<std::string_view, TypePtr> when_false;
};

struct Condition {
  Var* var = nullptr;
  /// Known while compiling: only one branch exists then.
  std::optional<bool> fixed;
  Refinements refinements;
};

/// Fills a function's graph. Methods throw ScriptError at what the language
/// or the types do not allow; the graph is unusable then.
class FunctionCompiler {
 public:
  FunctionCompiler(Function& function, Graph& graph);

  /// Compiles the whole body. Returns the type of the result.
  TypePtr compile();

 private:
  struct Scope;
  struct Binding {
    Var* var = nullptr;
    TypePtr declared = nullptr;  // by an annotation
    const Def* closure = nullptr;
    std::string error;            // why the name cannot be used
    const Scope* home = nullptr;  // where it was declared
  };
  struct Scope {
    Scope* parent = nullptr;
    std::map<std::string_view, Binding> names;
  };
  struct Loop {
    Loop* outer = nullptr;
    Scope* scope = nullptr;  // of the body
    std::vector<std::string_view> carried;
    std::vector<TypePtr> types;
    size_t open_withs = 0;
  };
  using Targets = std::vector<const Expr*>;
  /// How a for loop gets its elements: a known list, or by number.
  struct Iteration {
    std::optional<std::vector<Var*>> items = {};
    Var* count = nullptr;
    std::function<Var*(Var* index)> element = {};
  };

  /// Place that an augmented assignment reads and then writes. Its parts are
  /// evaluated once, before the value on the right, as in Python.
  struct Place {
    Var* value = nullptr;
    /// `written`: the result is the same object, which was written into.
    std::function<void(Var* result, bool written)> store;
  };

  FunctionCompiler(FunctionCompiler& parent, Function& function, Graph& graph,
                   const Def& def);

  // Graph building (compiler.cpp).
  Node* emit(NodeKind kind, const SourceRange& range,
             const std::vector<Var*>& inputs);
  Var* emit_value(NodeKind kind, const SourceRange& range,
                  const std::vector<Var*>& inputs, TypePtr type);
  Var* constant(Value value, const SourceRange& range, TypePtr type = nullptr);
  Var* cast(Var* var, TypePtr type, const SourceRange& range);
  Var* none(const SourceRange& range) { return constant({}, range); }
  void run_in(Block* block, Scope* scope, const std::function<void()>& body);
  bool terminated() const { return block_->terminator() != nullptr; }
  const Binding* lookup(std::string_view name) const {
    return lookup(name, scope_);
  }
  static const Binding* lookup(std::string_view name, const Scope* scope);
  Var* use(std::string_view name, const SourceRange& range);
  void bind(std::string_view name, Var* var, const SourceRange& range);
  void refine(const std::map<std::string_view, TypePtr>& types,
              const SourceRange& range);
  /// Null if the variable cannot stand for the type.
  Var* converted(Var* var, TypePtr type, const SourceRange& range);
  /// Fails with `before`, the type, `between` and the variable's type.
  Var* as_type(Var* var, TypePtr type, const SourceRange& range,
               std::string_view before, std::string_view between);

  // Statements (compile_stmt.cpp).
  static void check_stack(const SourceRange& range);
  void statements(std::span<const Stmt* const> body);
  void statement(const Stmt& stmt);
  void assign(const Stmt& stmt);
  void assign_to(const Expr& target, Var* value, TypePtr declared);
  void unpack(const Expr& target, Var* value);
  /// Refuses breaks of a nested function's body that leave no loop.
  static void check_exits(std::span<const Stmt* const> body, bool in_loop);
  void assign_subscript(const Expr& target, Var* value);
  void assign_attribute(const Expr& target, Var* value, TypePtr declared);
  void set_attribute(Var* base, const Expr& target, Var* value,
                     TypePtr declared);
  /// The index of a list, a dict or an object that an item is assigned to.
  Var* item_key(const Expr& target, const Var* base);
  void set_item(Var* base, Var* key, Var* value, const SourceRange& range);
  /// Writes into a tensor, at the indices where there are any.
  void put(Var* view, Var* indices, Var* value, const SourceRange& range);
  void delete_items(const Stmt& stmt);
  void return_statement(const Stmt& stmt);
  void raise_statement(const Stmt& stmt);
  void assert_statement(const Stmt& stmt);
  void emit_raise(Var* message, std::string_view exception,
                  const SourceRange& range);

  // Augmented assignment (compile_augmented.cpp).
  void augmented(const Stmt& stmt);
  /// Refuses objects that have no method for the statement's operator.
  static void check_operator(TypePtr type, const Stmt& stmt);
  Place place_of(const Expr& target);
  Place subscript_place(const Expr& target);
  /// Null where the operator has no form that writes into such a value.
  Var* in_place(std::string_view op, Var* left, Var* right,
                const SourceRange& range);

  // Control flow (compile_flow.cpp).
  void if_statement(const Stmt& stmt);
  void join(Node* node, Scope& yes, Scope& no);
  void while_statement(const Stmt& stmt);
  void for_statement(const Stmt& stmt);
  void counted_loop(Var* count, std::span<const Stmt* const> body,
                    const SourceRange& range, const Targets& also_assigned,
                    const std::function<void(Var*)>& bind_target);
  void unrolled(const Expr& target, const std::vector<Var*>& items,
                std::span<const Stmt* const> body);
  void loop_exit(NodeKind kind, const SourceRange& range);
  std::vector<std::string_view> carried_names(std::span<const Stmt* const> body,
                                              const Targets& targets) const;
  void finish_loop(Node* node, const Loop& loop);
  void with_statement(const Stmt& stmt);
  void leave_withs(size_t keep, const SourceRange& range);

  // Conditions (compile_condition.cpp).
  Condition condition(const Expr& expr);
  Condition short_circuit(const Expr& expr);
  Condition identity(const Expr& expr);
  Condition is_instance(const Expr& expr);
  Var* to_bool(Var* var, const SourceRange& range);
  Condition known(bool value, const SourceRange& range);

  // Expressions (compile_expr.cpp).
  Var* value(const Expr& expr, TypePtr hint = nullptr);
  Var* as_var(const Sugared& sugared, const SourceRange& range);
  [[noreturn]] void no_attribute(TypePtr type, std::string_view name,
                                 const SourceRange& range) const;
  Sugared sugared(const Expr& expr);
  void check_usable(const Meaning& meaning, const SourceRange& range);
  Var* literal(const Value& value, const SourceRange& range, TypePtr type);
  Var* conditional(const Expr& expr, TypePtr hint);
  Var* list(const Expr& expr, TypePtr hint);
  Var* tuple(const Expr& expr, TypePtr hint);
  Var* dict(const Expr& expr, TypePtr hint);
  Var* comprehension(const Expr& expr, TypePtr hint);
  Var* binary(const Expr& expr);
  Var* operate(std::string_view op, Var* left, Var* right,
               const SourceRange& range);
  Var* number_and_tensor(std::string_view op, Var* number, Var* tensor,
                         const SourceRange& range);
  Var* compare(const Expr& expr);

  // Attributes (compile_attribute.cpp).
  Sugared attribute(const Sugared& base, std::string_view name,
                    const SourceRange& range);
  Sugared attribute_of(Var* var, std::string_view name,
                       const SourceRange& range);
  Sugared class_attribute(Var* var, std::string_view name,
                          const SourceRange& range);
  std::optional<Sugared> super_attribute(const Expr& expr);
  /// An object's `__name__` called, or null if it has no such method.
  Var* magic(Var* object, std::string_view name,
             const std::vector<CallArg>& args, const SourceRange& range);

  // Strings with fields (compile_format.cpp).
  Var* format(const Expr& expr);
  Var* format_call(Var* text, const std::vector<CallArg>& args,
                   const SourceRange& range);
  Var* python_format(std::string_view text, const std::vector<Var*>& values,
                     const SourceRange& range);

  // Subscripts (compile_subscript.cpp).
  Var* subscript(const Expr& expr, TypePtr hint);
  Var* tuple_subscript(const Expr& expr, Var* base);
  using Slice = std::array<Var*, 3>;
  Var* slice_of(Var* base, const Slice& slice, const SourceRange& range);
  /// Begin, end and step of `1:2`, `slice(1, 2)` or a name of such; nothing for
  /// other indices.
  std::optional<Slice> slice_parts(const Expr& index);
  bool is_slice(const Expr& index) {
    return index.kind == ExprKind::kSlice ||
           (index.kind == ExprKind::kCall &&
            is_special(index.item(0), "slice"));
  }
  Slice slice_call(const Expr& expr);
  /// A name that the program has not given to something else means this
  /// syntax of the language.
  bool is_special(const Expr& expr, std::string_view name);
  Var* tensor_subscript(const Expr& expr, Var* base);
  /// Null for no indices.
  Var* index_list(const std::vector<Var*>& indices, const SourceRange& range);
  /// Applies ints, slices, None and ... as views; index tensors are left in
  /// `indices`, padded with None.
  Var* tensor_view(const Expr& expr, Var* base, std::vector<Var*>* indices);
  std::optional<int64_t> constant_index(Var* var) const;

  // Calls (compile_call.cpp).
  Var* call(const Expr& expr, TypePtr hint);
  const Meaning& dispatched(const Dispatch& dispatch,
                            std::vector<CallArg>& args,
                            const SourceRange& range);
  Var* call_sugared(const Sugared& callee, std::vector<CallArg> args,
                    const SourceRange& range);
  Var* call_python(const Meaning& callee, const std::vector<CallArg>& args,
                   const SourceRange& range);
  Var* call_function(Function& function, std::vector<CallArg> args,
                     const SourceRange& range);
  Var* call_overloads(const std::vector<Function*>& overloads,
                      const std::vector<CallArg>& args,
                      const SourceRange& range);
  /// The arguments in the order of the function's parameters, defaults
  /// included. `inputs` holds the first ones, which no argument names.
  std::vector<Var*> bound(Function& function, std::vector<Var*> inputs,
                          const std::vector<CallArg>& args,
                          const SourceRange& range);
  Var* call_with_hooks(Var* module, const std::vector<CallArg>& args,
                       const SourceRange& range);
  Var* call_type(TypePtr type, std::vector<CallArg> args,
                 const SourceRange& range);
  std::vector<CallArg> arguments(const Expr& expr, size_t first = 1);
  static std::string element_mismatch(TypePtr actual);
  void spread(Var* var, const SourceRange& range, std::vector<CallArg>& out);

  // Operators (compile_op.cpp, compile_meaning.cpp).
  Var* builtin(std::string_view name, const std::vector<CallArg>& args,
               const SourceRange& range);
  /// A call in an archive of an older version as the operator was meant there;
  /// null where it means the same.
  Var* upgraded(std::string_view name, std::vector<CallArg> args,
                const SourceRange& range);
  std::vector<CallArg> einsum_arguments(const std::vector<CallArg>& args,
                                        const SourceRange& range);
  /// Copies a result, or each of a tuple's, to where it shall be.
  Var* write_into(Var* target, Var* result, std::string_view name,
                  const SourceRange& range);
  Var* builtin_into(std::string_view name, const std::vector<CallArg>& args,
                    size_t out, const SourceRange& range);
  Var* builtin(std::string_view name, std::initializer_list<Var*> args,
               const SourceRange& range);

  Var* tensor_of_list(std::string_view name, const std::vector<CallArg>& args,
                      const SourceRange& range);
  Var* missing_operator(std::string_view name, const SourceRange& range);

  // Syntax that looks like calls (compile_special.cpp).
  std::optional<Var*> special(std::string_view name, const Expr& expr,
                              TypePtr hint);
  Var* number_cast(std::string_view name, const Expr& expr);
  Var* collection_cast(std::string_view name, const Expr& expr, TypePtr hint);
  /// Refuses a dict of other keys or values than are annotated.
  static void check_dict(TypePtr made, TypePtr hint, const SourceRange& range);
  static void check_has_attributes(const Var* object, const SourceRange& range);
  Var* get_attr_call(const Expr& expr);
  /// With `awaitable` as a call that waits until somebody asks.
  Var* fork(const Expr& expr, bool awaitable);
  // Modules that hold modules (compile_container.cpp).
  bool is_container(const Var* var) const;
  /// Length of a tuple or container, which is known while compiling.
  std::optional<int64_t> fixed_length(const Var* var) const;
  std::vector<std::pair<std::string_view, Var*>> members(
      Var* var, const SourceRange& range);
  Var* container_view(Var* var, std::string_view what,
                      const SourceRange& range);
  static bool is_module_walk(std::string_view method);
  Var* module_walk(Var* module, std::string_view method,
                   const SourceRange& range);
  Var* container_item(const Expr& expr, Var* base, TypePtr hint);
  Var* container_item_as(TypePtr interface, const Expr& expr, Var* base,
                         Var* index);

  Iteration iterate(const Expr& iterable);
  std::optional<Iteration> iterate_enum(const Expr& iterable);
  Iteration iterate_over(Var* var, const SourceRange& range);
  Iteration iterate_range(const Expr& expr);
  Iteration iterate_together(const Expr& expr, bool numbered);

  Function& function_;
  Graph& graph_;
  CompilationUnit& unit_;
  TypeTable& types_;
  const Def* def_;
  FunctionCompiler* parent_ = nullptr;
  Block* block_ = nullptr;
  Scope top_scope_;
  Scope* scope_ = nullptr;
  Loop* loop_ = nullptr;
  bool unrolled_ = false;  // within a loop over a tuple or modules
  TypePtr declared_result_ = nullptr;
  TypePtr result_ = nullptr;
  std::vector<Var*> withs_;  // context managers entered here
  // Captures of a closure: outer variables and parameters that stand for them.
  std::vector<std::pair<Var*, Var*>> captures_;
  // Local names of functions and operators: `_0 = __torch__.f`.
  std::map<std::string_view, Sugared> aliases_;
  /// Range of the assignment compiled now; errors about attributes show it all.
  SourceRange assignment_;
  /// Range of what is assigned now, where it is an expression.
  SourceRange assigned_;

  friend class OpMatcher;
};

}  // namespace hotaru::script
