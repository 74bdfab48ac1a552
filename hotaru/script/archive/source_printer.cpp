#include "hotaru/script/archive/source_printer.h"

#include <algorithm>

#include "hotaru/core/checks/check.h"
#include "hotaru/script/archive/literal.h"
#include "hotaru/script/program/autocast_source.h"
#include "hotaru/script/program/unit.h"
#include "hotaru/script/types/enum_type.h"

namespace hotaru::script {

namespace {

constexpr std::string_view kRoot = "__torch__";

// Names of one kind of attribute: `["weight", "bias", ]`.
std::string names_where(const ClassType& cls, bool Attribute::*mark) {
  std::string out = "[";
  for (const Attribute& attribute : cls.attributes())
    if (attribute.*mark) out += quoted_item(attribute.name);
  return out + "]";
}

}  // namespace

std::string& SourcePrinter::text_of(const std::string& qualified_name) {
  return texts_[qualified_name.substr(0, qualified_name.rfind('.'))];
}

std::string quoted_item(std::string_view name) {
  return concat(quoted(name), ", ");
}

std::string attribute_line(std::string_view name, std::string_view type) {
  return is_identifier(name)
             ? concat("  ", name, " : ", type, "\n")
             : concat("  __annotations__[", quoted(name), "] = ", type, "\n");
}

void SourcePrinter::add(TypePtr type) {
  for (TypePtr item : type->items) add(item);
  // Classes that C++ defined are known to whoever loads the archive.
  bool named = (type->kind == TypeKind::kClass && !type->cls->own()) ||
               type->kind == TypeKind::kEnum ||
               (type->kind == TypeKind::kTuple && !type->name.empty());
  bool module = type->kind == TypeKind::kClass && type->cls->is_module();
  HOTARU_CHECK(!module || !leaves_out_modules_,
               "jit.freeze: values of the module type '", type->annotation(),
               "' are not supported here");
  if (named && known_.insert(type).second) types_.push_back(type);
}

void SourcePrinter::add(Function& function) {
  if (known_.insert(&function).second) functions_.push_back(&function);
}

std::string SourcePrinter::type_text(TypePtr type) {
  add(type);
  return type->annotation();
}

std::string SourcePrinter::function_text(Function& function) {
  add(function);
  return function.name().starts_with(kRoot)
             ? function.name()
             : concat(kRoot, ".", function.name());
}

std::string SourcePrinter::constant_text(const Value& value, TypePtr type) {
  add(type);
  return literal(value, type, [&](const Value& stored) {
    const void* identity = stored.tensor_ref().impl();
    auto [found, added] =
        constant_indices_.try_emplace(identity, constants_.size());
    if (added) constants_.push_back(stored);
    return concat("CONSTANTS.c", found->second);
  });
}

void SourcePrinter::print_named_tuple(TypePtr type) {
  size_t dot = type->name.rfind('.');
  std::string text =
      concat("class ", type->name.substr(dot + 1), "(NamedTuple):\n");
  for (size_t i = 0; i < type->fields.size(); ++i) {
    text +=
        concat("  ", type->fields[i], " : ", type_text(type->items[i]), "\n");
  }
  text_of(type->name) += text;
}

void SourcePrinter::print_enum(TypePtr type) {
  const EnumType& cls = *type->enumeration;
  std::string text =
      concat("class ", cls.name.substr(cls.name.rfind('.') + 1), "(Enum):\n");
  for (const auto& [name, value] : cls.members) {
    text +=
        concat("  ", name, " = ", constant_text(value, cls.value_type), "\n");
  }
  text_of(cls.name) += text;
}

std::string SourcePrinter::hook_lines(const ClassType& cls) {
  auto line = [&](const char* name, ClassType::HookTime time) {
    std::string names;
    for (const Function* hook : cls.hooks(time))
      names += quoted_item(hook->short_name());
    return names.empty() ? names : concat("  ", name, " = [", names, "]\n");
  };
  return line("__forward_pre_hooks__", ClassType::HookTime::kBefore) +
         line("__forward_hooks__", ClassType::HookTime::kAfter);
}

std::string SourcePrinter::constant_lines(const ClassType& cls) {
  std::string text;
  for (const auto& [constant, value] : cls.constants()) {
    TypePtr type = type_of(unit_.types(), value);
    if (!type) continue;
    text += concat("  ", constant, " : Final[", type_text(type),
                   "] = ", constant_text(value, type), "\n");
  }
  return text;
}

void SourcePrinter::print_class(ClassType& cls) {
  if (const std::string text = autocast_text(cls.name()); !text.empty()) {
    text_of(cls.name()) += text;
    return;
  }
  std::string name = cls.name().substr(cls.name().rfind('.') + 1);
  const char* base = cls.is_module()             ? "(Module)"
                     : cls.is_module_interface() ? "(ModuleInterface)"
                     : cls.is_interface()        ? "(Interface)"
                                                 : "";
  std::string text = concat("class ", name, base, ":\n");
  size_t header = text.size();
  if (cls.is_module()) {
    text += concat(
        "  __parameters__ = ", names_where(cls, &Attribute::is_parameter),
        "\n  __buffers__ = ", names_where(cls, &Attribute::is_buffer), "\n",
        hook_lines(cls));
  }
  for (const Attribute& attribute : cls.attributes()) {
    std::string type = type_text(attribute.type);
    text += attribute_line(attribute.name, type);
  }
  text += constant_lines(cls);
  // Compiling one method may add others to the class.
  for (size_t i = 0; i < cls.methods().size(); ++i) {
    Function& method = *cls.methods()[i].second;
    text += print_function(method, *this, 2);
  }
  if (text.size() == header) text += "  pass\n";
  text_of(cls.name()) += text;
}

void SourcePrinter::print_all() {
  texts_.clear();
  constants_.clear();
  constant_indices_.clear();
  for (const auto& [name, text] : given_) text_of(name) += text();
  size_t next_type = 0, next_function = 0;
  while (true) {
    if (next_function < functions_.size()) {
      Function& function = *functions_[next_function++];
      std::string text = print_function(function, *this, 0);
      text_of(function_text(function)) += text;
    } else if (next_type < types_.size()) {
      TypePtr type = types_[next_type++];
      if (type->kind == TypeKind::kEnum)
        print_enum(type);
      else if (type->kind != TypeKind::kClass)
        print_named_tuple(type);
      else
        print_class(*type->cls);
    } else {
      return;
    }
  }
}

std::map<std::string, std::string> SourcePrinter::print() {
  auto count_methods = [&] {
    size_t count = 0;
    for (TypePtr type : types_)
      if (type->kind == TypeKind::kClass) count += type->cls->methods().size();
    return count;
  };
  // Compiling one function may add methods to a class that is printed already.
  size_t known;
  do {
    known = count_methods();
    print_all();
  } while (count_methods() != known);
  return std::move(texts_);
}

}  // namespace hotaru::script
