// Attributes of values, classes, modules and namespaces; super().
#include <utility>

#include "hotaru/core/printing/concat.h"
#include "hotaru/script/compile/compiler.h"
#include "hotaru/script/types/enum_type.h"

namespace hotaru::script {

namespace {

// Attributes of tensors that are operators without arguments.
constexpr std::pair<std::string_view, std::string_view> kTensorAttributes[] = {
    {"shape", "size"}, {"ndim", "dim"},   {"H", "adjoint"},
    {"T", "numpy_T"},  {"mH", "adjoint"},
};

constexpr std::string_view kSameNameAttributes[] = {
    "dtype",     "device",    "grad",    "data",          "requires_grad",
    "layout",    "is_cuda",   "is_cpu",  "is_sparse",     "is_quantized",
    "is_mkldnn", "is_mps",    "is_meta", "is_leaf",       "itemsize",
    "mT",        "real",      "imag",    "nbytes",        "retains_grad",
    "is_nested", "names",     "is_xpu",  "is_sparse_csr", "is_xla",
    "is_ipu",    "is_vulkan", "is_mtia", "is_maia",
};

}  // namespace

std::string_view kind_of(const Sugared& sugared) {
  switch (sugared.kind) {
    case Sugared::Kind::kMethod:
    case Sugared::Kind::kModuleMethod:
      return "method";
    case Sugared::Kind::kBuiltinMethod:
      return "builtin";
    case Sugared::Kind::kClosure:
      return "closure";
    case Sugared::Kind::kConstructor:
      return "class";
    case Sugared::Kind::kSlice:
    case Sugared::Kind::kVar:
      return "value";
    case Sugared::Kind::kMeaning:
      break;
  }
  switch (sugared.meaning.kind) {
    case Meaning::Kind::kFunction:
    case Meaning::Kind::kDispatch:
    case Meaning::Kind::kOverloads:
      return "function";
    case Meaning::Kind::kBuiltin:
    case Meaning::Kind::kSpecial:
      return "builtin";
    case Meaning::Kind::kNamespace:
      return "module";
    default:
      return {};
  }
}

Sugared FunctionCompiler::attribute(const Sugared& base, std::string_view name,
                                    const SourceRange& range) {
  if (base.kind == Sugared::Kind::kVar)
    return attribute_of(base.var, name, range);
  if (base.kind != Sugared::Kind::kMeaning)
    fail_at(range, "attribute lookup is not defined on ", kind_of(base));
  const Meaning& meaning = base.meaning;
  auto known = [](Value value, TypePtr type) -> Sugared {
    return {.kind = Sugared::Kind::kMeaning,
            .meaning = {.kind = Meaning::Kind::kValue,
                        .value = std::move(value),
                        .type = type}};
  };
  if (meaning.kind == Meaning::Kind::kValue) {
    if (enum_of(meaning.value) && (name == "name" || name == "value")) {
      int slot = name == "name" ? EnumType::kName : EnumType::kValue;
      return known(meaning.value.as_instance().slots[slot], nullptr);
    }
    return attribute_of(as_var(base, range), name, range);
  }
  if (meaning.kind == Meaning::Kind::kType) {
    if (name == "__new__")
      return {.kind = Sugared::Kind::kConstructor, .meaning = meaning};
    if (meaning.type->kind == TypeKind::kClass) {
      ClassType& cls = *meaning.type->cls;
      if (Function* method = cls.find_method(name)) {
        return {
            .kind = Sugared::Kind::kMeaning,
            .meaning = {.kind = Meaning::Kind::kFunction, .function = method}};
      }
      if (const Value* constant = cls.find_constant(name))
        return known(*constant, nullptr);
      Meaning member = cls.load_member(concat("static ", name));
      check_usable(member, range);
      if (member.kind != Meaning::Kind::kUnknown)
        return {.kind = Sugared::Kind::kMeaning, .meaning = std::move(member)};
    }
    if (meaning.type->kind == TypeKind::kEnum) {
      EnumType& type = *meaning.type->enumeration;
      int i = type.find_name(name);
      if (i >= 0) return known(enum_member(type, i), meaning.type);
      fail_at(range, "'", meaning.type->str(), "' has no attribute '", name,
              "'");
    }
    if (meaning.type->kind == TypeKind::kTensor) {
      return {.kind = Sugared::Kind::kMeaning,
              .meaning = {.kind = Meaning::Kind::kBuiltin,
                          .text = std::string(name)}};
    }
    fail_at(range, "Tried to lookup unknown attribute on class ",
            meaning.type->annotation());
  }
  if (meaning.kind == Meaning::Kind::kBuiltin &&
      has_overload(meaning.text, name)) {
    return {.kind = Sugared::Kind::kMeaning,
            .meaning = {.kind = Meaning::Kind::kBuiltin,
                        .text = concat(meaning.text, ".", name)}};
  }
  if (meaning.kind != Meaning::Kind::kNamespace &&
      meaning.kind != Meaning::Kind::kConstants)
    fail_at(range, "attribute lookup is not defined on ", kind_of(base));
  Meaning found = function_.resolver().attribute(meaning, name);
  if (found.kind == Meaning::Kind::kUnknown)
    fail_at(range, "object has no attribute ", name);
  check_usable(found, range);
  return {.kind = Sugared::Kind::kMeaning, .meaning = std::move(found)};
}

Sugared FunctionCompiler::attribute_of(Var* var, std::string_view name,
                                       const SourceRange& range) {
  switch (var->type->kind) {
    case TypeKind::kClass:
      return class_attribute(var, name, range);
    case TypeKind::kTuple:
      for (size_t i = 0; i < var->type->fields.size(); ++i) {
        if (var->type->fields[i] != name) continue;
        Node* node = emit(NodeKind::kTupleIndex, range, {var});
        node->index = int64_t(i);
        return {.var = graph_.add_output(node, var->type->items[i])};
      }
      break;
    case TypeKind::kTensor: {
      std::string_view op;
      for (const auto& [attribute, own] : kTensorAttributes)
        if (attribute == name) op = own;
      for (std::string_view same : kSameNameAttributes)
        if (same == name) op = name;
      if (!op.empty()) return {.var = builtin(op, {var}, range)};
      break;
    }
    case TypeKind::kDevice:
      if (name == "type" || name == "index")
        return {.var = builtin(name, {var}, range)};
      break;
    case TypeKind::kEnum: {
      if (name != "name" && name != "value") {
        fail_at(range, "'", var->type->str(),
                "' object has no attribute or method '", name, "'.");
      }
      Node* node = emit(NodeKind::kGetAttr, range, {var});
      node->name = name;
      node->index = name == "name" ? EnumType::kName : EnumType::kValue;
      return {.var = graph_.add_output(
                  node, name == "name" ? TypeTable::string()
                                       : var->type->enumeration->value_type)};
    }
    case TypeKind::kAwait:  // those of the result
      return attribute_of(builtin("awaitable_wait", {var}, range), name, range);
    case TypeKind::kOptional:
      fail_at(range, "'", var->type->annotation(), "' has no attribute '", name,
              "'; check first that the value is not None");
    default:
      break;
  }
  return {.kind = Sugared::Kind::kBuiltinMethod,
          .var = var,
          .text = std::string(name)};
}

Sugared FunctionCompiler::class_attribute(Var* var, std::string_view name,
                                          const SourceRange& range) {
  ClassType& cls = *var->type->cls;
  if (int slot = cls.find_attribute(name); slot >= 0) {
    Node* node = emit(NodeKind::kGetAttr, range, {var});
    const Attribute& attribute = cls.attributes()[slot];
    node->name = attribute.name;
    node->index = slot;
    return {.var = graph_.add_output(node, attribute.type,
                                     graph_.intern(attribute.name))};
  }
  if (const Value* value = cls.find_constant(name))
    return {.var = literal(*value, range, nullptr)};
  Function* method = cls.find_method(name);
  if (!method) {
    Meaning member = cls.load_member(name);
    check_usable(member, range);
    method = cls.find_method(name);
    if (!method && member.kind != Meaning::Kind::kUnknown) {
      Var* self = member.kind == Meaning::Kind::kOverloads ? var : nullptr;
      return {.kind = Sugared::Kind::kMeaning,
              .var = self,
              .meaning = std::move(member)};
    }
  }
  if (method) {
    Sugared out = {.kind = cls.is_interface() ? Sugared::Kind::kModuleMethod
                                              : Sugared::Kind::kMethod,
                   .var = var,
                   .function = method,
                   .text = std::string(name)};
    if (cls.is_property(name)) return {.var = call_sugared(out, {}, range)};
    return out;
  }
  bool holds = cls.container() == ClassType::Container::kDict &&
               (name == "keys" || name == "values" || name == "items");
  if (holds || (cls.is_module() && is_module_walk(name))) {
    return {.kind = Sugared::Kind::kBuiltinMethod,
            .var = var,
            .text = std::string(name)};
  }
  if (!cls.is_module()) no_attribute(var->type, name, range);
  std::string_view own = cls.name();
  own.remove_prefix(own.rfind('.') + 1);
  fail_at(range, "Module '", own, "' has no attribute '", name, "'");
}

Var* FunctionCompiler::magic(Var* object, std::string_view name,
                             const std::vector<CallArg>& args,
                             const SourceRange& range) {
  if (object->type->kind != TypeKind::kClass) return nullptr;
  ClassType& cls = *object->type->cls;
  if (!cls.find_method(name)) cls.load_member(name);
  if (!cls.find_method(name)) return nullptr;
  return call_sugared(class_attribute(object, name, range), args, range);
}

void FunctionCompiler::no_attribute(TypePtr type, std::string_view name,
                                    const SourceRange& range) const {
  bool object = type->kind == TypeKind::kClass && !type->cls->is_interface();
  fail_at(range, "'", type->annotation(),
          "' object has no attribute or method '", name, "'.",
          object ? " Did you forget to initialize an attribute in __init__()?"
                 : "");
}

// super().name and super(Class, self).name: a method of a base class, which the
// class gets under a name of its own.
std::optional<Sugared> FunctionCompiler::super_attribute(const Expr& expr) {
  const Expr& call = expr.item(0);
  if (call.kind != ExprKind::kCall || call.item(0).kind != ExprKind::kName ||
      call.item(0).text != "super" || lookup("super"))
    return {};
  ClassType* owner = function_.owner();
  bool has_self = owner && !def_->params.empty();
  std::string_view self = has_self ? def_->params[0].name : std::string_view();
  bool plain = call.items.size() == 1;
  bool of_self = call.items.size() == 3 &&
                 call.item(2).kind == ExprKind::kName &&
                 call.item(2).text == self;
  if (!has_self || !(plain || of_self)) {
    fail_at(call.range,
            "super() takes nothing, or a class and 'self', and stands in "
            "methods");
  }
  ClassType::SuperCall super = {function_.short_name(), {}};
  if (of_self) super.cls = call.item(1).range.text();
  Meaning member = owner->load_member(expr.text, &super);
  check_usable(member, expr.range);
  if (member.kind != Meaning::Kind::kFunction)
    fail_at(expr.range, "'super' object has no attribute '", expr.text, "'");
  Sugared out = {.kind = Sugared::Kind::kMethod,
                 .var = use(self, call.range),
                 .function = member.function};
  bool is_property = owner->is_property(member.function->short_name());
  return is_property ? Sugared{.var = call_sugared(out, {}, expr.range)} : out;
}

}  // namespace hotaru::script
