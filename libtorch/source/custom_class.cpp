#include "torch/custom_class.h"

#include <mutex>
#include <unordered_map>

#include "hotaru/core/mutex.h"

namespace torch::detail {

namespace script = hotaru::script;

namespace {

struct ByType {
  hotaru::Mutex mutex;
  std::unordered_map<std::type_index, const script::OwnClass*> classes;
};
ByType& by_type() {
  static ByType& known = *new ByType;
  return known;
}

}  // namespace

const script::OwnClass* own_class(std::type_index type) {
  const std::lock_guard lock(by_type().mutex);
  const auto at = by_type().classes.find(type);
  return at == by_type().classes.end() ? nullptr : at->second;
}

void remember_class(std::type_index type, const script::OwnClass* cls) {
  const std::lock_guard lock(by_type().mutex);
  by_type().classes[type] = cls;
}

hotaru::RefCounted* own_object(const hotaru::Value& value,
                               std::type_index type) {
  const script::OwnClass* wanted = own_class(type);
  const script::OwnClass* given = script::own_class_of(value);
  TORCH_CHECK(given && given == wanted, "Expected a value of type '",
              wanted ? wanted->name() : type.name(),
              "' but instead found type '",
              given ? given->name() : value.type_name(), "'.");
  const hotaru::Value& object = value.as_instance().slots.at(0);
  TORCH_CHECK(object.is_object(), "an object of ", given->name(),
              " was used before its constructor ran");
  return object.as_object();
}

hotaru::Value own_value(hotaru::Ref<hotaru::RefCounted> object,
                        std::type_index type) {
  const script::OwnClass* cls = own_class(type);
  TORCH_CHECK(cls,
              "Trying to instantiate a class that isn't a registered "
              "custom class: ",
              type.name());
  return hotaru::Value(script::own_instance(
      *cls, hotaru::Value::from_object(std::move(object))));
}

class_base::class_base(const std::string& space, const std::string& name,
                       std::type_index type, const std::string& doc)
    : class_(script::define_own_class(
          c10::str("__torch__.torch.classes.", space, ".", name), doc)) {
  remember_class(type, &class_);
}

void class_base::add(const std::string& name,
                     hotaru::libtorch::NativeKernel kernel,
                     std::initializer_list<arg> arguments,
                     const std::string& doc, bool is_static, bool is_property) {
  script::OwnMethod method{name,
                           hotaru::Schema::parse(name + *kernel.schema),
                           std::move(kernel.kernel),
                           is_static,
                           is_property,
                           doc};
  auto& declared = method.schema.arguments;
  const size_t first = is_static ? 0 : 1;
  TORCH_CHECK(is_static || !declared.empty(), name,
              " takes no object: use def_static");
  if (!is_static) declared[0].name = "self";
  TORCH_CHECK(
      arguments.size() == 0 || arguments.size() + first == declared.size(),
      name,
      ": Default values must be specified for none or all "
      "arguments");
  size_t i = first;
  for (const arg& given : arguments) {
    if (!given.name.empty()) declared[i].name = given.name;
    if (given.value) declared[i].default_value = given.value->hotaru_value();
    ++i;
  }
  class_.add(std::move(method));
}

}  // namespace torch::detail
