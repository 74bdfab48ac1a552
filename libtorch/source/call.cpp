#include "source/call.h"

#include <optional>

#include "hotaru/core/checks/check.h"
#include "hotaru/ops/autocast.h"
#include "hotaru/ops/out.h"

namespace hotaru::libtorch {

Value Boxed<at::Generator>::to(const at::Generator& v) {
  if (!v.defined()) return {};
  return Value::from_object(Ref<RefCounted>(v.get()));
}
at::Generator Boxed<at::Generator>::from(const Value& v) {
  if (v.is_none()) return {};
  auto* generator = dynamic_cast<Generator*>(v.as_object());
  HOTARU_CHECK_AS(TypeError, generator, "expected a generator");
  return at::Generator(Ref<Generator>(generator));
}

Value dtype_of(const at::TensorOptions& options) {
  const auto type = options.dtype_opt();
  return type ? to_value(type->toScalarType()) : Value();
}
Value layout_of(const at::TensorOptions& options) {
  return to_value(options.layout_opt());
}
Value device_of(const at::TensorOptions& options) {
  return to_value(options.device_opt());
}
Value pinned_of(const at::TensorOptions& options) {
  return to_value(options.pinned_memory_opt());
}

at::Tensor with_grad(at::Tensor made, const at::TensorOptions& options) {
  if (options.requires_grad()) made.set_requires_grad(true);
  return made;
}

at::Tensor& give(const at::Tensor& made, at::Tensor& out) {
  HOTARU_CHECK(out.defined(), "argument 'out' is undefined");
  if (!out.sizes().equals(made.sizes())) out.resize_(made.sizes());
  return out.copy_(made);
}
void give(const std::vector<at::Tensor>& made, at::TensorList out) {
  HOTARU_CHECK(made.size() == out.size(), "expected ", made.size(),
               " tensors for 'out', got ", out.size());
  for (size_t i = 0; i < made.size(); ++i) {
    at::Tensor to = out[i];
    give(made[i], to);
  }
}

const Operator& Op::find() {
  const Operator* op = Registry::instance().find(name_, overload_);
  HOTARU_CHECK(op, "libhotaru has no operator ", name_, *overload_ ? "." : "",
               overload_,
               ": it is of another version than the headers that this program "
               "was compiled with");
  found_.store(op, std::memory_order_release);
  return *op;
}

void Op::missing(size_t i) {
  fail(
      "Expected a proper Tensor but got None (or an undefined Tensor in C++) "
      "for argument #",
      i, " '", get().schema().arguments.at(i).name, "'");
}

void Op::write_results(std::initializer_list<at::Tensor> out,
                       Value* arguments) {
  const Operator& op = get();
  const Schema& schema = op.schema();
  std::vector<Tensor> to;
  for (const at::Tensor& t : out) {
    HOTARU_CHECK(t.defined(), op.name(), "(): argument 'out' is undefined");
    to.push_back(t.hotaru_tensor());
  }
  // Results that a tensor of the caller's takes are computed as they are, and
  // there.
  const autocast::Off plain;
  check_without_tangents(op, arguments, to);
  std::optional<ResultPlace> place;
  if (to.size() == 1) {
    const int dtype = schema.find("dtype");
    follow_out(schema, to[0], dtype >= 0 && !arguments[dtype].is_none(),
               arguments);
    if (const auto how = result_place(op, arguments, to[0]))
      place.emplace(to[0], *how, schema.name);
  }
  Results results;
  op.call(arguments, results.data());
  place.reset();
  for (size_t i = 0; i < to.size(); ++i)
    write_out(op, to[i], results[i].as_tensor());
}

}  // namespace hotaru::libtorch
