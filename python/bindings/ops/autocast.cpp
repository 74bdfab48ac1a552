// Automatic mixed precision for Python: this thread's state.
#include "hotaru/ops/autocast.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "bindings/ops/op_call.h"
#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/types.h"

namespace hotaru::python {

namespace nb = nanobind;

void init_autocast(nb::module_& m) {
  const auto type_of = [](const std::string& device) {
    return Device::parse(device).type;
  };
  m.def("_autocast_available", [type_of](const std::string& device) {
    return autocast::available(type_of(device));
  });
  m.def("_autocast_enabled", [type_of](const std::string& device) {
    const DeviceType type = type_of(device);
    return autocast::available(type) && autocast::of(type).enabled;
  });
  m.def("_set_autocast_enabled",
        [type_of](const std::string& device, bool enabled) {
          autocast::set_enabled(type_of(device), enabled);
        });
  m.def("_autocast_dtype", [type_of](const std::string& device) {
    return dtype_object(autocast::of(type_of(device)).dtype);
  });
  m.def("_set_autocast_dtype",
        [type_of](const std::string& device, nb::handle dtype) {
          autocast::set_dtype(type_of(device), to_dtype(dtype.ptr()));
        });
  m.def("is_autocast_cache_enabled", [] { return autocast::state().cache; });
  m.def("_set_autocast_cache_enabled", &autocast::set_cache_enabled);
  m.def("autocast_increment_nesting", [] { return autocast::add_nesting(1); });
  m.def("autocast_decrement_nesting", [] { return autocast::add_nesting(-1); });
  m.def("clear_autocast_cache", &autocast::clear_cache);
  m.def("_autocast_key", &autocast::key);
  // Changes what tensors of the meta device stand for; gives what they did.
  m.def("_autocast_meta_as", [](const std::string& device) {
    autocast::State state = autocast::state();
    const DeviceType before = state.meta;
    state.meta = Device::parse(device).type;
    autocast::set_state(state);
    return std::string(device_type_name(before));
  });
  // call() and what autocast did to arguments of operators in it: the name of
  // the operator, a tensor, the dtype, and the dtype's place if it was filled
  // in.
  m.def("_with_noted_casts", [](nb::callable call) {
    std::vector<autocast::Note> notes;
    struct Scope {
      std::vector<autocast::Note>* before;
      ~Scope() { autocast::note_casts(before); }
    } scope{autocast::note_casts(&notes)};
    nb::object result = call();
    nb::list out;
    for (const autocast::Note& note : notes)
      out.append(nb::make_tuple(nb::str(note.name.data(), note.name.size()),
                                note.tensor, dtype_object(note.dtype),
                                note.filled));
    return nb::make_tuple(result, out);
  });
  // Entries of the lists: of each operator, what becomes of its tensors on the
  // CPU and on CUDA.
  m.def("_autocast_lists", [] {
    constexpr const char* kNames[] = {
        "", "lower", "float", "set_dtype", "append_dtype", "promote", "banned"};
    nb::dict out;
    for (const autocast::Entry& entry : autocast::entries())
      out[nb::str(entry.name.data(), entry.name.size())] =
          nb::make_tuple(kNames[size_t(entry.cpu)], kNames[size_t(entry.cuda)]);
    return out;
  });
}

}  // namespace hotaru::python
