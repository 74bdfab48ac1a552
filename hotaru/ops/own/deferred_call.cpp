#include "hotaru/ops/own/deferred_call.h"

#include <algorithm>

#include "hotaru/autograd/grad_mode.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/runtime/own/own_kernel.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru::own {

namespace {

/// Attributes of a call, without its tensors: these are operands.
struct Attributes {
  const OwnOperator* op;
  const BoxedKernel* kernel;
  std::vector<Value> arguments;
  size_t outputs;
};

/// Lists are copied, since a caller may change them.
std::vector<Value> copied(std::span<const Value> arguments) {
  std::vector<Value> out(arguments.begin(), arguments.end());
  for (Value& value : out)
    if (value.is_list()) value = Value::list(value.as_list().items);
  return out;
}

Tensor on_meta(const Tensor& t) {
  return empty_strided(t.sizes(), t.strides(),
                       {t.dtype(), Device{DeviceType::kMeta}});
}

/// The same memory, of which no stream keeps count: what a kernel does with it
/// is the call's business.
Tensor borrowed(const Tensor& t) {
  const Ref<Storage>& storage = t.storage();
  return make_tensor(make_ref<Storage>(storage->data(), storage->nbytes(),
                                       storage->device(), storage, false),
                     t.dtype(), t.sizes(), t.strides(), t.storage_offset());
}

/// Results of a kernel as a flat list; false if some are no tensors.
bool flatten(std::span<const Value> results, std::vector<Tensor>* out) {
  for (const Value& value : results) {
    if (value.is_tensor()) {
      out->push_back(value.as_tensor());
    } else if (value.is_list()) {
      for (const Value& item : value.as_list().items) {
        if (!item.is_tensor()) return false;
        out->push_back(item.as_tensor());
      }
    } else {
      return false;
    }
  }
  return true;
}

void run(const KernelCall& call) {
  const auto& attributes = call.attributes<Attributes>();
  const OwnOperator& op = *attributes.op;
  const StreamGuard immediate{Stream(Device{})};
  const autograd::NoGrad no_grad;
  const SkipScope below({true, true});

  std::vector<Value> arguments = copied(attributes.arguments);
  size_t operand = 0;
  each_tensor(op, std::span(arguments), [&](Value& value, bool) {
    value = Value(borrowed(call.tensor(operand++)));
  });
  std::vector<Value> results(op.schema().results.size());
  (*attributes.kernel)(arguments, results.data());
  if (attributes.outputs == 0) return;

  std::vector<Tensor> made;
  flatten(results, &made);
  HOTARU_CHECK(made.size() == attributes.outputs, op.name(),
               ": the kernel for ", "Meta gave ", attributes.outputs,
               " tensors, the device's ", made.size());
  for (size_t i = 0; i < made.size(); ++i) {
    const Tensor out = borrowed(call.tensor(operand + i));
    HOTARU_CHECK(
        made[i].sizes() == out.sizes() && made[i].dtype() == out.dtype(),
        op.name(), ": the kernel for Meta said that result ", i,
        " is of shape ", shape_text(out.sizes()), " and ",
        dtype_name(out.dtype()), ", the device's gave ",
        shape_text(made[i].sizes()), " and ", dtype_name(made[i].dtype()));
    copy_(out, made[i]);
  }
}

const bool registered = [] {
  for (const DeviceType type : {DeviceType::kCPU, DeviceType::kCUDA})
    kernel("own_operator").set(type, &run);
  return true;
}();

/// How results come about: all of them new, or all of them arguments that were
/// written. Others are views, or numbers.
enum class Results : uint8_t { kNew, kWritten, kOther };
Results kind_of(const Schema& schema) {
  const auto& results = schema.results;
  const auto all = [&](auto holds) {
    return std::all_of(results.begin(), results.end(), [&](const Argument& a) {
      return a.type.kind == ArgKind::kTensor && holds(a.type);
    });
  };
  if (all([](const ArgType& t) { return t.written && !t.list; }))
    return Results::kWritten;
  if (all([](const ArgType& t) { return !t.alias && !t.optional; }))
    return Results::kNew;
  return Results::kOther;
}

/// Asks the kernel for Meta what the results are.
bool described(const OwnOperator& op, std::span<Value> arguments,
               std::vector<Value>* results, std::vector<Tensor>* flat) {
  const BoxedKernel* meta = op.runnable(Key::kMeta);
  if (!meta) meta = op.runnable(Key::kCompositeExplicit);
  if (!meta) return false;
  std::vector<Value> described = copied(arguments);
  each_tensor(op, std::span(described), [](Value& value, bool) {
    value = Value(on_meta(value.tensor_ref()));
  });
  const SkipScope below({true, true});
  (*meta)(described, results->data());
  return flatten(*results, flat);
}

}  // namespace

bool defer(const OwnOperator& op, const BoxedKernel& kernel, Device device,
           std::span<Value> arguments, Value* results) {
  if (device.type == DeviceType::kMeta || op.conservative()) return false;
  const Stream& stream = current_stream(device);
  if (stream.immediate()) return false;
  const Schema& schema = op.schema();
  const Results kind = kind_of(schema);
  if (kind == Results::kOther) return false;

  std::vector<Value> made(schema.results.size());
  std::vector<Tensor> outputs;
  if (kind == Results::kNew && !made.empty()) {
    std::vector<Tensor> meta;
    if (!described(op, arguments, &made, &meta)) return false;
    for (const Tensor& t : meta)
      outputs.push_back(
          empty_strided(t.sizes(), t.strides(), {t.dtype(), device}));
    size_t next = 0;
    for (Value& value : made) {
      if (value.is_tensor())
        value = Value(outputs[next++]);
      else
        for (Value& item : value.as_list().items) item = Value(outputs[next++]);
    }
  }

  std::vector<Tensor> tensors;
  each_tensor(op, arguments, [&](const Value& value, bool) {
    tensors.push_back(value.as_tensor());
  });
  Attributes attributes{&op, &kernel, copied(arguments), outputs.size()};
  std::vector<Operand> operands;
  each_tensor(op, std::span(attributes.arguments),
              [&](const Value&, bool written) {
                const Tensor& t = tensors[operands.size()];
                operands.push_back(written ? update(t) : read(t));
              });
  for (const Tensor& t : outputs) operands.push_back(write(t));
  // A place is kept where a tensor was, which the operands have.
  static const Tensor placeholder = empty(Dims{0});
  each_tensor(op, std::span(attributes.arguments),
              [](Value& value, bool) { value = Value(placeholder); });
  stream.enqueue({named_kernel(hotaru::kernel("own_operator"), op.name()),
                  operands, attributes});
  for (size_t i = 0; i < made.size(); ++i) {
    if (kind == Results::kNew) {
      results[i] = std::move(made[i]);
      continue;
    }
    for (size_t a = 0; a < schema.arguments.size(); ++a)
      if (schema.arguments[a].type.alias == schema.results[i].type.alias)
        results[i] = arguments[a];
  }
  return true;
}

}  // namespace hotaru::own
