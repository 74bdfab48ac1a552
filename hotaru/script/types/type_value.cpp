// Types and run-time values.
#include <algorithm>

#include "hotaru/core/tensor.h"
#include "hotaru/script/program/class_type.h"
#include "hotaru/script/program/own_class.h"
#include "hotaru/script/types/enum_type.h"
#include "hotaru/script/types/type.h"

namespace hotaru::script {

bool value_matches(const Value& value, TypePtr type) {
  auto all = [](const std::vector<Value>& items, TypePtr item) {
    return std::all_of(items.begin(), items.end(),
                       [&](const Value& v) { return value_matches(v, item); });
  };
  switch (type->kind) {
    case TypeKind::kAny:
      return true;
    case TypeKind::kNone:
      return value.is_none();
    case TypeKind::kBool:
      return value.is_bool();
    case TypeKind::kInt:
      return value.is_int();
    case TypeKind::kFloat:
      return value.is_double();
    case TypeKind::kComplex:
      return value.is_complex();
    case TypeKind::kNumber:
      return value.is_number();
    case TypeKind::kString:
      return value.is_string();
    case TypeKind::kTensor:
      return value.is_tensor();
    case TypeKind::kDevice:
      return value.is_device();
    case TypeKind::kGenerator:
    case TypeKind::kStorage:
    case TypeKind::kFuture:
    case TypeKind::kAwait:
      return value.is_object();
    case TypeKind::kOptional:
      return value.is_none() || value_matches(value, type->item());
    case TypeKind::kUnion:
      return std::any_of(
          type->items.begin(), type->items.end(),
          [&](TypePtr item) { return value_matches(value, item); });
    case TypeKind::kList:
      return value.is_list() && all(value.as_list().items, type->item());
    case TypeKind::kDict:
      return value.is_dict() &&
             std::all_of(value.as_dict().items.begin(),
                         value.as_dict().items.end(), [&](const auto& entry) {
                           return value_matches(entry.first, type->items[0]) &&
                                  value_matches(entry.second, type->items[1]);
                         });
    case TypeKind::kTuple: {
      if (!value.is_tuple()) return false;
      const std::vector<Value>& items = value.as_tuple().items;
      if (items.size() != type->items.size()) return false;
      for (size_t i = 0; i < items.size(); ++i)
        if (!value_matches(items[i], type->items[i])) return false;
      return true;
    }
    case TypeKind::kClass: {
      if (const OwnClass* own = own_class_of(value))
        return own == type->cls->own();
      const ClassType* cls = class_of(value);
      return cls && (cls == type->cls || (type->cls->is_interface() &&
                                          cls->implements(*type->cls)));
    }
    case TypeKind::kEnum:
      return enum_of(value) == type->enumeration;
    case TypeKind::kAnyEnum:
      return enum_of(value) != nullptr;
    case TypeKind::kVar:
      return false;
  }
  return false;
}

TypePtr type_of(TypeTable& types, const Value& value) {
  switch (value.tag()) {
    case Value::Tag::kNone:
      return TypeTable::none();
    case Value::Tag::kInt:
      return TypeTable::integer();
    case Value::Tag::kDouble:
      return TypeTable::floating();
    case Value::Tag::kBool:
      return TypeTable::boolean();
    case Value::Tag::kComplex:
      return TypeTable::complex();
    case Value::Tag::kDevice:
      return TypeTable::device();
    case Value::Tag::kTensor:
      return TypeTable::tensor();
    case Value::Tag::kString:
      return TypeTable::string();
    case Value::Tag::kObject:
      return nullptr;
    case Value::Tag::kInstance: {
      if (EnumType* type = enum_of(value))
        return types.enumeration(Ref<EnumType>(type));
      if (const OwnClass* own = own_class_of(value))
        return types.find_class(own->name());
      const ClassType* cls = class_of(value);
      return cls ? cls->type() : nullptr;
    }
    case Value::Tag::kTuple: {
      std::vector<TypePtr> items;
      for (const Value& item : value.as_tuple().items) {
        items.push_back(type_of(types, item));
        if (!items.back()) return nullptr;
      }
      return types.tuple(std::move(items));
    }
    case Value::Tag::kList: {
      TypePtr item = nullptr;
      for (const Value& element : value.as_list().items) {
        TypePtr type = type_of(types, element);
        item = item && type ? unify(types, item, type) : type;
        if (!item) return nullptr;
      }
      return types.list(item ? item : TypeTable::tensor());
    }
    case Value::Tag::kDict: {
      const auto& items = value.as_dict().items;
      if (items.empty())
        return types.dict(TypeTable::string(), TypeTable::tensor());
      TypePtr key = type_of(types, items[0].first);
      TypePtr item = nullptr;
      for (const auto& entry : items) {
        TypePtr type = type_of(types, entry.second);
        item = item && type ? unify(types, item, type) : type;
        if (!item) return nullptr;
      }
      return key ? types.dict(key, item) : nullptr;
    }
  }
  return nullptr;
}

Value default_value(TypePtr type) {
  switch (type->kind) {
    case TypeKind::kBool:
      return false;
    case TypeKind::kInt:
    case TypeKind::kNumber:
      return 0;
    case TypeKind::kFloat:
      return 0.0;
    case TypeKind::kComplex:
      return std::complex<double>();
    case TypeKind::kString:
      return std::string();
    case TypeKind::kDevice:
      return Device();
    case TypeKind::kTensor: {
      // Every tensor-typed variable holds a tensor, if only an empty one.
      static const Ref<Storage> nothing =
          make_ref<Storage>(nullptr, 0, Device(), nullptr);
      constexpr int64_t kZero[] = {0};
      constexpr int64_t kOne[] = {1};
      return make_tensor(nothing, DType::kFloat32, kZero, kOne, 0);
    }
    case TypeKind::kList:
      return Value::list({});
    case TypeKind::kDict:
      return make_ref<DictObject>();
    case TypeKind::kTuple: {
      std::vector<Value> items;
      items.reserve(type->items.size());
      for (TypePtr item : type->items) items.push_back(default_value(item));
      return Value::tuple(std::move(items));
    }
    case TypeKind::kUnion:
      return default_value(type->items[0]);
    case TypeKind::kEnum:
      return enum_member(*type->enumeration, 0);
    default:
      return {};
  }
}

}  // namespace hotaru::script
