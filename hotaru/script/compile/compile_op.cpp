// Overload resolution over operator schemas.
#include <algorithm>
#include <map>

#include "hotaru/core/printing/concat.h"
#include "hotaru/script/builtins/builtins.h"
#include "hotaru/script/compile/compiler.h"

namespace hotaru::script {

namespace {

/// Type that a type variable stands for. Inside a list or dict it is exact:
/// what is put into a List[Tensor] must not widen it to List[Optional[Tensor]].
struct Variable {
  TypePtr type;
  bool exact;
};
using Variables = std::map<std::string, Variable>;

TypePtr substitute(TypeTable& types, TypePtr type, const Variables& known) {
  if (!has_variables(type)) return type;
  if (type->kind == TypeKind::kVar) {
    auto found = known.find(type->name);
    return found == known.end() ? nullptr : found->second.type;
  }
  std::vector<TypePtr> items;
  for (TypePtr item : type->items) {
    items.push_back(substitute(types, item, known));
    if (!items.back()) return nullptr;
  }
  switch (type->kind) {
    case TypeKind::kList:
      return types.list(items[0]);
    case TypeKind::kOptional:
      return types.optional(items[0]);
    case TypeKind::kDict:
      return types.dict(items[0], items[1]);
    case TypeKind::kTuple:
      return types.tuple(std::move(items));
    case TypeKind::kFuture:
      return types.future(items[0]);
    case TypeKind::kAwait:
      return types.awaited(items[0]);
    default:
      return nullptr;
  }
}

// Gives variables of `formal` the types that let `actual` stand for it.
bool deduce(TypeTable& types, TypePtr formal, TypePtr actual, bool exact,
            Variables& known) {
  if (!has_variables(formal))
    return exact ? formal == actual : is_subtype(actual, formal);
  if (formal->kind == TypeKind::kVar) {
    auto [found, added] = known.emplace(formal->name, Variable{actual, exact});
    Variable& variable = found->second;
    if (added || variable.type == actual) {
      variable.exact |= exact;
      return true;
    }
    if (exact) {
      if (variable.exact || !is_subtype(variable.type, actual)) return false;
      variable = {actual, true};
      return true;
    }
    if (is_subtype(actual, variable.type)) return true;
    if (variable.exact) return false;
    TypePtr both = unify(types, actual, variable.type);
    if (both) variable.type = both;
    return both != nullptr;
  }
  if (formal->kind == TypeKind::kOptional) {
    if (actual->kind == TypeKind::kNone) return !exact;
    TypePtr item =
        actual->kind == TypeKind::kOptional ? actual->item() : actual;
    return deduce(types, formal->item(), item, exact, known);
  }
  if (formal->kind != actual->kind ||
      formal->items.size() != actual->items.size())
    return false;
  bool inside = exact || formal->kind == TypeKind::kList ||
                formal->kind == TypeKind::kDict;
  for (size_t i = 0; i < formal->items.size(); ++i)
    if (!deduce(types, formal->items[i], actual->items[i], inside, known))
      return false;
  return true;
}

bool is_integral(TypePtr type) {
  return type->kind == TypeKind::kInt || type->kind == TypeKind::kBool;
}

std::string signature_text(const Operator& op) {
  return qualified(op.schema().str());
}

// Names that Python and PyTorch's operators spell differently.
constexpr std::pair<std::string_view, std::string_view> kRenamed[] = {
    {"absolute", "abs"},      {"multiply", "mul"},
    {"divide", "div"},        {"subtract", "sub"},
    {"true_divide", "div"},   {"truediv", "div"},
    {"concat", "cat"},        {"concatenate", "cat"},
    {"greater", "gt"},        {"less", "lt"},
    {"not_equal", "ne"},      {"greater_equal", "ge"},
    {"less_equal", "le"},     {"__floordiv__", "floordiv"},
    {"absolute_", "abs_"},    {"multiply_", "mul_"},
    {"divide_", "div_"},      {"subtract_", "sub_"},
    {"true_divide_", "div_"}, {"negative_", "neg_"},
    {"clip_", "clamp_"},      {"arctan2_", "atan2_"},
};

// Python's operators between tensors; numbers have their own.
constexpr std::pair<std::string_view, std::string_view> kOfTensors[] = {
    {"floordiv", "floor_divide"},
    {"__and__", "bitwise_and"},
    {"__or__", "bitwise_or"},
    {"__xor__", "bitwise_xor"},
    {"__iand__", "bitwise_and_"},
    {"__ior__", "bitwise_or_"},
    {"__ixor__", "bitwise_xor_"},
    {"__lshift__", "bitwise_left_shift"},
    {"__rshift__", "bitwise_right_shift"},
    {"__ilshift__", "bitwise_left_shift_"},
    {"__irshift__", "bitwise_right_shift_"},
};

bool can_be_subscripted(TypePtr type) {
  return type->kind == TypeKind::kList || type->kind == TypeKind::kDict ||
         type->kind == TypeKind::kString || type->kind == TypeKind::kTensor;
}

}  // namespace

namespace {

// "add.Tensor": the one overload of that name, whose own is "default" where it
// has none. Null for other names.
const Operator* find_overload(std::string_view name) {
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos) return nullptr;
  const std::string_view op = name.substr(0, dot);
  std::string_view overload = name.substr(dot + 1);
  if (overload == "default") overload = {};
  if (const Operator* found = Registry::instance().find(op, overload))
    return found;
  for (const Operator* found : find_builtins(op))
    if (found->schema().overload == overload) return found;
  return nullptr;
}

}  // namespace

bool has_overload(std::string_view name, std::string_view overload) {
  return name.find('.') == std::string_view::npos &&
         find_overload(concat(name, ".", overload));
}

bool is_renamed(std::string_view name) {
  return std::any_of(std::begin(kRenamed), std::end(kRenamed),
                     [&](const auto& pair) { return pair.first == name; });
}

/// Conversions that a call's arguments may go through, from one attempt to the
/// next: a number of any kind, as item() gives it, is an int only where no
/// signature takes it as it is.
enum class Convert : uint8_t { kNothing, kArguments, kNumbersToInts };

/// Fits one call's arguments to one signature.
class OpMatcher {
 public:
  OpMatcher(FunctionCompiler& compiler, const Signature& signature,
            Convert convert, const SourceRange& range)
      : compiler_(compiler),
        types_(compiler.types_),
        signature_(signature),
        schema_(signature.op->schema()),
        convert_(convert),
        range_(range) {}

  /// Decides without emitting anything, so that failed attempts leave no
  /// trace; `why` says what does not fit.
  bool matches(const std::vector<CallArg>& args, std::string* why) {
    plan_.assign(schema_.arguments.size(), {});
    std::vector<bool> used(args.size(), false);
    size_t next = 0;
    // The object of a method stands for `self`: x.where(condition, other).
    size_t self = schema_.arguments.size();
    if (!args.empty() && args[0].is_self) {
      for (size_t i = 1; i < schema_.arguments.size(); ++i)
        if (schema_.arguments[i].name == "self") self = i;
      if (self < schema_.arguments.size()) {
        used[0] = true;
        next = 1;
      }
    }
    for (size_t i = 0; i < schema_.arguments.size(); ++i) {
      const Argument& formal = schema_.arguments[i];
      Plan& plan = plan_[i];
      if (i == self) {
        plan.args = {args[0].var};
        if (fits(i, plan)) continue;
        *why = mismatch(i, plan.args[0]->type);
        return false;
      }
      for (size_t k = 0; k < args.size(); ++k) {
        // Python's functions call `input` what operators call `self`.
        const bool named =
            args[k].keyword == formal.name ||
            (formal.name == "self" && args[k].keyword == "input");
        if (named) {
          plan.args = {args[k].var};
          used[k] = true;
        }
      }
      bool positional = next < args.size() && args[next].keyword.empty();
      if (!plan.args.empty() && positional && !formal.keyword_only) {
        *why = concat("Keyword argument ", formal.name, " specified twice.");
        return false;
      }
      if (plan.args.empty() && positional && !formal.keyword_only) {
        if (takes_rest(i, args, next)) {
          plan.rest = true;
          for (; next < args.size() && args[next].keyword.empty(); ++next) {
            plan.args.push_back(args[next].var);
            used[next] = true;
          }
        } else {
          plan.args = {args[next].var};
          used[next++] = true;
        }
      }
      if (plan.args.empty()) {
        if (formal.default_value) continue;
        *why = concat("Argument ", formal.name, " not provided.");
        return false;
      }
      if (!fits(i, plan)) {
        *why = mismatch(i, plan.args[0]->type);
        return false;
      }
    }
    for (size_t k = 0; k < args.size(); ++k) {
      if (used[k]) continue;
      *why = args[k].keyword.empty()
                 ? concat("Expected at most ", schema_.arguments.size(),
                          " arguments but found ", args.size(),
                          " positional arguments.")
                 : concat("Keyword argument ", args[k].keyword, " unknown.");
      return false;
    }
    for (const Plan& plan : plan_) conversions_ += plan.converts;
    return true;
  }

  int conversions() const { return conversions_; }

  Var* emit() {
    std::vector<Var*> inputs;
    for (size_t i = 0; i < plan_.size(); ++i)
      inputs.push_back(argument(i, plan_[i]));
    Node* node = compiler_.emit(NodeKind::kOp, range_, inputs);
    node->op = signature_.op;
    std::vector<TypePtr> types;
    for (TypePtr type : signature_.results) {
      TypePtr result = substitute(types_, type, known_);
      if (!result)
        fail_at(range_, "cannot tell the type of this call's result");
      types.push_back(result);
    }
    std::vector<Var*> outputs;
    for (TypePtr type : types)
      outputs.push_back(compiler_.graph_.add_output(node, type));
    if (outputs.size() == 1) return outputs[0];
    if (outputs.empty()) return compiler_.none(range_);
    return compiler_.emit_value(NodeKind::kTuple, range_, outputs,
                                tuple_of(std::move(types)));
  }

 private:
  /// The results as one, with the schema's names for them if all have some.
  TypePtr tuple_of(std::vector<TypePtr> types) {
    std::vector<std::string> names;
    for (const Argument& result : schema_.results) {
      if (result.name.empty()) return types_.tuple(std::move(types));
      names.push_back(result.name);
    }
    return types_.named_tuple("", std::move(names), std::move(types));
  }

  struct Plan {
    std::vector<Var*> args;  // empty: the default
    bool rest = false;       // x.view(2, 3): all remaining make one list
    bool converts = false;
  };

  std::string mismatch(size_t i, TypePtr actual) const {
    std::string_view name = schema_.arguments[i].name;
    TypePtr formal = signature_.params[i];
    if (!has_variables(formal)) {
      return concat("Expected a value of type '", formal->annotation(),
                    "' for argument '", name, "' but instead found type '",
                    actual->annotation(), "'.");
    }
    std::string text =
        concat("Could not match type ", actual->annotation(), " to ",
               formal->annotation(), " in argument '", name, "': ");
    auto known = known_.find(formal->name);
    if (formal->kind == TypeKind::kVar && known != known_.end()) {
      return concat(text, "Type variable '", formal->name,
                    "' previously matched to type ",
                    known->second.type->annotation(), " is matched to type ",
                    actual->annotation(), ".");
    }
    return concat(text, "Cannot match ", formal->annotation(), " to ",
                  actual->annotation(), ".");
  }

  // True if the remaining positional arguments form the list parameter i.
  bool takes_rest(size_t i, const std::vector<CallArg>& args,
                  size_t next) const {
    TypePtr type = signature_.params[i];
    if (type->kind == TypeKind::kOptional) type = type->item();
    if (type->kind != TypeKind::kList || signature_.generic) return false;
    TypePtr given = args[next].var->type;
    if (given->kind == TypeKind::kList || given->kind == TypeKind::kTuple ||
        given->kind == TypeKind::kNone || given->kind == TypeKind::kOptional)
      return false;
    bool last = i + 1 == schema_.arguments.size() ||
                schema_.arguments[i + 1].keyword_only;
    return last && schema_.arguments[i].type.list_size == 0;
  }

  bool fits(size_t i, Plan& plan) {
    TypePtr formal = signature_.params[i];
    if (plan.rest) {
      TypePtr item = formal->kind == TypeKind::kOptional
                         ? formal->item()->item()
                         : formal->item();
      return std::all_of(plan.args.begin(), plan.args.end(), [&](Var* var) {
        return convertible(var->type, item, plan);
      });
    }
    TypePtr actual = plan.args[0]->type;
    if (has_variables(formal)) {
      // A list literal's or tuple's type may serve as a list's.
      if (deduce(types_, formal, actual, false, known_)) return true;
      TypePtr list =
          convert_ == Convert::kNothing ? nullptr : list_of_tuple(actual);
      plan.converts = list != nullptr;
      return list && deduce(types_, formal, list, false, known_);
    }
    if (convertible(actual, formal, plan)) return true;
    if (is_empty_list(plan.args[0]) && list_type(formal)) return true;
    const ArgType& type = schema_.arguments[i].type;
    TypePtr list =
        formal->kind == TypeKind::kOptional ? formal->item() : formal;
    if (type.list_size > 0 && list->kind == TypeKind::kList)
      return convertible(actual, list->item(), plan);
    return false;
  }

  /// True for a list, also if it may be None.
  static bool list_type(TypePtr type) {
    return type->kind == TypeKind::kList ||
           (type->kind == TypeKind::kOptional &&
            type->item()->kind == TypeKind::kList);
  }

  // True for [] as it stands in the call: it is a list of whatever is wanted.
  static bool is_empty_list(const Var* var) {
    return var->name.empty() && var->producer &&
           var->producer->kind == NodeKind::kList &&
           var->producer->index == kEmptyLiteral;
  }

  // The list that a tuple of elements of one type may stand for, or null.
  TypePtr list_of_tuple(TypePtr tuple) const {
    if (tuple->kind != TypeKind::kTuple || tuple->items.empty()) return nullptr;
    TypePtr item = tuple->items[0];
    for (TypePtr other : tuple->items)
      item = item ? unify(types_, item, other) : nullptr;
    return item ? types_.list(item) : nullptr;
  }

  bool convertible(TypePtr actual, TypePtr formal, Plan& plan) const {
    if (is_subtype(actual, formal)) return true;
    if (formal->kind == TypeKind::kOptional)
      return convertible(actual, formal->item(), plan);
    if (formal->kind == TypeKind::kList) {
      TypePtr item = formal->item();
      if (actual->kind == TypeKind::kTuple) {
        return std::all_of(
            actual->items.begin(), actual->items.end(),
            [&](TypePtr type) { return convertible(type, item, plan); });
      }
      // Tensor[] stands for Tensor?[], since operators don't keep lists.
      return actual->kind == TypeKind::kList &&
             is_subtype(actual->item(), item);
    }
    if (formal->kind == TypeKind::kDevice)
      return actual->kind == TypeKind::kString;
    if (convert_ == Convert::kNothing) return false;
    plan.converts = true;
    bool number =
        actual->kind == TypeKind::kInt || actual->kind == TypeKind::kFloat ||
        actual->kind == TypeKind::kBool || actual->kind == TypeKind::kNumber ||
        actual->kind == TypeKind::kComplex;
    switch (formal->kind) {
      case TypeKind::kBool:
        return actual->kind == TypeKind::kTensor;
      case TypeKind::kInt:
        return actual->kind == TypeKind::kTensor ||
               actual->kind == TypeKind::kBool ||
               (actual->kind == TypeKind::kNumber &&
                convert_ == Convert::kNumbersToInts);
      case TypeKind::kFloat:
        return actual->kind == TypeKind::kTensor || is_integral(actual) ||
               actual->kind == TypeKind::kNumber;
      case TypeKind::kComplex:
        return actual->kind == TypeKind::kTensor || number;
      case TypeKind::kNumber:
        return actual->kind == TypeKind::kTensor || number;
      case TypeKind::kTensor:
        return number;
      default:
        return false;
    }
  }

  Var* argument(size_t i, const Plan& plan) {
    const Argument& formal = schema_.arguments[i];
    TypePtr type = signature_.params[i];
    if (plan.args.empty()) {
      return compiler_.constant(*formal.default_value, range_,
                                has_variables(type) ? nullptr : type);
    }
    TypePtr list = type->kind == TypeKind::kOptional ? type->item() : type;
    if (plan.rest) return list_of(plan.args, list);
    Var* var = plan.args[0];
    if (list_type(type) && is_empty_list(var) && !is_subtype(var->type, type))
      return list_of({}, list);
    if (has_variables(type)) {
      const bool tuple =
          var->type->kind == TypeKind::kTuple && list->kind == TypeKind::kList;
      return tuple ? converted(var, substitute(types_, list, known_)) : var;
    }
    bool scalar_for_list =
        list->kind == TypeKind::kList && var->type->kind != TypeKind::kList &&
        var->type->kind != TypeKind::kTuple && !is_subtype(var->type, type);
    if (scalar_for_list) {
      std::vector<Var*> copies(size_t(formal.type.list_size), var);
      return list_of(copies, list);
    }
    return converted(var, type);
  }

  Var* list_of(const std::vector<Var*>& vars, TypePtr list) {
    std::vector<Var*> items;
    for (Var* var : vars) items.push_back(converted(var, list->item()));
    return compiler_.emit_value(NodeKind::kList, range_, items, list);
  }

  Var* converted(Var* var, TypePtr type) {
    if (is_subtype(var->type, type)) return var;
    if (type->kind == TypeKind::kOptional) return converted(var, type->item());
    auto via = [&](std::string_view name) {
      return compiler_.builtin(name, {var}, range_);
    };
    switch (type->kind) {
      case TypeKind::kList: {
        if (var->type->kind == TypeKind::kList) return var;
        Node* node = compiler_.emit(NodeKind::kTupleUnpack, range_, {var});
        std::vector<Var*> items;
        for (TypePtr item : var->type->items)
          items.push_back(compiler_.graph_.add_output(node, item));
        return list_of(items, type);
      }
      case TypeKind::kDevice:
        return via("device");
      case TypeKind::kBool:
        return via("Bool");
      case TypeKind::kInt:
        return via(var->type->kind == TypeKind::kTensor ? "IntImplicit"
                                                        : "Int");
      case TypeKind::kFloat:
        return via(var->type->kind == TypeKind::kTensor ? "FloatImplicit"
                                                        : "Float");
      case TypeKind::kComplex:
        return via(var->type->kind == TypeKind::kTensor ? "ComplexImplicit"
                                                        : "Complex");
      case TypeKind::kNumber:
        return var->type->kind == TypeKind::kTensor ? via("ScalarImplicit")
                                                    : var;
      case TypeKind::kTensor:
        return via("scalar_to_tensor");
      default:
        return var;
    }
  }

  FunctionCompiler& compiler_;
  TypeTable& types_;
  const Signature& signature_;
  const Schema& schema_;
  Convert convert_;
  SourceRange range_;
  std::vector<Plan> plan_;
  Variables known_;
  int conversions_ = 0;
};

Var* FunctionCompiler::builtin(std::string_view name,
                               std::initializer_list<Var*> args,
                               const SourceRange& range) {
  std::vector<CallArg> out;
  for (Var* var : args) out.push_back({var, {}, range});
  return builtin(name, out, range);
}

Var* FunctionCompiler::builtin(std::string_view name,
                               const std::vector<CallArg>& args,
                               const SourceRange& range) {
  if (Var* result = upgraded(name, args, range)) return result;
  for (const auto& [python, op] : kRenamed)
    if (name == python && Registry::instance().find(name).empty() &&
        find_builtins(name).empty())
      name = op;
  if ((name == "__is__" || name == "__isnot__") && args.size() == 2) {
    if (args[0].var->type->kind == TypeKind::kEnum &&
        args[1].var->type->kind == TypeKind::kEnum)
      return builtin(name == "__is__" ? "eq" : "ne", args, range);
    Node* node = emit(NodeKind::kIs, range, {args[0].var, args[1].var});
    node->index = name == "__isnot__";
    return graph_.add_output(node, TypeTable::boolean());
  }
  if (name == "__getitem__" && args.size() != 2) {
    fail_at(range, "__getitem__ expected exactly 1 arguments, got ",
            args.size() - 1);
  }
  if (name == "tensor" || name == "as_tensor") {
    if (Var* made = tensor_of_list(name, args, range)) return made;
  }
  bool tensors = std::any_of(args.begin(), args.end(), [](const CallArg& arg) {
    return arg.var->type->kind == TypeKind::kTensor;
  });
  for (const auto& [python, op] : kOfTensors)
    if (tensors && name == python) name = op;
  std::vector<const Operator*> overloads = find_builtins(name);
  const auto& registered = Registry::instance().find(name);
  // Rather than a tensor to a number, a number converts to a tensor.
  overloads.insert(tensors ? overloads.begin() : overloads.end(),
                   registered.begin(), registered.end());
  if (const Operator* op = find_overload(name)) overloads = {op};
  if (overloads.empty()) return missing_operator(name, range);
  // A dtype is an int here, which x.view(-1) shall not be taken for.
  std::stable_partition(
      overloads.begin(), overloads.end(),
      [](const Operator* op) { return op->schema().overload != "dtype"; });
  // An overload of any number keeps the kind that item() gives.
  const bool number = std::ranges::any_of(args, [](const CallArg& arg) {
    return arg.var->type->kind == TypeKind::kNumber;
  });
  if (number && !tensors)
    std::ranges::stable_partition(overloads, [](const Operator* op) {
      return std::ranges::any_of(
          op->schema().arguments, [](const Argument& argument) {
            return argument.type.kind == ArgKind::kScalar;
          });
    });
  std::string reasons;
  bool single = overloads.size() == 1;
  // The language's own operators, with conversions of any kind, come before
  // those of tensors where only numbers are given.
  auto attempt = [&](Convert convert, bool own, bool others) -> Var* {
    for (const Operator* op : overloads) {
      const bool native = std::ranges::find(registered, op) != registered.end();
      if (!(native ? others : own)) continue;
      const Signature& signature = unit_.signature(*op);
      OpMatcher matcher(*this, signature, convert, range);
      std::string why;
      if (matcher.matches(args, &why)) return matcher.emit();
      if (convert == Convert::kNumbersToInts) {
        reasons += concat(single ? "" : "  \n  ", signature_text(*op), ":\n",
                          single ? "" : "  ", why, "\n");
      }
    }
    return nullptr;
  };
  using enum Convert;
  if (Var* result = attempt(kNothing, true, true)) return result;
  for (const bool own : {true, false}) {
    for (const Convert convert : {kArguments, kNumbersToInts})
      if (Var* result = attempt(convert, own || tensors, !own || tensors))
        return result;
    if (tensors) break;
  }
  // `divide` may lack what `div` takes.
  for (const auto& [python, op] : kRenamed)
    if (name == python) return builtin(op, args, range);
  for (size_t i = 0; i < args.size(); ++i)
    if (args[i].keyword == "out") return builtin_into(name, args, i, range);
  if (name == "__getitem__" && !can_be_subscripted(args[0].var->type)) {
    fail_at(range, "'", args[0].var->type->annotation(),
            "' object is not subscriptable");
  }
  if (single) fail_at(range, reasons);
  fail_at(range,
          "Arguments for call are not valid.\nThe following variants are "
          "available:\n",
          reasons, "\nThe original call is");
}

// On a branch that may never be taken a missing operator is an error of that
// branch alone; elsewhere the function does not compile.
Var* FunctionCompiler::missing_operator(std::string_view name,
                                        const SourceRange& range) {
  std::string message =
      concat("operator '", qualified(name), "' is not implemented");
  if (block_ == &graph_.top()) fail_at(range, message);
  emit_raise(constant(message, range), "builtins.NotImplementedError", range);
  TypePtr type = TypeTable::tensor();
  return constant(default_value(type), range, type);
}

}  // namespace hotaru::script
