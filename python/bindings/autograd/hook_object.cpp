#include "bindings/autograd/hook_object.h"

#include "bindings/autograd/collect.h"
#include "bindings/gil.h"
#include "bindings/stable_abi.h"
#include "bindings/tensor/tensor_object.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/engine/engine.h"

namespace hotaru::python {
namespace {

namespace nb = nanobind;
using autograd::Tensors;
using Function = std::shared_ptr<Held>;

std::string name_of(nb::handle function) {
  const nb::object name = nb::getattr(function, "__name__", nb::none());
  return nb::isinstance<nb::str>(name) ? nb::cast<nb::str>(name).c_str()
                                       : "<unknown>";
}

void check_tensor(nb::handle result) {
  HOTARU_CHECK_AS(TypeError, is_tensor(result.ptr()),
                  "expected Variable, but hook returned '",
                  class_name(result.ptr()), "'");
}

/// Puts what a hook of a node gave in the place of `grads`.
void replace(Tensors& grads, nb::handle hook, nb::handle result) {
  if (result.is_none()) return;
  HOTARU_CHECK_AS(TypeError, nb::isinstance<nb::tuple>(result),
                  "expected tuple, but hook returned '",
                  class_name(result.ptr()), "'");
  const nb::tuple values = nb::borrow<nb::tuple>(result);
  const std::string name = name_of(hook);
  HOTARU_CHECK(values.size() == grads.size(), "hook '", name,
               "' has returned an incorrect number of values (got ",
               values.size(), ", but expected ", grads.size(), ")");
  for (size_t i = 0; i < grads.size(); ++i) {
    const nb::object value = values[i];
    if (!value.is_none()) check_tensor(value);
    const Tensor now = nb::cast<Tensor>(value);
    autograd::check_replacement(name, grads[i], now);
    grads[i] = now;
  }
}

HookHandle register_hook(const Tensor& self, nb::object function) {
  std::string name = name_of(function);
  const auto held = std::make_shared<Held>(std::move(function));
  const auto call = [held](const Tensor& grad) -> Tensor {
    const GilAcquire gil;
    const nb::object hook = held->get();
    const nb::object result = hook(nb::steal(wrap(grad)));
    if (result.is_none()) return {};
    check_tensor(result);
    return tensor_of(result.ptr());
  };
  track(self);
  return {autograd::register_hook(self, call, std::move(name), held)};
}

HookHandle register_post_accumulate(const Tensor& self, nb::object function) {
  HOTARU_CHECK(autograd::requires_grad(self),
               "cannot register a hook on a tensor that doesn't require "
               "gradient");
  HOTARU_CHECK(autograd::is_leaf(self),
               "post accumulate grad hooks cannot be registered on non-leaf "
               "tensors");
  const auto held = std::make_shared<Held>(std::move(function));
  const auto call = [held](const Tensor& leaf) {
    const GilAcquire gil;
    const nb::object hook = held->get();
    const nb::object result = hook(nb::steal(wrap(leaf)));
    if (result.is_none()) return;
    check_tensor(result);
    fail("Tensor post accumulate grad hooks should return None.");
  };
  track(self);
  return {autograd::ensure_meta(self).post_accumulate_hooks.add(call, held)};
}

/// The functions registered with a leaf, or with the node of another tensor.
nb::list hooks_of(const Tensor& self) {
  nb::list found;
  const auto add = [&](const std::shared_ptr<void>& owned) {
    if (owned) found.append(static_cast<Held*>(owned.get())->get());
  };
  if (const Ref<autograd::Node> node = autograd::grad_fn(self))
    node->tensor_hooks.each_owned(add);
  else if (const autograd::Meta* meta = autograd::meta(self))
    meta->hooks.each_owned(add);
  return found;
}

/// The functions that are called when a leaf's gradient was accumulated.
nb::list post_accumulate_hooks_of(const Tensor& self) {
  nb::list found;
  if (const autograd::Meta* meta = autograd::meta(self))
    meta->post_accumulate_hooks.each_owned(
        [&](const std::shared_ptr<void>& owned) {
          if (owned) found.append(static_cast<Held*>(owned.get())->get());
        });
  return found;
}

void init_handle(nb::module_& m) {
  nb::class_<HookHandle>(m, "_HookHandle", "Takes a hook away again.")
      .def("remove", [](HookHandle& h) { h.remove(); })
      .def("__enter__", [](nb::object self) { return self; })
      .def("__exit__", [](HookHandle& h, nb::args) { h.remove(); });
}

}  // namespace

HookHandle register_node_hook(PyNode& self, nb::object function) {
  const auto held = std::make_shared<Held>(std::move(function));
  const auto call = [held](Tensors& inputs, const Tensors& grads) {
    const GilAcquire gil;
    const nb::object hook = held->get();
    replace(inputs, hook, hook(tensor_tuple(inputs), tensor_tuple(grads)));
  };
  return {self.get().post_hooks.add(call, held)};
}

HookHandle register_node_prehook(PyNode& self, nb::object function) {
  const auto held = std::make_shared<Held>(std::move(function));
  const auto call = [held](Tensors& grads) {
    const GilAcquire gil;
    const nb::object hook = held->get();
    replace(grads, hook, hook(tensor_tuple(grads)));
  };
  return {self.get().pre_hooks.add(call, held)};
}

void init_hooks(nb::module_& m) {
  init_handle(m);
  m.def("_register_hook", &register_hook);
  m.def("_hooks_of", &hooks_of);
  m.def("_post_accumulate_hooks_of", &post_accumulate_hooks_of);
  m.def("_register_post_accumulate_grad_hook", &register_post_accumulate);
}

}  // namespace hotaru::python
