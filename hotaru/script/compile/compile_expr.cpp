// Expressions other than calls, conditions and subscripts.
#include <utility>

#include "hotaru/script/builtins/builtins.h"
#include "hotaru/script/compile/compiler.h"
#include "hotaru/script/compile/constant.h"

namespace hotaru::script {

namespace {

struct OperatorName {
  std::string_view spelling;
  std::string_view name;
};

constexpr OperatorName kBinary[] = {
    {"+", "add"},         {"-", "sub"},       {"*", "mul"},
    {"/", "div"},         {"//", "floordiv"}, {"%", "remainder"},
    {"**", "pow"},        {"@", "matmul"},    {"&", "__and__"},
    {"|", "__or__"},      {"^", "__xor__"},   {"<<", "__lshift__"},
    {">>", "__rshift__"},
};

constexpr OperatorName kCompare[] = {
    {"==", "eq"}, {"!=", "ne"}, {"<", "lt"},
    {">", "gt"},  {"<=", "le"}, {">=", "ge"},
};

// Names of `number op tensor` as `tensor op number`.
constexpr OperatorName kMirrored[] = {
    {"+", "add"},    {"*", "mul"},     {"-", "rsub"}, {"&", "__and__"},
    {"|", "__or__"}, {"^", "__xor__"}, {"==", "eq"},  {"!=", "ne"},
    {"<", "gt"},     {">", "lt"},      {"<=", "ge"},  {">=", "le"},
};

bool is_number(const Var* var) {
  switch (var->type->kind) {
    case TypeKind::kInt:
    case TypeKind::kFloat:
    case TypeKind::kBool:
    case TypeKind::kComplex:
    case TypeKind::kNumber:
      return true;
    default:
      return false;
  }
}

// Python's methods that classes define for operators.
constexpr OperatorName kMagic[] = {
    {"+", "__add__"},     {"-", "__sub__"},       {"*", "__mul__"},
    {"/", "__truediv__"}, {"//", "__floordiv__"}, {"%", "__mod__"},
    {"**", "__pow__"},    {"@", "__matmul__"},    {"&", "__and__"},
    {"|", "__or__"},      {"^", "__xor__"},       {"<<", "__lshift__"},
    {">>", "__rshift__"}, {"==", "__eq__"},       {"!=", "__ne__"},
    {"<", "__lt__"},      {">", "__gt__"},        {"<=", "__le__"},
    {">=", "__ge__"},
};

template <size_t N>
std::string_view find(const OperatorName (&table)[N],
                      std::string_view spelling) {
  for (const OperatorName& entry : table)
    if (entry.spelling == spelling) return entry.name;
  return {};
}

}  // namespace

Var* FunctionCompiler::value(const Expr& expr, TypePtr hint) {
  check_stack(expr.range);
  switch (expr.kind) {
    case ExprKind::kInt:
    case ExprKind::kFloat:
    case ExprKind::kImaginary:
      return constant(read_number(expr), expr.range);
    case ExprKind::kString:
      return constant(std::string(expr.text), expr.range);
    case ExprKind::kTrue:
    case ExprKind::kFalse:
      return constant(expr.kind == ExprKind::kTrue, expr.range);
    case ExprKind::kNone:
      return none(expr.range);
    case ExprKind::kName:
    case ExprKind::kAttribute:
      return as_var(sugared(expr), expr.range);
    case ExprKind::kSubscript:
      return subscript(expr, hint);
    case ExprKind::kCall:
      return call(expr, hint);
    case ExprKind::kUnary: {
      Var* operand = value(expr.item(0));
      if (expr.op == "+") return operand;
      std::string_view name = expr.op == "~" ? "__invert__" : "__neg__";
      if (Var* out = magic(operand, name, {}, expr.range)) return out;
      if (expr.op == "~") return builtin("bitwise_not", {operand}, expr.range);
      return builtin("neg", {operand}, expr.range);
    }
    case ExprKind::kBinary:
      return binary(expr);
    case ExprKind::kCompare:
      if (expr.op != "is" && expr.op != "is not") return compare(expr);
      [[fallthrough]];
    case ExprKind::kAnd:
    case ExprKind::kOr:
    case ExprKind::kNot:
      return condition(expr).var;
    case ExprKind::kConditional:
      return conditional(expr, hint);
    case ExprKind::kList:
      return list(expr, hint);
    case ExprKind::kTuple:
      return tuple(expr, hint);
    case ExprKind::kDict:
      return dict(expr, hint);
    case ExprKind::kListComp:
    case ExprKind::kDictComp:
      return comprehension(expr, hint);
    case ExprKind::kFormat:
      return format(expr);
    case ExprKind::kEllipsis:
    case ExprKind::kSlice:
    case ExprKind::kStarred:
      break;
  }
  fail_at(expr.range, "this expression has no value here");
}

Var* FunctionCompiler::as_var(const Sugared& sugared,
                              const SourceRange& range) {
  if (sugared.kind == Sugared::Kind::kVar) return sugared.var;
  if (sugared.kind == Sugared::Kind::kMeaning &&
      sugared.meaning.kind == Meaning::Kind::kValue)
    return literal(sugared.meaning.value, range, sugared.meaning.type);
  if (sugared.kind == Sugared::Kind::kBuiltinMethod &&
      find_builtins(sugared.text).empty() &&
      Registry::instance().find(sugared.text).empty())
    no_attribute(sugared.var->type, sugared.text, range);
  std::string_view kind = kind_of(sugared);
  if (kind.empty())
    fail_at(range, "'", range.text(), "' cannot be used as a value");
  fail_at(range, kind, " cannot be used as a value");
}

// A constant from outside. Lists are made anew each time: the program may
// change them.
Var* FunctionCompiler::literal(const Value& value, const SourceRange& range,
                               TypePtr type) {
  if (!value.is_list()) return constant(value, range, type);
  if (!type) type = type_of(types_, value);
  if (!type) fail_at(range, "this list's elements are not of one type");
  std::vector<Var*> items;
  for (const Value& item : value.as_list().items)
    items.push_back(literal(item, range, nullptr));
  return emit_value(NodeKind::kList, range, items, type);
}

void FunctionCompiler::check_usable(const Meaning& meaning,
                                    const SourceRange& range) {
  if (meaning.kind == Meaning::Kind::kError) fail_at(range, meaning.text);
}

Sugared FunctionCompiler::sugared(const Expr& expr) {
  if (expr.kind == ExprKind::kName) {
    if (auto alias = aliases_.find(expr.text); alias != aliases_.end())
      return alias->second;
    if (const Binding* known = lookup(expr.text); known && known->closure)
      return {.kind = Sugared::Kind::kClosure, .closure = known->closure};
    if (Var* var = use(expr.text, expr.range)) return {.var = var};
    Meaning meaning = function_.resolver().name(expr.text);
    if (meaning.kind == Meaning::Kind::kUnknown)
      fail_at(expr.range, "undefined value ", expr.text);
    check_usable(meaning, expr.range);
    return {.kind = Sugared::Kind::kMeaning, .meaning = std::move(meaning)};
  }
  if (expr.kind == ExprKind::kAttribute) {
    if (auto of_super = super_attribute(expr)) return *of_super;
    return attribute(sugared(expr.item(0)), expr.text, expr.range);
  }
  return {.var = value(expr)};
}

Var* FunctionCompiler::conditional(const Expr& expr, TypePtr hint) {
  Condition test = condition(expr.item(1));
  const Expr& if_true = expr.item(0);
  const Expr& if_false = expr.item(2);
  if (test.fixed) return value(*test.fixed ? if_true : if_false, hint);
  Node* node = emit(NodeKind::kIf, expr.range, {test.var});
  Scope yes{scope_, {}};
  Scope no{scope_, {}};
  Block* then = graph_.make_block(node);
  Block* otherwise = graph_.make_block(node);
  TypePtr types[2];
  run_in(then, &yes, [&] {
    refine(test.refinements.when_true, expr.range);
    Var* result = value(if_true, hint);
    types[0] = result->type;
    emit(NodeKind::kYield, expr.range, {result});
  });
  run_in(otherwise, &no, [&] {
    refine(test.refinements.when_false, expr.range);
    Var* result = value(if_false, hint);
    types[1] = result->type;
    emit(NodeKind::kYield, expr.range, {result});
  });
  TypePtr type = unify(types_, types[0], types[1]);
  if (!type && hint && is_subtype(types[0], hint) && is_subtype(types[1], hint))
    type = hint;  // Any, or a Union of both
  if (!type) {
    fail_at(expr.range, "the value is of type '", types[0]->annotation(),
            "' if the condition holds and of type '", types[1]->annotation(),
            "' if not");
  }
  return graph_.add_output(node, type);
}

Var* FunctionCompiler::list(const Expr& expr, TypePtr hint) {
  if (hint && hint->kind == TypeKind::kOptional) hint = hint->item();
  TypePtr wanted =
      hint && hint->kind == TypeKind::kList ? hint->item() : nullptr;
  std::vector<Var*> items;
  TypePtr item_type = nullptr;
  std::vector<CallArg> elements;
  for (const Expr* item : expr.items) {
    if (item->kind == ExprKind::kStarred)
      spread(value(item->item(0)), item->range, elements);
    else
      elements.push_back({value(*item, wanted), {}, item->range});
  }
  for (const CallArg& element : elements) {
    Var* var = element.var;
    if (wanted) {
      var = as_type(var, wanted, element.range, "List type annotation `List[",
                    "]` did not match the types of the given list elements, "
                    "which were unified to ");
    }
    items.push_back(var);
    if (wanted) continue;
    TypePtr both = item_type ? unify(types_, item_type, var->type) : var->type;
    item_type = both ? both : types_.union_of({item_type, var->type});
  }
  if (wanted) item_type = wanted;
  const bool untold = !item_type;
  if (untold) item_type = TypeTable::tensor();
  Var* made =
      emit_value(NodeKind::kList, expr.range, items, types_.list(item_type));
  if (untold) made->producer->index = kEmptyLiteral;
  return made;
}

Var* FunctionCompiler::tuple(const Expr& expr, TypePtr hint) {
  if (hint && hint->kind == TypeKind::kOptional) hint = hint->item();
  bool hinted = hint && hint->kind == TypeKind::kTuple &&
                hint->items.size() == expr.items.size();
  std::vector<Var*> items;
  std::vector<TypePtr> types;
  for (size_t i = 0; i < expr.items.size(); ++i) {
    Var* var = value(expr.item(i), hinted ? hint->items[i] : nullptr);
    // So that (1, None) can stand for Tuple[float, Optional[Tensor]].
    if (hinted && var->type->kind == TypeKind::kInt &&
        hint->items[i]->kind == TypeKind::kFloat)
      var = converted(var, hint->items[i], expr.range);
    items.push_back(var);
    types.push_back(var->type);
  }
  return emit_value(NodeKind::kTuple, expr.range, items,
                    types_.tuple(std::move(types)));
}

Var* FunctionCompiler::dict(const Expr& expr, TypePtr hint) {
  if (hint && hint->kind == TypeKind::kOptional) hint = hint->item();
  TypePtr type = hint && hint->kind == TypeKind::kDict ? hint : nullptr;
  std::vector<Var*> items;
  for (size_t i = 0; i < expr.items.size(); ++i) {
    size_t side = i % 2;
    const Expr& item = expr.item(i);
    Var* var = value(item, type ? type->items[side] : nullptr);
    if (type) {
      var = as_type(var, type->items[side], item.range,
                    "the dict's element should be of type ", ", but is ");
    }
    items.push_back(var);
  }
  if (!type) {
    TypePtr types[2] = {TypeTable::string(), TypeTable::tensor()};
    for (size_t i = 0; i < items.size(); ++i) {
      types[i % 2] =
          i < 2 ? items[i]->type : unify(types_, types[i % 2], items[i]->type);
      if (!types[i % 2]) {
        if (i % 2 == 0) {
          fail_at(expr.items[i]->range,
                  "Dict keys must contain only a single type. Expected: ",
                  items[0]->type->annotation(), " but found ",
                  items[i]->type->annotation(), " instead");
        }
        fail_at(expr.range, "a dict's elements must be of one type");
      }
    }
    type = types_.dict(types[0], types[1]);
  }
  return emit_value(NodeKind::kDict, expr.range, items, type);
}

Var* FunctionCompiler::binary(const Expr& expr) {
  // The left side of a chain like a + b + c + ... is as deep as it is long.
  std::vector<const Expr*> chain = {&expr};
  while (chain.back()->item(0).kind == ExprKind::kBinary)
    chain.push_back(&chain.back()->item(0));
  Var* left = value(chain.back()->item(0));
  for (; !chain.empty(); chain.pop_back()) {
    const Expr& step = *chain.back();
    // An empty list is one of what the other holds.
    const bool empty =
        step.item(1).kind == ExprKind::kList && step.item(1).items.empty();
    TypePtr hint =
        empty && left->type->kind == TypeKind::kList ? left->type : nullptr;
    left = operate(step.op, left, value(step.item(1), hint), step.range);
  }
  return left;
}

Var* FunctionCompiler::operate(std::string_view op, Var* left, Var* right,
                               const SourceRange& range) {
  if (left->type->kind == TypeKind::kClass) {
    Sugared method = attribute_of(left, find(kMagic, op), range);
    return call_sugared(method, {{right, {}, range}}, range);
  }
  if (left->type->kind == TypeKind::kString && op == "%")
    return builtin("percentFormat", {left, right}, range);
  if (left->type->kind == TypeKind::kTuple &&
      right->type->kind == TypeKind::kTuple && op == "+") {
    std::vector<Var*> items;
    std::vector<TypePtr> types;
    for (Var* side : {left, right}) {
      Node* node = emit(NodeKind::kTupleUnpack, range, {side});
      for (TypePtr type : side->type->items) {
        items.push_back(graph_.add_output(node, type));
        types.push_back(type);
      }
    }
    return emit_value(NodeKind::kTuple, range, items,
                      types_.tuple(std::move(types)));
  }
  if (is_number(left) && right->type->kind == TypeKind::kTensor)
    return number_and_tensor(op, left, right, range);
  return builtin(find(kBinary, op), {left, right}, range);
}

// The number takes part in promotion as a number, which it would not as a
// tensor.
Var* FunctionCompiler::number_and_tensor(std::string_view op, Var* number,
                                         Var* tensor,
                                         const SourceRange& range) {
  if (std::string_view name = find(kMirrored, op); !name.empty())
    return builtin(name, {tensor, number}, range);
  if (op == "/") {
    return builtin("mul", {builtin("reciprocal", {tensor}, range), number},
                   range);
  }
  return builtin(find(kBinary, op), {number, tensor}, range);
}

Var* FunctionCompiler::compare(const Expr& expr) {
  Var* left = value(expr.item(0));
  Var* right = value(expr.item(1));
  if (expr.op == "in" || expr.op == "not in") {
    if (is_container(right)) {
      Var* own =
          magic(right, "__contains__", {{left, {}, expr.range}}, expr.range);
      if (own)
        return expr.op == "in" ? own : builtin("__not__", {own}, expr.range);
      right = container_view(right, "keys", expr.range);
    }
    if (right->type->kind == TypeKind::kTuple && right->type->items.empty())
      return constant(expr.op != "in", expr.range);
    // In a tuple: its elements as a list.
    if (right->type->kind == TypeKind::kTuple) {
      right = as_type(right, types_.list(left->type), expr.range,
                      "the container should be of type ", ", but is ");
    }
    Var* found =
        magic(right, "__contains__", {{left, {}, expr.range}}, expr.range);
    if (!found) found = builtin("__contains__", {right, left}, expr.range);
    return expr.op == "in" ? found : builtin("__not__", {found}, expr.range);
  }
  if (left->type->kind == TypeKind::kClass) {
    Sugared method = attribute_of(left, find(kMagic, expr.op), expr.range);
    return call_sugared(method, {{right, {}, expr.range}}, expr.range);
  }
  // `x.size() == (2, 3)`: sizes are lists here and tuples in Python.
  if (left->type->kind == TypeKind::kList &&
      right->type->kind == TypeKind::kTuple) {
    right = as_type(right, left->type, expr.range,
                    "the list should be of type ", ", but is ");
  } else if (left->type->kind == TypeKind::kTuple &&
             right->type->kind == TypeKind::kList) {
    left = as_type(left, right->type, expr.range, "the list should be of type ",
                   ", but is ");
  }
  if (is_number(left) && right->type->kind == TypeKind::kTensor)
    return number_and_tensor(expr.op, left, right, expr.range);
  return builtin(find(kCompare, expr.op), {left, right}, expr.range);
}

}  // namespace hotaru::script
