#include "hotaru/provider/executable.h"

#include <algorithm>

#include "hotaru/autograd/grad_mode.h"
#include "hotaru/autograd/node.h"
#include "hotaru/core/error.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru::provider {

namespace {

const Kernel& kRun = kernel("provider_run");

/// Pointers to tensors, without an allocation for the usual numbers of them.
class Pointers {
 public:
  explicit Pointers(std::span<const Operand> operands) : size_(0) {
    if (operands.size() > kInline) many_.resize(operands.size());
    for (const Operand& operand : operands) data()[size_++] = operand.tensor;
  }
  std::span<const Tensor* const> first(size_t n) { return {data(), n}; }
  std::span<const Tensor* const> from(size_t n) {
    return {data() + n, size_ - n};
  }

 private:
  static constexpr size_t kInline = 16;
  const Tensor** data() { return many_.empty() ? few_ : many_.data(); }

  size_t size_;
  const Tensor* few_[kInline];
  std::vector<const Tensor*> many_;
};

std::string sizes_text(const Tensor& t) {
  std::string text = "[";
  for (int64_t size : t.sizes())
    text += concat(text.size() > 1 ? ", " : "", size);
  return text + "]";
}

}  // namespace

std::string Port::type_text() const {
  std::string text = concat(dtype_name(dtype), dims ? "[" : "");
  if (!dims) return text;
  for (size_t i = 0; i < dims->size(); ++i) {
    const Dim& dim = (*dims)[i];
    text += i > 0 ? ", " : "";
    if (dim.size >= 0)
      text += std::to_string(dim.size);
    else
      text += dim.name.empty() ? "?" : dim.name;
  }
  return text + "]";
}

struct Executable::Kernels {
  static const Attributes& of(const KernelCall& call) {
    return call.attributes<Attributes>();
  }
  static void run(const KernelCall& call) {
    const auto& [program, fresh] = of(call);
    const size_t n = program->inputs_.size();
    Pointers tensors(call.operands());
    if (fresh)
      *fresh = program->run_fresh(tensors.first(n));
    else
      program->run(tensors.first(n), tensors.from(n));
  }
  static std::unique_ptr<PreparedCall> prepare(const KernelCall& call) {
    const size_t n = of(call).program->inputs_.size();
    Pointers tensors(call.operands());
    return of(call).program->prepare(tensors.first(n), tensors.from(n));
  }
  static inline const bool registered = [] {
    Kernel& known = kernel("provider_run");
    known.set(DeviceType::kCPU, &Kernels::run);
    known.set_prepare(DeviceType::kCPU, &Kernels::prepare);
    return true;
  }();
};

Executable::Executable(std::string engine, std::string name,
                       std::vector<Port> inputs, std::vector<Port> outputs)
    : engine_(std::move(engine)),
      name_(std::move(name)),
      inputs_(std::move(inputs)),
      outputs_(std::move(outputs)) {
  find_sources();
}

void Executable::find_sources() {
  const auto source_of = [&](const Port::Dim& dim) {
    Source source{dim.size, {}};
    if (dim.size >= 0 || dim.name.empty()) return source;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (!inputs_[i].dims) continue;
      const auto& dims = *inputs_[i].dims;
      for (size_t d = 0; d < dims.size(); ++d)
        if (dims[d].size < 0 && dims[d].name == dim.name)
          source.places.emplace_back(i, d);
    }
    return source;
  };
  for (const Port& output : outputs_) {
    std::vector<Source>& sources = sources_.emplace_back();
    bool known = output.dims.has_value();
    for (size_t d = 0; known && d < output.dims->size(); ++d) {
      sources.push_back(source_of((*output.dims)[d]));
      known = sources.back().size >= 0 || !sources.back().places.empty();
    }
    if (!known && !shapeless_) shapeless_ = &output;
  }
}

const Port* Executable::shapeless() const {
  if (shapeless_ || outputs_.empty()) return shapeless_;
  return misdeclared_.load(std::memory_order_relaxed) ? &outputs_[0] : nullptr;
}

void Executable::check(std::span<const Tensor> inputs) const {
  if (inputs.size() != inputs_.size()) {
    std::string wanted;
    for (const Port& port : inputs_)
      wanted +=
          concat(wanted.empty() ? "" : ", ", port.name, ": ", port.type_text());
    fail<TypeError>(name_, ": takes ", inputs_.size(), " inputs (", wanted,
                    "), got ", inputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Port& port = inputs_[i];
    const Tensor& t = inputs[i];
    HOTARU_CHECK_AS(TypeError, t.defined(), name_, ": input '", port.name,
                    "' is not given");
    HOTARU_CHECK_AS(TypeError, t.dtype() == port.dtype, name_, ": input '",
                    port.name, "' is ", port.type_text(), ", got ",
                    dtype_name(t.dtype()));
    HOTARU_CHECK(t.device().is_cpu(), name_, ": input '", port.name, "' is on ",
                 t.device(), "; ", engine_, " takes tensors of the CPU");
    if (!port.dims) continue;
    bool fits = size_t(t.dim()) == port.dims->size();
    for (size_t d = 0; fits && d < port.dims->size(); ++d) {
      const int64_t wanted = (*port.dims)[d].size;
      fits = wanted < 0 || wanted == t.sizes()[d];
    }
    HOTARU_CHECK_AS(ValueError, fits, name_, ": input '", port.name, "' is ",
                    port.type_text(), ", got a tensor of shape ",
                    sizes_text(t));
  }
  if (!autograd::grad_enabled()) return;
  for (size_t i = 0; i < inputs.size(); ++i)
    HOTARU_CHECK(!autograd::requires_grad(inputs[i]), name_, ": input '",
                 inputs_[i].name, "' requires a gradient, and ", engine_,
                 " computes none; detach it or call under no_grad()");
}

bool Executable::make_outputs(std::span<const Tensor> inputs,
                              std::vector<Tensor>* outputs) const {
  if (shapeless()) return false;
  outputs->reserve(outputs_.size());
  for (size_t i = 0; i < outputs_.size(); ++i) {
    Dims sizes;
    for (const Source& source : sources_[i]) {
      int64_t size = source.size;
      for (const auto& [input, d] : source.places) {
        const int64_t found = inputs[input].sizes()[d];
        // One name for sizes that differ says nothing.
        if (size >= 0 && found != size) return false;
        size = found;
      }
      sizes.push_back(size);
    }
    outputs->push_back(empty(sizes, {outputs_[i].dtype, Device{}}));
  }
  return true;
}

std::vector<Tensor> Executable::run_now(std::span<const Tensor> inputs) const {
  const Stream& current = current_stream(Device{});
  if (current.diverted()) {
    const Port* port = shapeless() ? shapeless() : &outputs_[0];
    fail("operation not permitted when stream is capturing: ", name_,
         ": the shape of output '", port->name,
         "' does not follow from the inputs' (", port->type_text(), ")");
  }
  std::vector<Operand> operands;
  for (const Tensor& t : inputs) operands.push_back(read(t));
  std::vector<Tensor> outputs;
  Stream(Device{}).enqueue(
      {kRun, operands, Attributes{Ref<const Executable>(this), &outputs}});
  return outputs;
}

std::vector<Tensor> Executable::operator()(
    std::span<const Tensor> inputs) const {
  check(inputs);
  std::vector<Tensor> row_major;
  if (!std::all_of(inputs.begin(), inputs.end(),
                   [](const Tensor& t) { return t.is_contiguous(); })) {
    const autograd::NoGrad no_grad;
    for (const Tensor& t : inputs) row_major.push_back(contiguous(t));
    inputs = row_major;
  }
  std::vector<Tensor> outputs;
  if (!make_outputs(inputs, &outputs)) return run_now(inputs);
  std::vector<Operand> operands;
  operands.reserve(inputs.size() + outputs.size());
  for (const Tensor& t : inputs) operands.push_back(read(t));
  for (const Tensor& t : outputs) operands.push_back(write(t));
  const Stream& stream = current_stream(Device{});
  const Attributes attributes{Ref<const Executable>(this)};
  if (!stream.immediate()) {
    stream.enqueue({kRun, operands, attributes});
    return outputs;
  }
  try {
    stream.enqueue({kRun, operands, attributes});
    return outputs;
  } catch (const Error&) {
    // Files may declare shapes that are not those of the results; then it runs
    // without being told any.
    outputs = run_now(inputs);
    misdeclared_.store(true, std::memory_order_relaxed);
    return outputs;
  }
}

}  // namespace hotaru::provider
