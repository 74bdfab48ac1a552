#include "hotaru/script/class_type.h"

#include <algorithm>

#include "hotaru/core/error.h"
#include "hotaru/script/function.h"
#include "hotaru/script/unit.h"

namespace hotaru::script {

ClassType::ClassType(CompilationUnit& unit, std::string name, Kind kind)
    : unit_(unit), name_(std::move(name)), kind_(kind) {
  // Archives tell containers by their names alone.
  std::string_view last = name_;
  last.remove_prefix(last.rfind('.') + 1);
  if (is_module() && (last == "ModuleList" || last == "Sequential" ||
                      last == "ParameterList")) {
    container_ = Container::kList;
  }
}

int ClassType::find_attribute(std::string_view name) const {
  auto found = slots_.find(std::string(name));
  return found == slots_.end() ? -1 : found->second;
}

int ClassType::add_attribute(Attribute attribute) {
  int slot = static_cast<int>(attributes_.size());
  HOTARU_CHECK(slots_.emplace(attribute.name, slot).second, "class '", name_,
               "' defines attribute '", attribute.name, "' twice");
  attributes_.push_back(std::move(attribute));
  return slot;
}

const Value* ClassType::find_constant(std::string_view name) const {
  auto found = constants_.find(name);
  return found == constants_.end() ? nullptr : &found->second;
}

Function* ClassType::find_method(std::string_view name) const {
  auto found = methods_by_name_.find(std::string(name));
  return found == methods_by_name_.end() ? nullptr : found->second;
}

void ClassType::add_method(std::string name, Function* method) {
  HOTARU_CHECK(methods_by_name_.emplace(name, method).second, "class '", name_,
               "' defines method '", name, "' twice");
  methods_.emplace_back(std::move(name), method);
}

bool ClassType::implements(const ClassType& interface) const {
  return std::all_of(interface.methods().begin(), interface.methods().end(),
                     [&](const auto& wanted) {
                       Function* own = find_method(wanted.first);
                       return own && own->params().size() ==
                                         wanted.second->params().size();
                     });
}

ClassType* class_of(const Value& value) {
  if (!value.is_instance()) return nullptr;
  auto* handle = dynamic_cast<ClassHandle*>(value.as_instance().type.get());
  return handle ? handle->cls : nullptr;
}

Ref<InstanceObject> make_instance(ClassType& cls) {
  auto instance = make_ref<InstanceObject>(
      make_ref<ClassHandle>(cls.unit().shared_from_this(), &cls));
  instance->slots.reserve(cls.attributes().size());
  for (const Attribute& attribute : cls.attributes()) {
    instance->slots.push_back(default_value(attribute.type));
  }
  return instance;
}

}  // namespace hotaru::script
