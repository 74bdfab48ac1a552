#include "hotaru/script/compile/compiler.h"

#include <utility>

#include "hotaru/core/printing/concat.h"
#include "hotaru/script/compile/annotation.h"

namespace hotaru::script {

FunctionCompiler::FunctionCompiler(Function& function, Graph& graph)
    : function_(function),
      graph_(graph),
      unit_(function.unit()),
      types_(unit_.types()),
      def_(function.def()),
      block_(&graph.top()),
      scope_(&top_scope_) {}

FunctionCompiler::FunctionCompiler(FunctionCompiler& parent, Function& function,
                                   Graph& graph, const Def& def)
    : function_(function),
      graph_(graph),
      unit_(parent.unit_),
      types_(unit_.types()),
      def_(&def),
      parent_(&parent),
      block_(&graph.top()),
      scope_(&top_scope_) {}

TypePtr FunctionCompiler::compile() {
  if (!parent_) {
    for (const Parameter& param : function_.params()) {
      std::string_view name = graph_.intern(param.name);
      Var* var = graph_.add_param(&graph_.top(), param.type, name);
      top_scope_.names[name] = {var, param.type, nullptr, {}, &top_scope_};
    }
    if (function_.has_declared_result())
      declared_result_ = function_.result_type();
  } else if (def_->return_type) {
    declared_result_ =
        read_type(unit_, function_.resolver(), *def_->return_type);
  }
  statements(def_->body);
  if (!terminated()) {
    if (declared_result_ && declared_result_->kind != TypeKind::kNone &&
        declared_result_->kind != TypeKind::kAny) {
      fail_at(def_->name_range,
              "Function was not annotated as having type None, but does not "
              "return along all paths");
    }
    if (result_ && result_->kind != TypeKind::kNone)
      result_ = types_.optional(result_);
    emit(NodeKind::kReturn, def_->name_range, {none(def_->name_range)});
  }
  if (declared_result_) return declared_result_;
  return result_ ? result_ : TypeTable::none();
}

Node* FunctionCompiler::emit(NodeKind kind, const SourceRange& range,
                             const std::vector<Var*>& inputs) {
  Node* node = graph_.make_node(kind, range);
  node->function = &function_;
  for (Var* input : inputs) graph_.add_input(node, input);
  graph_.append(block_, node);
  return node;
}

Var* FunctionCompiler::emit_value(NodeKind kind, const SourceRange& range,
                                  const std::vector<Var*>& inputs,
                                  TypePtr type) {
  return graph_.add_output(emit(kind, range, inputs), type);
}

Var* FunctionCompiler::constant(Value value, const SourceRange& range,
                                TypePtr type) {
  if (!type) type = type_of(types_, value);
  if (!type) fail_at(range, "this value cannot be used in TorchScript");
  Node* node = emit(NodeKind::kConstant, range, {});
  node->value = std::move(value);
  return graph_.add_output(node, type);
}

Var* FunctionCompiler::cast(Var* var, TypePtr type, const SourceRange& range) {
  if (var->type == type) return var;
  Node* node = emit(NodeKind::kCast, range, {var});
  node->type = type;
  return graph_.add_output(node, type, var->name);
}

void FunctionCompiler::run_in(Block* block, Scope* scope,
                              const std::function<void()>& body) {
  Block* outer_block = std::exchange(block_, block);
  Scope* outer_scope = std::exchange(scope_, scope);
  body();
  block_ = outer_block;
  scope_ = outer_scope;
}

const FunctionCompiler::Binding* FunctionCompiler::lookup(std::string_view name,
                                                          const Scope* scope) {
  for (; scope; scope = scope->parent) {
    auto found = scope->names.find(name);
    if (found != scope->names.end()) return &found->second;
  }
  return nullptr;
}

// The variable of that name, captured from outside for a closure; null for
// names that are no variables.
Var* FunctionCompiler::use(std::string_view name, const SourceRange& range) {
  if (const Binding* binding = lookup(name)) {
    if (!binding->error.empty()) fail_at(range, binding->error);
    return binding->var;
  }
  Var* outer = parent_ ? parent_->use(name, range) : nullptr;
  if (!outer) return nullptr;
  for (const auto& [captured, inner] : captures_)
    if (captured == outer) return inner;
  Var* inner = graph_.add_param(&graph_.top(), outer->type, name);
  captures_.emplace_back(outer, inner);
  return inner;
}

namespace {

// Modules are known while compiling, so a loop or a branch cannot choose one.
void check_first_class(std::string_view name, TypePtr old, TypePtr type,
                       const SourceRange& range) {
  auto is_module = [](TypePtr t) {
    return t->kind == TypeKind::kClass && t->cls->is_module();
  };
  if (is_subtype(type, old) || is_module(type) == is_module(old)) return;
  std::string why = is_module(type)
                        ? std::string(" to a value of type module")
                        : concat(" because it has type value of type '",
                                 type->annotation(), "'");
  fail_at(range, "Cannot re-assign '", name, "'", why,
          is_module(type) ? " because " : " and ", name,
          " is not a first-class value.  Only reassignments to first-class "
          "values are allowed");
}

}  // namespace

void FunctionCompiler::bind(std::string_view name, Var* var,
                            const SourceRange& range) {
  const Binding* known = lookup(name);
  TypePtr declared = known ? known->declared : nullptr;
  const Scope* home = known ? known->home : nullptr;
  // Names keep in a branch or a loop the type that they had before it.
  const Binding* outer = lookup(name, scope_->parent);
  const TypePtr before =
      !declared && outer && outer->var ? outer->var->type : nullptr;
  if ((declared && home != scope_) || before) {
    const TypePtr wanted = before ? before : declared;
    check_first_class(name, wanted, var->type, range);
    const bool lists =
        wanted->kind == TypeKind::kList && var->type->kind == TypeKind::kList;
    Var* fitting = before && before->kind == TypeKind::kFloat &&
                           var->type->kind == TypeKind::kInt
                       ? nullptr
                       : converted(var, wanted, range);
    if (!fitting) {
      fail_at(range, "Variable '", name, "' previously had type ",
              wanted->annotation(),
              " but is now being assigned to a value of type ",
              var->type->annotation(), interface_trouble(var->type, wanted),
              lists ? "\nEmpty lists default to List[Tensor]. Add a variable "
                      "annotation to the assignment to create an empty list of "
                      "another type (torch.jit.annotate(List[T, []]) where T "
                      "is the type of elements in the list for Python 2)"
                    : "");
    }
    var = fitting;
  } else if (declared && !is_subtype(var->type, declared)) {
    declared = nullptr;  // another value under the same name
  }
  if (var->name.empty() && var->producer &&
      var->producer->kind != NodeKind::kConstant)
    var->name = name;
  scope_->names[name] = {var, declared, nullptr, {}, home};
}

void FunctionCompiler::refine(const std::map<std::string_view, TypePtr>& types,
                              const SourceRange& range) {
  for (const auto& [name, type] : types) {
    const Binding* known = lookup(name);
    if (!known || !known->var || known->var->type == type) continue;
    Binding narrowed = *known;
    narrowed.var = cast(known->var, type, range);
    scope_->names[name] = std::move(narrowed);
  }
}

// The variable if it can stand for the type, perhaps through a conversion
// that Python would not notice.
Var* FunctionCompiler::converted(Var* var, TypePtr type,
                                 const SourceRange& range) {
  if (is_subtype(var->type, type)) return var;
  TypePtr wanted = type->kind == TypeKind::kOptional ? type->item() : type;
  bool to_float =
      wanted->kind == TypeKind::kFloat && var->type->kind == TypeKind::kInt;
  if (to_float) return builtin("Float", {var}, range);
  if (var->type->kind == TypeKind::kNumber) {  // of item() and the like
    if (wanted->kind == TypeKind::kFloat) return builtin("Float", {var}, range);
    if (wanted->kind == TypeKind::kInt) return builtin("Int", {var}, range);
  }
  if (var->type->kind == TypeKind::kTensor) {
    switch (wanted->kind) {
      case TypeKind::kInt:
        return builtin("IntImplicit", {var}, range);
      case TypeKind::kFloat:
        return builtin("FloatImplicit", {var}, range);
      case TypeKind::kNumber:
        return builtin("ScalarImplicit", {var}, range);
      default:
        break;
    }
  }
  if (wanted->kind == TypeKind::kList && var->type->kind == TypeKind::kTuple) {
    std::vector<Var*> items;
    Node* unpack = emit(NodeKind::kTupleUnpack, range, {var});
    for (TypePtr item : var->type->items) {
      items.push_back(
          converted(graph_.add_output(unpack, item), wanted->item(), range));
      if (!items.back()) return nullptr;
    }
    return emit_value(NodeKind::kList, range, items, wanted);
  }
  if (wanted->kind == TypeKind::kTuple && var->type->kind == TypeKind::kTuple &&
      var->type->items == wanted->items)
    return cast(var, wanted, range);
  if (wanted->kind == TypeKind::kTuple && var->type->kind == TypeKind::kTuple &&
      var->type->items.size() == wanted->items.size()) {
    // Numbers of item() and the like become those that are declared.
    for (size_t i = 0; i < wanted->items.size(); ++i) {
      const bool number = var->type->items[i]->kind == TypeKind::kNumber;
      if (!number && !is_subtype(var->type->items[i], wanted->items[i]))
        return nullptr;
    }
    std::vector<Var*> items;
    Node* unpack = emit(NodeKind::kTupleUnpack, range, {var});
    for (size_t i = 0; i < wanted->items.size(); ++i) {
      Var* item = graph_.add_output(unpack, var->type->items[i]);
      items.push_back(converted(item, wanted->items[i], range));
      if (!items.back()) return nullptr;
    }
    return emit_value(NodeKind::kTuple, range, items, wanted);
  }
  return nullptr;
}

Var* FunctionCompiler::as_type(Var* var, TypePtr type, const SourceRange& range,
                               std::string_view before,
                               std::string_view between) {
  if (Var* out = converted(var, type, range)) return out;
  fail_at(range, before, type->annotation(), between, var->type->annotation(),
          interface_trouble(var->type, type));
}

}  // namespace hotaru::script
