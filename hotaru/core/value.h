// Any value a program handles: what operators take and give when they are
// called by name, what TorchScript's registers and archives hold.
#pragma once

#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

#include "hotaru/core/tensor.h"

namespace hotaru {

class Value;

/// A shared string; immutable.
struct StringObject : RefCounted {
  explicit StringObject(std::string text) : text(std::move(text)) {}
  const std::string text;
};
struct ComplexObject : RefCounted {
  explicit ComplexObject(std::complex<double> value) : value(value) {}
  const std::complex<double> value;
};
struct ListObject;
struct TupleObject;
struct DictObject;

/// An instance of a TorchScript class or module: attributes by slot. The
/// class that names the slots is the script layer's.
struct InstanceObject;

/// A tagged union of 16 bytes. Copying shares lists, dictionaries and
/// instances, as assignment does in Python.
class Value {
 public:
  enum class Tag : uint8_t {
    kNone,
    kInt,
    kDouble,
    kBool,
    kDevice,
    // From here on the payload is a RefCounted object.
    kTensor,
    kComplex,
    kString,
    kList,
    kTuple,
    kDict,
    kInstance,
    /// Any other object (generator, future, storage, file): as_object().
    kObject,
  };

  Value() = default;
  Value(const Value& other) : tag_(other.tag_) {
    put(other.bits());
    if (counted()) object()->retain();
  }
  Value(Value&& other) noexcept : tag_(other.tag_) {
    put(other.bits());
    other.tag_ = Tag::kNone;
  }
  Value& operator=(Value other) noexcept {
    const uint64_t mine = bits();
    std::swap(tag_, other.tag_);
    put(other.bits());
    other.put(mine);
    return *this;
  }
  ~Value() {
    if (counted()) object()->release();
  }

  Value(int64_t v) : tag_(Tag::kInt) { put(v); }
  Value(int v) : Value(int64_t{v}) {}
  Value(double v) : tag_(Tag::kDouble) { put(v); }
  Value(bool v) : tag_(Tag::kBool) { put(int64_t{v}); }
  Value(Device v) : tag_(Tag::kDevice) {
    put(int64_t{int8_t(v.type)} << 8 | (v.index & 0xff));
  }
  Value(DType v) : Value(int64_t{int8_t(v)}) {}
  /// An undefined tensor becomes None.
  Value(Tensor v) {
    if (v.defined()) own(Tag::kTensor, std::move(v).take().detach());
  }
  Value(std::complex<double> v);
  Value(const Scalar& v);
  Value(std::string v);
  Value(const char* v) : Value(std::string(v)) {}
  Value(Ref<ListObject> v);
  Value(Ref<TupleObject> v);
  Value(Ref<DictObject> v);
  Value(Ref<InstanceObject> v);
  static Value from_object(Ref<RefCounted> v);
  static Value list(std::vector<Value> items);
  static Value tuple(std::vector<Value> items);
  static Value int_list(IntSpan items);
  static Value tensor_list(const std::vector<Tensor>& items);

  Tag tag() const { return tag_; }
  bool is_none() const { return tag_ == Tag::kNone; }
  bool is_int() const { return tag_ == Tag::kInt; }
  bool is_double() const { return tag_ == Tag::kDouble; }
  bool is_bool() const { return tag_ == Tag::kBool; }
  bool is_device() const { return tag_ == Tag::kDevice; }
  bool is_tensor() const { return tag_ == Tag::kTensor; }
  bool is_complex() const { return tag_ == Tag::kComplex; }
  bool is_string() const { return tag_ == Tag::kString; }
  bool is_list() const { return tag_ == Tag::kList; }
  bool is_tuple() const { return tag_ == Tag::kTuple; }
  bool is_dict() const { return tag_ == Tag::kDict; }
  bool is_instance() const { return tag_ == Tag::kInstance; }
  bool is_object() const { return tag_ == Tag::kObject; }
  bool is_number() const {
    return is_int() || is_double() || is_bool() || is_complex();
  }

  /// Each as_ throws TypeError naming both kinds when the tag differs.
  int64_t as_int() const { return expect(Tag::kInt), get<int64_t>(); }
  double as_double() const { return expect(Tag::kDouble), get<double>(); }
  bool as_bool() const { return expect(Tag::kBool), get<int64_t>() != 0; }
  Device as_device() const;
  /// None gives an undefined tensor.
  Tensor as_tensor() const {
    if (is_none()) return {};
    expect(Tag::kTensor);
    return Tensor(Ref<TensorImpl>(get<TensorImpl*>()));
  }
  /// The tensor without counting a reference; valid while this value is.
  const Tensor& tensor_ref() const {
    expect(Tag::kTensor);
    static_assert(sizeof(Tensor) == sizeof(TensorImpl*));
    return *reinterpret_cast<const Tensor*>(bits_);
  }
  std::complex<double> as_complex() const;
  const std::string& as_string() const;
  ListObject& as_list() const;
  TupleObject& as_tuple() const;
  DictObject& as_dict() const;
  InstanceObject& as_instance() const;
  RefCounted* as_object() const { return expect(Tag::kObject), object(); }
  /// int, float, bool and complex.
  Scalar as_scalar() const;
  /// int; or bool and float without a fraction is an error.
  double to_double() const;
  std::vector<int64_t> to_int_vector() const;
  std::vector<Tensor> to_tensor_vector() const;

  /// Python's name of the value's type, for messages.
  const char* type_name() const;
  /// True if both are the same object, or equal simple values.
  bool is(const Value& other) const {
    return tag_ == other.tag_ && (is_none() || bits() == other.bits());
  }

 private:
  uint64_t bits() const { return get<uint64_t>(); }
  bool counted() const { return tag_ >= Tag::kTensor; }
  RefCounted* object() const { return get<RefCounted*>(); }
  void expect(Tag tag) const {
    if (tag_ != tag) [[unlikely]]
      wrong_tag(tag);
  }
  [[noreturn]] void wrong_tag(Tag wanted) const;
  /// Payloads are stored as their static type's pointer: all of them derive
  /// from RefCounted first, so the addresses agree.
  void own(Tag tag, RefCounted* object) {
    tag_ = tag;
    put(object);
  }
  template <class T>
  void put(T v) {
    static_assert(sizeof(T) == 8);
    std::memcpy(bits_, &v, 8);
  }
  template <class T>
  T get() const {
    T v;
    std::memcpy(&v, bits_, 8);
    return v;
  }

  Tag tag_ = Tag::kNone;
  alignas(8) unsigned char bits_[8] = {};
};

static_assert(sizeof(Value) == 16);

/// Containers let go of what they hold level by level, so that nesting of any
/// depth, as a loop in a program can build it, is released on a short stack.
struct ListObject : RefCounted {
  explicit ListObject(std::vector<Value> items) : items(std::move(items)) {}
  ~ListObject() override;
  std::vector<Value> items;
};
struct TupleObject : RefCounted {
  explicit TupleObject(std::vector<Value> items) : items(std::move(items)) {}
  ~TupleObject() override;
  std::vector<Value> items;
  /// Field names of a NamedTuple, else null; owned by its type.
  Ref<RefCounted> type;
};
struct InstanceObject : RefCounted {
  explicit InstanceObject(Ref<RefCounted> type) : type(std::move(type)) {}
  ~InstanceObject() override;
  Ref<RefCounted> type;
  std::vector<Value> slots;
};

/// Insertion-ordered, like Python's; keys are None, numbers, strings, devices
/// or tensors (by identity).
struct DictObject : RefCounted {
  struct Hash {
    size_t operator()(const Value& key) const;
  };
  struct Equal {
    bool operator()(const Value& a, const Value& b) const;
  };
  DictObject() = default;
  ~DictObject() override;
  const Value* find(const Value& key) const;
  void set(Value key, Value value);
  bool erase(const Value& key);
  void clear() {
    items.clear();
    index_.clear();
  }

  std::vector<std::pair<Value, Value>> items;

 private:
  std::unordered_map<Value, size_t, Hash, Equal> index_;
};

}  // namespace hotaru
