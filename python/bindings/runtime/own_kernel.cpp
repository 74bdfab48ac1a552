#include "bindings/runtime/own_kernel.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/stable_abi.h"
#include "bindings/tensor/tensor_object.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/runtime/accelerator.h"
#include "hotaru/runtime/own/own_kernel.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru::python {
namespace {

namespace nb = nanobind;

struct KernelObject {
  std::shared_ptr<const OwnKernel> kernel;
};

template <class T>
std::string bytes_of(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

/// PyTorch takes the lower 32 bits of any number; those that a parameter of 32
/// bits cannot mean are refused here.
std::string int_bytes(PyObject* object) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  HOTARU_CHECK_AS(
      ValueError,
      overflow == 0 && value >= INT32_MIN && value <= int64_t(UINT32_MAX),
      "a Python int is passed as a 32-bit int, which ", nb::str(object).c_str(),
      " does not fit: pass numpy.int64 or ctypes.c_int64 for a wider one");
  return bytes_of(int32_t(value));
}

/// A scalar of numpy, or of ctypes, a structure too: as it lies in memory.
std::optional<std::string> scalar_bytes(PyObject* object) {
  Py_buffer view;
  if (!PyObject_CheckBuffer(object)) return std::nullopt;
  if (PyObject_GetBuffer(object, &view, PyBUF_ND) != 0)
    throw nb::python_error();
  std::optional<std::string> out;
  if (view.ndim == 0)
    out.emplace(static_cast<const char*>(view.buf), size_t(view.len));
  PyBuffer_Release(&view);
  return out;
}

void check_place(const Tensor& t) {
  if (t.device().is_cuda()) return;
  HOTARU_CHECK_AS(
      ValueError,
      t.device().is_cpu() && accelerator().is_pinned(t.storage()->data()),
      "All tensor arguments must be CUDA tensors or pinned CPU tensors");
  fail<NotImplementedError>(
      "pinned CPU tensors are not passed to kernels yet: copy them to the "
      "device, e.g. with to('cuda', non_blocking=True)");
}

/// Arguments of a call to the kernel: parameters, and the tensors among them.
struct Arguments {
  std::vector<KernelArgument> all;
  std::vector<Operand> operands;

  void add(PyObject* object, Access access) {
    if (is_tensor(object)) {
      const Tensor& t = tensor_of(object);
      check_place(t);
      all.push_back({int64_t(operands.size())});
      operands.push_back({&t, nullptr, access});
    } else if (PyLong_Check(object)) {
      all.push_back({-1, int_bytes(object)});
    } else if (PyFloat_Check(object)) {
      all.push_back({-1, bytes_of(float_value(object))});
    } else {
      std::optional<std::string> bytes = scalar_bytes(object);
      HOTARU_CHECK_AS(TypeError, bytes, "Unsupported argument type: ",
                      nb::str(nb::handle(object).type()).c_str());
      all.push_back({-1, *std::move(bytes)});
    }
  }
};

KernelSource source_of(std::string& text, std::string& name,
                       std::string& architecture,
                       std::vector<std::string>& folders,
                       std::vector<std::string>& options) {
  return {std::move(text), std::move(name), std::move(architecture),
          std::move(folders), std::move(options)};
}

using Sizes = std::array<unsigned, 3>;

/// `access` has one of Access's numbers for each argument, or nothing: then
/// tensors are read and written.
void launch(const KernelObject& self, Sizes grid, Sizes block,
            const nb::tuple& arguments, const std::vector<int>& access,
            unsigned shared_bytes, const std::optional<Stream>& stream) {
  Arguments given;
  for (size_t i = 0; i < arguments.size(); ++i)
    given.add(arguments[i].ptr(),
              access.empty() ? Access::kReadWrite : Access(access[i]));
  const Stream& chosen =
      stream ? *stream
      : given.operands.empty()
          ? current_stream(
                {DeviceType::kCUDA, int8_t(accelerator().current_device())})
          : current_stream(given.operands.front().tensor->device());
  HOTARU_CHECK(chosen.device().is_cuda(), self.kernel->name(),
               ": kernels of CUDA run on its streams only");
  self.kernel->load(chosen.device().index);
  enqueue_launch({self.kernel, grid, block, shared_bytes, std::move(given.all)},
                 given.operands, chosen);
}

}  // namespace

void init_own_kernel(nb::module_& m) {
  nb::class_<KernelObject>(m, "_CudaKernel")
      .def_prop_ro(
          "name", [](const KernelObject& self) { return self.kernel->name(); });
  m.def("_cuda_compile_kernel",
        [](std::string text, std::string name, std::string architecture,
           std::vector<std::string> folders, std::vector<std::string> options,
           int device) {
          return KernelObject{compile_kernel(
              source_of(text, name, architecture, folders, options), device)};
        });
  m.def(
      "_cuda_compile_image",
      [](std::string text, std::string name, std::string architecture,
         std::vector<std::string> folders, std::vector<std::string> options,
         bool uses_headers) {
        KernelSource source =
            source_of(text, name, architecture, folders, options);
        source.uses_headers = uses_headers;
        const auto [code, symbol] = [&] {
          const nb::gil_scoped_release waits;
          return accelerator().compile_image(source);
        }();
        return nb::make_tuple(nb::bytes(code.data(), code.size()), symbol);
      },
      nb::arg("text"), nb::arg("name"), nb::arg("architecture"),
      nb::arg("folders"), nb::arg("options"), nb::arg("uses_headers") = false);
  m.def("_cuda_launch_kernel", &launch, nb::arg("kernel"), nb::arg("grid"),
        nb::arg("block"), nb::arg("args"), nb::arg("access"),
        nb::arg("shared_bytes"), nb::arg("stream").none());
  m.def("_cuda_finish_compiling", [] { accelerator().finish_compiling(); });
  m.def("_cuda_compile_counts", [] {
    const CompileCounts counts = accelerator().compile_counts();
    return std::pair(counts.compiled, counts.found);
  });
}

}  // namespace hotaru::python
