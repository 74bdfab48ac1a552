#include <cstring>

#include "bindings/runtime/generator_object.h"
#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/types.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/host.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/runtime/backend.h"

namespace hotaru::python {
namespace {

struct PyGenerator {
  Ref<Generator> generator;
  Generator* operator->() const { return generator.get(); }
};

Tensor state_of(Generator& generator) {
  generator.wait();
  std::lock_guard lock(generator.mutex());
  const std::vector<uint8_t> bytes = generator.get_state();
  Tensor out = empty(Dims{int64_t(bytes.size())}, DType::kUInt8);
  std::memcpy(host_bytes(out, "get_rng_state"), bytes.data(), bytes.size());
  return out;
}

void set_state(Generator& generator, const Tensor& state) {
  HOTARU_CHECK_AS(TypeError, state.dtype() == DType::kUInt8,
                  "RNG state must be a torch.ByteTensor");
  HOTARU_CHECK(state.is_contiguous(), "RNG state must be contiguous");
  generator.wait();
  // Before the lock: to wait for the state may mean to wait for a draw.
  const uint8_t* bytes = host_data<uint8_t>(state, "set_rng_state");
  std::lock_guard lock(generator.mutex());
  generator.set_state({bytes, size_t(state.numel())});
}

/// PyTorch maps negative seeds to the upper half of the unsigned ones.
uint64_t to_seed(nb::handle seed) {
  const nb::object number = nb::steal(PyNumber_Long(seed.ptr()));
  if (!number.is_valid()) throw nb::python_error();
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow == 0) return uint64_t(value);
  const uint64_t wide = PyLong_AsUnsignedLongLong(number.ptr());
  if (!PyErr_Occurred()) return wide;
  PyErr_Clear();
  fail(
      "Overflow when unpacking long: a seed must lie within "
      "[-0x8000_0000_0000_0000, 0xffff_ffff_ffff_ffff]");
}

void seed_with(Generator& generator, nb::handle seed) {
  const uint64_t value = to_seed(seed);
  generator.wait();
  std::lock_guard lock(generator.mutex());
  generator.manual_seed(value);
}

/// Seeds with entropy.
uint64_t reseed(Generator& generator) {
  generator.wait();
  std::lock_guard lock(generator.mutex());
  return generator.seed();
}

}  // namespace

bool to_generator(PyObject* object, Value* out) {
  if (!nb::isinstance<PyGenerator>(object)) return false;
  *out = Value::from_object(nb::inst_ptr<PyGenerator>(object)->generator);
  return true;
}

PyObject* generator_to_python(const Value& value) {
  auto* generator = dynamic_cast<Generator*>(value.as_object());
  HOTARU_CHECK_AS(TypeError, generator,
                  "this object has no counterpart in Python");
  return nb::cast(PyGenerator{Ref<Generator>(generator)}).release().ptr();
}

void init_random(nb::module_& m) {
  nb::class_<PyGenerator>(m, "Generator", nb::is_weak_referenceable(),
                          "A stream of random numbers equal to PyTorch's.")
      .def(
          "__init__",
          [](PyGenerator* self, nb::handle device) {
            const Device d =
                device.is_none() ? Device{} : resolve(to_device(device.ptr()));
            HOTARU_CHECK(d.type != DeviceType::kMeta,
                         "META device type not an accelerator.");
            new (self) PyGenerator{
                DeviceTable::instance().backend(d.type).make_generator(
                    d.index)};
          },
          nb::arg("device").none() = "cpu")
      .def("manual_seed",
           [](nb::object self, nb::handle seed) {
             seed_with(*nb::cast<PyGenerator&>(self).generator, seed);
             return self;
           })
      .def("seed", [](PyGenerator& g) { return reseed(*g.generator); })
      .def("initial_seed", [](PyGenerator& g) { return g->initial_seed(); })
      .def("get_state", [](PyGenerator& g) { return state_of(*g.generator); })
      .def("set_state",
           [](nb::object self, const Tensor& state) {
             set_state(*nb::cast<PyGenerator&>(self).generator, state);
             return self;
           })
      .def_prop_ro("device", [](PyGenerator& g) { return g->device(); });

  const nb::object generator =
      nb::cast(PyGenerator{Ref<Generator>(&default_generator())});
  m.attr("default_generator") = generator;
  m.def("manual_seed", [](nb::handle seed) {
    seed_with(default_generator(), seed);
    return nb::module_::import_("hotaru._C").attr("default_generator");
  });
  m.def("seed", [] { return reseed(default_generator()); });
  m.def("initial_seed", [] { return default_generator().initial_seed(); });
  m.def("get_rng_state", [] { return state_of(default_generator()); });
  m.def("set_rng_state",
        [](const Tensor& state) { set_state(default_generator(), state); });
}

}  // namespace hotaru::python
