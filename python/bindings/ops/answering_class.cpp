#include "bindings/ops/answering_class.h"

#include "hotaru/core/checks/check.h"

namespace hotaru::python {
namespace {

namespace nb = nanobind;

void hide_class(nb::handle type) {
  PyTypeObject* const cls = class_of(type);
  if (is_hidden_class(cls)) return;
  size_t place = 1;
  while (place < kHiddenClasses && hidden_classes[place]) ++place;
  HOTARU_CHECK(place < kHiddenClasses, "no more than ", kHiddenClasses - 1,
               " classes can answer for tensors of the type Tensor");
  hidden_classes[place] = cls;
  type.inc_ref();
}

}  // namespace

PyTypeObject* hidden_classes[kHiddenClasses];

uint8_t hidden_place(PyTypeObject* type) {
  for (size_t place = 1; place < kHiddenClasses && hidden_classes[place];
       ++place)
    if (hidden_classes[place] == type) return uint8_t(place);
  return 0;
}

bool is_hidden_class(PyTypeObject* type) {
  return hidden_place(type) != 0;
}

void init_answering_classes(nb::module_& m) {
  m.def("_hide_class", &hide_class,
        "Tensors made of a subclass are of the type Tensor from now on; the "
        "class answers for them.");
  m.def("_is_hidden_class", [](nb::handle type) {
    return is_hidden_class(reinterpret_cast<PyTypeObject*>(type.ptr()));
  });
  m.def(
      "_set_answering_class",
      [](const nb::object& tensor, nb::handle type) {
        HOTARU_CHECK_AS(TypeError, is_tensor(tensor.ptr()),
                        "expected a tensor");
        reinterpret_cast<TensorObject*>(tensor.ptr())->answering =
            hidden_place(class_of(type));
      },
      "Has a hidden class answer for a tensor; none, for any other class.");
  m.def(
      "_answering_class",
      [](nb::handle object) {
        PyTypeObject* type = answering_class(object.ptr());
        return nb::borrow(reinterpret_cast<PyObject*>(type));
      },
      nb::arg("object").none(),
      "The class by which a tensor answers operators; of others their type.");
}

}  // namespace hotaru::python
