// Types of TorchScript, as programs ask about them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "c10/core/ScalarType.h"
#include "c10/util/Exception.h"

// clang-format off: it lays a list of calls without commas out anew each time.
#define C10_FORALL_TYPES(_) \
  _(AnyType) \
  _(EnumType) \
  _(AnyEnumType) \
  _(TensorType) \
  _(StorageType) \
  _(TupleType) \
  _(ListType) \
  _(DictType) \
  _(NumberType) \
  _(FloatType) \
  _(ComplexType) \
  _(FutureType) \
  _(AwaitType) \
  _(RRefType) \
  _(IntType) \
  _(NoneType) \
  _(StringType) \
  _(GeneratorType) \
  _(QuantizerType) \
  _(BoolType) \
  _(OptionalType) \
  _(VarType) \
  _(DeviceObjType) \
  _(StreamObjType) \
  _(FunctionType) \
  _(ClassType) \
  _(PyObjectType) \
  _(CapsuleType) \
  _(InterfaceType) \
  _(QSchemeType) \
  _(ScalarTypeType) \
  _(LayoutType) \
  _(MemoryFormatType) \
  _(AnyListType) \
  _(AnyTupleType) \
  _(AnyClassType) \
  _(SymIntType) \
  _(SymFloatType) \
  _(SymBoolType) \
  _(UnionType) \
  _(DynamicType)
// clang-format on

namespace c10 {

/// "a.b.C": a name and what it is in.
class QualifiedName {
 public:
  QualifiedName() = default;
  QualifiedName(std::string name) : name_(std::move(name)) {}
  QualifiedName(const char* name) : name_(name) {}
  QualifiedName(const QualifiedName& prefix, const std::string& name)
      : name_(prefix.name_ + "." + name) {}

  const std::string& qualifiedName() const { return name_; }
  std::string name() const { return name_.substr(name_.rfind('.') + 1); }
  std::string prefix() const {
    const size_t dot = name_.rfind('.');
    return dot == std::string::npos ? "" : name_.substr(0, dot);
  }
  bool operator==(const QualifiedName&) const = default;

 private:
  std::string name_;
};

/// PyTorch numbers them in this order; hotaru makes no types of some.
enum class TypeKind : uint8_t {
#define HOTARU_TORCH_KIND(name) name,
  C10_FORALL_TYPES(HOTARU_TORCH_KIND)
#undef HOTARU_TORCH_KIND
};
const char* typeKindToString(TypeKind kind);

struct Type;
using TypePtr = std::shared_ptr<Type>;

/// A type; equal ones compare equal. Immutable.
struct Type : std::enable_shared_from_this<Type> {
  Type(TypeKind kind, std::string annotation, std::vector<TypePtr> contained)
      : kind_(kind),
        annotation_(std::move(annotation)),
        contained_(std::move(contained)) {}
  virtual ~Type() = default;

  TypeKind kind() const { return kind_; }
  /// As annotations are written: "Optional[List[int]]".
  const std::string& annotation_str() const { return annotation_; }
  const std::string& repr_str() const { return annotation_; }
  /// As schemas and graphs are: "int[]?".
  std::string str() const;
  const std::vector<TypePtr>& containedTypes() const { return contained_; }
  const TypePtr& containedType(size_t i) const { return contained_.at(i); }
  bool equals(const Type& other) const {
    return kind_ == other.kind_ && annotation_ == other.annotation_;
  }
  bool operator==(const Type& other) const { return equals(other); }

  /// This type as a T, or null.
  template <class T>
  std::shared_ptr<T> cast() const {
    return std::dynamic_pointer_cast<T>(
        std::const_pointer_cast<Type>(shared_from_this()));
  }
  /// The same; throws if it is none.
  template <class T>
  std::shared_ptr<T> expect() const {
    auto out = cast<T>();
    TORCH_CHECK(out, "the type ", annotation_, " is another than expected");
    return out;
  }

 private:
  TypeKind kind_;
  std::string annotation_;
  std::vector<TypePtr> contained_;
};
inline std::ostream& operator<<(std::ostream& out, const Type& type) {
  return out << type.str();
}

/// A type of no parts: IntType::get().
template <TypeKind K>
struct PlainType final : Type {
  static constexpr TypeKind Kind = K;
  PlainType();
  static const std::shared_ptr<PlainType>& get() {
    static const auto* const one =
        new std::shared_ptr<PlainType>(std::make_shared<PlainType>());
    return *one;
  }
};
using AnyType = PlainType<TypeKind::AnyType>;
using AnyEnumType = PlainType<TypeKind::AnyEnumType>;
using StorageType = PlainType<TypeKind::StorageType>;
using NumberType = PlainType<TypeKind::NumberType>;
using FloatType = PlainType<TypeKind::FloatType>;
using ComplexType = PlainType<TypeKind::ComplexType>;
using IntType = PlainType<TypeKind::IntType>;
using NoneType = PlainType<TypeKind::NoneType>;
using StringType = PlainType<TypeKind::StringType>;
using GeneratorType = PlainType<TypeKind::GeneratorType>;
using BoolType = PlainType<TypeKind::BoolType>;
using DeviceObjType = PlainType<TypeKind::DeviceObjType>;
using ScalarTypeType = PlainType<TypeKind::ScalarTypeType>;
using LayoutType = PlainType<TypeKind::LayoutType>;
using MemoryFormatType = PlainType<TypeKind::MemoryFormatType>;

/// Sizes of a tensor's type: those that are known. Here none is.
struct VaryingShape {
  std::optional<size_t> size() const { return {}; }
  std::optional<std::vector<int64_t>> concrete_sizes() const { return {}; }
  std::optional<int64_t> operator[](size_t) const { return {}; }
};

/// Any tensor: types say nothing of dtypes and sizes.
struct TensorType final : Type {
  static constexpr TypeKind Kind = TypeKind::TensorType;
  TensorType() : Type(Kind, "Tensor", {}) {}
  static const std::shared_ptr<TensorType>& get();
  std::optional<ScalarType> scalarType() const { return {}; }
  std::optional<size_t> dim() const { return {}; }
  VaryingShape sizes() const { return {}; }
};
using TensorTypePtr = std::shared_ptr<TensorType>;

/// A type of one part: List, Optional, Future.
template <TypeKind K>
struct ElementType final : Type {
  static constexpr TypeKind Kind = K;
  explicit ElementType(const TypePtr& element);
  static std::shared_ptr<ElementType> create(const TypePtr& element) {
    return std::make_shared<ElementType>(element);
  }
  const TypePtr& getElementType() const { return containedType(0); }
};
using ListType = ElementType<TypeKind::ListType>;
using OptionalType = ElementType<TypeKind::OptionalType>;
using FutureType = ElementType<TypeKind::FutureType>;

struct DictType final : Type {
  static constexpr TypeKind Kind = TypeKind::DictType;
  DictType(const TypePtr& key, const TypePtr& value);
  static std::shared_ptr<DictType> create(const TypePtr& key,
                                          const TypePtr& value) {
    return std::make_shared<DictType>(key, value);
  }
  const TypePtr& getKeyType() const { return containedType(0); }
  const TypePtr& getValueType() const { return containedType(1); }
};

struct TupleType final : Type {
  static constexpr TypeKind Kind = TypeKind::TupleType;
  explicit TupleType(const std::vector<TypePtr>& elements);
  static std::shared_ptr<TupleType> create(
      const std::vector<TypePtr>& elements) {
    return std::make_shared<TupleType>(elements);
  }
  const std::vector<TypePtr>& elements() const { return containedTypes(); }
};

/// A type as schemas write it ("Tensor?", "int[2]"); what stands for nothing
/// else here is Any.
TypePtr type_of_text(const std::string& text);

}  // namespace c10

namespace torch::jit {
using c10::AnyType;
using c10::BoolType;
using c10::DictType;
using c10::FloatType;
using c10::IntType;
using c10::ListType;
using c10::NoneType;
using c10::NumberType;
using c10::OptionalType;
using c10::QualifiedName;
using c10::StringType;
using c10::TensorType;
using c10::TupleType;
using c10::Type;
using c10::TypeKind;
using c10::TypePtr;
}  // namespace torch::jit
