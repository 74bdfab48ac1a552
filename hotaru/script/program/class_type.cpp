#include "hotaru/script/program/class_type.h"

#include <algorithm>
#include <mutex>
#include <new>

#include "hotaru/core/checks/check.h"
#include "hotaru/script/program/function.h"
#include "hotaru/script/program/own_class.h"
#include "hotaru/script/program/unit.h"

namespace hotaru::script {

ClassType::ClassType(CompilationUnit& unit, std::string name, Kind kind)
    : unit_(unit), name_(std::move(name)), kind_(kind) {
  // Archives tell containers by their names alone.
  std::string_view last = name_;
  last.remove_prefix(last.rfind('.') + 1);
  if (is_module() &&
      (last == "ModuleList" || last == "Sequential" || last == "ParameterList"))
    container_ = Container::kList;
  if (is_module() && last == "ModuleDict") container_ = Container::kDict;
}

int ClassType::find_attribute(std::string_view name) const {
  auto found = slots_.find(std::string(name));
  return found == slots_.end() ? -1 : found->second;
}

int ClassType::add_attribute(Attribute attribute) {
  int slot = int(attributes_.size());
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

bool ClassType::is_hook(const Function* function) const {
  return std::any_of(hooks_.begin(), hooks_.end(), [&](const auto& hooks) {
    return std::find(hooks.begin(), hooks.end(), function) != hooks.end();
  });
}

std::string ClassType::why_no(const ClassType& interface) const {
  auto known = [&]() -> const std::string* {
    // Tables that a fork cut short amid an insertion are left alone.
    if (verdicts_mutex_.lock()) new (&verdicts_) decltype(verdicts_);
    const std::lock_guard lock(verdicts_mutex_, std::adopt_lock);
    auto found = verdicts_.find(&interface);
    return found == verdicts_.end() ? nullptr : &found->second;
  };
  if (const std::string* verdict = known()) return *verdict;
  const std::lock_guard lock(unit_.mutex());
  if (const std::string* verdict = known()) return *verdict;
  // Interfaces may refer to each other: what is asked again on the way is
  // taken to be true.
  if (!compared_.insert(&interface).second) return {};
  constexpr int kMaxDepth = 100;
  static thread_local int depth = 0;
  struct Level {
    ~Level() {
      --depth;
      compared.erase(interface);
    }
    std::set<const ClassType*>& compared;
    const ClassType* interface;
  } level{compared_, &interface};
  HOTARU_CHECK(++depth <= kMaxDepth,
               "interfaces refer to each other more than ", kMaxDepth,
               " levels deep");
  std::string verdict = compare_to(interface);
  const std::lock_guard inner(verdicts_mutex_);
  return verdicts_[&interface] = std::move(verdict);
}

std::string ClassType::compare_to(const ClassType& interface) const {
  // Types of two programs are equal if they read the same.
  auto fits = [&](TypePtr from, TypePtr to) {
    return is_subtype(from, to) ||
           (&unit_ != &interface.unit_ && from->str() == to->str());
  };
  if (interface.is_module_interface() && !is_module() && !is_interface()) {
    return concat("Class '", name_,
                  "' is not a ScriptModule and only ScriptModule class can be "
                  "subtype of module interface '",
                  interface.name_, "'.");
  }
  for (const auto& [name, wanted] : interface.methods()) {
    Function* own = find_method(name);
    if (!own) {
      load_member(name);
      own = find_method(name);
    }
    if (!own) {
      return concat("Class '", name_, "' does not have method '", name,
                    "' but '", interface.name_, "' does.");
    }
    const std::vector<Parameter>& mine = own->params();
    const std::vector<Parameter>& theirs = wanted->params();
    bool same = mine.size() == theirs.size() &&
                fits(own->result_type(), wanted->result_type());
    for (size_t i = 1; same && i < mine.size(); ++i) {
      same =
          mine[i].name == theirs[i].name && fits(theirs[i].type, mine[i].type);
    }
    if (!same) {
      return concat("Method on class '", name_,
                    "' (1) is not compatible with interface '", interface.name_,
                    "' (2)\n  (1) ", own->schema(), "\n  (2) ",
                    wanted->schema());
    }
  }
  return {};
}

std::string interface_trouble(TypePtr from, TypePtr to) {
  if (to->kind == TypeKind::kOptional) to = to->item();
  if (!from || from->kind != TypeKind::kClass || to->kind != TypeKind::kClass ||
      !to->cls->is_interface())
    return {};
  std::string why = from->cls->why_no(*to->cls);
  return why.empty() ? why : concat("\n", why);
}

std::string interface_trouble(const Value& value, TypePtr to) {
  const ClassType* cls = class_of(value);
  const std::string why = interface_trouble(cls ? cls->type() : nullptr, to);
  return why.empty() ? why
                     : concat("\nObject of type ", cls->name(),
                              " is not compatible with interface ",
                              to->annotation(), why);
}

ClassType* class_of(const Value& value) {
  if (!value.is_instance()) return nullptr;
  auto* handle = dynamic_cast<ClassHandle*>(value.as_instance().type.get());
  return handle ? handle->cls : nullptr;
}

Ref<InstanceObject> make_instance(ClassType& cls) {
  if (cls.own()) return own_instance(*cls.own());
  auto instance = make_ref<InstanceObject>(
      make_ref<ClassHandle>(cls.unit().shared_from_this(), &cls));
  instance->slots.reserve(cls.attributes().size());
  for (const Attribute& attribute : cls.attributes())
    instance->slots.push_back(default_value(attribute.type));
  return instance;
}

}  // namespace hotaru::script
