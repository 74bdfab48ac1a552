// Classes, modules and interfaces of a compilation unit.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hotaru/core/value.h"
#include "hotaru/script/type.h"

namespace hotaru::script {

class CompilationUnit;
class Function;

struct Attribute {
  std::string name;
  TypePtr type = nullptr;
  bool is_parameter = false;
  bool is_buffer = false;
};

/// A class with attributes in slots, constants and methods. Belongs to a
/// compilation unit; does not change once the unit has loaded it.
class ClassType {
 public:
  enum class Kind : uint8_t { kObject, kModule, kInterface };

  ClassType(CompilationUnit& unit, std::string name, Kind kind)
      : unit_(unit), name_(std::move(name)), kind_(kind) {}

  CompilationUnit& unit() const { return unit_; }
  /// Qualified: "__torch__.torch.nn.modules.linear.Linear".
  const std::string& name() const { return name_; }
  bool is_module() const { return kind_ == Kind::kModule; }
  bool is_interface() const { return kind_ == Kind::kInterface; }
  TypePtr type() const { return type_; }
  void set_type(TypePtr type) { type_ = type; }

  const std::vector<Attribute>& attributes() const { return attributes_; }
  /// Slot of the attribute, or -1.
  int find_attribute(std::string_view name) const;
  /// Throws Error when the name is taken.
  int add_attribute(Attribute attribute);

  /// Values of `Final` attributes and class constants.
  const Value* find_constant(std::string_view name) const;
  void add_constant(std::string name, Value value) {
    constants_[std::move(name)] = std::move(value);
  }
  const std::map<std::string, Value, std::less<>>& constants() const {
    return constants_;
  }

  Function* find_method(std::string_view name) const;
  void add_method(std::string name, Function* method);
  const std::vector<std::pair<std::string, Function*>>& methods() const {
    return methods_;
  }

  /// Whether the class has the interface's methods.
  bool implements(const ClassType& interface) const;

 private:
  CompilationUnit& unit_;
  std::string name_;
  Kind kind_;
  TypePtr type_ = nullptr;
  std::vector<Attribute> attributes_;
  std::unordered_map<std::string, int> slots_;
  std::map<std::string, Value, std::less<>> constants_;
  std::vector<std::pair<std::string, Function*>> methods_;
  std::unordered_map<std::string, Function*> methods_by_name_;
};

/// What an instance's `type` points to: its class, and the unit kept alive.
struct ClassHandle : RefCounted {
  ClassHandle(std::shared_ptr<CompilationUnit> unit, ClassType* cls)
      : unit(std::move(unit)), cls(cls) {}
  const std::shared_ptr<CompilationUnit> unit;
  ClassType* const cls;
};

/// The class of an instance, or null for other values.
ClassType* class_of(const Value& value);

/// A new instance; every slot holds its type's default_value.
Ref<InstanceObject> make_instance(ClassType& cls);

}  // namespace hotaru::script
