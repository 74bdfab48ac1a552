// Programs that engines compiled.
#include "bindings/provider/provider.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>

#include "bindings/gil.h"
#include "bindings/stable_abi.h"
#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/types.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/provider/compile_onnx.h"

namespace nb = nanobind;

namespace hotaru::python {

namespace {

using provider::Executable;
using provider::OnnxOptions;
using provider::Port;

struct PyExecutable {
  Ref<Executable> program;
};

/// name, dtype, shape with names or None where it is open; or None.
nb::object port_tuple(const Port& port) {
  nb::object shape = nb::none();
  if (port.dims) {
    nb::list sizes;
    for (const Port::Dim& dim : *port.dims)
      if (dim.size >= 0)
        sizes.append(dim.size);
      else if (dim.name.empty())
        sizes.append(nb::none());
      else
        sizes.append(dim.name);
    shape = nb::tuple(sizes);
  }
  return nb::make_tuple(port.name, dtype_object(port.dtype), shape);
}

nb::list port_tuples(const std::vector<Port>& ports) {
  nb::list out;
  for (const Port& port : ports) out.append(port_tuple(port));
  return out;
}

/// Tensors; a tensor if there is one, else a tuple.
nb::object call(const PyExecutable& self, const nb::args& arguments) {
  std::vector<Tensor> inputs;
  inputs.reserve(arguments.size());
  for (nb::handle argument : arguments) {
    HOTARU_CHECK_AS(TypeError, is_tensor(argument.ptr()), self.program->name(),
                    ": input ", inputs.size(), " is no tensor but ",
                    class_name(argument.ptr()));
    inputs.push_back(tensor_of(argument.ptr()));
  }
  std::vector<Tensor> outputs;
  {
    const GilRelease release;
    outputs = (*self.program)(inputs);
  }
  if (outputs.size() == 1) return nb::steal(wrap(std::move(outputs[0])));
  nb::object result = nb::steal(PyTuple_New(Py_ssize_t(outputs.size())));
  for (size_t i = 0; i < outputs.size(); ++i)
    put_tuple_item(result.ptr(), Py_ssize_t(i), wrap(std::move(outputs[i])));
  return result;
}

PyExecutable compile_path(const std::string& path, const OnnxOptions& options) {
  const GilRelease release;
  return {provider::compile_onnx(path, options)};
}

PyExecutable compile_bytes(const nb::bytes& data, const std::string& name,
                           const OnnxOptions& options) {
  std::vector<std::byte> copy(data.size());
  if (!copy.empty()) std::memcpy(copy.data(), data.c_str(), copy.size());
  const GilRelease release;
  return {provider::compile_onnx(copy, name, options)};
}

/// Tensors as they were: a program that holds their values is right as long as
/// this holds. Writes through `.data` and other libraries' pointers go unseen.
class Unchanged {
 public:
  explicit Unchanged(const std::vector<Tensor>& tensors) {
    for (const Tensor& t : tensors)
      known_.push_back({t, t.address(), t.sizes(), t.version()});
  }
  bool holds() const {
    return std::all_of(known_.begin(), known_.end(), [](const Known& k) {
      return k.tensor.version() == k.version && k.tensor.address() == k.data &&
             same(k.tensor.sizes(), k.sizes);
    });
  }

 private:
  struct Known {
    Tensor tensor;
    const void* data;
    Dims sizes;
    uint32_t version;
  };
  std::vector<Known> known_;
};

/// Kinds of tensors that programs depend on, besides values and strides.
class TensorKinds {
 public:
  explicit TensorKinds(const std::vector<Tensor>& tensors) {
    for (const Tensor& t : tensors)
      kinds_.push_back({t.sizes(), t.dtype(), t.device()});
  }
  /// True if these are tensors, not of subclasses, of the same kinds.
  bool hold(const nb::tuple& objects) const {
    if (objects.size() != kinds_.size()) return false;
    for (size_t i = 0; i < kinds_.size(); ++i) {
      PyObject* object = objects[i].ptr();
      if (answering_class(object) != tensor_type) return false;
      const Tensor& t = tensor_of(object);
      const Kind& kind = kinds_[i];
      if (t.dtype() != kind.dtype || t.device() != kind.device ||
          !same(t.sizes(), kind.sizes))
        return false;
    }
    return true;
  }

 private:
  struct Kind {
    Dims sizes;
    DType dtype;
    Device device;
  };
  std::vector<Kind> kinds_;
};

nb::tuple runtime() {
  const provider::OnnxRuntime found = provider::onnx_runtime();
  return nb::make_tuple(found.version, found.path, found.providers);
}

}  // namespace

void init_provider(nb::module_& m) {
  nb::class_<OnnxOptions>(m, "_OnnxOptions")
      .def(nb::init<>())
      .def_rw("providers", &OnnxOptions::providers)
      .def_rw("intra_op_num_threads", &OnnxOptions::intra_op_num_threads)
      .def_rw("oversubscribe", &OnnxOptions::oversubscribe)
      .def_rw("graph_optimization_level",
              &OnnxOptions::graph_optimization_level)
      .def_rw("enable_cpu_mem_arena", &OnnxOptions::enable_cpu_mem_arena)
      .def_rw("enable_mem_pattern", &OnnxOptions::enable_mem_pattern)
      .def_rw("log_severity_level", &OnnxOptions::log_severity_level)
      .def_rw("config", &OnnxOptions::config);
  nb::class_<PyExecutable>(m, "_Executable")
      .def("__call__", &call)
      .def("_inputs",
           [](const PyExecutable& self) {
             return port_tuples(self.program->inputs());
           })
      .def("_outputs",
           [](const PyExecutable& self) {
             return port_tuples(self.program->outputs());
           })
      .def("_engine",
           [](const PyExecutable& self) { return self.program->engine(); })
      .def("_name",
           [](const PyExecutable& self) { return self.program->name(); });
  nb::class_<TensorKinds>(m, "_TensorKinds")
      .def(nb::init<const std::vector<Tensor>&>())
      .def("hold", &TensorKinds::hold);
  nb::class_<Unchanged>(m, "_Unchanged")
      .def(nb::init<const std::vector<Tensor>&>())
      .def("holds", &Unchanged::holds);
  m.def("_onnx_runtime_compile", &compile_path);
  m.def("_onnx_runtime_compile_bytes", &compile_bytes);
  m.def("_onnx_runtime", &runtime);
  m.def("_set_onnx_runtime_path", &provider::set_onnx_runtime_path);
}

}  // namespace hotaru::python
