// Statements other than control flow.
#include <utility>

#include "hotaru/core/printing/concat.h"
#include "hotaru/runtime/threads/stack_room.h"
#include "hotaru/script/compile/annotation.h"
#include "hotaru/script/compile/compiler.h"

namespace hotaru::script {

void FunctionCompiler::statements(std::span<const Stmt* const> body) {
  for (const Stmt* stmt : body) {
    if (terminated()) return;  // unreachable, as in Python
    statement(*stmt);
  }
}

void FunctionCompiler::check_stack(const SourceRange& range) {
  if (stack_is_low())
    fail_at(range, "the code is nested deeper than this thread's stack allows");
}

void FunctionCompiler::statement(const Stmt& stmt) {
  check_stack(stmt.range);
  switch (stmt.kind) {
    case StmtKind::kExpr:
      if (stmt.value->kind != ExprKind::kString) sugared(*stmt.value);
      return;
    case StmtKind::kAssign:
      return assign(stmt);
    case StmtKind::kAugAssign:
      return augmented(stmt);
    case StmtKind::kReturn:
      return return_statement(stmt);
    case StmtKind::kRaise:
      return raise_statement(stmt);
    case StmtKind::kAssert:
      return assert_statement(stmt);
    case StmtKind::kIf:
      return if_statement(stmt);
    case StmtKind::kFor:
      return for_statement(stmt);
    case StmtKind::kWhile:
      return while_statement(stmt);
    case StmtKind::kWith:
      return with_statement(stmt);
    case StmtKind::kPass:
      return;
    case StmtKind::kBreak:
      return loop_exit(NodeKind::kBreak, stmt.range);
    case StmtKind::kContinue:
      return loop_exit(NodeKind::kContinue, stmt.range);
    case StmtKind::kDelete:
      return delete_items(stmt);
    case StmtKind::kDef: {
      check_exits(stmt.def->body, false);
      Binding binding;
      binding.closure = stmt.def;
      scope_->names[stmt.def->name] = binding;
      return;
    }
    case StmtKind::kClass:
      fail_at(stmt.range, "classes inside functions are not supported");
  }
}

void FunctionCompiler::check_exits(std::span<const Stmt* const> body,
                                   bool in_loop) {
  for (const Stmt* stmt : body) {
    const bool exits =
        stmt->kind == StmtKind::kBreak || stmt->kind == StmtKind::kContinue;
    if (exits && !in_loop) {
      fail_at(stmt->range, "SyntaxError: '",
              stmt->kind == StmtKind::kBreak ? "break' outside"
                                             : "continue' not in",
              " loop");
    }
    check_stack(stmt->range);
    const bool loop =
        stmt->kind == StmtKind::kFor || stmt->kind == StmtKind::kWhile;
    check_exits(stmt->body, in_loop || loop);
    check_exits(stmt->orelse, in_loop);
  }
}

void FunctionCompiler::assign(const Stmt& stmt) {
  TypePtr declared =
      stmt.annotation ? read_type(unit_, function_.resolver(), *stmt.annotation)
                      : nullptr;
  const Expr& first = *stmt.targets[0];
  // A comment behind the value is no such annotation.
  if (stmt.annotation && stmt.value && first.kind == ExprKind::kAttribute &&
      first.item(0).range.text() == "self" && function_.owner() &&
      stmt.annotation->range.begin < stmt.value->range.begin &&
      function_.short_name() != "__init__") {
    fail_at(first.range.to(stmt.annotation->range),
            "Type annotations on instance attributes must be declared in "
            "__init__, not '",
            function_.short_name(), "'");
  }
  if (!stmt.value) {  // `x: int` declares
    if (first.kind == ExprKind::kName) {
      Binding binding;
      binding.declared = declared;
      binding.home = scope_;
      binding.error = concat("'", first.text, "' has no value yet");
      scope_->names[first.text] = binding;
    }
    return;
  }
  TypePtr hint = declared;
  if (!hint && first.kind == ExprKind::kName) {
    const Binding* known = lookup(first.text);
    hint = known ? known->declared : nullptr;
  }
  if (!hint && first.kind == ExprKind::kAttribute) {
    Sugared base = sugared(first.item(0));
    if (base.kind == Sugared::Kind::kVar &&
        base.var->type->kind == TypeKind::kClass) {
      ClassType& cls = *base.var->type->cls;
      int slot = cls.find_attribute(first.text);
      if (slot >= 0) hint = cls.attributes()[slot].type;
    }
  }
  if (first.kind == ExprKind::kTuple && stmt.value->kind == ExprKind::kName) {
    Sugared meaning = sugared(*stmt.value);
    if (meaning.kind == Sugared::Kind::kMeaning &&
        meaning.meaning.kind != Meaning::Kind::kValue) {
      fail_at(stmt.value->range, kind_of(meaning),
              " cannot be used as a tuple");
    }
  }
  // Names of functions and operators can be given another name.
  if (stmt.targets.size() == 1 && first.kind == ExprKind::kName && !declared &&
      (stmt.value->kind == ExprKind::kName ||
       stmt.value->kind == ExprKind::kAttribute)) {
    Sugared meaning = sugared(*stmt.value);
    if (meaning.kind != Sugared::Kind::kVar &&
        !(meaning.kind == Sugared::Kind::kMeaning &&
          meaning.meaning.kind == Meaning::Kind::kValue)) {
      aliases_[first.text] = meaning;
      return;
    }
    return assign_to(first, as_var(meaning, stmt.value->range), nullptr);
  }
  if (stmt.targets.size() == 1 && first.kind == ExprKind::kName && !declared &&
      stmt.value->kind == ExprKind::kCall &&
      is_special(stmt.value->item(0), "slice")) {
    aliases_[first.text] = {.kind = Sugared::Kind::kSlice,
                            .slice = slice_call(*stmt.value)};
    return;
  }
  if (declared) check_list_annotation(*stmt.value, declared);
  Var* result = value(*stmt.value, hint);
  assignment_ = stmt.range;
  assigned_ = stmt.value->range;
  for (const Expr* target : stmt.targets) assign_to(*target, result, declared);
  assignment_ = {};
  assigned_ = {};
}

void check_list_annotation(const Expr& expr, TypePtr type) {
  bool list = expr.kind == ExprKind::kList || expr.kind == ExprKind::kListComp;
  bool holds = type->kind == TypeKind::kList ||
               type->kind == TypeKind::kOptional ||
               type->kind == TypeKind::kUnion || type->kind == TypeKind::kAny;
  if (list && !holds) {
    fail_at(expr.range, "Expected an annotation of type List but got ",
            type->annotation());
  }
}

void FunctionCompiler::assign_to(const Expr& target, Var* value,
                                 TypePtr declared) {
  switch (target.kind) {
    case ExprKind::kName: {
      aliases_.erase(target.text);
      if (!declared) return bind(target.text, value, target.range);
      const Binding* outer = lookup(target.text, scope_->parent);
      if (outer && outer->var && !lookup(target.text)->error.empty()) {
        outer = nullptr;
      }
      if (outer && outer->var) {
        fail_at(target.range,
                "Attempting to declare and annotate the type of variable '",
                target.text, "' but it is already defined in an outer block");
      }
      value = as_type(
          value, declared, target.range,
          concat("Variable '", target.text, "' is annotated with type "),
          " but is being assigned to a value of type ");
      scope_->names[target.text] = {value, declared, nullptr, {}, scope_};
      return;
    }
    case ExprKind::kTuple:
    case ExprKind::kList:
      return unpack(target, value);
    case ExprKind::kSubscript:
      return assign_subscript(target, value);
    case ExprKind::kAttribute:
      return assign_attribute(target, value, declared);
    default:
      fail_at(target.range,
              "unexpected expression on left-hand side of assignment");
  }
}

void FunctionCompiler::unpack(const Expr& target, Var* value) {
  const SourceRange& given = assigned_.source ? assigned_ : target.range;
  size_t wanted = target.items.size();
  size_t star = wanted;
  for (size_t i = 0; i < wanted; ++i) {
    if (target.item(i).kind != ExprKind::kStarred) continue;
    if (star != wanted) {
      fail_at(target.range,
              "Only one starred expression is allowed on the lhs");
    }
    star = i;
  }
  if (wanted == 1 && star == 0) {
    fail_at(target.range, kLoneStar);
  }
  std::vector<Var*> items;
  if (value->type->kind == TypeKind::kTuple) {
    // The tuple of anything that isinstance(x, tuple) found.
    if (value->type->items.empty() && value->producer &&
        value->producer->kind == NodeKind::kCast) {
      fail_at(given,
              "Provided tuple is not fully defined/refined including its "
              "element types, please provide a value of type like "
              "Tuple[int, int]");
    }
    Node* node = emit(NodeKind::kTupleUnpack, target.range, {value});
    for (TypePtr type : value->type->items)
      items.push_back(graph_.add_output(node, type));
  } else if (value->type->kind == TypeKind::kList && star == wanted) {
    Node* node = emit(NodeKind::kListUnpack, target.range, {value});
    for (size_t i = 0; i < wanted; ++i)
      items.push_back(graph_.add_output(node, value->type->item()));
  } else {
    fail_at(given, value->type->annotation(), " cannot be used as a tuple");
  }
  bool fits =
      star == wanted ? items.size() == wanted : items.size() + 1 >= wanted;
  if (!fits) {
    if (items.size() > wanted) {
      fail_at(target.range, "too many values to unpack: need ", wanted,
              " but found ", items.size());
    }
    fail_at(target.range, "need ", wanted, " values to unpack but found only ",
            items.size());
  }
  size_t taken = 0;
  for (size_t i = 0; i < wanted; ++i) {
    if (i != star) {
      assign_to(target.item(i), items[taken++], nullptr);
      continue;
    }
    std::vector<Var*> rest;
    std::vector<TypePtr> types;
    for (size_t n = items.size() + 1 - wanted; n > 0; --n) {
      rest.push_back(items[taken]);
      types.push_back(items[taken++]->type);
    }
    assign_to(
        target.item(i).item(0),
        emit_value(NodeKind::kTuple, target.range, rest, types_.tuple(types)),
        nullptr);
  }
}

void FunctionCompiler::assign_attribute(const Expr& target, Var* value,
                                        TypePtr declared) {
  set_attribute(this->value(target.item(0)), target, value, declared);
}

void FunctionCompiler::set_attribute(Var* base, const Expr& target, Var* value,
                                     TypePtr declared) {
  if (base->type->kind == TypeKind::kTensor && target.text == "data") {
    builtin("set_data", {base, value}, target.range);
    return;
  }
  if (base->type->kind != TypeKind::kClass) {
    fail_at(target.range, "Tried to set an attribute: ", target.text,
            " on a non-class: ", base->type->annotation());
  }
  const SourceRange& where = assignment_.source ? assignment_ : target.range;
  ClassType& cls = *base->type->cls;
  int slot = cls.find_attribute(target.text);
  if (slot < 0 && cls.is_open()) {
    if (block_ != &graph_.top()) {
      fail_at(where,
              "First assignment cannot be in a control-flow block. Initialize "
              "the field at the top level first");
    }
    slot = cls.add_attribute({.name = std::string(target.text),
                              .type = declared ? declared : value->type});
  }
  if (slot < 0) {
    cls.load_member(target.text);
    Function* setter = cls.find_method(concat("__", target.text, "_setter"));
    if (cls.is_property(target.text) && setter) {
      call_function(*setter,
                    {{base, {}, target.range}, {value, {}, target.range}},
                    target.range);
      return;
    }
    fail_at(where, "Tried to set nonexistent attribute: ", target.text,
            ". Did you forget to initialize it in __init__()?");
  }
  const Attribute& attribute = cls.attributes()[slot];
  value =
      as_type(value, attribute.type, where,
              "Wrong type for attribute assignment. Expected ", " but got ");
  Node* node = emit(NodeKind::kSetAttr, target.range, {base, value});
  node->name = attribute.name;
  node->index = slot;
}

void FunctionCompiler::assign_subscript(const Expr& target, Var* value) {
  Var* base = this->value(target.item(0));
  if (base->type->kind == TypeKind::kTensor) {
    std::vector<Var*> indices;
    Var* view = tensor_view(target, base, &indices);
    if (value->type->kind != TypeKind::kTensor) {
      value = builtin("scalar_to_tensor", {value}, target.range);
      value = builtin("to", {value, base}, target.range);
    }
    return put(view, index_list(indices, target.range), value, target.range);
  }
  set_item(base, item_key(target, base), value, target.range);
}

Var* FunctionCompiler::item_key(const Expr& target, const Var* base) {
  if (target.items.size() != 2 || target.item(1).kind == ExprKind::kSlice)
    fail_at(target.range, "this subscript cannot be assigned to");
  if (base->type->kind == TypeKind::kTuple) {
    fail_at(target.range, base->type->annotation(),
            " does not support subscripted assignment");
  }
  return value(target.item(1));
}

void FunctionCompiler::put(Var* view, Var* indices, Var* value,
                           const SourceRange& range) {
  if (indices)
    builtin("index_put_", {view, indices, value}, range);
  else
    builtin("copy_", {view, value}, range);
}

void FunctionCompiler::set_item(Var* base, Var* key, Var* value,
                                const SourceRange& range) {
  if (base->type->kind == TypeKind::kClass) {
    Sugared method = attribute_of(base, "__setitem__", range);
    call_sugared(method, {{key, {}, range}, {value, {}, range}}, range);
    return;
  }
  const SourceRange& where = assignment_.source ? assignment_ : range;
  if (base->type->kind == TypeKind::kList ||
      base->type->kind == TypeKind::kDict) {
    value = as_type(value, base->type->items.back(), where,
                    element_mismatch(value->type), " is matched to type ");
  }
  builtin("_set_item", {base, key, value}, where);
}

void FunctionCompiler::delete_items(const Stmt& stmt) {
  for (const Expr* target : stmt.targets) {
    if (target->kind == ExprKind::kName) {
      Binding binding;
      binding.error = concat("'", target->text, "' was deleted");
      scope_->names[target->text] = binding;
      continue;
    }
    if (target->kind != ExprKind::kSubscript || target->items.size() != 2)
      fail_at(target->range, "this cannot be deleted");
    if (target->item(1).kind == ExprKind::kSlice) {
      fail_at(target->range,
              "del statements only support deletion at a single index, "
              "slicing is not supported");
    }
    builtin("Delete", {value(target->item(0)), value(target->item(1))},
            target->range);
  }
}

void FunctionCompiler::return_statement(const Stmt& stmt) {
  Var* result =
      stmt.value ? value(*stmt.value, declared_result_) : none(stmt.range);
  if (declared_result_) {
    result = as_type(result, declared_result_, stmt.range,
                     "Return value was annotated as having type ",
                     " but is actually of type ");
  } else if (!result_) {
    result_ = result->type;
  } else {
    TypePtr unified = unify(types_, result_, result->type);
    if (!unified) {
      fail_at(stmt.range, "Previous return statement returned a value of type ",
              result_->annotation(),
              " but this return statement returns a value of type ",
              result->type->annotation());
    }
    result_ = unified;
  }
  leave_withs(0, stmt.range);
  emit(NodeKind::kReturn, stmt.range, {result});
}

void FunctionCompiler::emit_raise(Var* message, std::string_view exception,
                                  const SourceRange& range) {
  Var* name = constant(std::string(exception), range);
  emit(NodeKind::kRaise, range, {message, name});
}

void FunctionCompiler::raise_statement(const Stmt& stmt) {
  std::string exception = "RuntimeError";
  Var* message = nullptr;
  if (stmt.value && stmt.value->kind == ExprKind::kCall) {
    exception = std::string(stmt.value->item(0).range.text());
    if (stmt.value->items.size() > 1) {
      message = value(stmt.value->item(1));
      if (message->type->kind != TypeKind::kString)
        message = builtin("str", {message}, stmt.range);
    }
  } else if (stmt.value && stmt.value->kind == ExprKind::kName) {
    exception = std::string(stmt.value->text);
  } else if (stmt.value) {
    Var* raised = value(*stmt.value);
    bool object = raised->type->kind == TypeKind::kClass ||
                  raised->type->kind == TypeKind::kString;
    if (!object)
      fail_at(stmt.range, "exceptions must derive from BaseException");
    message = builtin("str", {raised}, stmt.range);
  }
  if (!message) message = constant(std::string(), stmt.range);
  emit_raise(message, "builtins." + exception, stmt.range);
  emit(NodeKind::kUnreachable, stmt.range, {});
}

void FunctionCompiler::assert_statement(const Stmt& stmt) {
  Condition holds = condition(*stmt.value);
  auto failed = [&] {
    Var* text = stmt.message ? value(*stmt.message)
                             : constant(std::string(), stmt.range);
    if (text->type->kind != TypeKind::kString)
      text = builtin("str", {text}, stmt.range);
    Var* prefix = constant(std::string("AssertionError: "), stmt.range);
    emit_raise(builtin("add", {prefix, text}, stmt.range),
               "builtins.AssertionError", stmt.range);
    emit(NodeKind::kUnreachable, stmt.range, {});
  };
  if (holds.fixed == false) return failed();
  if (!holds.fixed) {
    Node* node = emit(NodeKind::kIf, stmt.range, {holds.var});
    Scope yes{scope_, {}};
    Scope no{scope_, {}};
    Block* then = graph_.make_block(node);
    Block* otherwise = graph_.make_block(node);
    run_in(then, &yes, [&] { emit(NodeKind::kYield, stmt.range, {}); });
    run_in(otherwise, &no, failed);
  }
  refine(holds.refinements.when_true, stmt.range);
}

}  // namespace hotaru::script
