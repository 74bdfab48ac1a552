// Any value of TorchScript: what methods of modules take and give.
#pragma once

#include <ostream>

#include "ATen/core/boxed.h"

namespace torch::jit {
struct Module;
struct Object;
}  // namespace torch::jit

namespace c10 {

struct IValue;
using GenericList = List<IValue>;
using GenericDict = Dict<IValue, IValue>;
namespace impl {
using c10::GenericDict;
using c10::GenericList;
}  // namespace impl

namespace ivalue {

/// The elements of a tuple, which do not change.
struct Tuple final : intrusive_ptr_target {
  explicit Tuple(std::vector<IValue> elements);
  ~Tuple() override;
  static intrusive_ptr<Tuple> create(std::vector<IValue> elements);
  template <class... Args>
  static intrusive_ptr<Tuple> create(Args&&... args);
  const std::vector<IValue>& elements() const { return elements_; }
  size_t size() const;

 private:
  std::vector<IValue> elements_;
};

/// A string, which does not change.
struct ConstantString final : intrusive_ptr_target {
  explicit ConstantString(std::string text) : text_(std::move(text)) {}
  static intrusive_ptr<ConstantString> create(std::string text) {
    return make_intrusive<ConstantString>(std::move(text));
  }
  const std::string& string() const { return text_; }
  std::string_view string_view() const { return text_; }
  operator const std::string&() const { return text_; }
  friend std::ostream& operator<<(std::ostream& out, const ConstantString& s) {
    return out << s.text_;
  }

 private:
  const std::string text_;
};

/// A value that some thread will provide (fork, async). A handle.
class Future;
/// An instance of a class, or a module. A handle.
class Object;

}  // namespace ivalue

/// 16 bytes: hotaru::Value under PyTorch's names. Copying shares lists,
/// dictionaries and objects. Each to... throws for a value of another kind.
struct IValue final {
  IValue() = default;
  explicit IValue(hotaru::Value value) : value_(std::move(value)) {}
  /// Whatever Boxed knows: tensors, numbers, strings, lists, tuples ...
  template <class T, class = std::enable_if_t<
                         hotaru::libtorch::Boxable<std::decay_t<T>> &&
                         !std::is_same_v<std::decay_t<T>, IValue> &&
                         !std::is_same_v<std::decay_t<T>, hotaru::Value>>>
  IValue(const T& value)
      : value_(hotaru::libtorch::Boxed<std::decay_t<const T>>::to(value)) {}
  IValue(const char* text) : value_(text) {}
  IValue(const intrusive_ptr<ivalue::ConstantString>& text)
      : value_(text->string()) {}
  IValue(intrusive_ptr<ivalue::Tuple> tuple);
  IValue(const torch::jit::Module& module);

  const hotaru::Value& hotaru_value() const { return value_; }

  bool isNone() const { return value_.is_none(); }
  bool isTensor() const { return value_.is_tensor(); }
  bool isInt() const { return value_.is_int(); }
  bool isDouble() const { return value_.is_double(); }
  bool isBool() const { return value_.is_bool(); }
  bool isComplexDouble() const { return value_.is_complex(); }
  bool isScalar() const { return value_.is_number(); }
  bool isString() const { return value_.is_string(); }
  bool isDevice() const { return value_.is_device(); }
  bool isTuple() const { return value_.is_tuple(); }
  bool isList() const { return value_.is_list(); }
  bool isGenericDict() const { return value_.is_dict(); }
  bool isObject() const { return value_.is_instance(); }
  bool isModule() const;
  bool isCustomClass() const;
  bool isFuture() const;
  bool isGenerator() const;
  /// Lists of nothing but these; not empty ones.
  bool isTensorList() const;
  bool isIntList() const;
  bool isDoubleList() const;
  bool isBoolList() const;

  const at::Tensor& toTensor() const& {
    static_assert(sizeof(at::Tensor) == sizeof(hotaru::Tensor));
    check(isTensor(), "Tensor");
    return reinterpret_cast<const at::Tensor&>(value_.tensor_ref());
  }
  at::Tensor& toTensor() & {
    return const_cast<at::Tensor&>(std::as_const(*this).toTensor());
  }
  at::Tensor toTensor() && { return std::as_const(*this).toTensor(); }
  int64_t toInt() const { return get<int64_t>(isInt(), "Int"); }
  int64_t toSymInt() const { return toInt(); }
  double toDouble() const { return get<double>(isDouble(), "Double"); }
  bool toBool() const { return get<bool>(isBool(), "Bool"); }
  c10::complex<double> toComplexDouble() const {
    return get<std::complex<double>>(isComplexDouble(), "ComplexDouble");
  }
  at::Scalar toScalar() const { return get<at::Scalar>(isScalar(), "Scalar"); }
  const std::string& toStringRef() const {
    check(isString(), "String");
    return value_.as_string();
  }
  /// A copy.
  intrusive_ptr<ivalue::ConstantString> toString() const {
    return ivalue::ConstantString::create(toStringRef());
  }
  std::string_view toStringView() const { return toStringRef(); }
  Device toDevice() const { return get<Device>(isDevice(), "Device"); }
  ScalarType toScalarType() const { return static_cast<ScalarType>(toInt()); }
  Layout toLayout() const { return static_cast<Layout>(toInt()); }
  MemoryFormat toMemoryFormat() const {
    return static_cast<MemoryFormat>(toInt());
  }
  at::Generator toGenerator() const { return to<at::Generator>(); }
  intrusive_ptr<ivalue::Tuple> toTuple() const;
  GenericList toList() const;
  List<at::Tensor> toTensorList() const;
  List<int64_t> toIntList() const;
  List<double> toDoubleList() const;
  List<bool> toBoolList() const;
  std::vector<at::Tensor> toTensorVector() const;
  std::vector<int64_t> toIntVector() const;
  std::vector<double> toDoubleVector() const;
  std::vector<IValue> toListRef() const;
  GenericDict toGenericDict() const;
  torch::jit::Module toModule() const;
  /// torch/custom_class.h.
  template <class T>
  intrusive_ptr<T> toCustomClass() const {
    return to<intrusive_ptr<T>>();
  }
  intrusive_ptr<ivalue::Future> toFuture() const;
  /// torch/jit.h.
  ivalue::Object toObjectRef() const;
  intrusive_ptr<ivalue::Object> toObject() const;
  template <class T>
  std::optional<T> toOptional() const {
    return to<std::optional<T>>();
  }
  template <class T>
  T to() const {
    return hotaru::libtorch::Boxed<std::decay_t<T>>::from(value_);
  }

  /// "Tensor", "GenericList" ...
  std::string tagKind() const;
  bool is(const IValue& other) const { return value_.is(other.value_); }
  /// With copies of all tensors, containers and objects in it; what is one
  /// thing twice here is one there.
  IValue deepcopy() const;
  /// Tells values apart by what they are, not by what they hold.
  struct CompIdentityIValues {
    bool operator()(const IValue& a, const IValue& b) const { return a.is(b); }
  };
  bool operator==(const IValue& other) const;

 private:
  void check(bool holds, const char* kind) const {
    if (!holds) [[unlikely]]
      wrong(kind);
  }
  [[noreturn]] void wrong(const char* kind) const;
  template <class T>
  T get(bool holds, const char* kind) const {
    check(holds, kind);
    return to<T>();
  }

  hotaru::Value value_;
};

/// As TorchScript prints them: "(1, [2, 3])".
std::ostream& operator<<(std::ostream& out, const IValue& value);

template <class... Args>
intrusive_ptr<ivalue::Tuple> ivalue::Tuple::create(Args&&... args) {
  return create(std::vector<IValue>{IValue(std::forward<Args>(args))...});
}

}  // namespace c10

namespace hotaru::libtorch {
template <>
struct Boxed<c10::IValue> {
  static Value to(const c10::IValue& v) { return v.hotaru_value(); }
  static c10::IValue from(const Value& v) { return c10::IValue(v); }
};
}  // namespace hotaru::libtorch

namespace at {
using c10::IValue;
}
