#include "hotaru/exchange/module_tree.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "hotaru/autograd/node.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/script/archive/literal.h"
#include "hotaru/script/program/class_type.h"

namespace hotaru::exchange {

using script::ClassType;
using script::TypeTable;

namespace {

constexpr int kMaxDepth = 100;
constexpr std::string_view kTraining = "training";

// The parts of a dotted name, first to last.
template <class F>
void each_part(std::string_view name, const F& visit) {
  for (size_t begin = 0; begin <= name.size();) {
    size_t end = std::min(name.find('.', begin), name.size());
    visit(name.substr(begin, end - begin), end == name.size());
    begin = end + 1;
  }
}

}  // namespace

struct ModuleTree::Node {
  struct Member {
    std::string name;
    Role role = Role::kAttribute;
    Tensor tensor = {};
    std::unique_ptr<Node> module = nullptr;
  };

  std::string class_name;
  std::vector<Member> members;
  std::map<std::string, size_t, std::less<>> places;

  Member* find(std::string_view name) {
    auto found = places.find(name);
    return found == places.end() ? nullptr : &members[found->second];
  }
  Member& add(std::string_view name) {
    places.emplace(name, members.size());
    members.push_back({.name = std::string(name)});
    return members.back();
  }

  // An instance of a class of its own, with all below it.
  Ref<InstanceObject> make(script::CompilationUnit& unit, bool training) {
    ClassType* cls = unit.add_class(std::make_unique<ClassType>(
        unit, class_name, ClassType::Kind::kModule));
    cls->add_attribute(
        {.name = std::string(kTraining), .type = TypeTable::boolean()});
    std::vector<Value> slots = {training};
    for (Member& member : members) {
      Value value = member.module ? Value(member.module->make(unit, training))
                                  : Value(member.tensor);
      cls->add_attribute({.name = member.name,
                          .type = member.module
                                      ? script::class_of(value)->type()
                                      : TypeTable::tensor(),
                          .is_parameter = member.role == Role::kParameter,
                          .is_buffer = member.role == Role::kBuffer});
      slots.push_back(std::move(value));
    }
    Ref<InstanceObject> object = script::make_instance(*cls);
    object->slots = std::move(slots);
    return object;
  }
};

ModuleTree::ModuleTree(std::shared_ptr<script::CompilationUnit> unit,
                       std::string class_name)
    : unit_(std::move(unit)), root_(std::make_unique<Node>()) {
  root_->class_name = unit_->unique_name(concat("__torch__.", class_name));
}

ModuleTree::~ModuleTree() = default;

void ModuleTree::add(std::string_view name, Tensor tensor, Role role) {
  Node* node = root_.get();
  int depth = 0;
  each_part(name, [&](std::string_view part, bool last) {
    HOTARU_CHECK(!part.empty() && ++depth <= kMaxDepth, "'", name.substr(0, 80),
                 "' is no name of a tensor: a part of it is empty, or it has "
                 "more than ",
                 kMaxDepth, " parts");
    Node::Member* member = node->find(part);
    HOTARU_CHECK(part != kTraining && (!member || (member->module && !last)),
                 "two tensors or modules have the name '", name, "'");
    if (!member) member = &node->add(part);
    if (last) {
      if (role == Role::kParameter && is_differentiable(tensor.dtype()))
        autograd::set_requires_grad(tensor, true);
      member->tensor = std::move(tensor);
      member->role = role;
      return;
    }
    if (!member->module) {
      member->module = std::make_unique<Node>();
      member->module->class_name = unit_->unique_name("__torch__.Module");
    }
    node = member->module.get();
  });
}

bool ModuleTree::has(std::string_view name) const {
  Node* node = root_.get();
  bool found = true;
  each_part(name, [&](std::string_view part, bool last) {
    Node::Member* member = node ? node->find(part) : nullptr;
    found = found && member && last == !member->module;
    node = member ? member->module.get() : nullptr;
  });
  return found;
}

std::string ModuleTree::expression(std::string_view name) {
  std::string out = "self";
  each_part(name, [&](std::string_view part, bool) {
    out = script::is_identifier(part)
              ? concat(out, ".", part)
              : concat("getattr(", out, ", ", script::quoted(part), ")");
  });
  return out;
}

script::Module ModuleTree::finish(const std::string& file, std::string methods,
                                  bool training) {
  return finish(file, std::move(methods),
                std::make_unique<script::ArchiveResolver>(*unit_), training);
}

script::Module ModuleTree::finish(const std::string& file, std::string methods,
                                  std::unique_ptr<script::Resolver> resolver,
                                  bool training) {
  std::lock_guard lock(unit_->mutex());
  Ref<InstanceObject> root = root_->make(*unit_, training);
  ClassType& cls = *script::class_of(Value(root));
  for (script::Function* method : unit_->add_functions(
           std::make_unique<script::Source>(file, std::move(methods)),
           cls.name(), std::move(resolver), &cls))
    cls.add_method(std::string(method->short_name()), method);
  return script::Module(std::move(root));
}

}  // namespace hotaru::exchange
