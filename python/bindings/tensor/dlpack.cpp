// DLPack both ways, through nanobind's implementation of the protocol.
#include <nanobind/ndarray.h>

#include "bindings/autograd/held.h"
#include "bindings/tensor/creation.h"
#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/types.h"
#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/host.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/runtime/accelerator.h"

namespace hotaru::python {
namespace {

namespace nb = nanobind;
namespace dl = nb::dlpack;

/// DLPack's codes of small floats, which nanobind has no names for.
struct SmallFloat {
  DType dtype;
  dl::dtype code;
};
constexpr SmallFloat kSmallFloats[] = {
    {DType::kFloat8E4M3FN, {10, 8, 1}},  {DType::kFloat8E4M3FNUZ, {11, 8, 1}},
    {DType::kFloat8E5M2, {12, 8, 1}},    {DType::kFloat8E5M2FNUZ, {13, 8, 1}},
    {DType::kFloat8E8M0FNU, {14, 8, 1}}, {DType::kFloat4E2M1FNX2, {17, 4, 2}},
};

/// Small integers go as those of a byte.
dl::dtype to_dlpack(DType dtype) {
  for (const SmallFloat& small : kSmallFloats)
    if (small.dtype == dtype) return small.code;
  const auto bits = uint8_t(itemsize(dtype) * 8);
  const auto of = [bits](dl::dtype_code code) {
    return dl::dtype{uint8_t(code), bits, 1};
  };
  if (dtype == DType::kBool) return of(dl::dtype_code::Bool);
  if (!is_differentiable(dtype) && !is_signed(dtype))
    return of(dl::dtype_code::UInt);
  if (dtype == DType::kBFloat16) return of(dl::dtype_code::Bfloat);
  if (is_complex(dtype)) return of(dl::dtype_code::Complex);
  return of(is_floating_point(dtype) ? dl::dtype_code::Float
                                     : dl::dtype_code::Int);
}

DType from_dlpack(dl::dtype given) {
  for (const SmallFloat& small : kSmallFloats)
    if (small.code.code == given.code && small.code.bits == given.bits &&
        small.code.lanes == given.lanes)
      return small.dtype;
  HOTARU_CHECK_AS(ValueError, given.lanes == 1, "from_dlpack: vectors of ",
                  given.lanes, " lanes are not supported");
  for (int8_t i = 0; i < 32; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (!dtype_name(dtype) || is_float8(dtype) || is_bits(dtype)) continue;
    const dl::dtype known = to_dlpack(dtype);
    if (known.code == given.code && known.bits == given.bits) return dtype;
  }
  fail<ValueError>("from_dlpack: dtype code ", int(given.code), " of ",
                   int(given.bits), " bits is not supported");
}

/// Any array; PyTorch takes read-only ones, too.
using Array = nb::ndarray<nb::ro>;

/// Another library's array that a storage keeps alive.
struct HeldArray : RefCounted {
  explicit HeldArray(Array array) : array(std::move(array)) {}
  ~HeldArray() override {
    with_interpreter([this] { array = {}; });
  }
  Array array;
};

void check_exportable(const Tensor& self) {
  const char* reason = nullptr;
  if (autograd::requires_grad(self))
    reason =
        "Can't export tensors that require gradient, use "
        "tensor.detach()";
  if (is_bits(self.dtype())) reason = "Bit types are not supported by dlpack";
  if (!reason) return;
  PyErr_SetString(PyExc_BufferError, reason);
  throw nb::python_error();
}

/// An object with the methods of the protocol.
nb::object export_tensor(const Tensor& self) {
  check_exportable(self);
  std::vector<size_t> shape(self.sizes().begin(), self.sizes().end());
  // An alias: self may be given other memory while the array lives.
  const nb::object owner = nb::steal(wrap(make_alias(self)));
  self.storage()->lend();
  const bool cpu = self.device().is_cpu();
  void* data = cpu ? host_bytes(self, "__dlpack__") : self.address();
  nb::ndarray<nb::array_api> array(
      data, shape.size(), shape.data(), owner, self.strides().data(),
      to_dlpack(self.dtype()),
      cpu ? nb::device::cpu::value : nb::device::cuda::value,
      std::max<int>(self.device().index, 0));
  return nb::cast(array);
}

/// The device of an array, whose memory must be there.
Device device_of(const Array& array) {
  const int type = array.device_type();
  if (type == nb::device::cpu::value) return {};
  HOTARU_CHECK(type == nb::device::cuda::value,
               "from_dlpack: only CPU and CUDA arrays are supported, got "
               "DLPack device ",
               type);
  return resolve({DeviceType::kCUDA, int8_t(array.device_id())});
}

Tensor import_array(Array array) {
  const Device device = device_of(array);
  Dims sizes(array.ndim(), 0), strides(array.ndim(), 0);
  for (size_t d = 0; d < array.ndim(); ++d) {
    sizes[d] = int64_t(array.shape(d));
    HOTARU_CHECK_AS(ValueError, array.stride(d) >= 0 || sizes[d] <= 1,
                    "from_dlpack: stride ", array.stride(d), " of dimension ",
                    d, " is negative, which tensors do not support");
    strides[d] = std::max<int64_t>(array.stride(d), 0);
  }
  const DType dtype = from_dlpack(array.dtype());
  const size_t nbytes = storage_bytes(sizes, strides, itemsize(dtype));
  void* data = const_cast<void*>(array.data());
  return make_tensor(make_ref<Storage>(data, nbytes, device,
                                       make_ref<HeldArray>(std::move(array))),
                     dtype, sizes, strides, 0);
}

/// Keeps any object of Python's alive.
struct HeldObject : RefCounted {
  explicit HeldObject(nb::object object) : object(std::move(object)) {}
  ~HeldObject() override {
    with_interpreter([this] { object = {}; });
  }
  nb::object object;
};

/// A tensor over device memory that `owner` keeps, as __cuda_array_interface__
/// describes it; strides in bytes, or None for row-major.
Tensor from_device_memory(uint64_t address, nb::handle shape,
                          nb::handle byte_strides, nb::handle dtype,
                          nb::object owner) {
  const DType type = to_dtype(dtype.ptr());
  const auto item = int64_t(itemsize(type));
  const Dims sizes = to_dims(shape.ptr());
  Dims strides = contiguous_strides(sizes);
  if (!byte_strides.is_none()) {
    strides = to_dims(byte_strides.ptr());
    for (int64_t& stride : strides) {
      HOTARU_CHECK_AS(ValueError, stride % item == 0,
                      "given array strides not a multiple of the element byte "
                      "size. Make a copy of the array to reallocate the "
                      "memory.");
      stride /= item;
    }
  }
  const size_t nbytes = storage_bytes(sizes, strides, size_t(item));
  auto* data = reinterpret_cast<void*>(address);  // NOLINT
  const Device device{DeviceType::kCUDA,
                      int8_t(nbytes > 0 ? accelerator().device_of(data)
                                        : accelerator().current_device())};
  return make_tensor(make_ref<Storage>(data, nbytes, device,
                                       make_ref<HeldObject>(std::move(owner))),
                     type, sizes, strides, 0);
}

}  // namespace

void init_dlpack(nb::module_& m) {
  m.def("_to_dlpack", &export_tensor);
  m.def("_from_dlpack", &import_array);
  m.def("_from_device_memory", &from_device_memory, nb::arg("address"),
        nb::arg("shape"), nb::arg("strides").none(), nb::arg("dtype"),
        nb::arg("owner"));
}

}  // namespace hotaru::python
