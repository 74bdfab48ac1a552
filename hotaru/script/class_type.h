// Classes, modules and interfaces of a compilation unit.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hotaru/core/value.h"
#include "hotaru/script/resolver.h"
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
/// compilation unit; does not change once it has been loaded or compiled.
class ClassType {
 public:
  enum class Kind : uint8_t { kObject, kModule, kInterface };
  /// What loops over an instance see: nothing, its modules or parameters in
  /// order, or names and modules.
  enum class Container : uint8_t { kNone, kList, kDict };
  /// Says what a name means that the class doesn't define yet: a method or
  /// property (which the loader adds to the class), a global, an error.
  using MemberLoader = std::function<Meaning(std::string_view)>;

  ClassType(CompilationUnit& unit, std::string name, Kind kind);

  CompilationUnit& unit() const { return unit_; }
  /// Qualified: "__torch__.torch.nn.modules.linear.Linear".
  const std::string& name() const { return name_; }
  bool is_module() const { return kind_ == Kind::kModule; }
  bool is_interface() const { return kind_ == Kind::kInterface; }
  TypePtr type() const { return type_; }
  void set_type(TypePtr type) { type_ = type; }
  Container container() const { return container_; }
  void set_container(Container container) { container_ = container; }
  /// For classes made of Python objects, whose methods are compiled when the
  /// first call of one is. Called under the unit's lock, by the compiler only.
  void set_member_loader(MemberLoader loader) { loader_ = std::move(loader); }
  Meaning load_member(std::string_view name) const {
    return loader_ ? loader_(name) : Meaning{};
  }
  /// An open class takes its attributes from the assignments in __init__.
  bool is_open() const { return open_; }
  void set_open(bool open) { open_ = open; }

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
  /// A method that is called without parentheses.
  void add_property(std::string name) { properties_.insert(std::move(name)); }
  bool is_property(std::string_view name) const {
    return properties_.find(name) != properties_.end();
  }
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
  Container container_ = Container::kNone;
  bool open_ = false;
  MemberLoader loader_;
  std::vector<Attribute> attributes_;
  std::unordered_map<std::string, int> slots_;
  std::map<std::string, Value, std::less<>> constants_;
  std::vector<std::pair<std::string, Function*>> methods_;
  std::unordered_map<std::string, Function*> methods_by_name_;
  std::set<std::string, std::less<>> properties_;
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
