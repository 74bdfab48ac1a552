#include "ATen/core/ivalue.h"

#include <algorithm>

#include "ATen/core/future.h"
#include "hotaru/script/program/class_type.h"
#include "hotaru/script/program/own_class.h"
#include "hotaru/script/run/interpreter.h"
#include "torch/jit.h"

namespace c10 {

using hotaru::libtorch::Boxed;

namespace ivalue {

Tuple::Tuple(std::vector<IValue> elements) : elements_(std::move(elements)) {}
Tuple::~Tuple() = default;
intrusive_ptr<Tuple> Tuple::create(std::vector<IValue> elements) {
  return make_intrusive<Tuple>(std::move(elements));
}
size_t Tuple::size() const {
  return elements_.size();
}

}  // namespace ivalue

IValue::IValue(intrusive_ptr<ivalue::Tuple> tuple)
    : value_(hotaru::Value::tuple(
          Boxed<std::vector<IValue>>::to(tuple->elements()).as_list().items)) {}
IValue::IValue(const torch::jit::Module& module)
    : value_(module.hotaru_module().object()) {}

IValue IValue::deepcopy() const {
  return IValue(hotaru::script::deep_copy(value_));
}

void IValue::wrong(const char* kind) const {
  throw Error(str("Expected ", kind, " but got ", tagKind()));
}

namespace {

template <class F>
bool is_list_of(const hotaru::Value& value, F is) {
  if (!value.is_list()) return false;
  const auto& items = value.as_list().items;
  return !items.empty() && std::ranges::all_of(items, is);
}

}  // namespace

bool IValue::isTensorList() const {
  return is_list_of(value_, [](const auto& v) { return v.is_tensor(); });
}
bool IValue::isIntList() const {
  return is_list_of(value_, [](const auto& v) { return v.is_int(); });
}
bool IValue::isDoubleList() const {
  return is_list_of(value_, [](const auto& v) { return v.is_double(); });
}
bool IValue::isBoolList() const {
  return is_list_of(value_, [](const auto& v) { return v.is_bool(); });
}
bool IValue::isModule() const {
  const auto* cls = hotaru::script::class_of(value_);
  return cls && cls->is_module();
}
bool IValue::isCustomClass() const {
  return hotaru::script::own_class_of(value_) != nullptr;
}
bool IValue::isFuture() const {
  return value_.is_object() &&
         dynamic_cast<const hotaru::Future*>(value_.as_object());
}
bool IValue::isGenerator() const {
  return value_.is_object() &&
         dynamic_cast<const hotaru::Generator*>(value_.as_object());
}

intrusive_ptr<ivalue::Tuple> IValue::toTuple() const {
  check(isTuple(), "Tuple");
  return ivalue::Tuple::create(to<std::vector<IValue>>());
}
GenericList IValue::toList() const {
  return get<GenericList>(isList(), "GenericList");
}
List<at::Tensor> IValue::toTensorList() const {
  return get<List<at::Tensor>>(isList(), "TensorList");
}
List<int64_t> IValue::toIntList() const {
  return get<List<int64_t>>(isList(), "IntList");
}
List<double> IValue::toDoubleList() const {
  return get<List<double>>(isList(), "DoubleList");
}
List<bool> IValue::toBoolList() const {
  return get<List<bool>>(isList(), "BoolList");
}
std::vector<at::Tensor> IValue::toTensorVector() const {
  return get<std::vector<at::Tensor>>(isList(), "TensorList");
}
std::vector<int64_t> IValue::toIntVector() const {
  return get<std::vector<int64_t>>(isList(), "IntList");
}
std::vector<double> IValue::toDoubleVector() const {
  return get<std::vector<double>>(isList(), "DoubleList");
}
std::vector<IValue> IValue::toListRef() const {
  return get<std::vector<IValue>>(isList(), "GenericList");
}
GenericDict IValue::toGenericDict() const {
  return get<GenericDict>(isGenericDict(), "GenericDict");
}
torch::jit::Module IValue::toModule() const {
  check(isModule(), "Module");
  return torch::jit::Module(
      hotaru::script::Module(hotaru::Ref(&value_.as_instance())));
}
intrusive_ptr<ivalue::Future> IValue::toFuture() const {
  check(isFuture(), "Future");
  return make_intrusive<ivalue::Future>(hotaru::Ref<hotaru::Future>(
      static_cast<hotaru::Future*>(value_.as_object())));
}

std::string IValue::tagKind() const {
  using Tag = hotaru::Value::Tag;
  switch (value_.tag()) {
    case Tag::kNone:
      return "None";
    case Tag::kInt:
      return "Int";
    case Tag::kDouble:
      return "Double";
    case Tag::kBool:
      return "Bool";
    case Tag::kDevice:
      return "Device";
    case Tag::kTensor:
      return "Tensor";
    case Tag::kComplex:
      return "ComplexDouble";
    case Tag::kString:
      return "String";
    case Tag::kList:
      return "GenericList";
    case Tag::kTuple:
      return "Tuple";
    case Tag::kDict:
      return "GenericDict";
    case Tag::kInstance:
      return "Object";
    case Tag::kObject:
      return isFuture() ? "Future" : isGenerator() ? "Generator" : "Capsule";
  }
  return "";
}

bool IValue::operator==(const IValue& other) const {
  if (isTensor() && other.isTensor()) return toTensor().equal(other.toTensor());
  if (isTuple() && other.isTuple())
    return to<std::vector<IValue>>() == other.to<std::vector<IValue>>();
  if (isList() && other.isList()) return toListRef() == other.toListRef();
  if (isScalar() && other.isScalar())
    return value_.tag() == other.value_.tag() &&
           value_.as_scalar() == other.value_.as_scalar();
  if (isString() && other.isString())
    return toStringRef() == other.toStringRef();
  return is(other);
}

std::ostream& operator<<(std::ostream& out, const IValue& value) {
  if (value.isTensor()) return out << value.toTensor();
  return out << hotaru::script::value_text(value.hotaru_value());
}

}  // namespace c10
