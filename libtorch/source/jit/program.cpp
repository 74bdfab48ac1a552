// Modules and functions of TorchScript that a program makes itself.
#include <map>
#include <mutex>
#include <sstream>

#include "hotaru/core/checks/check.h"
#include "hotaru/script/compile/constant.h"
#include "hotaru/script/program/class_type.h"
#include "hotaru/script/program/resolver.h"
#include "source/jit/stack.h"
#include "torch/jit.h"

namespace c10 {

namespace own = hotaru::script;

ClassType::ClassType(own::ClassType& cls)
    : Type(Kind, cls.name(), {}),
      unit_(cls.unit().shared_from_this()),
      cls_(&cls) {}
bool ClassType::is_module() const {
  return cls_->is_module();
}
size_t ClassType::numAttributes() const {
  return cls_->attributes().size();
}
const std::string& ClassType::getAttributeName(size_t i) const {
  return cls_->attributes().at(i).name;
}
bool ClassType::hasAttribute(const std::string& name) const {
  return cls_->find_attribute(name) >= 0;
}
std::optional<size_t> ClassType::findAttributeSlot(
    const std::string& name) const {
  const int slot = cls_->find_attribute(name);
  return slot < 0 ? std::nullopt : std::optional<size_t>(size_t(slot));
}
torch::jit::Function* ClassType::findMethod(const std::string& name) {
  own::Function* method = cls_->find_method(name);
  if (!method) return nullptr;
  const std::lock_guard lock(mutex_);
  return &methods_.try_emplace(name, *method).first->second;
}
void ClassType::addMethod(torch::jit::Function*) {
  throw NotImplementedError("methods of a class are added by Module::define");
}
torch::jit::Function& ClassType::getMethod(const std::string& name) {
  torch::jit::Function* method = findMethod(name);
  TORCH_CHECK(method, "Couldn't find method: '", name, "' on class: '",
              annotation_str(), "'");
  return *method;
}

ivalue::Object IValue::toObjectRef() const {
  check(isObject(), "Object");
  return ivalue::Object(hotaru::Ref(&value_.as_instance()));
}
intrusive_ptr<ivalue::Object> IValue::toObject() const {
  check(isObject(), "Object");
  return make_intrusive<ivalue::Object>(hotaru::Ref(&value_.as_instance()));
}

namespace ivalue {

std::shared_ptr<ClassType> Object::type() const {
  return std::make_shared<ClassType>(*own::class_of(hotaru::Value(object_)));
}
std::string Object::name() const {
  return own::class_of(hotaru::Value(object_))->name();
}
bool Object::hasattr(const std::string& name) const {
  return own::class_of(hotaru::Value(object_))->find_attribute(name) >= 0;
}
std::shared_ptr<torch::jit::CompilationUnit> Object::compilation_unit() const {
  return std::make_shared<torch::jit::CompilationUnit>(
      own::class_of(hotaru::Value(object_))->unit().shared_from_this());
}
IValue Object::getAttr(const std::string& name) const {
  const own::ClassType& cls = *own::class_of(hotaru::Value(object_));
  const int slot = cls.find_attribute(name);
  TORCH_CHECK(slot >= 0, "Type '", cls.name(), "' does not have an attribute '",
              name, "'");
  return IValue(object_->slots.at(size_t(slot)));
}
void Object::setAttr(const std::string& name, const IValue& value) const {
  const own::ClassType& cls = *own::class_of(hotaru::Value(object_));
  const int slot = cls.find_attribute(name);
  TORCH_CHECK(slot >= 0, "Type '", cls.name(), "' does not have an attribute '",
              name, "'");
  hotaru::Value to = value.hotaru_value();
  const own::TypePtr type = cls.attributes()[size_t(slot)].type;
  TORCH_CHECK(own::convert_value(to, type), "attribute '", name,
              "' should be of type '", type->annotation(), "'");
  object_->slots.at(size_t(slot)) = std::move(to);
}

}  // namespace ivalue
}  // namespace c10

namespace torch::jit {

namespace own = hotaru::script;

namespace {

/// A signature in schemas' language; types of its own are Any there.
c10::FunctionSchema schema_of(own::Function& function) {
  hotaru::Schema schema;
  schema.name = function.short_name();
  const auto type = [](own::TypePtr from) {
    hotaru::ArgType out;
    out.text = from->str();
    return out;
  };
  for (const own::Parameter& parameter : function.params()) {
    hotaru::Argument argument;
    argument.name = parameter.name;
    argument.type = type(parameter.type);
    argument.keyword_only = parameter.keyword_only;
    if (parameter.has_default) argument.default_value = parameter.default_value;
    schema.arguments.push_back(std::move(argument));
  }
  hotaru::Argument result;
  result.type = type(function.result_type());
  schema.results.push_back(std::move(result));
  return {std::string(function.short_name()), std::move(schema)};
}

/// Source that is indented as a whole, as raw strings in programs are, at the
/// margin.
std::string at_margin(const std::string& source) {
  const size_t text = source.find_first_not_of(" \t\n");
  if (text == std::string::npos) return source;
  const size_t line = source.rfind('\n', text);
  const size_t begin = line == std::string::npos ? 0 : line + 1;
  const std::string indent = source.substr(begin, text - begin);
  if (indent.empty()) return source;
  std::string out = source.substr(0, begin);
  std::istringstream lines(source.substr(begin));
  for (std::string one; std::getline(lines, one);) {
    if (one.starts_with(indent)) one.erase(0, indent.size());
    out += one + '\n';
  }
  return out;
}

/// Puts a value into a new attribute, or into that of the name and type.
void add_attribute(const own::Module& module, own::Attribute attribute,
                   hotaru::Value value) {
  own::ClassType& cls = module.type();
  const std::lock_guard lock(cls.unit().mutex());
  TORCH_CHECK(own::convert_value(value, attribute.type), "attribute '",
              attribute.name, "' should be of type '",
              attribute.type->annotation(), "', but its value is of type '",
              value.type_name(), "'");
  const int slot = cls.find_attribute(attribute.name);
  if (slot < 0) {
    TORCH_CHECK(module.object()->slots.size() == cls.attributes().size(),
                "class '", cls.name(), "' has other instances");
    cls.add_attribute(std::move(attribute));
    module.object()->slots.push_back(std::move(value));
    return;
  }
  const own::Attribute& there = cls.attributes()[size_t(slot)];
  TORCH_CHECK(there.type == attribute.type &&
                  there.is_parameter == attribute.is_parameter &&
                  there.is_buffer == attribute.is_buffer,
              "class '", cls.name(), "' has another attribute '",
              attribute.name, "'");
  module.object()->slots[size_t(slot)] = std::move(value);
}

/// The unit of all modules that programs have made and that still live, so
/// that one may hold others and be saved with them.
std::shared_ptr<own::CompilationUnit> shared_unit() {
  static std::mutex mutex;
  static std::weak_ptr<own::CompilationUnit> living;
  const std::lock_guard lock(mutex);
  auto unit = living.lock();
  if (!unit) living = unit = own::CompilationUnit::create();
  return unit;
}

own::Module new_module(const c10::QualifiedName& name) {
  const auto unit = shared_unit();
  const std::lock_guard lock(unit->mutex());
  // As PyTorch puts them below one name.
  std::string full = name.qualifiedName();
  if (!full.starts_with("__torch__")) full = "__torch__." + full;
  return own::Module(
      own::make_instance(*unit->add_class(std::make_unique<own::ClassType>(
          *unit, unit->unique_name(full), own::ClassType::Kind::kModule))));
}

}  // namespace

Function::Function(own::Function& function)
    : unit_(function.unit().shared_from_this()),
      function_(&function),
      qualified_(function.name()),
      name_(function.short_name()),
      schema_(schema_of(function)) {}
size_t Function::num_inputs() const {
  return function_->params().size();
}
IValue Function::operator()(Stack inputs, const Kwargs& keywords) const {
  std::vector<std::pair<std::string, hotaru::Value>> named;
  for (const auto& [name, value] : keywords)
    named.emplace_back(name, value.hotaru_value());
  return IValue(
      (*function_)(function_->bind(values_of(inputs), std::move(named))));
}
void Function::run(Stack& stack) const {
  IValue result = (*this)(std::move(stack));
  stack = {std::move(result)};
}

Module::Module(const c10::QualifiedName& name) : module_(new_module(name)) {}
void Module::register_parameter(const std::string& name, at::Tensor value,
                                bool is_buffer) const {
  add_attribute(hotaru_module(),
                {.name = name,
                 .type = own::TypeTable::tensor(),
                 .is_parameter = !is_buffer,
                 .is_buffer = is_buffer},
                hotaru::Value(value.hotaru_tensor()));
}
void Module::register_attribute(const std::string& name,
                                const c10::TypePtr& type, const IValue& value,
                                bool is_parameter, bool is_buffer) const {
  own::CompilationUnit& unit = hotaru_module().type().unit();
  const own::TypePtr wanted = unit.parse_type(
      std::make_unique<own::Source>("<type>", type->annotation_str()),
      unit.resolver());
  add_attribute(hotaru_module(),
                {.name = name,
                 .type = wanted,
                 .is_parameter = is_parameter,
                 .is_buffer = is_buffer},
                value.hotaru_value());
}
void Module::register_module(const std::string& name,
                             const Module& module) const {
  const own::Module& child = module.hotaru_module();
  add_attribute(hotaru_module(), {.name = name, .type = child.type().type()},
                hotaru::Value(child.object()));
}
void Module::define(const std::string& source) const {
  own::ClassType& cls = hotaru_module().type();
  own::CompilationUnit& unit = cls.unit();
  const std::lock_guard lock(unit.mutex());
  const auto added = unit.add_functions(
      std::make_unique<own::Source>("<string>", at_margin(source)), cls.name(),
      std::make_unique<own::ArchiveResolver>(unit), &cls);
  for (own::Function* method : added)
    if (!cls.find_method(method->short_name()))
      cls.add_method(std::string(method->short_name()), method);
}
c10::intrusive_ptr<c10::ivalue::Object> Module::_ivalue() const {
  return c10::make_intrusive<c10::ivalue::Object>(hotaru_module().object());
}
IValue Module::create_class(const c10::QualifiedName& name,
                            Stack inputs) const {
  own::CompilationUnit& unit = hotaru_module().type().unit();
  const own::TypePtr type = unit.find_type(name.qualifiedName());
  TORCH_CHECK(type && type->cls, "Could not find class with name: '",
              name.qualifiedName(), "' in module.");
  IValue object{hotaru::Value(own::make_instance(*type->cls))};
  own::Function* init = type->cls->find_method("__init__");
  TORCH_CHECK(init, "class '", name.qualifiedName(), "' has no __init__");
  inputs.insert(inputs.begin(), object);
  (*init)(values_of(inputs));
  return object;
}
std::shared_ptr<c10::ClassType> Module::type() const {
  return std::make_shared<c10::ClassType>(hotaru_module().type());
}

namespace {

void collect_attributes(const Module& module, const std::string& prefix,
                        bool recurse, std::vector<Named<IValue>>& out) {
  const own::Module& from = module.hotaru_module();
  const auto& attributes = from.type().attributes();
  for (size_t i = 0; i < attributes.size(); ++i) {
    IValue value(from.object()->slots.at(i));
    const std::string name = prefix + attributes[i].name;
    out.push_back({name, value});
    if (recurse && value.isModule())
      collect_attributes(value.toModule(), name + ".", true, out);
  }
}

}  // namespace

named_attribute_list Module::named_attributes(bool recurse) const {
  std::vector<Named<IValue>> out;
  collect_attributes(*this, "", recurse, out);
  return out;
}
attribute_list Module::attributes(bool recurse) const {
  std::vector<IValue> out;
  for (auto& item : named_attributes(recurse)) out.push_back(item.value);
  return out;
}

struct CompilationUnit::Found {
  std::mutex mutex;
  std::map<std::string, Function> functions;
};

CompilationUnit::CompilationUnit()
    : unit_(own::CompilationUnit::create()),
      found_(std::make_shared<Found>()) {}
CompilationUnit::CompilationUnit(std::shared_ptr<own::CompilationUnit> unit)
    : unit_(std::move(unit)), found_(std::make_shared<Found>()) {}
Function* CompilationUnit::create_function(const std::string&,
                                           const std::shared_ptr<Graph>&) {
  throw c10::NotImplementedError(
      "functions are added by CompilationUnit::define");
}
CompilationUnit::CompilationUnit(const std::string& source)
    : CompilationUnit() {
  define(source);
}
void CompilationUnit::define(const std::string& source) {
  unit_->define(std::make_unique<own::Source>("<string>", at_margin(source)),
                "");
}
Function* CompilationUnit::find_function(const std::string& name) const {
  own::Function* function = unit_->find_function(name);
  if (!function) return nullptr;
  const std::lock_guard lock(found_->mutex);
  return &found_->functions.try_emplace(name, *function).first->second;
}
IValue CompilationUnit::call(const std::string& name, Stack inputs) const {
  own::Function* function = unit_->find_function(name);
  TORCH_CHECK(function, "there is no function '", name, "'");
  return IValue((*function)(values_of(inputs)));
}
std::shared_ptr<CompilationUnit> compile(const std::string& source) {
  return std::make_shared<CompilationUnit>(source);
}

}  // namespace torch::jit
