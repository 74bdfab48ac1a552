#include "model.h"

#include "engine.h"
#include "hotaru/autograd/grad_mode.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/exchange/load_program.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/streams/stream.h"
#include "hotaru/runtime/threads/parallel.h"
#include "hotaru/script/program/function.h"

namespace hotaru::cli {
namespace {

/// "forward(x: Tensor, sr: int)", without self.
std::string signature(script::Function& method) {
  std::string text = concat(method.short_name(), "(");
  const auto& params = method.params();
  for (size_t i = 1; i < params.size(); ++i)
    text +=
        concat(i > 1 ? ", " : "", params[i].name, ": ", params[i].type->str());
  return text + ")";
}

void check_count(script::Function& method, size_t given) {
  const auto& params = method.params();
  size_t needed = 0;
  for (size_t i = 1; i < params.size(); ++i) needed += !params[i].has_default;
  HOTARU_CHECK_AS(ValueError, given >= needed && given < params.size(),
                  "the model is called as ", signature(method), "; ", given,
                  " of its arguments given. --input and --shape give one each");
}

/// A method of the module, with its arguments on the device.
std::function<Value()> own_call(const script::Module& module,
                                const ModelOptions& options,
                                std::vector<Value> arguments, Device device) {
  script::Function& method = module.method(options.method);
  check_count(method, arguments.size());
  for (Value& argument : arguments)
    if (argument.is_tensor()) argument = to(argument.as_tensor(), device);
  return [module, name = method.short_name(), arguments] {
    const autograd::NoGrad no_grad;
    return module.call(name, arguments);
  };
}

std::function<Value()> own_call(const ModelOptions& options, Device device) {
  const script::Module module = exchange::load_program(options.path);
  module.eval();
  if (!device.is_cpu()) module.to(device, {});
  return own_call(module, options, options.inputs.values_for(options.path),
                  device);
}

}  // namespace

struct Model::State {
  std::function<Value()> call;
  Device device;
};

void ModelOptions::add_to(const Verb& verb) {
  verb.option("model", path,
              "A TorchScript archive, a .pt2 file or an ONNX model")
      .required();
  inputs.add_options(verb);
  verb.option("--method", method, "What to call").shows_default();
  verb.option("--device", device, "Where it runs: cpu, cuda, cuda:1, ...")
      .shows_default();
  verb.option("--engine", engine, "What runs it: hotaru, onnxruntime")
      .one_of({kHotaru, kOnnxRuntime})
      .shows_default();
  verb.option("--threads", threads, "Threads an operator may use").positive();
  verb.flag("--json", json, "Print JSON");
}

Model::Model(const ModelOptions& options) {
  if (options.threads > 0) set_num_threads(options.threads);
  const Device device = resolve(Device::parse(options.device));
  state_.reset(new State{options.engine == kHotaru ? own_call(options, device)
                                                   : onnx_runtime_call(options),
                         device});
}

Model::Model(const script::Module& module, const ModelOptions& options) {
  if (options.threads > 0) set_num_threads(options.threads);
  state_.reset(new State{
      own_call(module, options, options.inputs.values(), Device{}), Device{}});
}

Model::~Model() = default;

Value Model::call() {
  return state_->call();
}

Device Model::device() const {
  return state_->device;
}

void Model::synchronize() const {
  if (!state_->device.is_cpu()) current_stream(state_->device).synchronize();
}

}  // namespace hotaru::cli
