#include "bindings/graph/graph_states.h"

#include <algorithm>

#include "bindings/stable_abi.h"
#include "bindings/tensor/tensor_object.h"

namespace hotaru::python {

namespace nb = nanobind;

void GraphStates::watch(const std::vector<Tensor>& tensors,
                        const nb::list& containers) {
  for (const Tensor& t : tensors)
    watched_.push_back({.object = nb::steal(wrap(t)), .tensor = t});
  for (nb::handle container : containers)
    watched_.push_back({.object = nb::borrow(container), .tensor = {}});
}

GraphStates::Owners GraphStates::Watched::owners() const {
  Owners out{.objects = int64_t(references(object.ptr()))};
  if (tensor.defined()) {
    out.tensors = tensor.impl()->use_count();
    out.storages = tensor.storage()->use_count();
  }
  return out;
}

void GraphStates::count() const {
  for (const Watched& w : watched_) w.known = w.owners();
}

bool GraphStates::held() const {
  bool more = false;
  for (const Watched& w : watched_) {
    const Owners now = w.owners();
    more = more || now.objects > w.known.objects ||
           now.tensors > w.known.tensors || now.storages > w.known.storages;
    // Owners of the graph's side may go, but none comes without a count.
    w.known = {.objects = std::min(w.known.objects, now.objects),
               .tensors = std::min(w.known.tensors, now.tensors),
               .storages = std::min(w.known.storages, now.storages)};
  }
  return more;
}

int GraphStates::traverse(visitproc visit, void* arg) const {
  for (const Watched& w : watched_) Py_VISIT(w.object.ptr());
  return 0;
}

}  // namespace hotaru::python
