// Static types of TorchScript.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hotaru/core/value.h"

namespace hotaru::script {

class ClassType;
struct EnumType;

enum class TypeKind : uint8_t {
  kAny,
  kNone,
  kBool,
  kInt,
  kFloat,
  kComplex,
  kNumber,  // int, float, complex or bool: a Scalar
  kString,
  kTensor,
  kDevice,
  kGenerator,
  kStorage,
  kAnyEnum,   // a member of any Enum class, in built-ins' schemas
  kOptional,  // items[0]
  kUnion,     // items
  kList,      // items[0]
  kDict,      // items[0] -> items[1]
  kTuple,     // items; a NamedTuple has a name and fields
  kFuture,    // items[0]
  kAwait,     // items[0]
  kClass,     // an instance of a class, a module or an interface
  kEnum,      // a member of an Enum class
  kVar,       // a type variable of a built-in's schema; name
};

/// A type. Equal types of one unit are the same object, so that comparing
/// pointers compares types. Immutable.
struct Type {
  TypeKind kind = TypeKind::kAny;
  std::vector<const Type*> items = {};
  /// NamedTuple: qualified name and field names; without a name what an
  /// operator gives. kVar: the variable's name.
  std::string name = {};
  std::vector<std::string> fields = {};
  /// NamedTuple: values of its last fields where a program gives none.
  std::vector<Value> defaults = {};
  /// kClass only.
  ClassType* cls = nullptr;
  /// kEnum only; kept by the table.
  EnumType* enumeration = nullptr;
  /// Types that this one is made of, counted as often as they occur.
  size_t weight = 1;

  /// As annotations are written: "Optional[List[int]]".
  std::string annotation() const;
  /// As graphs are printed: "int[]?".
  std::string str() const;
  const Type* item() const { return items[0]; }
};

using TypePtr = const Type*;

/// Makes and owns the types of one compilation unit. Throws Error for types of
/// absurd size, which a few lines of nested tuples can write.
class TypeTable {
 public:
  static TypePtr any();
  static TypePtr none();
  static TypePtr boolean();
  static TypePtr integer();
  static TypePtr floating();
  static TypePtr complex();
  static TypePtr number();
  static TypePtr string();
  static TypePtr tensor();
  static TypePtr device();
  static TypePtr generator();
  static TypePtr storage();
  static TypePtr any_enum();

  /// Optional[Optional[T]] is Optional[T], Optional[None] is None.
  TypePtr optional(TypePtr item);
  TypePtr list(TypePtr item);
  TypePtr dict(TypePtr key, TypePtr value);
  TypePtr tuple(std::vector<TypePtr> items);
  TypePtr named_tuple(std::string name, std::vector<std::string> fields,
                      std::vector<TypePtr> items,
                      std::vector<Value> defaults = {});
  TypePtr future(TypePtr item);
  TypePtr awaited(TypePtr item);
  /// Flattened and without duplicates; with None it is Optional of the rest.
  TypePtr union_of(std::vector<TypePtr> items);
  TypePtr class_type(ClassType* cls);
  TypePtr enumeration(const Ref<EnumType>& type);
  TypePtr variable(std::string name);

  /// Who knows classes by their qualified names; gives null for others.
  using ClassFinder = std::function<TypePtr(std::string_view)>;
  void set_class_finder(ClassFinder finder) { finder_ = std::move(finder); }
  TypePtr find_class(std::string_view name) const {
    return finder_ ? finder_(name) : nullptr;
  }

  /// Reads the type language of operator schemas: "Tensor?[]", "Dict(str, t)",
  /// "int[2]". Throws ValueError.
  TypePtr parse_schema(std::string_view text);

 private:
  TypePtr intern(Type type);

  std::map<std::string, std::deque<const Type*>> by_key_;
  std::deque<Type> types_;
  std::vector<Ref<RefCounted>> kept_;
  ClassFinder finder_;
};

/// True if the type contains a type variable.
bool has_variables(TypePtr type);

/// Tells whether a value of type `from` can stand wherever `to` is expected,
/// without conversion.
bool is_subtype(TypePtr from, TypePtr to);

/// The type that both are subtypes of (None with T gives Optional[T]), or
/// null when only Any would do.
TypePtr unify(TypeTable& types, TypePtr a, TypePtr b);

/// Tells whether a run-time value has the type; looks at every element of
/// lists, tuples and dicts.
bool value_matches(const Value& value, TypePtr type);

/// The narrowest type that describes the value; lists and dicts by their
/// first elements, empty ones of Tensor. Null for values without a type.
TypePtr type_of(TypeTable& types, const Value& value);

/// A well-formed value of the type, for `uninitialized` and declarations.
Value default_value(TypePtr type);

}  // namespace hotaru::script
