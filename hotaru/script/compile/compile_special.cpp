// Syntax that looks like calls: annotate, range, isinstance, fork, casts.
#include <algorithm>
#include <utility>

#include "hotaru/core/printing/concat.h"
#include "hotaru/script/compile/annotation.h"
#include "hotaru/script/compile/compiler.h"
#include "hotaru/script/types/enum_type.h"

namespace hotaru::script {

namespace {

void expect_arguments(const Expr& expr, size_t least, size_t most) {
  size_t count = expr.items.size() - 1;
  if (count < least || count > most) {
    if (expr.item(0).text == "range") {
      fail_at(expr.range, "range expected at ",
              count < least ? concat("least ", least) : concat("most ", most),
              " arguments, got ", count);
    }
    fail_at(expr.range, "'", expr.item(0).text, "' takes ",
            least == most ? concat(least) : concat(least, " to ", most),
            " arguments, not ", count);
  }
}

}  // namespace

// Asking for an attribute of something else than an object is a mistake.
void FunctionCompiler::check_has_attributes(const Var* object,
                                            const SourceRange& range) {
  const Type& type = *object->type;
  if (type.kind == TypeKind::kClass || !type.fields.empty()) return;
  if (type.kind == TypeKind::kTuple) {
    fail_at(range,
            "hasattr's first argument must be a object or NamedTuple, but got "
            "a normal Tuple ",
            type.annotation(), " instead");
  }
  fail_at(range,
          "hasattr's first argument must be an object or NamedTuple, got ",
          type.annotation(), " instead");
}

// einsum(x, [0, 1], y, [1, 2], [0, 2]): the lists as an equation.
std::vector<CallArg> FunctionCompiler::einsum_arguments(
    const std::vector<CallArg>& args, const SourceRange& range) {
  if (args.empty() || args[0].var->type->kind != TypeKind::kTensor) return args;
  auto letters = [&](const CallArg& arg) {
    const Node* list = arg.var->producer;
    if (!list || list->kind != NodeKind::kList)
      fail_at(arg.range,
              "einsum(): a subscript list must be known while "
              "compiling");
    std::string out;
    for (Var* item : list->inputs) {
      const std::optional<int64_t> at = constant_index(item);
      if (!at || *at < 0 || *at >= 52)
        fail_at(arg.range,
                "einsum(): not an ellipsis or a subscript in range "
                "[0, 52)");
      out += char(*at < 26 ? 'A' + *at : 'a' + (*at - 26));
    }
    return out;
  };
  std::string equation;
  std::vector<Var*> operands;
  size_t at = 0;
  for (; at + 1 < args.size() && args[at].keyword.empty(); at += 2) {
    if (args[at].var->type->kind != TypeKind::kTensor) break;
    equation += (at > 0 ? "," : "") + letters(args[at + 1]);
    operands.push_back(args[at].var);
  }
  if (at < args.size() && args[at].keyword.empty())
    equation += "->" + letters(args[at++]);
  Var* list = emit_value(NodeKind::kList, range, operands,
                         types_.list(TypeTable::tensor()));
  std::vector<CallArg> out{{constant(equation, range), {}, range},
                           {list, {}, range}};
  out.insert(out.end(), args.begin() + std::ptrdiff_t(at), args.end());
  return out;
}

std::optional<Var*> FunctionCompiler::special(std::string_view name,
                                              const Expr& expr, TypePtr hint) {
  const SourceRange& range = expr.range;
  auto type_of_item = [&](size_t i) {
    return read_type(unit_, function_.resolver(), expr.item(i));
  };
  if (name == "annotate") {
    expect_arguments(expr, 2, 2);
    TypePtr type = type_of_item(1);
    check_list_annotation(expr.item(2), type);
    Var* var = value(expr.item(2), type);
    return cast(as_type(var, type, range, "expected an expression of type ",
                        " but found "),
                type, range);
  }
  if (name == "unchecked_cast") {
    expect_arguments(expr, 2, 2);
    return cast(value(expr.item(2)), type_of_item(1), range);
  }
  if (name == "uninitialized") {
    expect_arguments(expr, 1, 1);
    TypePtr type = type_of_item(1);
    return constant(default_value(type), range, type);
  }
  if (name == "isinstance") return is_instance(expr).var;
  if (name == "getattr") return get_attr_call(expr);
  if (name == "hasattr") {
    expect_arguments(expr, 2, 2);
    if (expr.item(2).kind != ExprKind::kString) {
      fail_at(expr.item(2).range,
              "hasattr's second argument must be a string literal");
    }
    if (expr.item(1).kind == ExprKind::kName) {
      const Sugared of = sugared(expr.item(1));
      const bool type = of.kind == Sugared::Kind::kMeaning &&
                        of.meaning.kind == Meaning::Kind::kType &&
                        of.meaning.type->kind == TypeKind::kClass;
      if (type) {
        return constant(
            of.meaning.type->cls->find_method(expr.item(2).text) != nullptr,
            range);
      }
    }
    Var* object = value(expr.item(1));
    check_has_attributes(object, expr.item(1).range);
    const std::string_view wanted = expr.item(2).text;
    const std::vector<std::string>& fields = object->type->fields;
    bool found =
        std::find(fields.begin(), fields.end(), wanted) != fields.end();
    if (object->type->kind == TypeKind::kClass) {
      const ClassType& cls = *object->type->cls;
      found = cls.find_attribute(wanted) >= 0 || cls.find_method(wanted) ||
              cls.find_constant(wanted);
      if (!found) {
        const Meaning::Kind kind = cls.load_member(wanted).kind;
        found =
            kind != Meaning::Kind::kUnknown && kind != Meaning::Kind::kError;
      }
    }
    return constant(found, range);
  }
  if (name == "RaiseException") {
    std::vector<CallArg> args = arguments(expr);
    if (args.empty() || args.size() > 2) expect_arguments(expr, 1, 2);
    std::vector<Var*> inputs;
    for (const CallArg& arg : args) {
      if (arg.var->type->kind != TypeKind::kString &&
          arg.var->type->kind != TypeKind::kNone)
        fail_at(arg.range, "an exception's message must be a string");
      inputs.push_back(arg.var);
    }
    emit(NodeKind::kRaise, range, inputs);
    return none(range);
  }
  if (name == "fork") return fork(expr, false);
  if (name == "awaitable") return fork(expr, true);
  if (name == "print") {
    if (!expr.keywords.empty())
      fail_at(expr.item(0).range, "print doesn't accept any keyword arguments");
    std::vector<Var*> inputs;
    for (const CallArg& arg : arguments(expr)) inputs.push_back(arg.var);
    emit(NodeKind::kPrint, range, inputs);
    return none(range);
  }
  if (name == "int" || name == "float" || name == "bool" || name == "str" ||
      name == "complex")
    return number_cast(name, expr);
  if (name == "list" || name == "dict" || name == "tuple" || name == "range" ||
      name == "reversed" || name == "zip" || name == "enumerate")
    return collection_cast(name, expr, hint);
  return std::nullopt;
}

Var* FunctionCompiler::number_cast(std::string_view name, const Expr& expr) {
  const SourceRange& range = expr.range;
  if (name == "complex") {
    expect_arguments(expr, 1, 2);
    return builtin("Complex", arguments(expr), range);
  }
  expect_arguments(expr, 0, 1);
  if (expr.items.size() == 1) {
    if (name == "int") return constant(0, range);
    if (name == "float") return constant(0.0, range);
    if (name == "bool") return constant(false, range);
    return constant(std::string(), range);
  }
  if (name == "bool") return condition(expr.item(1)).var;
  Var* var = value(expr.item(1));
  TypeKind kind = var->type->kind;
  if (Var* out = magic(var, concat("__", name, "__"), {}, range)) return out;
  if (name == "str")
    return kind == TypeKind::kString ? var : builtin("str", {var}, range);
  if ((name == "int" && kind == TypeKind::kInt) ||
      (name == "float" && kind == TypeKind::kFloat))
    return var;
  return builtin(name == "int" ? "Int" : "Float", {var}, range);
}

void FunctionCompiler::check_dict(TypePtr made, TypePtr hint,
                                  const SourceRange& range) {
  if (made->kind != TypeKind::kDict || !hint) return;
  if (hint->kind == TypeKind::kOptional) hint = hint->item();
  if (hint->kind != TypeKind::kDict || is_subtype(made, hint)) return;
  std::string text;
  for (size_t i : {0, 1}) {
    if (is_subtype(made->items[i], hint->items[i])) continue;
    text += concat("Dict type annotation `", hint->annotation(),
                   "` did not match the type of an actual ",
                   i == 0 ? "key" : "value", " type `",
                   made->items[i]->annotation(), "`\n");
  }
  fail_at(range, text);
}

// Collections made from whatever can be iterated.
Var* FunctionCompiler::collection_cast(std::string_view name, const Expr& expr,
                                       TypePtr hint) {
  const SourceRange& range = expr.range;
  if (name == "dict") {
    if (expr.items.size() == 1 && expr.keywords.empty()) {
      TypePtr type =
          hint && hint->kind == TypeKind::kDict
              ? hint
              : types_.dict(TypeTable::string(), TypeTable::tensor());
      return emit_value(NodeKind::kDict, range, {}, type);
    }
    const std::vector<CallArg> args = arguments(expr);
    if (args.size() == 1 && args[0].keyword.empty() &&
        args[0].var->type->kind == TypeKind::kList) {
      const Type& pair = *args[0].var->type->item();
      if (pair.kind == TypeKind::kTuple && pair.items.size() == 2 &&
          pair.items[0]->kind == TypeKind::kUnion) {
        fail_at(range,
                "Dicts may only contain homogeneous keys, but the type of the "
                "first generated key was ",
                pair.items[0]->annotation());
      }
    }
    Var* made = builtin("dict", args, range);
    check_dict(made->type, hint, range);
    return made;
  }
  bool whole = name == "list" || name == "tuple";
  if (whole && expr.items.size() == 1) {
    TypePtr type = hint && hint->kind == TypeKind::kList
                       ? hint
                       : types_.list(TypeTable::tensor());
    return name == "tuple"
               ? emit_value(NodeKind::kTuple, range, {}, types_.tuple({}))
               : emit_value(NodeKind::kList, range, {}, type);
  }
  if (whole) expect_arguments(expr, 1, 1);
  Iteration iteration = iterate(whole ? expr.item(1) : expr);
  if (iteration.items) {
    std::vector<TypePtr> types;
    for (Var* item : *iteration.items) types.push_back(item->type);
    Var* tuple = emit_value(NodeKind::kTuple, range, *iteration.items,
                            types_.tuple(types));
    if (name == "tuple" || types.empty()) return tuple;
    return as_type(tuple, types_.list(types[0]), range,
                   "the list should be of type ", ", but is ");
  }
  if (name == "tuple")
    fail_at(range, "a tuple's length must be known while compiling");
  TypePtr element = nullptr;
  Node* list = emit(NodeKind::kList, range, {});
  Var* result = graph_.add_output(list, types_.list(TypeTable::any()));
  counted_loop(iteration.count, {}, range, {}, [&](Var* index) {
    Var* item = iteration.element(index);
    element = item->type;
    result->type = types_.list(element);
    builtin("append", {result, item}, range);
  });
  return result;
}

Var* FunctionCompiler::comprehension(const Expr& expr, TypePtr hint) {
  if (hint && hint->kind == TypeKind::kOptional) hint = hint->item();
  bool is_dict = expr.kind == ExprKind::kDictComp;
  if (hint && hint->kind != (is_dict ? TypeKind::kDict : TypeKind::kList))
    hint = nullptr;
  size_t first = is_dict ? 2 : 1;
  const Expr& target = expr.item(first);
  const SourceRange& range = expr.range;
  Iteration iteration = iterate(expr.item(first + 1));
  Node* node = emit(is_dict ? NodeKind::kDict : NodeKind::kList, range, {});
  Var* result = graph_.add_output(node, hint);
  auto add = [&] {
    Var* element = value(expr.item(0));
    Var* second = is_dict ? value(expr.item(1)) : nullptr;
    if (!hint)
      result->type = is_dict ? types_.dict(element->type, second->type)
                             : types_.list(element->type);
    if (is_dict) {
      builtin("_set_item", {result, element, second}, range);
    } else {
      element = as_type(element, result->type->item(), range,
                        "the list's element should be of type ", ", but is ");
      builtin("append", {result, element}, range);
    }
  };
  std::function<void(size_t)> when = [&](size_t i) {
    if (i == expr.items.size()) return add();
    Condition test = condition(expr.item(i));
    if (test.fixed) {
      if (*test.fixed) when(i + 1);
      return;
    }
    Node* branch = emit(NodeKind::kIf, range, {test.var});
    Scope yes{scope_, {}};
    Scope no{scope_, {}};
    Block* then = graph_.make_block(branch);
    Block* otherwise = graph_.make_block(branch);
    run_in(then, &yes, [&] {
      refine(test.refinements.when_true, range);
      when(i + 1);
      emit(NodeKind::kYield, range, {});
    });
    run_in(otherwise, &no, [&] { emit(NodeKind::kYield, range, {}); });
  };
  if (iteration.items) {
    for (Var* item : *iteration.items) {
      Scope scope{scope_, {}};
      run_in(block_, &scope, [&] {
        assign_to(target, item, nullptr);
        when(first + 2);
      });
    }
  } else {
    counted_loop(iteration.count, {}, range, {}, [&](Var* index) {
      assign_to(target, iteration.element(index), nullptr);
      when(first + 2);
    });
  }
  if (!result->type) {
    result->type = is_dict
                       ? types_.dict(TypeTable::string(), TypeTable::tensor())
                       : types_.list(TypeTable::tensor());
  }
  return result;
}

Var* FunctionCompiler::get_attr_call(const Expr& expr) {
  expect_arguments(expr, 2, 3);
  if (expr.item(2).kind != ExprKind::kString)
    fail_at(expr.range, "getattr's second argument must be a string literal");
  Var* object = value(expr.item(1));
  bool has_default = expr.items.size() == 4;
  if (has_default) check_has_attributes(object, expr.range);
  if (has_default && object->type->kind == TypeKind::kTuple) {
    const std::vector<std::string>& fields = object->type->fields;
    if (std::find(fields.begin(), fields.end(), expr.item(2).text) ==
        fields.end())
      return value(expr.item(3));
  }
  if (has_default && object->type->kind == TypeKind::kClass) {
    const ClassType& cls = *object->type->cls;
    std::string_view name = expr.item(2).text;
    if (cls.find_attribute(name) < 0 && !cls.find_constant(name) &&
        !cls.find_method(name))
      return value(expr.item(3));
  }
  return as_var(attribute_of(object, expr.item(2).text, expr.range),
                expr.range);
}

// fork(f, x): the call becomes a function of its own.
Var* FunctionCompiler::fork(const Expr& expr, bool awaitable) {
  if (expr.items.size() < 2) {
    fail_at(expr.range, awaitable ? "awaitable" : "fork", " needs a function");
  }
  const SourceRange& range = expr.range;
  Sugared callee = sugared(expr.item(1));
  auto graph = std::make_unique<Graph>();
  std::vector<Var*> inputs;
  TypePtr result = nullptr;
  std::string name =
      concat(function_.name(), awaitable ? ".awaitable" : ".fork");
  if (callee.kind == Sugared::Kind::kClosure) {
    FunctionCompiler inner(*this, function_, *graph, *callee.closure);
    result = inner.compile();
    for (const auto& [outer, param] : inner.captures_) inputs.push_back(outer);
  } else {
    // Compile the call in the new graph, its arguments as parameters.
    std::vector<CallArg> args = arguments(expr, 2);
    if (callee.var) inputs.push_back(callee.var);
    for (const CallArg& arg : args) inputs.push_back(arg.var);
    std::vector<Var*> params;
    for (Var* input : inputs)
      params.push_back(graph->add_param(&graph->top(), input->type));
    FunctionCompiler inner(*this, function_, *graph, *def_);
    size_t next = 0;
    Sugared inside = callee;
    if (callee.var) inside.var = params[next++];
    for (CallArg& arg : args) arg.var = params[next++];
    Var* value = inner.call_sugared(inside, args, range);
    inner.emit(NodeKind::kReturn, range, {value});
    result = value->type;
  }
  Function* forked = unit_.add_function(std::make_unique<Function>(
      unit_, std::move(name), std::move(graph), result));
  Node* node = emit(NodeKind::kFork, range, inputs);
  node->callee = forked;
  node->index = awaitable;
  return graph_.add_output(
      node, awaitable ? types_.awaited(result) : types_.future(result));
}

FunctionCompiler::Iteration FunctionCompiler::iterate(const Expr& iterable) {
  if (iterable.kind == ExprKind::kCall &&
      iterable.item(0).kind == ExprKind::kName &&
      !lookup(iterable.item(0).text)) {
    // By its meaning: a program may give range and zip other names.
    Sugared callee = sugared(iterable.item(0));
    bool special = callee.kind == Sugared::Kind::kMeaning &&
                   callee.meaning.kind == Meaning::Kind::kSpecial;
    std::string_view name = special ? callee.meaning.text : std::string_view();
    if (name == "range") return iterate_range(iterable);
    if (name == "zip") return iterate_together(iterable, false);
    if (name == "enumerate") return iterate_together(iterable, true);
    if (name == "reversed") {
      expect_arguments(iterable, 1, 1);
      Iteration inner = iterate(iterable.item(1));
      if (inner.items) {
        std::reverse(inner.items->begin(), inner.items->end());
        return inner;
      }
      SourceRange range = iterable.range;
      Var* last = builtin("sub", {inner.count, constant(1, range)}, range);
      return {.items = {},
              .count = inner.count,
              .element = [this, inner, last, range](Var* index) {
                return inner.element(builtin("sub", {last, index}, range));
              }};
    }
  }
  if (auto members = iterate_enum(iterable)) return *members;
  return iterate_over(value(iterable), iterable.range);
}

// Over the members of an Enum class, as a list.
std::optional<FunctionCompiler::Iteration> FunctionCompiler::iterate_enum(
    const Expr& iterable) {
  bool named = iterable.kind == ExprKind::kAttribute ||
               (iterable.kind == ExprKind::kName && !lookup(iterable.text));
  if (!named) return {};
  Sugared target = sugared(iterable);
  const SourceRange& range = iterable.range;
  bool is_enum = target.kind == Sugared::Kind::kMeaning &&
                 target.meaning.kind == Meaning::Kind::kType &&
                 target.meaning.type->kind == TypeKind::kEnum;
  if (!is_enum) return iterate_over(as_var(target, range), range);
  TypePtr type = target.meaning.type;
  std::vector<Var*> members;
  for (size_t i = 0; i < type->enumeration->members.size(); ++i) {
    members.push_back(
        constant(enum_member(*type->enumeration, int(i)), range, type));
  }
  return iterate_over(
      emit_value(NodeKind::kList, range, members, types_.list(type)), range);
}

FunctionCompiler::Iteration FunctionCompiler::iterate_range(const Expr& expr) {
  expect_arguments(expr, 1, 3);
  SourceRange range = expr.range;
  std::vector<Var*> bounds;
  for (const CallArg& arg : arguments(expr)) {
    bounds.push_back(arg.var->type->kind == TypeKind::kTensor
                         ? builtin("IntImplicit", {arg.var}, range)
                         : arg.var);
    if (bounds.back()->type->kind != TypeKind::kInt) {
      fail_at(arg.range, "range takes integers, but found ",
              bounds.back()->type->annotation());
    }
  }
  if (bounds.size() == 1) {
    return {.items = {}, .count = bounds[0], .element = [](Var* index) {
              return index;
            }};
  }
  Var* begin = bounds[0];
  Var* step = bounds.size() == 3 ? bounds[2] : constant(1, range);
  Var* count = builtin("__range_length", {begin, bounds[1], step}, range);
  return {.items = {},
          .count = count,
          .element = [this, begin, step, range](Var* index) {
            return builtin("__derive_index", {index, begin, step}, range);
          }};
}

FunctionCompiler::Iteration FunctionCompiler::iterate_together(const Expr& expr,
                                                               bool numbered) {
  SourceRange range = expr.range;
  if (expr.items.size() < 2) expect_arguments(expr, 1, 2);
  std::vector<Iteration> parts;
  size_t sources = numbered ? 2 : expr.items.size();
  for (size_t i = 1; i < sources; ++i) parts.push_back(iterate(expr.item(i)));
  Var* start = nullptr;
  if (numbered) {
    start = expr.items.size() > 2    ? value(expr.item(2))
            : !expr.keywords.empty() ? value(*expr.keywords[0].value)
                                     : constant(0, range);
  }
  auto make_tuple = [this, range](const std::vector<Var*>& items) {
    std::vector<TypePtr> types;
    for (Var* item : items) types.push_back(item->type);
    return emit_value(NodeKind::kTuple, range, items, types_.tuple(types));
  };
  std::optional<size_t> fixed;
  const auto known = std::count_if(
      parts.begin(), parts.end(),
      [](const Iteration& part) { return part.items.has_value(); });
  if (known > 0 && size_t(known) < parts.size()) {
    fail_at(range,
            "Can not iterate over a module list or tuple with a value that "
            "does not have a statically determinable length\n");
  }
  for (const Iteration& part : parts)
    if (part.items)
      fixed = std::min(fixed.value_or(part.items->size()), part.items->size());
  if (fixed) {
    std::vector<Var*> items;
    for (size_t i = 0; i < *fixed; ++i) {
      Var* index = constant(int64_t(i), range);
      std::vector<Var*> element;
      if (numbered) element.push_back(builtin("add", {start, index}, range));
      for (const Iteration& part : parts)
        element.push_back(part.items ? (*part.items)[i] : part.element(index));
      items.push_back(make_tuple(element));
    }
    return {.items = std::move(items)};
  }
  Var* count = parts[0].count;
  for (size_t i = 1; i < parts.size(); ++i)
    count = builtin("min", {count, parts[i].count}, range);
  return {.items = {}, .count = count, .element = [=, this](Var* index) {
            std::vector<Var*> element;
            if (numbered)
              element.push_back(builtin("add", {start, index}, range));
            for (const Iteration& part : parts)
              element.push_back(part.element(index));
            return make_tuple(element);
          }};
}

FunctionCompiler::Iteration FunctionCompiler::iterate_over(
    Var* var, const SourceRange& range) {
  switch (var->type->kind) {
    case TypeKind::kTuple: {
      Node* node = emit(NodeKind::kTupleUnpack, range, {var});
      std::vector<Var*> items;
      for (TypePtr type : var->type->items)
        items.push_back(graph_.add_output(node, type));
      return {.items = std::move(items)};
    }
    case TypeKind::kDict:
      return iterate_over(builtin("keys", {var}, range), range);
    case TypeKind::kTensor:
      return {
          .items = {},
          .count = builtin("len", {var}, range),
          .element = [this, var, range](Var* index) {
            return builtin("select", {var, constant(0, range), index}, range);
          }};
    case TypeKind::kList:
    case TypeKind::kString:
      return {.items = {},
              .count = builtin("len", {var}, range),
              .element = [this, var, range](Var* index) {
                return builtin("__getitem__", {var, index}, range);
              }};
    case TypeKind::kClass: {
      if (!is_container(var)) break;
      bool names = var->type->cls->container() == ClassType::Container::kDict;
      return iterate_over(container_view(var, names ? "keys" : "values", range),
                          range);
    }
    default:
      break;
  }
  fail_at(range, "'", var->type->annotation(), "' object is not iterable");
}

}  // namespace hotaru::script
