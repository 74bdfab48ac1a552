// Classes, modules and interfaces of a compilation unit.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hotaru/core/mutex.h"
#include "hotaru/core/value.h"
#include "hotaru/script/program/resolver.h"
#include "hotaru/script/types/type.h"

namespace hotaru::script {

class CompilationUnit;
class Function;
class OwnClass;

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
  /// Where super() stands: in which method, and the class that its arguments
  /// name, or "".
  struct SuperCall {
    std::string_view method;
    std::string_view cls;
  };
  /// kInterface is for objects, kModuleInterface for modules.
  enum class Kind : uint8_t { kObject, kModule, kInterface, kModuleInterface };
  /// Items that loops over an instance see: nothing, its modules or parameters
  /// in order, or names and modules.
  enum class Container : uint8_t { kNone, kList, kDict };
  /// Says what a name means that the class doesn't define yet: a method or
  /// property (which the loader adds to the class), a global, an error. With a
  /// call of super, what it means among the bases.
  using MemberLoader =
      std::function<Meaning(std::string_view, const SuperCall*)>;

  ClassType(CompilationUnit& unit, std::string name, Kind kind);

  CompilationUnit& unit() const { return unit_; }
  /// Qualified: "__torch__.torch.nn.modules.linear.Linear".
  const std::string& name() const { return name_; }
  bool is_module() const { return kind_ == Kind::kModule; }
  bool is_interface() const {
    return kind_ == Kind::kInterface || is_module_interface();
  }
  bool is_module_interface() const { return kind_ == Kind::kModuleInterface; }
  TypePtr type() const { return type_; }
  void set_type(TypePtr type) { type_ = type; }
  /// The class that C++ defined, whose this unit's form this one is, or null.
  const OwnClass* own() const { return own_; }
  void set_own(const OwnClass* own) { own_ = own; }
  Container container() const { return container_; }
  void set_container(Container container) { container_ = container; }
  /// For classes made of Python objects, whose methods are compiled when the
  /// first call of one is. Called under the unit's lock, by the compiler only.
  void set_member_loader(MemberLoader loader) { loader_ = std::move(loader); }
  Meaning load_member(std::string_view name,
                      const SuperCall* super = nullptr) const {
    return loader_ ? loader_(name, super) : Meaning{};
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

  /// Methods that a call of a module runs before (with self and a tuple of the
  /// arguments) or after forward (with its result, too), in this order.
  enum class HookTime : uint8_t { kBefore, kAfter };
  const std::vector<Function*>& hooks(HookTime time) const {
    return hooks_[size_t(time)];
  }
  void add_hook(HookTime time, Function* hook) {
    hooks_[size_t(time)].push_back(hook);
  }
  bool has_hooks() const { return !hooks_[0].empty() || !hooks_[1].empty(); }
  bool is_hook(const Function* function) const;

  /// True if the class has the interface's methods: of the same parameters'
  /// names, that take all that the interface's take, and give no more than they
  /// give. May load methods; takes the unit's lock the first time.
  bool implements(const ClassType& interface) const {
    return why_no(interface).empty();
  }
  /// Why it does not, or "".
  std::string why_no(const ClassType& interface) const;

 private:
  std::string compare_to(const ClassType& interface) const;

  CompilationUnit& unit_;
  std::string name_;
  Kind kind_;
  TypePtr type_ = nullptr;
  Container container_ = Container::kNone;
  bool open_ = false;
  const OwnClass* own_ = nullptr;
  MemberLoader loader_;
  std::vector<Attribute> attributes_;
  std::unordered_map<std::string, int> slots_;
  std::map<std::string, Value, std::less<>> constants_;
  std::vector<std::pair<std::string, Function*>> methods_;
  std::unordered_map<std::string, Function*> methods_by_name_;
  std::set<std::string, std::less<>> properties_;
  std::array<std::vector<Function*>, 2> hooks_;
  // Verdicts that why_no has found.
  mutable Mutex verdicts_mutex_;
  mutable std::unordered_map<const ClassType*, std::string> verdicts_;
  // Classes that it is busy with, under the unit's lock.
  mutable std::set<const ClassType*> compared_;
};

/// Target of an instance's `type`: its class, and the unit kept alive.
struct ClassHandle : RefCounted {
  ClassHandle(std::shared_ptr<CompilationUnit> unit, ClassType* cls)
      : unit(std::move(unit)), cls(cls) {}
  const std::shared_ptr<CompilationUnit> unit;
  ClassType* const cls;
};

/// "\n" and why a value of type `from` is none of `to`, where an interface
/// is to blame; else "".
std::string interface_trouble(TypePtr from, TypePtr to);
std::string interface_trouble(const Value& value, TypePtr to);

/// The class of an instance, or null for other values.
ClassType* class_of(const Value& value);

/// A new instance; every slot holds its type's default_value.
Ref<InstanceObject> make_instance(ClassType& cls);

}  // namespace hotaru::script
