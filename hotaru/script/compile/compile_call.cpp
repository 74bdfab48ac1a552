// Calls of functions, methods, classes and operators.
#include <algorithm>

#include "hotaru/core/printing/concat.h"
#include "hotaru/script/builtins/builtins.h"
#include "hotaru/script/compile/compiler.h"
#include "hotaru/script/program/hooks.h"
#include "hotaru/script/run/interpreter.h"
#include "hotaru/script/source/script_error.h"

namespace hotaru::script {

std::vector<CallArg> FunctionCompiler::arguments(const Expr& expr,
                                                 size_t first) {
  std::vector<CallArg> out;
  for (size_t i = first; i < expr.items.size(); ++i) {
    const Expr& item = expr.item(i);
    if (item.kind == ExprKind::kStarred)
      spread(value(item.item(0)), item.range, out);
    else
      out.push_back({value(item), {}, item.range});
  }
  for (const Keyword& keyword : expr.keywords)
    out.push_back({value(*keyword.value), keyword.name, keyword.value->range});
  return out;
}

// f(*t) of a tuple passes its elements.
void FunctionCompiler::spread(Var* var, const SourceRange& range,
                              std::vector<CallArg>& out) {
  if (var->type->kind != TypeKind::kTuple) {
    fail_at(range,
            "only tuples can be spread with '*', not a value of "
            "type '",
            var->type->annotation(), "'");
  }
  Node* node = emit(NodeKind::kTupleUnpack, range, {var});
  for (TypePtr type : var->type->items)
    out.push_back({graph_.add_output(node, type), {}, range});
}

// As the operator's own signature would say it, up to the container's type.
std::string FunctionCompiler::element_mismatch(TypePtr actual) {
  return concat(
      "Arguments for call are not valid.\nCould not match type ",
      actual->annotation(),
      " to t in argument 'el': Type variable 't' previously matched to type ");
}

Var* FunctionCompiler::call(const Expr& expr, TypePtr hint) {
  const Expr& callee = expr.item(0);
  bool plain =
      callee.kind == ExprKind::kName || callee.kind == ExprKind::kAttribute;
  Sugared target = plain ? sugared(callee) : Sugared{.var = value(callee)};
  if (target.kind == Sugared::Kind::kMeaning &&
      target.meaning.kind == Meaning::Kind::kSpecial) {
    if (auto result = special(target.meaning.text, expr, hint)) return *result;
    fail_at(callee.range, "'", target.meaning.text, "' is not supported here");
  }
  if (target.kind == Sugared::Kind::kConstructor) {
    TypePtr type = target.meaning.type;
    if (type->kind != TypeKind::kClass)
      fail_at(expr.range, "'__new__' needs a class");
    Node* node = emit(NodeKind::kCreate, expr.range, {});
    node->type = type;
    return graph_.add_output(node, type);
  }
  // append() of a literal and the like: the list tells the element's type.
  if (target.kind == Sugared::Kind::kBuiltinMethod &&
      target.var->type->kind == TypeKind::kList && target.text == "append" &&
      expr.items.size() == 2) {
    TypePtr item = target.var->type->item();
    Var* element = value(expr.item(1), item);
    return call_sugared(
        target,
        {{as_type(element, item, callee.range, element_mismatch(element->type),
                  " is matched to type "),
          {},
          expr.range}},
        callee.range);
  }
  if (target.kind == Sugared::Kind::kBuiltinMethod && target.text == "tolist" &&
      target.var->type->kind == TypeKind::kTensor) {
    if (!hint) {
      fail_at(expr.range,
              "Expected type hint for result of tolist(): write "
              "`x: List[int] = t.tolist()`");
    }
    return cast(builtin("tolist", {target.var}, expr.range), hint, expr.range);
  }
  // As PyTorch has it, what runs stands where its name does.
  return call_sugared(target, arguments(expr), callee.range);
}

Var* FunctionCompiler::call_sugared(const Sugared& callee,
                                    std::vector<CallArg> args,
                                    const SourceRange& range) {
  auto with_self = [&] {
    args.insert(args.begin(), CallArg{callee.var, {}, range, true});
  };
  switch (callee.kind) {
    case Sugared::Kind::kVar: {
      if (callee.var->type->kind != TypeKind::kClass) break;
      ClassType& cls = *callee.var->type->cls;
      if (cls.has_hooks() && cls.find_method("forward"))
        return call_with_hooks(callee.var, args, range);
      bool module = cls.is_module() || cls.is_module_interface();
      // One that is left to Python has no method yet.
      if (module && !cls.find_method("forward")) cls.load_member("forward");
      std::string_view name =
          module && cls.find_method("forward") ? "forward" : "__call__";
      return call_sugared(class_attribute(callee.var, name, range),
                          std::move(args), range);
    }
    case Sugared::Kind::kMethod:
      with_self();
      return call_function(*callee.function, std::move(args), range);
    case Sugared::Kind::kModuleMethod: {
      std::vector<Var*> inputs =
          bound(*callee.function, {callee.var}, args, range);
      Node* node = emit(NodeKind::kCallMethod, range, inputs);
      node->name = callee.text;
      // The class's own method may declare another result.
      return cast(graph_.add_output(node, TypeTable::any()),
                  callee.function->result_type(), range);
    }
    case Sugared::Kind::kBuiltinMethod:
      if (callee.var->type->kind == TypeKind::kClass &&
          is_module_walk(callee.text)) {
        if (!args.empty()) {
          fail_at(range, "'", callee.text,
                  "' takes no arguments in compiled code");
        }
        return module_walk(callee.var, callee.text, range);
      }
      if (is_container(callee.var))
        return container_view(callee.var, callee.text, range);
      if (callee.text == "format" &&
          callee.var->type->kind == TypeKind::kString)
        return format_call(callee.var, args, range);
      if (TypeKind kind = callee.var->type->kind;
          kind == TypeKind::kInt || kind == TypeKind::kFloat ||
          kind == TypeKind::kBool)  // operators of numbers are no methods
        no_attribute(callee.var->type, callee.text, range);
      if (callee.var->type->kind == TypeKind::kTensor) {
        const Meaning own = function_.resolver().tensor_method(callee.text);
        check_usable(own, range);
        if (own.kind != Meaning::Kind::kUnknown) {
          with_self();
          return call_sugared({.kind = Sugared::Kind::kMeaning, .meaning = own},
                              std::move(args), range);
        }
      }
      if (block_ == &graph_.top() && find_builtins(callee.text).empty() &&
          Registry::instance().find(callee.text).empty() &&
          !is_renamed(callee.text))
        no_attribute(callee.var->type, callee.text, range);
      with_self();
      return builtin(callee.text, args, range);
    case Sugared::Kind::kMeaning: {
      const Meaning& meaning = callee.meaning;
      if (meaning.kind == Meaning::Kind::kFunction)
        return call_function(*meaning.function, std::move(args), range);
      if (meaning.kind == Meaning::Kind::kOverloads) {
        if (callee.var) with_self();
        return call_overloads(meaning.overloads, args, range);
      }
      if (meaning.kind == Meaning::Kind::kDispatch) {
        const Meaning& chosen = dispatched(*meaning.dispatch, args, range);
        return call_sugared(
            {.kind = Sugared::Kind::kMeaning, .meaning = chosen},
            std::move(args), range);
      }
      if (meaning.kind == Meaning::Kind::kValue && meaning.result)
        return call_python(meaning, args, range);
      if (meaning.kind == Meaning::Kind::kType)
        return call_type(meaning.type, std::move(args), range);
      if (meaning.kind == Meaning::Kind::kGeneric && meaning.text == "device")
        return builtin(meaning.text, args, range);
      if (meaning.kind == Meaning::Kind::kBuiltin) {
        if (meaning.text == "format" && !args.empty()) {
          std::vector<Var*> inputs;
          for (const CallArg& arg : args) inputs.push_back(arg.var);
          return emit_value(NodeKind::kFormat, range, inputs,
                            TypeTable::string());
        }
        if (meaning.text == "len" && args.size() == 1) {
          if (Var* out = magic(args[0].var, "__len__", {}, range)) return out;
          if (auto length = fixed_length(args[0].var))
            return constant(*length, range);
        }
        if (meaning.text == "einsum")
          return builtin(meaning.text, einsum_arguments(args, range), range);
        return builtin(meaning.text, args, range);
      }
      break;
    }
    case Sugared::Kind::kConstructor:
    case Sugared::Kind::kSlice:
      break;
    case Sugared::Kind::kClosure:
      fail_at(range, "local functions can only be passed to fork");
  }
  if (callee.kind == Sugared::Kind::kVar) {
    fail_at(range, "cannot call a value of type '",
            callee.var->type->annotation(), "'");
  }
  fail_at(range, "cannot call a ", kind_of(callee));
}

// A call that is left to Python.
Var* FunctionCompiler::call_python(const Meaning& callee,
                                   const std::vector<CallArg>& args,
                                   const SourceRange& range) {
  std::vector<Var*> items;
  std::vector<TypePtr> types;
  for (const CallArg& arg : args) {
    if (!arg.keyword.empty()) {
      fail_at(arg.range, "keyword arguments in Python calls aren't supported");
    }
    items.push_back(arg.var);
    types.push_back(arg.var->type);
  }
  Var* function = literal(callee.value, range, callee.type);
  Var* given = emit_value(NodeKind::kTuple, range, items,
                          types_.tuple(std::move(types)));
  return cast(builtin("call_foreign", {function, given}, range), callee.result,
              range);
}

// Picks the function by the flag, which neither of the two takes.
const Meaning& FunctionCompiler::dispatched(const Dispatch& dispatch,
                                            std::vector<CallArg>& args,
                                            const SourceRange& range) {
  bool flag = dispatch.fallback;
  for (size_t i = 0; i < args.size(); ++i) {
    bool meant = args[i].keyword.empty() ? i == dispatch.position
                                         : args[i].keyword == dispatch.argument;
    if (!meant) continue;
    const Node* node = args[i].var->producer;
    if (!node || node->kind != NodeKind::kConstant || !node->value.is_bool()) {
      fail_at(args[i].range, "'", dispatch.argument,
              "' chooses between functions and must be a constant");
    }
    flag = node->value.as_bool();
    args.erase(args.begin() + std::ptrdiff_t(i));
    break;
  }
  return flag ? dispatch.if_true : dispatch.if_false;
}

Var* FunctionCompiler::call_function(Function& function,
                                     std::vector<CallArg> args,
                                     const SourceRange& range) {
  try {
    function.result_type();  // compiles it where no result is declared
  } catch (const ScriptError& e) {
    throw e.called_from(function.short_name(), function_.short_name(), range);
  }
  std::vector<Var*> inputs = bound(function, {}, args, range);
  Node* node = emit(NodeKind::kCall, range, inputs);
  node->callee = &function;
  return graph_.add_output(node, function.result_type());
}

// First the one whose types are the arguments' own, then the one that takes
// them converted.
Var* FunctionCompiler::call_overloads(const std::vector<Function*>& overloads,
                                      const std::vector<CallArg>& args,
                                      const SourceRange& range) {
  auto takes = [&](Function& function) {
    const std::vector<Parameter>& params = function.params();
    size_t position = 0;
    for (const CallArg& arg : args) {
      size_t i = position++;
      if (!arg.keyword.empty()) {
        i = 0;
        while (i < params.size() && params[i].name != arg.keyword) ++i;
      }
      if (i >= params.size() || !is_subtype(arg.var->type, params[i].type))
        return false;
    }
    return true;
  };
  for (Function* function : overloads) {
    if (!takes(*function)) continue;
    try {
      bound(*function, {}, args, range);
    } catch (const ScriptError&) {
      continue;
    }
    return call_function(*function, args, range);
  }
  std::string reasons;
  for (Function* function : overloads) {
    try {
      bound(*function, {}, args, range);
    } catch (const ScriptError&) {
      reasons += concat("  \n  ", function->schema(), "\n");
      continue;
    }
    return call_function(*function, args, range);
  }
  fail_at(range,
          "Arguments for call are not valid.\nThe following variants are "
          "available:\n",
          reasons, "\nThe original call is");
}

std::vector<Var*> FunctionCompiler::bound(Function& function,
                                          std::vector<Var*> inputs,
                                          const std::vector<CallArg>& args,
                                          const SourceRange& range) {
  const std::vector<Parameter>& params = function.params();
  size_t position = inputs.size();
  const size_t inputs_given = position;
  std::string_view unknown;  // a keyword
  std::string too_many;
  auto refuse = [&](const std::string& why) {
    fail_at(range, function.schema(), ":\n", why, "\n");
  };
  inputs.resize(params.size(), nullptr);
  for (const CallArg& arg : args) {
    size_t i = position;
    if (arg.keyword.empty()) {
      if (i >= params.size() || params[i].keyword_only) {
        size_t given =
            inputs_given +
            std::count_if(args.begin(), args.end(), [](const CallArg& given) {
              return given.keyword.empty();
            });
        const size_t most = std::count_if(
            params.begin(), params.end(),
            [](const Parameter& param) { return !param.keyword_only; });
        for (const Parameter& param : params) {
          bool named = std::any_of(
              args.begin(), args.end(),
              [&](const CallArg& a) { return a.keyword == param.name; });
          if (param.keyword_only && !param.has_default && !named)
            refuse(concat("Argument ", param.name, " not provided."));
        }
        too_many = concat("Expected at most ", most, " arguments but found ",
                          given, " positional arguments.");
        continue;
      }
      ++position;
    } else {
      i = 0;
      while (i < params.size() && params[i].name != arg.keyword) ++i;
      if (i == params.size()) {
        unknown = arg.keyword;
        continue;
      }
    }
    if (inputs[i])
      refuse(concat("Keyword argument ", params[i].name, " specified twice."));
    TypeKind given = arg.var->type->kind;
    if (params[i].broadcast > 0 &&
        (given == TypeKind::kInt || given == TypeKind::kFloat)) {
      std::vector<Var*> copies(size_t(params[i].broadcast), arg.var);
      TypePtr list = params[i].type->kind == TypeKind::kOptional
                         ? params[i].type->item()
                         : params[i].type;
      inputs[i] = emit_value(NodeKind::kList, range, copies, list);
      continue;
    }
    // A tensor where a number is declared converts, as in eager mode.
    inputs[i] = converted(arg.var, params[i].type, arg.range);
    if (!inputs[i]) {
      refuse(concat("Expected a value of type '", params[i].type->annotation(),
                    "' for argument '", params[i].name,
                    "' but instead found type '", arg.var->type->annotation(),
                    "'.", interface_trouble(arg.var->type, params[i].type)));
    }
  }
  if (!too_many.empty()) refuse(too_many);
  for (size_t i = 0; i < params.size(); ++i) {
    if (inputs[i]) continue;
    if (!params[i].has_default)
      refuse(concat("Argument ", params[i].name, " not provided."));
    inputs[i] = constant(params[i].default_value, range, params[i].type);
  }
  if (!unknown.empty())
    refuse(concat("Keyword argument ", unknown, " unknown."));
  return inputs;
}

// Compiles a call of a module: forward between its hooks.
Var* FunctionCompiler::call_with_hooks(Var* module,
                                       const std::vector<CallArg>& args,
                                       const SourceRange& range) {
  const ClassType& cls = *module->type->cls;
  Function& forward = *cls.find_method("forward");
  auto tuple_of = [&](const std::vector<Var*>& items) {
    std::vector<TypePtr> types;
    for (Var* item : items) types.push_back(item->type);
    return emit_value(NodeKind::kTuple, range, items, types_.tuple(types));
  };
  CallArg self = {module, {}, range};
  std::vector<Var*> inputs = bound(forward, {module}, args, range);
  Var* input = tuple_of({inputs.begin() + 1, inputs.end()});
  for (Function* hook : cls.hooks(ClassType::HookTime::kBefore)) {
    Var* result = call_function(*hook, {self, {input, {}, range}}, range);
    if (result->type->kind == TypeKind::kNone) continue;
    bool whole = is_whole_input(result->type, forward);
    input = whole ? result : tuple_of({result});
  }
  std::vector<CallArg> unpacked = {self};
  spread(input, range, unpacked);
  for (size_t i = 1; i < unpacked.size(); ++i) {
    const Parameter& param = forward.params()[i];
    if (param.keyword_only) unpacked[i].keyword = param.name;
  }
  Var* output = call_function(forward, unpacked, range);
  for (Function* hook : cls.hooks(ClassType::HookTime::kAfter)) {
    Var* result = call_function(
        *hook, {self, {input, {}, range}, {output, {}, range}}, range);
    if (result->type->kind != TypeKind::kNone) output = result;
  }
  return output;
}

namespace {

[[noreturn]] void refuse_fields(const Type& type, const std::string& why,
                                const SourceRange& range) {
  std::string schema(type.name.substr(type.name.rfind('.') + 1));
  const size_t first = type.items.size() - type.defaults.size();
  for (size_t k = 0; k < type.items.size(); ++k) {
    schema += concat(k ? ", " : "(", type.items[k]->str(), " ", type.fields[k]);
    if (k >= first) schema += "=" + value_text(type.defaults[k - first]);
  }
  fail_at(range, schema, ") -> ():\n", why, "\n");
}

}  // namespace

Var* FunctionCompiler::call_type(TypePtr type, std::vector<CallArg> args,
                                 const SourceRange& range) {
  if (type->kind == TypeKind::kTuple && !type->name.empty()) {
    const size_t size = type->items.size();
    std::vector<Var*> items(size, nullptr);
    size_t position = 0;
    std::string_view unknown;  // a keyword
    for (const CallArg& arg : args) {
      size_t i = position;
      if (arg.keyword.empty()) {
        ++position;
      } else {
        i = size_t(
            std::find(type->fields.begin(), type->fields.end(), arg.keyword) -
            type->fields.begin());
      }
      if (i >= size) {
        if (!arg.keyword.empty()) unknown = arg.keyword;
        continue;
      }
      if (items[i]) {
        refuse_fields(*type,
                      concat("Argument '", arg.keyword, "' is given twice."),
                      range);
      }
      items[i] = converted(arg.var, type->items[i], arg.range);
      if (!items[i]) {
        refuse_fields(*type,
                      concat("Expected a value of type '",
                             type->items[i]->annotation(), "' for argument '",
                             type->fields[i], "' but instead found type '",
                             arg.var->type->annotation(), "'."),
                      arg.range);
      }
    }
    if (position > size) {
      refuse_fields(*type,
                    concat("Expected at most ", size, " arguments but found ",
                           position, " positional arguments."),
                    range);
    }
    const size_t first = size - type->defaults.size();
    for (size_t i = 0; i < size; ++i) {
      if (!items[i] && i >= first)
        items[i] = literal(type->defaults[i - first], range, type->items[i]);
      if (!items[i]) {
        refuse_fields(*type,
                      concat("Argument ", type->fields[i], " not provided."),
                      range);
      }
    }
    if (!unknown.empty()) {
      refuse_fields(*type, concat("Keyword argument ", unknown, " unknown."),
                    range);
    }
    return emit_value(NodeKind::kTuple, range, items, type);
  }
  if (type->kind != TypeKind::kClass || type->cls->is_module() ||
      type->cls->is_interface())
    fail_at(range, "cannot call a value of type '", type->annotation(), "'");
  Node* node = emit(NodeKind::kCreate, range, {});
  node->type = type;
  Var* self = graph_.add_output(node, type);
  if (Function* init = type->cls->find_method("__init__")) {
    args.insert(args.begin(), CallArg{self, {}, range});
    call_function(*init, std::move(args), range);
  } else if (!args.empty()) {
    fail_at(range, "'", type->annotation(), "' takes no arguments");
  }
  return self;
}

}  // namespace hotaru::script
