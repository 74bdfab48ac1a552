// A call of a program's operator, layer by layer as in PyTorch: autocast,
// derivatives, versions of what is written, the kernel of the device. A layer
// without a kernel, or with one that falls through, hands the call on.
#include <algorithm>

#include "hotaru/autograd/node.h"
#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/autocast.h"
#include "hotaru/ops/own/deferred_call.h"
#include "hotaru/ops/own/own_operator.h"
#include "hotaru/runtime/warning.h"

namespace hotaru::own {

namespace {

std::atomic<bool> warns{true};

/// Facts that the tensors among the arguments tell.
class Seen {
 public:
  Seen(const OwnOperator& op, std::span<const Value> arguments) {
    each_tensor(op, arguments,
                [&](const Value& v, bool) { look(v.tensor_ref()); });
  }

  bool any() const { return any_; }
  /// Device of the first tensor of the last type of CPU, CUDA, Meta.
  Device device() const { return device_; }
  bool wants_grad() const { return wants_grad_; }

 private:
  void look(const Tensor& t) {
    if (!any_ || t.device().type > device_.type) device_ = t.device();
    any_ = true;
    wants_grad_ |= autograd::requires_grad(t);
  }

  bool any_ = false, wants_grad_ = false;
  Device device_;
};

std::string backends_of(const OwnOperator& op) {
  std::string text;
  for (size_t i = 0; i < kKeys; ++i)
    if (op.kernel(Key(i)))
      text += concat(text.empty() ? "" : ", ", key_name(Key(i)));
  return text;
}

[[noreturn]] void missing(const OwnOperator& op, Key key) {
  const std::string& name = op.qualified_name();
  if (key == Key::kMeta)
    fail<NotImplementedError>(
        name,
        ": attempted to run this operator with Meta tensors, but there was no "
        "fake impl or Meta kernel registered. You may have run into this "
        "message while using an operator with PT2 compilation APIs "
        "(torch.compile/torch.export); in order to use this operator with "
        "those APIs you'll need to add a fake impl. Please see the following "
        "for next steps:  https://pytorch.org/tutorials/advanced/"
        "custom_ops_landing_page.html");
  fail<NotImplementedError>(
      "Could not run '", name, "' with arguments from the '", key_name(key),
      "' backend. This could be because the operator doesn't exist for this "
      "backend, or was omitted during the selective/custom build process (if "
      "using custom build). If you are a Facebook employee using PyTorch on "
      "mobile, please visit https://fburl.com/ptmfixes for possible "
      "resolutions. '",
      name, "' is only available for these backends: [", backends_of(op), "].");
}

/// Gives nothing but writes: without a kernel there is nothing to do on meta.
bool only_writes(const OwnOperator& op) {
  const auto& places = op.tensors();
  return op.schema().results.empty() &&
         std::any_of(places.begin(), places.end(),
                     [](const TensorPlace& place) { return place.written; });
}

class Call {
 public:
  Call(const OwnOperator& op, Value* arguments, Value* results)
      : op_(op),
        arguments_(arguments, op.schema().arguments.size()),
        results_(results),
        seen_(op, arguments_) {}

  void run() {
    if (!seen_.any()) return without_tensors();
    keys_ = keys_of(seen_.device().type);
    if (keys_.autocast && autocast::of(seen_.device().type).enabled &&
        try_kernel(*keys_.autocast))
      return;
    if (!skipped().autograd) return with_derivatives();
    below_derivatives();
  }

 private:
  bool try_kernel(Key key) {
    const BoxedKernel* kernel = op_.runnable(key);
    if (kernel) (*kernel)(arguments_, results_);
    return kernel;
  }

  void without_tensors() {
    for (const Key key :
         {Key::kBackendSelect, Key::kCompositeExplicitNonFunctional,
          Key::kCompositeExplicit, Key::kCompositeImplicit})
      if (try_kernel(key)) return;
    // Made on the CPU unless the operator says otherwise.
    if (op_.tensors().empty() && try_kernel(Key::kCPU)) return;
    fail<NotImplementedError>(
        "There were no tensor arguments to this function (e.g., you passed an "
        "empty list of Tensors), but no fallback function is registered for "
        "schema ",
        op_.name(),
        ".  This usually means that this function requires a non-empty list "
        "of Tensors, or that you (the operator writer) forgot to register a "
        "fallback function.  Available functions are [",
        backends_of(op_), "].");
  }

  void with_derivatives() {
    if (try_kernel(keys_.autograd)) return;
    bool falls = op_.falls_through(keys_.autograd);
    if (!falls) {
      const bool own_kernel = op_.kernel(keys_.kernel) ||
                              op_.kernel(Key::kCompositeExplicit) ||
                              op_.kernel(Key::kCompositeExplicitNonFunctional);
      if (!own_kernel && try_kernel(Key::kCompositeImplicit)) return;
      if (try_kernel(Key::kAutograd)) return;
      falls = op_.falls_through(Key::kAutograd);
    }
    const bool watched = !falls && warns_without_derivative() &&
                         seen_.wants_grad() && autograd::grad_enabled();
    Tensors inputs;
    if (watched) inputs = tensors_that_want_gradients();
    below_derivatives();
    if (watched) note_results(inputs);
  }

  void below_derivatives() {
    if (!skipped().inplace && try_kernel(Key::kADInplaceOrView)) return;
    for (const Key key : {keys_.kernel, Key::kCompositeExplicitNonFunctional,
                          Key::kCompositeExplicit, Key::kCompositeImplicit}) {
      const BoxedKernel* kernel = op_.runnable(key);
      if (!kernel) continue;
      const bool recorded = seen_.wants_grad() && autograd::grad_enabled();
      if (key != keys_.kernel || recorded ||
          !defer(op_, *kernel, seen_.device(), arguments_, results_))
        (*kernel)(arguments_, results_);
      return;
    }
    if (keys_.kernel == Key::kMeta && only_writes(op_)) return;
    missing(op_, keys_.kernel);
  }

  Tensors tensors_that_want_gradients() const {
    Tensors out;
    each_tensor(op_, arguments_, [&](const Value& v, bool) {
      if (autograd::requires_grad(v.tensor_ref()))
        out.push_back(v.tensor_ref());
    });
    return out;
  }

  /// A backward pass that comes to a result warns.
  void note_results(const Tensors& inputs) {
    const auto& declared = op_.schema().results;
    for (size_t i = 0; i < declared.size(); ++i) {
      const bool written = declared[i].type.written;
      if (results_[i].is_tensor())
        note(results_[i].tensor_ref(), written, inputs);
      if (results_[i].is_list())
        for (const Value& item : results_[i].as_list().items)
          if (item.is_tensor()) note(item.tensor_ref(), written, inputs);
    }
  }

  void note(const Tensor& t, bool written, const Tensors& inputs) {
    if (!t.is_floating_point() && !t.is_complex()) return;
    const auto complain = [name = op_.name()] {
      warn(concat(
          name,
          ": an autograd kernel was not registered to the Autograd key(s) but "
          "we are trying to backprop through it. This may lead to silently "
          "incorrect behavior. This behavior is deprecated and will be removed "
          "in a future version of PyTorch. If your operator is differentiable, "
          "please ensure you have registered an autograd kernel to the correct "
          "Autograd key (e.g. DispatchKey::Autograd, "
          "DispatchKey::CompositeImplicitAutograd). If your operator is not "
          "differentiable, or to squash this warning and use the previous "
          "behavior, please register torch::CppFunction::makeFallthrough() to "
          "DispatchKey::Autograd."));
    };
    if (const Ref<autograd::Node> node = autograd::grad_fn(t)) {
      node->tensor_hooks.add([complain](Tensors&) { complain(); });
      return;
    }
    if (autograd::requires_grad(t)) {
      autograd::ensure_meta(t).hooks.add([complain](const Tensor&) {
        complain();
        return Tensor();
      });
      return;
    }
    if (written) return;
    autograd::record(
        "WarnNotImplemented", Tensors{t}, inputs, {},
        [complain, n = inputs.size()](autograd::Backward&, const Tensors&) {
          complain();
          return Tensors(n);
        });
  }

  const OwnOperator& op_;
  const std::span<Value> arguments_;
  Value* const results_;
  const Seen seen_;
  DeviceKeys keys_{};
};

}  // namespace

void call(const OwnOperator& op, Value* arguments, Value* results) {
  HOTARU_CHECK(op.alive(), "operator ", op.qualified_name(),
               " does not exist: its library was taken away");
  Call(op, arguments, results).run();
}

bool warns_without_derivative() {
  return warns.load(std::memory_order_relaxed);
}
void set_warns_without_derivative(bool value) {
  warns.store(value, std::memory_order_relaxed);
}

}  // namespace hotaru::own
