// Functions of Python over operators: casts, nested lists, calls of Python.
#include <cmath>
#include <functional>
#include <optional>
#include <string>

#include "hotaru/autograd/leaf.h"
#include "hotaru/autograd/node.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/host.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/script/builtins/builtins.h"
#include "hotaru/script/run/foreign.h"

namespace hotaru::script {

namespace {

struct AwaitedValue final : AwaitedCall {
  explicit AwaitedValue(Value value) : value(std::move(value)) {}
  Value wait() override { return value; }
  const Value value;
};

}  // namespace

namespace {

template <DType dtype>
void add_cast(BuiltinTable& table, const char* name) {
  table.add(
      concat(name, ".cast(Tensor self) -> Tensor"), +[](const Tensor& t) {
        return to(t, std::optional<DType>(dtype), std::optional<Device>());
      });
}

// The numbers from `next` on, nested as the sizes say.
template <class T>
Value nested(const T*& next, IntSpan sizes) {
  if (sizes.empty()) return Value(Scalar(*next++));
  std::vector<Value> items;
  for (int64_t i = 0; i < sizes[0]; ++i)
    items.push_back(nested(next, sizes.subspan(1)));
  return Value::list(std::move(items));
}

Value to_lists(const Tensor& self) {
  Tensor whole = contiguous(self);
  Value out;
  visit_dtype(AllTypes{}, whole.dtype(), "tolist", [&]<class T>() {
    const T* next = host_data<T>(whole, "tolist");
    out = nested(next, whole.sizes());
  });
  return out;
}

// Hash that equal values share, 1 and 1.0 too; tensors are equal to themselves
// alone.
int64_t hash_of(const Value& value) {
  if (value.is_none()) return 0x5eed;
  if (value.is_bool()) return value.as_bool();
  if (value.is_int()) return value.as_int();
  if (value.is_double()) {
    double number = value.as_double();
    bool whole = std::trunc(number) == number && std::abs(number) < 9e18;
    return whole ? int64_t(number) : int64_t(std::hash<double>{}(number));
  }
  if (value.is_string())
    return int64_t(std::hash<std::string>{}(value.as_string()));
  if (value.is_tensor())
    return int64_t(reinterpret_cast<uintptr_t>(value.as_tensor().impl()) >> 4);
  HOTARU_CHECK_AS(TypeError, value.is_tuple(), "unhashable type: '",
                  value.type_name(), "'");
  uint64_t out = 0x345678;
  for (const Value& item : value.as_tuple().items)
    out = (out ^ uint64_t(hash_of(item))) * 1000003;
  return int64_t(out);
}

}  // namespace

void add_convert_builtins(BuiltinTable& table) {
  add_cast<DType::kBool>(table, "bool");
  add_cast<DType::kUInt8>(table, "byte");
  add_cast<DType::kInt8>(table, "char");
  add_cast<DType::kInt16>(table, "short");
  add_cast<DType::kInt32>(table, "int");
  add_cast<DType::kInt64>(table, "long");
  add_cast<DType::kFloat16>(table, "half");
  add_cast<DType::kBFloat16>(table, "bfloat16");
  add_cast<DType::kFloat32>(table, "float");
  add_cast<DType::kFloat64>(table, "double");
  add_cast<DType::kComplex64>(table, "cfloat");
  add_cast<DType::kComplex128>(table, "cdouble");
  table.add(
      "requires_grad_(Tensor self, bool requires_grad=True) -> Tensor",
      +[](const Tensor& t, bool on) {
        autograd::set_requires_grad(t, on);
        return t;
      });
  table.add(
      "set_(Tensor self, Tensor source) -> Tensor",
      +[](const Tensor& self, const Tensor& source) {
        HOTARU_CHECK(!autograd::requires_grad(self),
                     "set_(): a tensor that requires gradients cannot be set");
        autograd::set_data(self, source);
        return self;
      });
  table.add(
      "hash(Any value) -> int",
      +[](const Value& value) { return hash_of(value); });
  table.add(
      "mT(Tensor self) -> Tensor",
      +[](const Tensor& t) { return transpose(t, -2, -1); });
  table.add(
      "call_foreign(Any function, Any arguments) -> Any",
      +[](const Value& function, const Value& arguments) {
        auto* callee = dynamic_cast<ForeignFunction*>(function.as_object());
        HOTARU_CHECK_AS(TypeError, callee, "this value cannot be called");
        return callee->call(arguments.as_tuple().items);
      });
  table.add(
      "awaitable_wait(Await(t) self) -> t", +[](const Value& self) {
        auto* call = dynamic_cast<AwaitedCall*>(self.as_object());
        HOTARU_CHECK_AS(TypeError, call, "this value cannot be awaited");
        return call->wait();
      });
  table.add(
      "awaitable_nowait(t value) -> Await(t)", +[](const Value& value) {
        return Value::from_object(make_ref<AwaitedValue>(value));
      });
  // Its result's type is what the program declares.
  table.add("tolist(Tensor self) -> Any", &to_lists);
}

}  // namespace hotaru::script
