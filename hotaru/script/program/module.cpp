#include "hotaru/script/program/module.h"

#include <unordered_set>

#include "hotaru/autograd/node.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/script/archive/source_printer.h"
#include "hotaru/script/compile/constant.h"
#include "hotaru/script/program/class_type.h"
#include "hotaru/script/program/function.h"
#include "hotaru/script/program/hooks.h"
#include "hotaru/script/program/unit.h"
#include "hotaru/script/run/interpreter.h"
#include "hotaru/script/source/ast.h"

namespace hotaru::script {

namespace {

bool is_module(const Value& value) {
  const ClassType* cls = class_of(value);
  return cls && cls->is_module();
}

std::string joined(const std::string& prefix, const std::string& name) {
  return prefix.empty() ? name : concat(prefix, ".", name);
}

// Visits a module and those below it once each, however they are shared.
template <class F>
void walk(const Module& module, const std::string& prefix, bool recurse,
          std::unordered_set<const void*>& seen, const F& visit) {
  if (!seen.insert(module.object().get()).second) return;
  visit(prefix, module);
  if (!recurse) return;
  for (const auto& [name, child] : module.named_children())
    walk(child, joined(prefix, name), true, seen, visit);
}

template <class F>
void walk(const Module& module, bool recurse, const F& visit) {
  std::unordered_set<const void*> seen;
  walk(module, "", recurse, seen, visit);
}

}  // namespace

Module::Module(Ref<InstanceObject> object) : object_(std::move(object)) {
  type_ = class_of(Value(object_));
  HOTARU_CHECK_AS(TypeError, type_ && type_->is_module(),
                  "the object is not a module");
}

const std::string& Module::type_name() const {
  return type_->name();
}

Function& Module::method(std::string_view name) const {
  Function* method = type_->find_method(name);
  HOTARU_CHECK(method, "module '", type_->name(), "' has no method '", name,
               "'");
  return *method;
}

bool Module::has_method(std::string_view name) const {
  return type_->find_method(name) != nullptr;
}

std::vector<std::string> Module::method_names() const {
  std::vector<std::string> out;
  for (const auto& [name, method] : type_->methods()) out.push_back(name);
  return out;
}

Value Module::call(std::string_view name, std::vector<Value> arguments,
                   KeywordArguments keywords) const {
  Function& function = method(name);
  arguments.insert(arguments.begin(), Value(object_));
  std::vector<Value> bound =
      function.bind(std::move(arguments), std::move(keywords));
  return run(function.code(), std::move(bound));
}

Value Module::operator()(std::vector<Value> arguments,
                         KeywordArguments keywords) const {
  return type_->has_hooks()
             ? call_with_hooks(*this, std::move(arguments), std::move(keywords))
             : call("forward", std::move(arguments), std::move(keywords));
}

bool Module::has_attribute(std::string_view name) const {
  return type_->find_attribute(name) >= 0 || type_->find_constant(name);
}

Value Module::attribute(std::string_view name) const {
  if (int slot = type_->find_attribute(name); slot >= 0)
    return object_->slots[size_t(slot)];
  const Value* constant = type_->find_constant(name);
  HOTARU_CHECK(constant, "module '", type_->name(), "' has no attribute '",
               name, "'");
  return *constant;
}

void Module::set_attribute(std::string_view name, Value value) const {
  int slot = type_->find_attribute(name);
  HOTARU_CHECK(slot >= 0, "module '", type_->name(), "' has no attribute '",
               name, "' that can be set");
  const Attribute& attribute = type_->attributes()[size_t(slot)];
  HOTARU_CHECK(convert_value(value, attribute.type),
               "Expected a value of type '", attribute.type->annotation(),
               "' for field '", name, "', but found '",
               class_of(value) ? class_of(value)->name()
                               : std::string(value.type_name()),
               "'", interface_trouble(value, attribute.type));
  object_->slots[size_t(slot)] = std::move(value);
}

std::vector<std::pair<std::string, Module>> Module::named_children() const {
  std::vector<std::pair<std::string, Module>> out;
  const std::vector<Attribute>& attributes = type_->attributes();
  for (size_t i = 0; i < attributes.size(); ++i) {
    const Value& value = object_->slots[i];
    if (!is_module(value)) continue;
    out.emplace_back(attributes[i].name,
                     Module(Ref<InstanceObject>(&value.as_instance())));
  }
  return out;
}

std::vector<std::pair<std::string, Module>> Module::named_modules() const {
  std::vector<std::pair<std::string, Module>> out;
  walk(*this, true, [&](const std::string& name, const Module& module) {
    out.emplace_back(name, module);
  });
  return out;
}

std::vector<std::pair<std::string, Tensor>> Module::named_tensors(
    bool recurse, bool buffers) const {
  std::vector<std::pair<std::string, Tensor>> out;
  walk(*this, recurse, [&](const std::string& prefix, const Module& module) {
    const std::vector<Attribute>& attributes = module.type().attributes();
    for (size_t i = 0; i < attributes.size(); ++i) {
      const Attribute& attribute = attributes[i];
      const Value& value = module.object()->slots[i];
      bool wanted = buffers ? attribute.is_buffer : attribute.is_parameter;
      if (!wanted || !value.is_tensor()) continue;
      out.emplace_back(joined(prefix, attribute.name), value.as_tensor());
    }
  });
  return out;
}

std::vector<std::pair<std::string, Tensor>> Module::named_parameters(
    bool recurse) const {
  return named_tensors(recurse, false);
}

std::vector<std::pair<std::string, Tensor>> Module::named_buffers(
    bool recurse) const {
  return named_tensors(recurse, true);
}

void Module::train(bool on) const {
  walk(*this, true, [&](const std::string&, const Module& module) {
    int slot = module.type().find_attribute("training");
    if (slot < 0) return;
    Value& value = module.object()->slots[size_t(slot)];
    if (value.is_bool()) value = on;
  });
}

void Module::to(std::optional<Device> device,
                std::optional<DType> dtype) const {
  HOTARU_CHECK_AS(TypeError, !dtype || is_differentiable(*dtype),
                  "nn.Module.to only accepts floating point or complex "
                  "dtypes, but got desired dtype=torch.",
                  dtype ? dtype_name(*dtype) : "");
  walk(*this, true, [&](const std::string&, const Module& module) {
    const std::vector<Attribute>& attributes = module.type().attributes();
    for (size_t i = 0; i < attributes.size(); ++i) {
      Value& value = module.object()->slots[i];
      bool moves = attributes[i].is_parameter || attributes[i].is_buffer;
      if (!moves || !value.is_tensor()) continue;
      Tensor tensor = value.as_tensor();
      bool converts = dtype && is_differentiable(tensor.dtype());
      Tensor moved = hotaru::to(
          detach(tensor), converts ? dtype : std::optional<DType>(), device);
      if (attributes[i].is_parameter) {
        // The same tensor with other values: optimizers and the module that
        // this one was compiled from go on with it.
        tensor.impl()->storage = moved.storage();
        tensor.impl()->dtype = moved.dtype();
        tensor.impl()->set_geometry(moved.sizes(), moved.strides(),
                                    moved.storage_offset());
        continue;
      }
      if (autograd::requires_grad(tensor)) {
        autograd::set_requires_grad(moved, true);
      }
      value = moved;
    }
  });
}

namespace {

// Methods stand two spaces deep in their class; PyTorch shows the lines of a
// long header as they are.
std::string unindented(const Function& function) {
  std::string_view text = function.source();
  if (text.empty()) return {};
  const SourceRange& body = function.def()->body[0]->range;
  int lines = body.line_number() - function.def()->range.line_number();
  std::string out;
  while (!text.empty()) {
    size_t newline = text.find('\n');
    std::string_view line = text.substr(0, newline);
    text.remove_prefix(newline == std::string_view::npos ? text.size()
                                                         : newline + 1);
    if (lines-- <= 0 && line.starts_with("  ")) line.remove_prefix(2);
    out += concat(line, "\n");
  }
  return out;
}

}  // namespace

std::string Module::code(std::string_view name,
                         std::vector<Value>* constants) const {
  Function& function = method(name);
  SourcePrinter printer(function.unit());
  std::string out = function.unit().origin()
                        ? unindented(function)
                        : print_function(function, printer, 0);
  if (constants) {
    *constants = function.unit().origin() ? function.unit().constants()
                                          : printer.constants();
  }
  std::string self = concat("self: ", type_->name());
  if (size_t at = out.find(self); at != std::string::npos)
    out.erase(at + 4, self.size() - 4);
  return out;
}

std::string Module::graph(std::string_view name) const {
  return method(name).graph().str();
}

}  // namespace hotaru::script
