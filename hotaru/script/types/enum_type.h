// Enum classes of TorchScript programs, and their members.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hotaru/core/value.h"
#include "hotaru/script/types/type.h"

namespace hotaru::script {

/// An Enum class. Immutable; belongs to nobody, so that a member may outlive
/// the program it came from.
struct EnumType : RefCounted {
  /// Slots of a member, which is an instance whose `type` is its class.
  static constexpr int kName = 0;
  static constexpr int kValue = 1;

  /// Qualified: "__torch__.models.Mode".
  std::string name;
  /// int, float or str, the same for all members.
  TypePtr value_type = nullptr;
  /// At least one, in the order of definition; no two of one value.
  std::vector<std::pair<std::string, Value>> members;
  /// The members are numbers or strings themselves, as those of Python's
  /// IntEnum are: each may stand where its value is expected.
  bool by_value = false;

  /// Index of a member, or -1.
  int find_name(std::string_view name) const;
  int find_value(const Value& value) const;
};

/// Throws Error unless there are members whose values are all ints, all floats
/// or all strings.
Ref<EnumType> make_enum(std::string name,
                        std::vector<std::pair<std::string, Value>> members,
                        bool by_value = false);

/// The class's i-th member, as a value of programs.
Value enum_member(EnumType& type, int i);

/// The class of a member, or null for other values.
EnumType* enum_of(const Value& value);

/// Turns a member of a class with that member, whatever its name, into the
/// member of this one: programs that were loaded twice exchange values. False
/// if there is none.
bool convert_enum(Value& value, EnumType& type);

/// True if both are the same member of the same Enum class.
bool same_member(const Value& a, const Value& b);

}  // namespace hotaru::script
