// Copies of modules with everything they hold.
#include <unordered_map>

#include "hotaru/autograd/node.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/script/program/class_type.h"
#include "hotaru/script/program/module.h"
#include "hotaru/script/program/own_class.h"
#include "hotaru/script/types/enum_type.h"

namespace hotaru::script {

namespace {

class Copier {
 public:
  Value copy(const Value& value) {
    // A program may nest lists as deep as memory goes.
    constexpr int kMaxDepth = 1000;
    HOTARU_CHECK(depth_ < kMaxDepth, "values nested more than ", kMaxDepth,
                 " levels deep cannot be copied");
    ++depth_;
    Value out = copy_inside(value);
    --depth_;
    return out;
  }

 private:
  Value copy_inside(const Value& value) {
    switch (value.tag()) {
      case Value::Tag::kTensor:
        return once(value.tensor_ref().impl(), [&] {
          const Tensor& tensor = value.tensor_ref();
          Tensor out = clone(detach(tensor));
          if (autograd::requires_grad(tensor))
            autograd::set_requires_grad(out, true);
          return Value(out);
        });
      case Value::Tag::kList:
        return once(&value.as_list(),
                    [&] { return Value::list(items(value.as_list().items)); });
      case Value::Tag::kTuple:
        return Value::tuple(items(value.as_tuple().items));
      case Value::Tag::kDict:
        return once(&value.as_dict(), [&] {
          auto out = make_ref<DictObject>();
          for (const auto& [key, item] : value.as_dict().items)
            out->set(copy(key), copy(item));
          return Value(std::move(out));
        });
      case Value::Tag::kInstance:
        return instance(value);
      default:
        return value;
    }
  }

  template <class F>
  Value once(const void* original, F make) {
    auto known = copies_.find(original);
    if (known != copies_.end()) return known->second;
    return copies_[original] = make();
  }

  std::vector<Value> items(const std::vector<Value>& values) {
    std::vector<Value> out;
    out.reserve(values.size());
    for (const Value& value : values) out.push_back(copy(value));
    return out;
  }

  // Known before its slots are copied, for they may refer to it.
  Value instance(const Value& value) {
    if (enum_of(value)) return value;
    const InstanceObject& original = value.as_instance();
    auto known = copies_.find(&original);
    if (known != copies_.end()) return known->second;
    if (const OwnClass* cls = own_class_of(value))
      return copies_[&original] = own(*cls, value);
    auto out = make_ref<InstanceObject>(original.type);
    copies_[&original] = Value(out);
    out->slots = items(original.slots);
    return Value(std::move(out));
  }

  // C++ alone knows what is in an object of a program's own class.
  static Value own(const OwnClass& cls, const Value& value) {
    const OwnMethod* get = cls.find("__getstate__");
    const OwnMethod* set = cls.find("__setstate__");
    HOTARU_CHECK(get && set, "Cannot serialize custom bound C++ class ",
                 cls.name(),
                 ". Please define serialization methods via def_pickle() for "
                 "this class.");
    Value out(own_instance(cls));
    call_own_method(*set, {out, call_own_method(*get, {value})});
    return out;
  }

  std::unordered_map<const void*, Value> copies_;
  int depth_ = 0;
};

}  // namespace

Value deep_copy(const Value& value) {
  return Copier().copy(value);
}

Module Module::copy() const {
  Value out = deep_copy(Value(object_));
  return Module(Ref<InstanceObject>(&out.as_instance()));
}

}  // namespace hotaru::script
