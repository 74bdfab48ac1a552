#include "bindings/graph/tensor_state.h"

#include "bindings/graph/graph_arguments.h"
#include "bindings/tensor/tensor_object.h"
#include "hotaru/core/error.h"
#include "hotaru/graph/capture/capture.h"

namespace hotaru::python {
namespace {

namespace nb = nanobind;

size_t hooks_of(const autograd::Meta& m) {
  return m.hooks.now().size() + m.post_accumulate_hooks.now().size();
}

/// Memory has its size of before, but what a capture has grown, which cannot be
/// read before it ends: that is an argument's copy, and goes with the graph.
void restore_size(Storage& storage, size_t nbytes) {
  if (storage.nbytes() == nbytes || !storage.resizable()) return;
  try {
    storage.resize(nbytes);
  } catch (const Error&) {
    if (!graph::capturing()) throw;
  }
}

}  // namespace

TensorState::TensorState(const Tensor& t)
    : tensor_(t),
      storage_(t.storage()),
      nbytes_(t.storage()->nbytes()),
      version_(t.version()),
      sizes_(t.sizes()),
      strides_(t.strides()),
      offset_(t.storage_offset()),
      dtype_(t.dtype()),
      base_(t.impl()->base),
      had_meta_(autograd::meta(t) != nullptr) {
  if (!had_meta_) return;
  const autograd::Meta& m = *autograd::meta(t);
  requires_grad_ = m.requires_grad;
  retains_grad_ = m.retains_grad;
  hooks_ = hooks_of(m);
  grad_fn_ = m.grad_fn;
  output_index_ = m.output_index;
}

const char* TensorState::difference() const {
  const TensorImpl& now = *tensor_.impl();
  if (now.storage != storage_ || storage_->nbytes() != nbytes_ ||
      now.offset != offset_)
    return "memory";
  if (now.dtype != dtype_) return "dtype";
  if (!same(now.sizes, sizes_) || !same(now.strides, strides_)) return "shape";
  const autograd::Meta* m = autograd::meta(tensor_);
  if (!m) return had_meta_ ? "history" : nullptr;
  if (m->requires_grad != requires_grad_) return "requires_grad";
  if (m->retains_grad != retains_grad_) return "retains_grad";
  if (m->grad_fn != grad_fn_) return "history";
  return hooks_of(*m) == hooks_ ? nullptr : "hooks";
}

void TensorState::restore() const {
  TensorImpl& now = *tensor_.impl();
  now.storage = storage_;
  restore_size(*storage_, nbytes_);
  storage_->restore_version(version_);
  now.dtype = dtype_;
  now.set_geometry(sizes_, strides_, offset_);
  now.base = base_;
  autograd::Meta* m = autograd::meta(tensor_);
  if (!m || m->shared) return;
  m->requires_grad = requires_grad_;
  if (m->grad_fn != grad_fn_) m->set_node(grad_fn_, output_index_);
  m->retains_grad = retains_grad_;
}

void init_tensor_state(nb::module_& m) {
  nb::class_<TensorState>(m, "_TensorState")
      .def(nb::init<const Tensor&>())
      .def("difference",
           [](const TensorState& self) -> nb::object {
             const char* found = self.difference();
             return found ? nb::object(nb::str(found)) : nb::none();
           })
      .def("restore", &TensorState::restore);
  m.def("_bring_values", &bring_values,
        "Copies values between two tensors of one geometry, in which elements "
        "may share memory.");
}

}  // namespace hotaru::python
