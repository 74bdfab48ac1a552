#include "hotaru/script/types/enum_type.h"

#include <algorithm>

#include "hotaru/core/checks/check.h"

namespace hotaru::script {

namespace {

bool equal(const Value& a, const Value& b) {
  return a.tag() == b.tag() && DictObject::Equal{}(a, b);
}

TypePtr type_of_member(const Value& value) {
  switch (value.tag()) {
    case Value::Tag::kInt:
      return TypeTable::integer();
    case Value::Tag::kDouble:
      return TypeTable::floating();
    case Value::Tag::kString:
      return TypeTable::string();
    default:
      return nullptr;
  }
}

template <class Matches>
int find(const EnumType& type, Matches matches) {
  auto found = std::find_if(type.members.begin(), type.members.end(), matches);
  return found == type.members.end() ? -1 : int(found - type.members.begin());
}

}  // namespace

int EnumType::find_name(std::string_view wanted) const {
  return find(*this,
              [&](const auto& member) { return member.first == wanted; });
}

int EnumType::find_value(const Value& value) const {
  return find(*this,
              [&](const auto& member) { return equal(member.second, value); });
}

Ref<EnumType> make_enum(std::string name,
                        std::vector<std::pair<std::string, Value>> members,
                        bool by_value) {
  HOTARU_CHECK(!members.empty(), "No enum values defined for: '", name, "'");
  auto out = make_ref<EnumType>();
  out->name = std::move(name);
  out->value_type = type_of_member(members[0].second);
  HOTARU_CHECK(out->value_type, "Cannot create Enum with value type '",
               members[0].second.type_name(),
               "', only int, float and string are supported");
  for (const auto& [member, value] : members) {
    HOTARU_CHECK(type_of_member(value) == out->value_type,
                 "Could not unify type list: the values of Enum class '",
                 out->name, "' are of type '", members[0].second.type_name(),
                 "' and, for '", member, "', of type '", value.type_name(),
                 "'; they must be of one type");
    HOTARU_CHECK(out->find_name(member) < 0 && out->find_value(value) < 0,
                 "Enum class '", out->name, "' defines '", member,
                 "' or its value twice");
    out->members.emplace_back(member, value);
  }
  out->by_value = by_value;
  return out;
}

Value enum_member(EnumType& type, int i) {
  const auto& [name, value] = type.members[size_t(i)];
  auto out = make_ref<InstanceObject>(Ref<EnumType>(&type));
  out->slots = {Value(name), value};
  return Value(std::move(out));
}

EnumType* enum_of(const Value& value) {
  if (!value.is_instance()) return nullptr;
  return dynamic_cast<EnumType*>(value.as_instance().type.get());
}

bool convert_enum(Value& value, EnumType& type) {
  const EnumType* own = enum_of(value);
  if (own == &type) return true;
  if (!own) {
    int i = type.by_value ? type.find_value(value) : -1;
    if (i < 0) return false;
    value = enum_member(type, i);
    return true;
  }
  const std::vector<Value>& slots = value.as_instance().slots;
  int i = type.find_name(slots[EnumType::kName].as_string());
  if (i < 0 || type.find_value(slots[EnumType::kValue]) != i) return false;
  value = enum_member(type, i);
  return true;
}

bool same_member(const Value& a, const Value& b) {
  const EnumType* type = enum_of(a);
  return type && type == enum_of(b) &&
         equal(a.as_instance().slots[EnumType::kName],
               b.as_instance().slots[EnumType::kName]);
}

}  // namespace hotaru::script
