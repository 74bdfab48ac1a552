// Conditions: short circuits and what they tell about types.
#include <algorithm>

#include "hotaru/script/compile/annotation.h"
#include "hotaru/script/compile/compiler.h"

namespace hotaru::script {

namespace {

using TypesByName = std::map<std::string_view, TypePtr>;

// Types that hold where both hold.
TypesByName both(const TypesByName& a, const TypesByName& b) {
  TypesByName out = a;
  for (const auto& [name, type] : b) out[name] = type;
  return out;
}

// Types that hold where either holds.
TypesByName either(const TypesByName& a, const TypesByName& b) {
  TypesByName out;
  for (const auto& [name, type] : a) {
    auto other = b.find(name);
    if (other != b.end() && other->second == type) out[name] = type;
  }
  return out;
}

}  // namespace

Condition FunctionCompiler::known(bool value, const SourceRange& range) {
  Condition out;
  out.fixed = value;
  out.var = constant(value, range);
  return out;
}

Var* FunctionCompiler::to_bool(Var* var, const SourceRange& range) {
  if (Var* out = magic(var, "__bool__", {}, range)) {
    if (out->type->kind != TypeKind::kBool) {
      fail_at(range, "expected a bool expression for condition but found ",
              out->type->annotation());
    }
    return out;
  }
  switch (var->type->kind) {
    case TypeKind::kBool:
      return var;
    case TypeKind::kTensor:
    case TypeKind::kInt:
    case TypeKind::kFloat:
    case TypeKind::kNumber:
    case TypeKind::kComplex:
      return builtin("Bool", {var}, range);
    case TypeKind::kString:
    case TypeKind::kList:
    case TypeKind::kDict: {
      Var* size = builtin("len", {var}, range);
      return builtin("ne", {size, constant(0, range)}, range);
    }
    default:
      fail_at(range, "Could not cast value of type ", var->type->annotation(),
              " to bool");
  }
}

Condition FunctionCompiler::condition(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kNot: {
      Condition inner = condition(expr.item(0));
      std::swap(inner.refinements.when_true, inner.refinements.when_false);
      if (inner.fixed) {
        Condition out = known(!*inner.fixed, expr.range);
        out.refinements = inner.refinements;
        return out;
      }
      inner.var = builtin("__not__", {inner.var}, expr.range);
      return inner;
    }
    case ExprKind::kAnd:
    case ExprKind::kOr:
      return short_circuit(expr);
    case ExprKind::kTrue:
    case ExprKind::kFalse:
      return known(expr.kind == ExprKind::kTrue, expr.range);
    case ExprKind::kCompare:
      if (expr.op == "is" || expr.op == "is not") return identity(expr);
      break;
    case ExprKind::kCall: {
      const Expr& callee = expr.item(0);
      bool named =
          callee.kind == ExprKind::kName || callee.kind == ExprKind::kAttribute;
      if (callee.text == "isinstance" && named) return is_instance(expr);
      if (callee.text == "is_scripting") return known(true, expr.range);
      if (callee.text == "is_tracing" || callee.text == "is_compiling")
        return known(false, expr.range);
      if (callee.text == "hasattr" && callee.kind == ExprKind::kName) {
        Var* answer = value(expr);
        return known(answer->producer->value.as_bool(), expr.range);
      }
      break;
    }
    default:
      break;
  }
  Condition out;
  out.var = to_bool(value(expr), expr.range);
  // Flags of modules choose the branch that is compiled.
  const Node* node = out.var->producer;
  if (node && node->kind == NodeKind::kConstant && node->value.is_bool())
    out.fixed = node->value.as_bool();
  return out;
}

Condition FunctionCompiler::short_circuit(const Expr& expr) {
  bool is_and = expr.kind == ExprKind::kAnd;
  Condition left = condition(expr.item(0));
  if (left.fixed && *left.fixed != is_and) return left;
  const auto& on_right =
      is_and ? left.refinements.when_true : left.refinements.when_false;
  Condition right;
  Condition out;
  if (left.fixed) {
    right = condition(expr.item(1));
    out = right;
  } else {
    Node* node = emit(NodeKind::kIf, expr.range, {left.var});
    Scope yes{scope_, {}};
    Scope no{scope_, {}};
    Block* then = graph_.make_block(node);
    Block* otherwise = graph_.make_block(node);
    auto evaluate = [&] {
      refine(on_right, expr.range);
      right = condition(expr.item(1));
      emit(NodeKind::kYield, expr.range, {right.var});
    };
    auto skip = [&] {
      emit(NodeKind::kYield, expr.range, {constant(!is_and, expr.range)});
    };
    run_in(then, &yes, [&] { is_and ? evaluate() : skip(); });
    run_in(otherwise, &no, [&] { is_and ? skip() : evaluate(); });
    out.var = graph_.add_output(node, TypeTable::boolean());
    if (right.fixed && *right.fixed != is_and) out.fixed = right.fixed;
  }
  const Refinements& a = left.refinements;
  const Refinements& b = right.refinements;
  out.refinements.when_true = is_and ? both(a.when_true, b.when_true)
                                     : either(a.when_true, b.when_true);
  out.refinements.when_false = is_and ? either(a.when_false, b.when_false)
                                      : both(a.when_false, b.when_false);
  return out;
}

// `x is None` and `x is not None` tell the type of x.
Condition FunctionCompiler::identity(const Expr& expr) {
  bool negated = expr.op == "is not";
  const Expr* left = expr.items[0];
  const Expr* right = expr.items[1];
  if (left->kind == ExprKind::kNone) std::swap(left, right);
  Var* var = value(*left);
  Condition out;
  if (right->kind != ExprKind::kNone) {
    out.var = builtin(negated ? "__isnot__" : "__is__", {var, value(*right)},
                      expr.range);
    return out;
  }
  TypeKind kind = var->type->kind;
  if (kind == TypeKind::kNone) return known(!negated, expr.range);
  if (kind != TypeKind::kOptional && kind != TypeKind::kAny)
    return known(negated, expr.range);
  Node* node = emit(NodeKind::kIs, expr.range, {var, none(expr.range)});
  node->index = negated;
  out.var = graph_.add_output(node, TypeTable::boolean());
  if (left->kind == ExprKind::kName && kind == TypeKind::kOptional) {
    auto& when_none =
        negated ? out.refinements.when_false : out.refinements.when_true;
    auto& otherwise =
        negated ? out.refinements.when_true : out.refinements.when_false;
    when_none[left->text] = TypeTable::none();
    otherwise[left->text] = var->type->item();
  }
  return out;
}

Condition FunctionCompiler::is_instance(const Expr& expr) {
  if (expr.items.size() != 3)
    fail_at(expr.range, "isinstance takes a value and a type");
  Var* var = value(expr.item(1));
  std::vector<TypePtr> wanted;
  // Python's own isinstance takes `list` for lists of anything.
  bool plain = expr.item(0).kind == ExprKind::kName;
  std::function<void(const Expr&)> read = [&](const Expr& type) {
    if (type.kind == ExprKind::kTuple || type.kind == ExprKind::kList)
      for (const Expr* item : type.items) read(*item);
    else if (plain && type.text == "list")
      wanted.push_back(types_.list(TypeTable::any()));
    else if (plain && type.text == "dict")
      wanted.push_back(types_.dict(TypeTable::string(), TypeTable::any()));
    else if (type.text == "_Await" && var->type->kind == TypeKind::kAwait)
      wanted.push_back(var->type);
    else if (plain && type.text == "tuple")
      wanted.push_back(types_.tuple({}));
    else
      wanted.push_back(read_type(unit_, function_.resolver(), type));
  };
  read(expr.item(2));
  // Types that the value can have, one by one.
  std::vector<TypePtr> choices = {var->type};
  if (var->type->kind == TypeKind::kUnion) choices = var->type->items;
  const bool number = var->type->kind == TypeKind::kNumber;
  if (number)
    choices = {TypeTable::integer(), TypeTable::floating(),
               TypeTable::complex()};
  if (var->type->kind == TypeKind::kOptional) {
    choices = {TypeTable::none()};
    TypePtr item = var->type->item();
    if (item->kind == TypeKind::kUnion)
      choices.insert(choices.end(), item->items.begin(), item->items.end());
    else
      choices.push_back(item);
  }
  auto is_wanted = [&](TypePtr type) {
    return std::any_of(wanted.begin(), wanted.end(), [&](TypePtr w) {
      return is_subtype(type, w) ||
             (w->kind == TypeKind::kList && type->kind == TypeKind::kList) ||
             (w->kind == TypeKind::kDict && type->kind == TypeKind::kDict) ||
             (plain && w->kind == TypeKind::kTuple && w->items.empty() &&
              type->kind == TypeKind::kTuple);
    });
  };
  std::vector<TypePtr> yes;
  std::vector<TypePtr> no;
  for (TypePtr type : choices) (is_wanted(type) ? yes : no).push_back(type);
  if (var->type->kind != TypeKind::kAny) {
    if (no.empty()) return known(true, expr.range);
    if (yes.empty()) return known(false, expr.range);
  }
  Condition out;
  Node* node = emit(NodeKind::kIsInstance, expr.range, {var});
  node->types = wanted;
  out.var = graph_.add_output(node, TypeTable::boolean());
  // Kinds that a number is not are no type that operators take.
  if (expr.item(1).kind == ExprKind::kName && !number) {
    std::string_view name = expr.item(1).text;
    if (var->type->kind == TypeKind::kAny) {
      if (wanted.size() == 1) out.refinements.when_true[name] = wanted[0];
    } else {
      out.refinements.when_true[name] = types_.union_of(yes);
      out.refinements.when_false[name] = types_.union_of(no);
    }
  }
  return out;
}

}  // namespace hotaru::script
