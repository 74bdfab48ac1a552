// repr of tensors and its options.
#include "bindings/tensor/printing.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "bindings/errors.h"
#include "bindings/tensor/tensor_object.h"
#include "hotaru/autograd/forward.h"
#include "hotaru/core/error.h"
#include "hotaru/core/printing/format.h"
#include "hotaru/ops/create/copy.h"

namespace hotaru::python {
namespace {

namespace nb = nanobind;

/// "grad_fn=<AddBackward0>", "requires_grad=True" or nothing.
std::string history_suffix(const Tensor& self) {
  try {
    if (const auto node = autograd::grad_fn(self)) {
      std::string name = node->name();
      const size_t scope = name.rfind("::");
      if (scope != std::string::npos) name.erase(0, scope + 2);
      return "grad_fn=<" + name + ">";
    }
  } catch (const Error&) {  // a view whose base was written
    return "grad_fn=<Invalid>";
  }
  return autograd::requires_grad(self) ? "requires_grad=True" : "";
}

std::string repr(const Tensor& self);

/// "tangent=tensor([...])"; that of a scalar is a number.
std::string tangent_suffix(const Tensor& self) {
  if (!autograd::passes_tangent(self)) return "";
  const Tensor tangent = autograd::tangent(self);
  if (tangent.dim() > 0) return "tangent=" + repr(tangent);
  return "tangent=" +
         nb::cast<std::string>(nb::str(nb::cast(tangent).attr("item")()));
}

std::string repr(const Tensor& self) {
  return named("print", [&] {
    const PrintOptions options = print_options();
    std::vector<std::string> suffixes{history_suffix(self),
                                      tangent_suffix(self)};
    std::erase(suffixes, "");
    const autograd::ForwardMode off(false);
    if (self.device().type == DeviceType::kMeta)
      return format_tensor(self, self, options, suffixes);
    const Tensor shown =
        to(shown_elements(make_alias(self), options), Device{DeviceType::kCPU});
    return format_tensor(self, shown, options, suffixes);
  });
}

}  // namespace

void init_printing(nb::module_& m) {
  nb::class_<PrintOptions>(m, "_PrintOptions")
      .def(nb::init<>())
      .def_static(
          "profile",
          [](const std::string& name) { return PrintOptions::profile(name); })
      .def_rw("precision", &PrintOptions::precision)
      .def_rw("threshold", &PrintOptions::threshold)
      .def_rw("edgeitems", &PrintOptions::edgeitems)
      .def_rw("linewidth", &PrintOptions::linewidth)
      .def_rw("sci_mode", &PrintOptions::sci_mode, nb::arg().none());
  m.def("_get_print_options", &print_options);
  m.def("_set_print_options", &set_print_options);
  m.def("_tensor_repr", &repr);
}

}  // namespace hotaru::python
