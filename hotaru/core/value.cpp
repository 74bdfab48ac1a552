#include "hotaru/core/value.h"

#include <functional>
#include <iterator>

#include "hotaru/core/checks/check.h"

namespace hotaru {
namespace {

const char* tag_name(Value::Tag tag) {
  using Tag = Value::Tag;
  switch (tag) {
    case Tag::kNone:
      return "NoneType";
    case Tag::kInt:
      return "int";
    case Tag::kDouble:
      return "float";
    case Tag::kBool:
      return "bool";
    case Tag::kDevice:
      return "torch.device";
    case Tag::kTensor:
      return "Tensor";
    case Tag::kComplex:
      return "complex";
    case Tag::kString:
      return "str";
    case Tag::kList:
      return "list";
    case Tag::kTuple:
      return "tuple";
    case Tag::kDict:
      return "dict";
    case Tag::kInstance:
      return "object";
    case Tag::kObject:
      return "object";
  }
  return "unknown";
}

/// How many destructors of containers may nest before the rest has to wait.
constexpr int kDeepestRelease = 64;
constinit thread_local int release_depth = 0;
constinit thread_local std::vector<Value>* postponed = nullptr;

void release_all(std::vector<Value>& items) noexcept {
  if (items.empty()) return;
  if (release_depth == kDeepestRelease) {
    postponed->insert(postponed->end(), std::move_iterator(items.begin()),
                      std::move_iterator(items.end()));
    return;
  }
  if (release_depth > 0) {
    ++release_depth;
    items.clear();
    --release_depth;
    return;
  }
  std::vector<Value> rest;
  postponed = &rest;
  release_depth = 1;
  items.clear();
  while (!rest.empty()) {
    const Value last = std::move(rest.back());
    rest.pop_back();
  }
  release_depth = 0;
  postponed = nullptr;
}

}  // namespace

ListObject::~ListObject() {
  release_all(items);
}
TupleObject::~TupleObject() {
  release_all(items);
}
InstanceObject::~InstanceObject() {
  release_all(slots);
}
DictObject::~DictObject() {
  // The keys of `index_` hold no container.
  std::vector<Value> values;
  values.reserve(items.size());
  for (auto& [key, value] : items) values.push_back(std::move(value));
  release_all(values);
}

Value::Value(std::complex<double> v) {
  own(Tag::kComplex, make_ref<ComplexObject>(v).detach());
}
Value::Value(const Scalar& v) {
  switch (v.kind()) {
    case Scalar::Kind::kBool:
      *this = Value(v.to_int() != 0);
      break;
    case Scalar::Kind::kInt:
      *this = Value(v.to_int());
      break;
    case Scalar::Kind::kDouble:
      *this = Value(v.to_double());
      break;
    case Scalar::Kind::kComplex:
      *this = Value(v.to_complex());
      break;
  }
}
Value::Value(std::string v) {
  own(Tag::kString, make_ref<StringObject>(std::move(v)).detach());
}
Value::Value(Ref<ListObject> v) {
  own(Tag::kList, v.detach());
}
Value::Value(Ref<TupleObject> v) {
  own(Tag::kTuple, v.detach());
}
Value::Value(Ref<DictObject> v) {
  own(Tag::kDict, v.detach());
}
Value::Value(Ref<InstanceObject> v) {
  own(Tag::kInstance, v.detach());
}

Value Value::from_object(Ref<RefCounted> v) {
  Value value;
  value.own(Tag::kObject, v.detach());
  return value;
}
Value Value::list(std::vector<Value> items) {
  return make_ref<ListObject>(std::move(items));
}
Value Value::tuple(std::vector<Value> items) {
  return make_ref<TupleObject>(std::move(items));
}
Value Value::int_list(IntSpan items) {
  return list(std::vector<Value>(items.begin(), items.end()));
}
Value Value::tensor_list(const std::vector<Tensor>& items) {
  return list(std::vector<Value>(items.begin(), items.end()));
}

Device Value::as_device() const {
  expect(Tag::kDevice);
  const int64_t bits = get<int64_t>();
  return {static_cast<DeviceType>(bits >> 8), int8_t(bits & 0xff)};
}
std::complex<double> Value::as_complex() const {
  expect(Tag::kComplex);
  return static_cast<ComplexObject*>(object())->value;
}
const std::string& Value::as_string() const {
  expect(Tag::kString);
  return static_cast<StringObject*>(object())->text;
}
ListObject& Value::as_list() const {
  expect(Tag::kList);
  return *static_cast<ListObject*>(object());
}
TupleObject& Value::as_tuple() const {
  expect(Tag::kTuple);
  return *static_cast<TupleObject*>(object());
}
DictObject& Value::as_dict() const {
  expect(Tag::kDict);
  return *static_cast<DictObject*>(object());
}
InstanceObject& Value::as_instance() const {
  expect(Tag::kInstance);
  return *static_cast<InstanceObject*>(object());
}

Scalar Value::as_scalar() const {
  switch (tag_) {
    case Tag::kInt:
      return get<int64_t>();
    case Tag::kDouble:
      return get<double>();
    case Tag::kBool:
      return get<int64_t>() != 0;
    case Tag::kComplex:
      return as_complex();
    default:
      fail<TypeError>("expected a number but got ", type_name());
  }
}

double Value::to_double() const {
  return is_double() ? get<double>() : as_scalar().to_double();
}

std::vector<int64_t> Value::to_int_vector() const {
  std::vector<int64_t> out;
  const auto& items = is_tuple() ? as_tuple().items : as_list().items;
  out.reserve(items.size());
  for (const Value& item : items) out.push_back(item.as_int());
  return out;
}

std::vector<Tensor> Value::to_tensor_vector() const {
  std::vector<Tensor> out;
  const auto& items = is_tuple() ? as_tuple().items : as_list().items;
  out.reserve(items.size());
  for (const Value& item : items) out.push_back(item.as_tensor());
  return out;
}

const char* Value::type_name() const {
  return tag_name(tag_);
}

void Value::wrong_tag(Tag wanted) const {
  fail<TypeError>("expected ", tag_name(wanted), " but got ", type_name());
}

namespace {

// That of the equal integer, if there is one.
size_t hash_of(double d) {
  const int64_t whole = truncated(d);
  return d == double(whole) ? std::hash<int64_t>{}(whole)
                            : std::hash<double>{}(d);
}

}  // namespace

size_t DictObject::Hash::operator()(const Value& key) const {
  if (key.is_string()) return std::hash<std::string>{}(key.as_string());
  if (key.is_double()) return hash_of(key.as_double());
  if (key.is_complex()) {
    const std::complex<double> c = key.as_complex();
    return c.imag() == 0 ? hash_of(c.real())
                         : hash_of(c.real()) * 1000003 ^ hash_of(c.imag());
  }
  if (key.is_int()) return std::hash<int64_t>{}(key.as_int());
  if (key.is_bool()) return std::hash<int64_t>{}(key.as_bool());
  if (key.is_none()) return 0x9e3779b9;
  if (key.is_tensor()) return std::hash<void*>{}(key.tensor_ref().impl());
  if (key.is_device()) return std::hash<std::string>{}(key.as_device().str());
  if (key.is_tuple()) {
    size_t seed = 0x345678;
    for (const Value& item : key.as_tuple().items)
      seed = seed * 1000003 ^ (*this)(item);
    return seed;
  }
  fail<TypeError>("unhashable type: '", key.type_name(), "'");
}

bool DictObject::Equal::operator()(const Value& a, const Value& b) const {
  if (a.is_number() && b.is_number()) return a.as_scalar() == b.as_scalar();
  if (a.tag() != b.tag()) return false;
  if (a.is_string()) return a.as_string() == b.as_string();
  if (a.is_tuple()) {
    const auto &x = a.as_tuple().items, &y = b.as_tuple().items;
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), *this);
  }
  return a.is(b);
}

const Value* DictObject::find(const Value& key) const {
  const auto it = index_.find(key);
  return it == index_.end() ? nullptr : &items[it->second].second;
}

void DictObject::set(Value key, Value value) {
  const auto [it, added] = index_.try_emplace(key, items.size());
  if (added)
    items.emplace_back(std::move(key), std::move(value));
  else
    items[it->second].second = std::move(value);
}

bool DictObject::erase(const Value& key) {
  const auto it = index_.find(key);
  if (it == index_.end()) return false;
  const size_t at = it->second;
  index_.erase(it);
  items.erase(items.begin() + std::ptrdiff_t(at));
  for (auto& [other, position] : index_)
    if (position > at) --position;
  return true;
}

}  // namespace hotaru
