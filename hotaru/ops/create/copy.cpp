#include "hotaru/ops/create/copy.h"

#include "hotaru/autograd/anomaly.h"
#include "hotaru/autograd/forward.h"
#include "hotaru/autograd/leaf.h"
#include "hotaru/autograd/record.h"
#include "hotaru/backend/common/create/copy.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/host.h"
#include "hotaru/core/rare.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/create/reorder.h"
#include "hotaru/ops/operands.h"
#include "hotaru/ops/overlap.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/determinism.h"
#include "hotaru/runtime/streams/enqueue.h"
#include "hotaru/runtime/streams/stream.h"
#include "hotaru/runtime/warning.h"

namespace hotaru {
namespace {

const Kernel& kCopy = kernel("copy_");

}  // namespace

namespace {

/// Copies across devices what is dense, of one dtype and shape: the source's
/// device brings it into that form, and the destination's takes it from there.
void copy_across(const Tensor& to, const Tensor& from, bool non_blocking) {
  HOTARU_CHECK_AS(NotImplementedError,
                  from.device().type != DeviceType::kMeta ||
                      to.device().type == DeviceType::kMeta,
                  "Cannot copy out of meta tensor; no data!");
  if (to.device().type == DeviceType::kMeta) return;
  const autograd::NoGrad no_grad;
  Tensor sent = from;
  if (from.dtype() != to.dtype() || !same(from.sizes(), to.sizes()) ||
      !from.is_contiguous()) {
    sent = allocate(to.sizes(), to.dtype(), from.device());
    enqueue(kCopy, {write(sent), read(from)});
  }
  const bool direct = to.is_contiguous();
  const Tensor got =
      direct ? to : allocate(to.sizes(), to.dtype(), to.device());
  const Device device = to.device().is_cpu() ? from.device() : to.device();
  const Operand operands[] = {write(got), read(sent)};
  current_stream(device).enqueue(
      {kCopy, operands, CopyAttributes{non_blocking}});
  if (!direct) enqueue(kCopy, {write(to), read(got)});
}

}  // namespace

void enqueue_copy(const Tensor& to, const Tensor& from, bool non_blocking) {
  if (to.dtype() != from.dtype() &&
      (is_stored_only(to.dtype()) || is_stored_only(from.dtype())))
      [[unlikely]] {
    if (to.numel() == 0) return;
    refuse_dtype("copy_",
                 is_stored_only(from.dtype()) ? from.dtype() : to.dtype());
  }
  if (to.device() != from.device()) [[unlikely]]
    return copy_across(to, from, non_blocking);
  enqueue(kCopy, {write(to), read(from)});
}

namespace {

/// A differentiable copy of self into the uninitialised `out`.
Tensor copied(Tensor out, const Tensor& self, const char* name,
              bool non_blocking = false) {
  enqueue_copy(out, self, non_blocking);
  if (autograd::needs_grad(self))
    autograd::record(name, out, {self}, {},
                     [dtype = self.dtype(), device = self.device()](
                         autograd::Backward&, const Tensor& g) -> Tensors {
                       return {to(g, dtype, device)};
                     });
  return out;
}

/// A copy in the format, of another dtype or device if `options` say so.
Tensor reordered(const Tensor& self, MemoryFormat format,
                 const TensorOptions& options, const char* name,
                 bool non_blocking = false) {
  const Dims strides = format_strides(self.sizes(), format);
  return copied(empty_strided(self.sizes(), strides, options), self, name,
                non_blocking);
}

}  // namespace

namespace {

/// Before a program's own copy of complex numbers into real ones.
void warn_of_parts(const Tensor& from, DType to) {
  static constinit OnceWarning discarded{
      "Casting complex values to real discards the imaginary part"};
  if (from.is_complex() && !is_complex(to) && to != DType::kBool &&
      from.numel() > 0 && from.device().type != DeviceType::kMeta &&
      !autograd::running_node())
    discarded.give();
}

}  // namespace

Tensor copy_(const Tensor& self, const Tensor& src, bool non_blocking) {
  autograd::check_inplace(self, src);
  if (self.is_same(src)) {
    self.bump_version();
    return self;
  }
  check_written(self);
  check_result_shape(self.sizes(), broadcast_shapes(self.sizes(), src.sizes()));
  check_overlap(self, src);
  if (src.is_complex()) [[unlikely]]
    warn_of_parts(src, self.dtype());
  enqueue_copy(self, src, non_blocking);
  if (autograd::needs_grad(self, src))
    autograd::record(
        "CopyBackwards", self, {self, src}, {},
        [sizes = Dims(src.sizes()), dtype = src.dtype(), device = src.device()](
            autograd::Backward& b, const Tensor& g) -> Tensors {
          return {b.needs(0) ? zeros_like(g) : Tensor(),
                  b.needs(1) ? to(sum_to(g, sizes), dtype, device) : Tensor()};
        });
  self.bump_version();
  return self;
}

Tensor clone(const Tensor& self) {
  return copied(empty_like(self), self, "CloneBackward0");
}

Tensor contiguous(const Tensor& self) {
  if (self.is_contiguous()) return self;
  return copied(row_major_like(self), self, "CloneBackward0");
}

Tensor contiguous(const Tensor& self, MemoryFormat format) {
  if (has_format(self.sizes(), self.strides(), format)) return self;
  return reordered(self, format, TensorOptions(self), "CloneBackward0");
}

Tensor row_major_copy(const Tensor& self) {
  const autograd::NoGrad no_grad;
  return copy_(row_major_like(self), self);
}

Tensor in_format_of(const Tensor& model, const Tensor& result) {
  if (model.is_contiguous() || result.dim() != model.dim()) return result;
  const MemoryFormat format = suggested_format(model.sizes(), model.strides());
  if (format == MemoryFormat::kContiguous) return result;
  if (!has_format(result.sizes(), result.strides(), format))
    return contiguous(result, format);
  // One pixel or channel lies in every format: it gets that one's strides.
  if (!result.is_view() && !result.is_same(model))
    result.impl()->set_geometry(result.sizes(),
                                format_strides(result.sizes(), format),
                                result.storage_offset());
  return result;
}

Tensor to(const Tensor& self, DType dtype) {
  if (self.dtype() == dtype) return self;
  return to(self, dtype, self.device());
}

Tensor to(const Tensor& self, Device device) {
  return to(self, self.dtype(), device);
}

Tensor to(const Tensor& self, Optional<DType> dtype, Optional<Device> device,
          bool copy, bool non_blocking) {
  const DType wanted = dtype.value_or(self.dtype());
  const Device where = device ? resolve(*device) : self.device();
  if (wanted == self.dtype() && where == self.device())
    return copy ? clone(self) : self;
  const Tensor like = make_alias(self);
  const Tensor plain = empty_like(like);
  return copied(empty_strided(self.sizes(), plain.strides(), {wanted, where}),
                self, "ToCopyBackward0", non_blocking);
}

Scalar item(const Tensor& self) {
  HOTARU_CHECK(self.device().type != DeviceType::kMeta,
               "Tensor.item() cannot be called on meta tensors");
  HOTARU_CHECK(self.numel() == 1, "a Tensor with ", self.numel(),
               " elements cannot be converted to Scalar");
  if (is_stored_only(self.dtype()))
    refuse_dtype("_local_scalar_dense_cpu", self.dtype());
  if (is_rare(self.dtype())) return item(to(self, carrier(self.dtype())));
  const Tensor host = to(self, Device{DeviceType::kCPU});
  Scalar out;
  visit_dtype(AllTypes{}, host.dtype(), "item", [&]<class T>() {
    const T value = *host_data<T>(host, "item");
    if constexpr (kIsComplex<T>)
      out = std::complex<double>(value);
    else if constexpr (kIsBool<T>)
      out = bool(value);
    else if constexpr (std::is_integral_v<T>)
      out = int64_t(value);
    else
      out = double(value);
  });
  return out;
}

Tensor detach(const Tensor& self) {
  return make_alias(self);
}

Tensor resize_(const Tensor& self, IntSpan size) {
  HOTARU_CHECK(!autograd::requires_grad(self) || autograd::inference_mode(),
               "cannot resize variables that require grad");
  HOTARU_CHECK(!autograd::has_tangent(self),
               "cannot resize variables that has a forward grad");
  if (same(self.sizes(), size)) return self;
  const int64_t offset = self.storage_offset();
  const size_t needed = storage_bytes(size, itemsize(self.dtype()), offset);
  const Dims strides = contiguous_strides(size);
  if (needed > self.storage()->nbytes()) self.storage()->resize(needed);
  self.impl()->set_geometry(size, strides, offset);
  self.bump_version();
  return self;
}

namespace {

/// Zeroes what a storage has beyond its first `begin` bytes: a program that
/// grows a tensor must not see what other objects left in memory. Blocks of
/// more than kFromSystem come from the system full of zeros; to write them
/// would touch every page.
void clear_from(const Tensor& self, size_t begin) {
  const auto end = int64_t(self.storage()->nbytes()), from = int64_t(begin);
  if (end > from && fills_memory()) {
    const auto item = int64_t(itemsize(self.dtype()));
    const int64_t first = (from + item - 1) / item;
    const Tensor rest =
        make_tensor(self.storage(), self.dtype(), IntSpan({end / item - first}),
                    IntSpan({1}), first);
    rest.impl()->tracks_version = false;
    const Tensor numbers = as_numbers(rest);
    fill_(numbers, filling(numbers.dtype()));
    return;
  }
  constexpr int64_t kFromSystem = int64_t{64} << 20;
  if (end <= from || end > kFromSystem) return;
  const Tensor rest = make_tensor(self.storage(), DType::kUInt8,
                                  IntSpan({end - from}), IntSpan({1}), from);
  rest.impl()->tracks_version = false;
  zero_(rest);
}

/// to() with a memory format; a tensor that is in it already stays.
Tensor to(const Tensor& self, Optional<DType> dtype, Optional<Device> device,
          bool copy, bool non_blocking, const GivenFormat& given) {
  if (dtype && self.is_complex()) [[unlikely]]
    warn_of_parts(self, *dtype);
  if (!reorders(given)) return to(self, dtype, device, copy, non_blocking);
  const auto format = MemoryFormat(*given);
  const TensorOptions options{dtype.value_or(self.dtype()),
                              device ? resolve(*device) : self.device()};
  if (!copy && options.dtype == self.dtype() &&
      options.device == self.device() &&
      suggested_format(self.sizes(), self.strides()) == format)
    return self;
  return reordered(self, format, options, "ToCopyBackward0", non_blocking);
}

HOTARU_OP(
    "copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> "
    "Tensor(a!)",
    copy_);
HOTARU_OP(
    "clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
    +[](const Tensor& self, const GivenFormat& memory_format) {
      if (!reorders(memory_format)) return clone(self);
      return reordered(self, MemoryFormat(*memory_format), TensorOptions(self),
                       "CloneBackward0");
    });
HOTARU_OP(
    "contiguous(Tensor(a) self, *, MemoryFormat "
    "memory_format=contiguous_format) -> Tensor(a)",
    +[](const Tensor& self, int64_t format) {
      return contiguous(self, MemoryFormat(format));
    });
HOTARU_OP("detach(Tensor(a) self) -> Tensor(a)", detach);
HOTARU_OP(
    "alias(Tensor(a) self) -> Tensor(a)",
    +[](const Tensor& self) { return view(self, self.sizes()); });
HOTARU_OP(
    "detach_(Tensor(a!) self) -> Tensor(a!)", +[](const Tensor& self) {
      HOTARU_CHECK(
          !self.is_view(),
          "Can't detach views in-place. Use detach() instead. If you are "
          "using DistributedDataParallel (DDP) for training, and "
          "gradient_as_bucket_view is set as True, gradients are views of "
          "DDP buckets, and hence detach_() cannot be called on these "
          "gradients. To fix this error, please refer to the "
          "Optimizer.zero_grad() function in torch/optim/optimizer.py as "
          "the solution.");
      self.impl()->autograd = nullptr;
      return self;
    });
HOTARU_OP(
    "to.device(Tensor(a) self, Device device, ScalarType dtype, bool "
    "non_blocking=False, bool copy=False, MemoryFormat? "
    "memory_format=None) -> Tensor(a)",
    // Python's None stands for the device that it is on.
    +[](const Tensor& self, Optional<Device> device, DType dtype,
        bool non_blocking, bool copy, const GivenFormat& format) {
      return to(self, dtype, device, copy, non_blocking, format);
    });
HOTARU_OP(
    "to.dtype(Tensor(a) self, ScalarType dtype, bool "
    "non_blocking=False, bool copy=False, MemoryFormat? "
    "memory_format=None) -> Tensor(a)",
    +[](const Tensor& self, DType dtype, bool non_blocking, bool copy,
        const GivenFormat& format) {
      return to(self, dtype, std::nullopt, copy, non_blocking, format);
    });
HOTARU_OP(
    "to.other(Tensor(a) self, Tensor other, bool non_blocking=False, "
    "bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
    +[](const Tensor& self, const Tensor& other, bool non_blocking, bool copy,
        const GivenFormat& format) {
      return to(self, other.dtype(), other.device(), copy, non_blocking,
                format);
    });
HOTARU_OP(
    "to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? "
    "layout=None, Device? device=None, bool? pin_memory=None, bool "
    "non_blocking=False, bool copy=False, MemoryFormat? "
    "memory_format=None) -> Tensor(a)",
    +[](const Tensor& self, Optional<DType> dtype, Value,
        Optional<Device> device, Value, bool non_blocking, bool copy,
        const GivenFormat& format) {
      return to(self, dtype, device, copy, non_blocking, format);
    });
HOTARU_OP(
    "to.prim_Device(Tensor(a) self, Device? device, int? dtype=None, "
    "bool non_blocking=False, bool copy=False) -> Tensor(a)",
    +[](const Tensor& self, Optional<Device> device, Optional<DType> dtype,
        bool non_blocking,
        bool copy) { return to(self, dtype, device, copy, non_blocking); });
HOTARU_OP(
    "to.prim_dtype(Tensor(a) self, int? dtype=None, bool "
    "non_blocking=False, bool copy=False) -> Tensor(a)",
    +[](const Tensor& self, Optional<DType> dtype, bool non_blocking,
        bool copy) {
      return to(self, dtype, std::nullopt, copy, non_blocking);
    });
HOTARU_OP(
    "cpu(Tensor(a) self, *, MemoryFormat? memory_format=None) -> Tensor(a)",
    +[](const Tensor& self, const GivenFormat& format) {
      constexpr Device kCpu{DeviceType::kCPU};
      return to(self, self.dtype(), kCpu, false, false, format);
    });
HOTARU_OP(
    "type_as(Tensor self, Tensor other) -> Tensor",
    +[](const Tensor& self, const Tensor& other) {
      return to(self, other.dtype(), other.device());
    });
HOTARU_OP(
    "resize_(Tensor(a!) self, SymInt[] size, *, MemoryFormat? "
    "memory_format=None) -> Tensor(a!)",
    +[](const Tensor& self, IntSpan size, const GivenFormat& format) {
      HOTARU_CHECK(!format || reorders(format),
                   "Unsupported memory format Preserve");
      const size_t before = self.storage()->nbytes();
      resize_(self, size);
      clear_from(self, before);
      if (reorders(format))
        self.impl()->set_geometry(size,
                                  format_strides(size, MemoryFormat(*format)),
                                  self.storage_offset());
      return self;
    });

}  // namespace
}  // namespace hotaru
