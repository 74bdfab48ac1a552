// Dual numbers for python/hotaru/autograd/forward_ad.py.
#include "hotaru/autograd/forward.h"

#include "bindings/autograd/autograd_object.h"
#include "bindings/errors.h"
#include "bindings/graph/around_calls.h"
#include "bindings/tensor/tensor_object.h"

namespace hotaru::python {
namespace {

namespace nb = nanobind;

bool dual_level_open = false;  // under the GIL

/// The tensor without its tangent, and the tangent or None.
nb::tuple unpack_dual(nb::handle dual) {
  const Tensor& t = tensor_of(dual.ptr());
  const Tensor tangent =
      autograd::passes_tangent(t) ? autograd::tangent(t) : Tensor();
  return nb::make_tuple(nb::steal(wrap(autograd::primal_of(t))),
                        nb::steal(wrap(tangent)));
}

}  // namespace

void init_forward(nb::module_& m) {
  m.def("_enter_dual_level", [] {
    const int64_t level = autograd::enter_dual_level();
    count_interposer(1);
    dual_level_open = true;
    return level;
  });
  m.def(
      "_exit_dual_level",
      [](int64_t level) {
        autograd::exit_dual_level(level);
        count_interposer(-1);
        dual_level_open = false;
      },
      nb::arg("level"));
  m.def("_dual_level_open", [] { return dual_level_open; });
  m.def("_is_fwd_grad_enabled", &autograd::forward_enabled);
  m.def("_set_fwd_grad_enabled", &autograd::set_forward_enabled);
  m.def("_unpack_dual", &unpack_dual);
  m.def("_make_dual", [](nb::handle primal, nb::handle tangent, int64_t level) {
    return nb::steal(wrap(autograd::make_dual(
        tensor_of(primal.ptr()), tensor_of(tangent.ptr()), level)));
  });
  m.def(
      "_give_tangent",
      [](nb::handle output, const Tensor& tangent, bool written) {
        const autograd::ForwardMode off(false);
        autograd::give_tangent(tensor_of(output.ptr()), tangent, written);
      },
      nb::arg("output"), nb::arg("tangent").none(), nb::arg("written"));
  m.def("_carries_tangent", [](nb::handle t) {
    return autograd::passes_tangent(tensor_of(t.ptr()));
  });
}

}  // namespace hotaru::python
