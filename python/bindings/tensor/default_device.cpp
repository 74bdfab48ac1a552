#include "bindings/tensor/default_device.h"

#include <vector>

#include "hotaru/runtime/backend.h"

namespace hotaru::python {
namespace {

thread_local std::optional<Device> chosen;
// Devices that were chosen before each `with` that this thread is in.
thread_local std::vector<std::optional<Device>> outer;

void set_default_device(nb::handle device) {
  if (device.is_none())
    chosen.reset();
  else
    chosen = to_device(device.ptr());
}

}  // namespace

const std::optional<Device>& default_device() {
  return chosen;
}

void init_default_device(nb::module_& m) {
  m.attr("device").attr("__enter__") = nb::cpp_function(
      [](const Device& self) {
        outer.push_back(chosen);
        chosen = self;
        return device_object(self);
      },
      nb::is_method());
  m.attr("device").attr("__exit__") = nb::cpp_function(
      [](const Device&, nb::args) {
        if (outer.empty()) return;
        chosen = outer.back();
        outer.pop_back();
      },
      nb::is_method());
  m.def("set_default_device", &set_default_device, nb::arg("device").none(),
        "Where factories of this thread make tensors from now on; None: on "
        "the CPU.");
  m.def(
      "_chosen_device",
      [] { return chosen ? device_object(*chosen) : nb::none(); },
      "The same where one was chosen, else None.");
  m.def(
      "get_default_device",
      [] {
        const Device device = chosen.value_or(Device{});
        return device_object(device.index < 0 ? resolve(device) : device);
      },
      "Where factories of this thread make tensors.");
}

}  // namespace hotaru::python
