#include "bindings/tensor/sparse_object.h"

#include "bindings/ops/override.h"
#include "bindings/tensor/types.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/sparse/sparse.h"

namespace hotaru::python {
namespace {

PyTypeObject* sparse_type = nullptr;  // owned, for the process's life

SparseStorage& of(const Tensor& tensor) {
  SparseStorage* storage = sparse_storage(tensor);
  HOTARU_CHECK_AS(TypeError, storage, "expected a sparse tensor");
  return *storage;
}

SparseStorage::Parts parts(const PySparseLayout& layout, Tensor index,
                           Tensor inner, Tensor values) {
  return {.layout = Layout(layout.number),
          .index = std::move(index),
          .inner = std::move(inner),
          .values = std::move(values)};
}

/// (layout, index, inner or None, values).
nb::tuple parts_of(const Tensor& tensor) {
  const SparseStorage::Parts& parts = of(tensor).parts();
  return nb::make_tuple(layout_object(int64_t(parts.layout)), parts.index,
                        parts.inner, parts.values);
}

void set_parts(const Tensor& tensor, nb::handle size, Tensor index,
               Tensor inner, Tensor values, bool coalesced) {
  SparseStorage& storage = of(tensor);
  storage.set_parts({storage.layout(), std::move(index), std::move(inner),
                     std::move(values)});
  storage.set_coalesced(coalesced);
  const Dims sizes = to_dims(size.ptr());
  tensor.impl()->set_geometry(sizes, contiguous_strides(sizes), 0);
  tensor.bump_version();
}

}  // namespace

PyTypeObject* type_for(const Tensor& tensor) {
  if (!tensor.storage()->pending() || !sparse_storage(tensor))
    return tensor_type;
  if (!sparse_type) nb::module_::import_("hotaru.sparse");
  return sparse_type;
}

void init_sparse(nb::module_& m) {
  // C++ makes some, too: gradients.
  set_opaque_notice(overrides::expect_subclasses);
  m.def("_set_sparse_type", [](nb::handle type) {
    sparse_type = reinterpret_cast<PyTypeObject*>(type.inc_ref().ptr());
  });
  m.def(
      "_sparse_tensor",
      [](const PySparseLayout& layout, nb::handle size, Tensor index,
         Tensor inner, Tensor values, bool coalesced) {
        Tensor made = make_sparse(parts(layout, std::move(index),
                                        std::move(inner), std::move(values)),
                                  to_dims(size.ptr()), coalesced);
        return nb::steal(wrap_as(sparse_type, std::move(made)));
      },
      nb::arg("layout"), nb::arg("size"), nb::arg("index"),
      nb::arg("inner").none(), nb::arg("values"), nb::arg("coalesced"),
      "A sparse tensor of those parts, unchecked.");
  m.def("_sparse_parts", parts_of,
        "(layout, index, inner or None, values) of a sparse tensor.");
  m.def("_set_sparse_parts", set_parts, nb::arg("tensor"), nb::arg("size"),
        nb::arg("index"), nb::arg("inner").none(), nb::arg("values"),
        nb::arg("coalesced"), "Other elements and sizes, in place.");
  m.def("_sparse_coalesced", [](const Tensor& t) { return of(t).coalesced(); });
  m.def("_set_sparse_coalesced",
        [](const Tensor& t, bool value) { of(t).set_coalesced(value); });
}

}  // namespace hotaru::python
