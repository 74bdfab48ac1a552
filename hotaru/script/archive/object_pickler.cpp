#include "hotaru/script/archive/object_pickler.h"

#include <algorithm>

#include "hotaru/core/checks/check.h"
#include "hotaru/script/program/class_type.h"
#include "hotaru/script/program/function.h"
#include "hotaru/script/program/own_class.h"
#include "hotaru/script/program/unit.h"
#include "hotaru/script/types/enum_type.h"

namespace hotaru::script {

namespace {

constexpr const char* kModule = "torch.jit._pickle";

// The lists that have a function of their own.
const char* list_builder(TypePtr item) {
  switch (item->kind) {
    case TypeKind::kInt:
      return "build_intlist";
    case TypeKind::kFloat:
      return "build_doublelist";
    case TypeKind::kBool:
      return "build_boollist";
    case TypeKind::kTensor:
      return "build_tensorlist";
    default:
      return nullptr;
  }
}

// The type that says most about the value: a member of the declared one.
TypePtr narrowed(CompilationUnit& unit, const Value& value, TypePtr type) {
  if (type && type->kind == TypeKind::kOptional) type = type->item();
  if (type && type->kind == TypeKind::kUnion) {
    auto member =
        std::find_if(type->items.begin(), type->items.end(),
                     [&](TypePtr item) { return value_matches(value, item); });
    if (member != type->items.end()) type = *member;
  }
  bool vague =
      !type || type->kind == TypeKind::kAny || type->kind == TypeKind::kUnion;
  return vague ? type_of(unit.types(), value) : type;
}

}  // namespace

std::string ObjectPickler::pickle(const Value& value, TypePtr type) {
  begin();
  write(value, type, 0);
  return end();
}

void ObjectPickler::type_tag(TypePtr type) {
  text(type->annotation());
  op('\x86');
  op('R');
}

void ObjectPickler::list(const Value& value, TypePtr item, int depth) {
  const std::vector<Value>& items = value.as_list().items;
  const char* builder = list_builder(item);
  global(kModule, builder ? builder : "restore_type_tag");
  if (builder) op('(');
  op(']');
  op('(');
  for (const Value& element : items) write(element, item, depth + 1);
  op('e');
  if (builder) {
    op('t');
    op('R');
  } else {
    type_tag(unit_.types().list(item));
  }
  remember(&value.as_list(), value);
}

void ObjectPickler::dict(const Value& value, TypePtr type, int depth) {
  global(kModule, "restore_type_tag");
  op('}');
  op('(');
  for (const auto& [key, item] : value.as_dict().items) {
    write(key, type->items[0], depth + 1);
    write(item, type->items[1], depth + 1);
  }
  op('u');
  type_tag(type);
  remember(&value.as_dict(), value);
}

// The class, called with the value itself: no tuple, as PyTorch has it.
void ObjectPickler::enum_member(const Value& value) {
  const std::string& name = enum_of(value)->name;
  size_t dot = name.rfind('.');
  global(name.substr(0, dot), name.substr(dot + 1));
  io::Pickler::write(value.as_instance().slots[EnumType::kValue], 0);
  op('R');
}

void ObjectPickler::instance(const Value& value, int depth) {
  if (const OwnClass* own = own_class_of(value)) {
    const OwnMethod* method = own->find("__getstate__");
    HOTARU_CHECK_AS(TypeError, method, "the class '", own->name(),
                    "' has no __getstate__ (torch::class_::def_pickle), so "
                    "its objects cannot be saved");
    const size_t dot = own->name().rfind('.');
    global(own->name().substr(0, dot), own->name().substr(dot + 1));
    op(')');
    op('\x81');
    write(call_own_method(*method, {value}),
          unit_.types().parse_schema(method->schema.results[0].type.text),
          depth + 1);
    op('b');
    remember(&value.as_instance(), value);
    return;
  }
  const ClassType* cls = class_of(value);
  HOTARU_CHECK_AS(TypeError, cls,
                  "an object of an unknown class cannot be "
                  "saved");
  HOTARU_CHECK_AS(TypeError, &cls->unit() == &unit_, "the object of class '",
                  cls->name(),
                  "' belongs to another program than the module that holds "
                  "it, so they cannot be saved together");
  size_t dot = cls->name().rfind('.');
  global(cls->name().substr(0, dot), cls->name().substr(dot + 1));
  op(')');
  op('\x81');
  if (cls->find_method("__setstate__")) {
    Function* getter = cls->find_method("__getstate__");
    HOTARU_CHECK_AS(TypeError, getter, "class '", cls->name(),
                    "' has __setstate__ without __getstate__");
    write((*getter)({value}), getter->result_type(), depth + 1);
    op('b');
    remember(&value.as_instance(), value);
    return;
  }
  op('}');
  op('(');
  const std::vector<Value>& slots = value.as_instance().slots;
  for (size_t i = 0; i < slots.size(); ++i) {
    text(cls->attributes()[i].name);
    write(slots[i], cls->attributes()[i].type, depth + 1);
  }
  op('u');
  op('b');
  remember(&value.as_instance(), value);
}

void ObjectPickler::write(const Value& value, TypePtr declared, int depth) {
  HOTARU_CHECK_AS(ValueError, depth <= kMaxDepth, "values nested more than ",
                  kMaxDepth, " levels deep cannot be saved");
  TypePtr type = nullptr;
  if (value.is_list() || value.is_dict() || value.is_tuple()) {
    type = narrowed(unit_, value, declared);
    HOTARU_CHECK_AS(TypeError, type, "a value of type '", value.type_name(),
                    "' has elements without a type and cannot be saved");
  }
  switch (value.tag()) {
    case Value::Tag::kList:
      if (recall(&value.as_list())) return;
      return list(value, type->item(), depth);
    case Value::Tag::kDict:
      if (recall(&value.as_dict())) return;
      return dict(value, type, depth);
    case Value::Tag::kTuple: {
      const std::vector<Value>& items = value.as_tuple().items;
      op('(');
      for (size_t i = 0; i < items.size(); ++i)
        write(items[i], type->items[i], depth + 1);
      return op('t');
    }
    case Value::Tag::kInstance:
      if (enum_of(value)) return enum_member(value);
      if (recall(&value.as_instance())) return;
      return instance(value, depth);
    default:
      return io::Pickler::write(value, depth);
  }
}

}  // namespace hotaru::script
