#include "bindings/autograd/collect.h"

#include "bindings/autograd/held.h"
#include "bindings/autograd/node_object.h"
#include "bindings/tensor/tensor_object.h"

namespace hotaru::python {
namespace {

using autograd::Meta;
using autograd::Node;

/// Owners of what a hook owns: its entry in the list and the hook itself; more
/// while hooks run.
constexpr long kHookOwners = 2;

template <class Signature>
int visit_hooks(const autograd::Hooks<Signature>& hooks, visitproc visit,
                void* arg) {
  int result = 0;
  hooks.each_owned([&](const std::shared_ptr<void>& owned) {
    if (result == 0 && owned && owned.use_count() == kHookOwners)
      result = visit(static_cast<Held*>(owned.get())->get().ptr(), arg);
  });
  return result;
}

/// Visits the object that a tensor with one owner owns, if it does.
int visit_kept(const Tensor& t, visitproc visit, void* arg) {
  if (!t.defined() || t.ref()->use_count() != 1) return 0;
  auto* object = static_cast<TensorObject*>(t.impl()->python_object);
  return object && object->kept ? visit(&object->ob_base, arg) : 0;
}

/// The meta that belongs to a tensor with one owner, or null.
Meta* sole_meta(const Tensor& t) {
  if (!t.defined() || t.ref()->use_count() != 1) return nullptr;
  Meta* m = autograd::meta(t);
  return m && m->use_count() == 1 ? m : nullptr;
}

}  // namespace

int visit_node(const Ref<Node>& node, visitproc visit, void* arg) {
  if (!node || node->use_count() != 1) return 0;
  if (const int stop = visit_hooks(node->tensor_hooks, visit, arg)) return stop;
  if (const int stop = visit_hooks(node->pre_hooks, visit, arg)) return stop;
  if (const int stop = visit_hooks(node->post_hooks, visit, arg)) return stop;
  const auto* python = dynamic_cast<const PythonNode*>(node.get());
  return python && python->context() ? visit(python->context(), arg) : 0;
}

void clear_node(const Ref<Node>& node) {
  if (!node || node->use_count() != 1) return;
  const Ref<Node> kept = node;
  kept->tensor_hooks.clear();
  kept->pre_hooks.clear();
  kept->post_hooks.clear();
  if (auto* python = dynamic_cast<PythonNode*>(kept.get())) python->forget();
}

int visit_tensor(const Tensor& t, visitproc visit, void* arg) {
  const Meta* m = sole_meta(t);
  if (!m) return 0;
  if (const int stop = visit_hooks(m->hooks, visit, arg)) return stop;
  if (const int stop = visit_hooks(m->post_accumulate_hooks, visit, arg))
    return stop;
  if (const int stop = visit_kept(m->grad, visit, arg)) return stop;
  return visit_node(m->grad_fn, visit, arg);
}

void clear_tensor(const Tensor& t) {
  Meta* m = sole_meta(t);
  if (!m) return;
  m->hooks.clear();
  m->post_accumulate_hooks.clear();
  clear_node(m->grad_fn);
}

}  // namespace hotaru::python
