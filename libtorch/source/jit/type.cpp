#include <array>
#include <utility>

#include "ATen/core/jit_type.h"

namespace c10 {
namespace {

/// Names of types without parts: in annotations, and in schemas.
struct Plain {
  TypeKind kind;
  const char* annotation;
  const char* schema;
};
constexpr std::array<Plain, 16> kPlain{{
    {TypeKind::AnyType, "Any", "Any"},
    {TypeKind::AnyEnumType, "AnyEnumType", "AnyEnumType"},
    {TypeKind::TensorType, "Tensor", "Tensor"},
    {TypeKind::StorageType, "Storage", "Storage"},
    {TypeKind::NumberType, "number", "Scalar"},
    {TypeKind::FloatType, "float", "float"},
    {TypeKind::ComplexType, "complex", "complex"},
    {TypeKind::IntType, "int", "int"},
    {TypeKind::NoneType, "NoneType", "NoneType"},
    {TypeKind::StringType, "str", "str"},
    {TypeKind::GeneratorType, "Generator", "Generator"},
    {TypeKind::BoolType, "bool", "bool"},
    {TypeKind::DeviceObjType, "Device", "Device"},
    {TypeKind::ScalarTypeType, "int", "ScalarType"},
    {TypeKind::LayoutType, "int", "Layout"},
    {TypeKind::MemoryFormatType, "int", "MemoryFormat"},
}};

const char* annotation_of(TypeKind kind) {
  for (const Plain& one : kPlain)
    if (one.kind == kind) return one.annotation;
  return "Any";
}

const char* generic_name(TypeKind kind) {
  return kind == TypeKind::ListType       ? "List"
         : kind == TypeKind::OptionalType ? "Optional"
                                          : "Future";
}

std::string joined(const std::vector<TypePtr>& types, bool annotations) {
  std::string out;
  for (const TypePtr& type : types) {
    if (!out.empty()) out += ", ";
    out += annotations ? type->annotation_str() : type->str();
  }
  return out;
}

template <class... T>
TypePtr plain_type(TypeKind kind) {
  TypePtr out = AnyType::get();
  ((T::Kind == kind ? void(out = T::get()) : void()), ...);
  return out;
}

}  // namespace

const char* typeKindToString(TypeKind kind) {
  static constexpr const char* kNames[] = {
      "AnyType",          "EnumType",      "AnyEnumType",    "TensorType",
      "StorageType",      "TupleType",     "ListType",       "DictType",
      "NumberType",       "FloatType",     "ComplexType",    "FutureType",
      "AwaitType",        "RRefType",      "IntType",        "NoneType",
      "StringType",       "GeneratorType", "QuantizerType",  "BoolType",
      "OptionalType",     "VarType",       "DeviceObjType",  "StreamObjType",
      "FunctionType",     "ClassType",     "PyObjectType",   "CapsuleType",
      "InterfaceType",    "QSchemeType",   "ScalarTypeType", "LayoutType",
      "MemoryFormatType", "AnyListType",   "AnyTupleType",   "AnyClassType",
      "SymIntType",       "SymFloatType",  "SymBoolType",    "UnionType",
      "DynamicType"};
  return kNames[size_t(kind)];
}

std::string Type::str() const {
  switch (kind_) {
    case TypeKind::ListType:
      return contained_[0]->str() + "[]";
    case TypeKind::OptionalType:
      return contained_[0]->str() + "?";
    case TypeKind::FutureType:
      return "Future(" + contained_[0]->str() + ")";
    case TypeKind::DictType:
      return "Dict(" + joined(contained_, false) + ")";
    case TypeKind::TupleType:
      return "(" + joined(contained_, false) + ")";
    default:
      break;
  }
  for (const Plain& one : kPlain)
    if (one.kind == kind_) return one.schema;
  return annotation_;
}

template <TypeKind K>
PlainType<K>::PlainType() : Type(K, annotation_of(K), {}) {}
template <TypeKind K>
ElementType<K>::ElementType(const TypePtr& element)
    : Type(K,
           std::string(generic_name(K)) + "[" + element->annotation_str() + "]",
           {element}) {}

template struct PlainType<TypeKind::AnyType>;
template struct PlainType<TypeKind::AnyEnumType>;
template struct PlainType<TypeKind::StorageType>;
template struct PlainType<TypeKind::NumberType>;
template struct PlainType<TypeKind::FloatType>;
template struct PlainType<TypeKind::ComplexType>;
template struct PlainType<TypeKind::IntType>;
template struct PlainType<TypeKind::NoneType>;
template struct PlainType<TypeKind::StringType>;
template struct PlainType<TypeKind::GeneratorType>;
template struct PlainType<TypeKind::BoolType>;
template struct PlainType<TypeKind::DeviceObjType>;
template struct PlainType<TypeKind::ScalarTypeType>;
template struct PlainType<TypeKind::LayoutType>;
template struct PlainType<TypeKind::MemoryFormatType>;
template struct ElementType<TypeKind::ListType>;
template struct ElementType<TypeKind::OptionalType>;
template struct ElementType<TypeKind::FutureType>;

const std::shared_ptr<TensorType>& TensorType::get() {
  static const auto* const one =
      new std::shared_ptr<TensorType>(std::make_shared<TensorType>());
  return *one;
}
DictType::DictType(const TypePtr& key, const TypePtr& value)
    : Type(Kind,
           "Dict[" + key->annotation_str() + ", " + value->annotation_str() +
               "]",
           {key, value}) {}
TupleType::TupleType(const std::vector<TypePtr>& elements)
    : Type(Kind, "Tuple[" + joined(elements, true) + "]", elements) {}

TypePtr type_of_text(const std::string& text) {
  if (text.ends_with("?"))
    return OptionalType::create(type_of_text(text.substr(0, text.size() - 1)));
  if (text.ends_with("]"))
    return ListType::create(type_of_text(text.substr(0, text.rfind('['))));
  if (text.starts_with("SymInt")) return IntType::get();
  for (const Plain& one : kPlain)
    if (text == one.schema)
      return one.kind == TypeKind::TensorType
                 ? TypePtr(TensorType::get())
                 : plain_type<AnyType, AnyEnumType, StorageType, NumberType,
                              FloatType, ComplexType, IntType, NoneType,
                              StringType, GeneratorType, BoolType,
                              DeviceObjType, ScalarTypeType, LayoutType,
                              MemoryFormatType>(one.kind);
  return AnyType::get();
}

}  // namespace c10
