#include "hotaru/script/program/own_class.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/mutex.h"

namespace hotaru::script {

namespace {

/// Never destroyed: programs may hold instances to the end.
struct Classes {
  Classes() {
    by_name.emplace(kRangeClass, std::make_unique<OwnClass>(kRangeClass, ""));
  }
  Mutex mutex;
  std::map<std::string, std::unique_ptr<OwnClass>, std::less<>> by_name;
};
Classes& classes() {
  static Classes& known = *new Classes;
  return known;
}

}  // namespace

const OwnMethod* OwnClass::find(std::string_view method) const {
  for (const auto& known : methods_)
    if (known->name == method) return known.get();
  return nullptr;
}

void OwnClass::add(OwnMethod method) {
  HOTARU_CHECK(!find(method.name), "the class ", name_, " has a method '",
               method.name, "' already");
  methods_.push_back(std::make_unique<OwnMethod>(std::move(method)));
}

OwnClass& define_own_class(std::string qualified_name, std::string doc) {
  const std::lock_guard lock(classes().mutex);
  auto made = std::make_unique<OwnClass>(qualified_name, std::move(doc));
  const auto [at, added] =
      classes().by_name.try_emplace(qualified_name, std::move(made));
  HOTARU_CHECK(added, "Custom class with name ", qualified_name,
               " is already registered. Ensure that registration with "
               "torch::class_ is only called once.");
  return *at->second;
}

const OwnClass* find_own_class(std::string_view qualified_name) {
  const std::lock_guard lock(classes().mutex);
  const auto at = classes().by_name.find(qualified_name);
  return at == classes().by_name.end() ? nullptr : at->second.get();
}

std::vector<std::string> own_class_names() {
  const std::lock_guard lock(classes().mutex);
  std::vector<std::string> out;
  for (const auto& [name, cls] : classes().by_name) out.push_back(name);
  return out;
}

Ref<InstanceObject> own_instance(const OwnClass& cls, Value object) {
  auto instance = make_ref<InstanceObject>(make_ref<OwnHandle>(&cls));
  instance->slots.push_back(std::move(object));
  return instance;
}

const OwnClass* own_class_of(const Value& value) {
  if (!value.is_instance()) return nullptr;
  auto* handle = dynamic_cast<OwnHandle*>(value.as_instance().type.get());
  return handle ? handle->cls : nullptr;
}

Value call_own_method(const OwnMethod& method, std::vector<Value> arguments) {
  std::vector<Value> results(method.schema.results.size());
  method.call(arguments, results.data());
  if (results.empty()) return {};
  return results.size() == 1 ? std::move(results[0])
                             : Value::tuple(std::move(results));
}

namespace {

/// False for a value that is surely not of the type; classes of a program's
/// own and what lists hold are asked for when the method takes them.
bool may_be(const ArgType& type, const Value& value) {
  if (value.is_none()) return type.optional || type.kind == ArgKind::kOther;
  if (type.list) return value.is_list() || value.is_tuple();
  switch (type.kind) {
    case ArgKind::kTensor:
      return value.is_tensor();
    case ArgKind::kInt:
      return value.is_int();
    case ArgKind::kFloat:
      return value.is_double() || value.is_int();
    case ArgKind::kBool:
      return value.is_bool();
    case ArgKind::kString:
      return value.is_string();
    default:
      return true;
  }
}

}  // namespace

std::vector<Value> bind_own_method(
    const OwnMethod& method, std::vector<Value> arguments,
    std::vector<std::pair<std::string, Value>> keywords) {
  const auto& declared = method.schema.arguments;
  HOTARU_CHECK_AS(TypeError, arguments.size() <= declared.size(), method.name,
                  "() takes ", declared.size(), " arguments, got ",
                  arguments.size());
  for (size_t i = arguments.size(); i < declared.size(); ++i) {
    const auto given = std::find_if(
        keywords.begin(), keywords.end(),
        [&](const auto& pair) { return pair.first == declared[i].name; });
    if (given != keywords.end()) {
      arguments.push_back(std::move(given->second));
      keywords.erase(given);
      continue;
    }
    HOTARU_CHECK_AS(TypeError, declared[i].default_value, method.name,
                    "() is missing the argument '", declared[i].name, "'");
    arguments.push_back(*declared[i].default_value);
  }
  HOTARU_CHECK_AS(TypeError, keywords.empty(), method.name,
                  "() has no argument '",
                  keywords.empty() ? "" : keywords[0].first, "' left");
  for (size_t i = 0; i < arguments.size(); ++i) {
    HOTARU_CHECK(may_be(declared[i].type, arguments[i]), method.name,
                 "() Expected a value of type '", declared[i].type.text,
                 "' for argument '", declared[i].name,
                 "' but instead found type '", arguments[i].type_name(),
                 "'.\nDeclaration: ", method.schema.str());
  }
  return arguments;
}

}  // namespace hotaru::script
