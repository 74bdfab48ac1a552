#include "hotaru/ops/create/factory.h"

#include <cmath>
#include <limits>

#include "hotaru/autograd/record.h"
#include "hotaru/backend/common/pointwise/pointwise.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/cpp_type.h"
#include "hotaru/core/host.h"
#include "hotaru/core/rare.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory_schema.h"
#include "hotaru/ops/create/range_bounds.h"
#include "hotaru/ops/create/reorder.h"
#include "hotaru/ops/host_value.h"
#include "hotaru/ops/operands.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/determinism.h"
#include "hotaru/runtime/result_place.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

const Kernel& kFill = kernel("fill_");
const Kernel& kArange = kernel("arange");
const Kernel& kLinspace = kernel("linspace");

/// The name of a dtype's C++ type in the message about overflow.
const char* cpp_name(DType dtype) {
  switch (dtype) {
    case DType::kUInt8:
      return "uint8_t";
    case DType::kInt8:
      return "int8_t";
    case DType::kInt16:
      return "int16_t";
    case DType::kInt32:
      return "int";
    case DType::kInt64:
      return "int64_t";
    case DType::kFloat32:
      return "float";
    case DType::kComplex64:
      return "c10::complex<float>";
    case DType::kUInt16:
      return "uint16_t";
    case DType::kUInt32:
      return "uint32_t";
    case DType::kUInt64:
      return "uint64_t";
    default:
      return "double";
  }
}

/// Written so that double(max) + 1 bounds int64, too, whose max rounds up.
template <class T>
bool in_range(double value) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_integral_v<T>)
    return value > double(Limits::lowest()) - 1 &&
           value < double(Limits::max()) + (sizeof(T) < 8);
  else
    return !std::isfinite(value) || std::abs(value) <= double(Limits::max());
}

template <class T>
bool in_range(int64_t value) {
  if constexpr (std::is_same_v<T, uint8_t>)
    return value >= -255 && value <= 255;
  else if constexpr (std::is_same_v<T, uint64_t>)
    return true;
  else if constexpr (std::is_unsigned_v<T>)
    return value >= -int64_t(T(-1)) && value <= int64_t(T(-1));
  else if constexpr (std::is_integral_v<T>)
    return value == int64_t(T(value));
  else
    return true;
}

}  // namespace

bool holds(DType dtype, const Scalar& value) {
  if (dtype == DType::kBool || dtype == DType::kComplex128) return true;
  if (dtype == DType::kComplex64)
    return in_range<float>(value.to_complex().real()) &&
           in_range<float>(value.to_complex().imag());
  if (dtype == DType::kComplex32)
    return in_range<Half>(value.to_complex().real()) &&
           in_range<Half>(value.to_complex().imag());
  if (value.is_complex() && value.to_complex().imag() != 0) return false;
  if (is_float8(dtype)) return true;
  bool out = true;
  if (is_wide_unsigned(dtype)) {
    visit_if_listed(
        TypeList<uint16_t, uint32_t, uint64_t>{}, dtype, [&]<class T>() {
          out = value.is_integral() ? in_range<T>(value.to_int())
                                    : in_range<T>(value.to_complex().real());
        });
    return out;
  }
  visit_dtype(RealTypes{}, dtype, "fill", [&]<class T>() {
    using Checked = std::conditional_t<kIsReduced<T>, double, T>;
    out = value.is_integral() ? in_range<Checked>(value.to_int())
                              : in_range<Checked>(value.to_complex().real());
  });
  return out;
}

void check_holds(DType dtype, const Scalar& value) {
  check_converts(holds(dtype, value), cpp_name(dtype));
}

void check_bound(DType dtype, const Scalar& value) {
  const bool half = dtype == DType::kFloat16;
  if (!half && dtype != DType::kBFloat16) return check_holds(dtype, value);
  const double most = half ? double(std::numeric_limits<Half>::max())
                           : double(std::numeric_limits<BFloat16>::max());
  const std::complex<double> number = value.to_complex();
  check_converts(number.imag() == 0 && (!std::isfinite(number.real()) ||
                                        std::abs(number.real()) <= most),
                 cpp_type_name(dtype));
}

Scalar as_element(const Scalar& value, DType dtype) {
  if (dtype != DType::kFloat16 && dtype != DType::kBFloat16) return value;
  check_bound(dtype, value);
  return dtype == DType::kFloat16
             ? Scalar(double(float(Half(float(value.to_double())))))
             : Scalar(double(float(BFloat16(float(value.to_double())))));
}

namespace {

Tensor filled(Tensor out, const Scalar& value) {
  if (is_stored_only(out.dtype())) refuse_dtype("fill_cpu", out.dtype());
  // One element becomes infinite, as in PyTorch.
  if (out.numel() == 1)
    check_holds(out.dtype(), value);
  else
    check_bound(out.dtype(), value);
  const bool truth = out.dtype() == DType::kBool && value.is_complex();
  enqueue(kFill, {write(out)},
          PointwiseNumbers{truth ? Scalar(value.to_complex() != 0.0) : value});
  return out;
}

Tensor zeroed(Tensor out) {
  filled(as_numbers(out), 0);
  return out;
}

DType arange_dtype(const Scalar& start, const Scalar& end, const Scalar& step) {
  const bool integral =
      start.is_integral() && end.is_integral() && step.is_integral();
  return integral ? DType::kInt64 : default_dtype();
}

int64_t arange_length(const Scalar& start, const Scalar& end,
                      const Scalar& step, DType dtype) {
  // int64 is counted in integers, everything else in double.
  const bool whole =
      dtype == DType::kInt64 ||
      (start.is_integral() && end.is_integral() && step.is_integral());
  HOTARU_CHECK(std::abs(step.to_double()) > 0, "step must be nonzero");
  HOTARU_CHECK_AS(ValueError, !whole || step.to_int() != 0,
                  "step must be nonzero");
  const double low = start.to_double(), high = end.to_double();
  HOTARU_CHECK(std::isfinite(low) && std::isfinite(high),
               "unsupported range: ", low, " -> ", high);
  HOTARU_CHECK((step.to_double() > 0) == (high >= low) || high == low,
               "upper bound and lower bound inconsistent with step sign");
  if (whole) {
    const int64_t s = step.to_int();
    int64_t span = 0, more = 0;
    const bool overflow =
        __builtin_sub_overflow(end.to_int(), start.to_int(), &span) ||
        __builtin_add_overflow(span, s - (s > 0 ? 1 : -1), &more);
    HOTARU_CHECK(!overflow, "invalid size, possible overflow?");
    return more / s;
  }
  const double n = std::ceil((high - low) / step.to_double());
  HOTARU_CHECK(n < 0x1p62, "invalid size, possible overflow? size = ", n);
  return int64_t(n);
}

/// As empty(), in the place of `out=` if there is one.
Tensor empty_result(IntSpan size, const TensorOptions& options) {
  return allocate_result(size, options.dtype.value_or(default_dtype()),
                         resolve(options.device.value_or(Device{})));
}

}  // namespace

Tensor empty(IntSpan size, TensorOptions options) {
  return allocate(size, options.dtype.value_or(default_dtype()),
                  resolve(options.device.value_or(Device{})));
}

Tensor empty_strided(IntSpan size, IntSpan stride, TensorOptions options) {
  HOTARU_CHECK(size.size() == stride.size(), "dimensionality of sizes (",
               size.size(), ") must match dimensionality of strides (",
               stride.size(), ")");
  return allocate(size, stride, options.dtype.value_or(default_dtype()),
                  resolve(options.device.value_or(Device{})));
}

Tensor full(IntSpan size, const Scalar& value, TensorOptions options) {
  if (!options.dtype) options.dtype = value.dtype();
  return filled(empty_result(size, options), value);
}

Tensor zeros(IntSpan size, TensorOptions options) {
  return zeroed(empty_result(size, options));
}

Tensor ones(IntSpan size, TensorOptions options) {
  return filled(empty_result(size, options), 1);
}

Tensor empty_like(const Tensor& self) {
  if (self.is_contiguous()) {
    Tensor out = allocate(self.sizes(), self.dtype(), self.device());
    // Dimensions of one element keep their strides.
    if (out.strides() != self.strides()) [[unlikely]]
      out.impl()->set_geometry(self.sizes(), self.strides(), 0);
    return out;
  }
  if (is_dense(self.sizes(), self.strides()))
    return allocate(self.sizes(), self.strides(), self.dtype(), self.device());
  // Gaps are closed; the order of dimensions stays.
  const Dims strides(self.strides());
  return allocate(self.sizes(), dense_strides(self.sizes(), {&strides, 1}),
                  self.dtype(), self.device());
}

namespace {

/// Options of a like or new_ factory: those given, else the tensor's.
TensorOptions like(const Tensor& self, const Optional<DType>& dtype,
                   const Optional<Device>& device) {
  return {dtype.value_or(self.dtype()), device.value_or(self.device())};
}

}  // namespace

Tensor empty_like(const Tensor& model, const Optional<DType>& dtype,
                  const Optional<Device>& device, const GivenFormat& format) {
  if (!dtype && !device && !reorders(format)) return empty_like(model);
  const IntSpan sizes = model.sizes();
  const TensorOptions options = like(model, dtype, device);
  return empty_strided(sizes,
                       reorders(format)
                           ? format_strides(sizes, MemoryFormat(*format))
                           : Dims(empty_like(model).strides()),
                       options);
}

Tensor zeros_like(const Tensor& self) {
  return zeroed(empty_like(self));
}
Tensor ones_like(const Tensor& self) {
  return filled(empty_like(self), 1);
}
Tensor full_like(const Tensor& self, const Scalar& value) {
  return filled(empty_like(self), value);
}

Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step,
              TensorOptions options) {
  if (!options.dtype) options.dtype = arange_dtype(start, end, step);
  const int64_t n = arange_length(start, end, step, *options.dtype);
  Tensor out = empty_result({{n}}, options);
  if (out.numel() > 0)
    enqueue(kArange, {write(out)}, PointwiseNumbers{start, step});
  return out;
}

Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps,
                TensorOptions options) {
  HOTARU_CHECK(steps >= 0, "number of steps must be non-negative");
  if (!options.dtype && (start.is_complex() || end.is_complex()))
    options.dtype = to_complex(default_dtype());
  Tensor out = empty_result({{steps}}, options);
  for (const Scalar& bound : {start, end}) check_bound(out.dtype(), bound);
  if (steps > 0) enqueue(kLinspace, {write(out)}, PointwiseNumbers{start, end});
  return out;
}

Tensor eye(int64_t n, int64_t m, TensorOptions options) {
  HOTARU_CHECK(n >= 0, "n must be greater or equal to 0, got ", n);
  HOTARU_CHECK(m >= 0, "m must be greater or equal to 0, got ", m);
  Tensor out = zeros({{n, m}}, options);
  const autograd::NoGrad no_grad;
  fill_(diagonal(out), 1);
  return out;
}

Tensor wrapped_scalar(const Scalar& value, Device device) {
  // Kept in full precision; promotion takes it for the default dtype.
  const DType dtype = value.kind() == Scalar::Kind::kDouble ? DType::kFloat64
                      : value.is_complex()                  ? DType::kComplex128
                                                            : value.dtype();
  Tensor out = scalar_tensor(value, {dtype, device});
  out.impl()->wrapped_number = true;
  return out;
}

Tensor scalar_tensor(const Scalar& value, TensorOptions options) {
  Tensor out = empty({}, options);
  if (!out.device().is_cpu() || is_rare(out.dtype()))
    return filled(std::move(out), value);
  // Data from the host: nobody else has seen this memory yet, so no kernel
  // and no stream is needed to write it.
  visit_dtype(AllTypes{}, out.dtype(), "scalar_tensor", [&]<class T>() {
    *host_data<T>(out, "scalar_tensor") = value.to<T>();
  });
  return out;
}

Tensor number_like(const Tensor& self, const Scalar& value) {
  check_bound(self.dtype(), value);
  return scalar_tensor(value, {self.dtype(), self.device()});
}

Tensor as_numbers(const Tensor& t) {
  if (!is_stored_only(t.dtype())) return t;
  Tensor out = make_tensor(t.storage(), stored_as(t.dtype()), t.sizes(),
                           t.strides(), t.storage_offset());
  out.impl()->tracks_version = false;
  return out;
}

Tensor fill_(const Tensor& self, const Scalar& value) {
  autograd::check_inplace(self);
  filled(self, value);
  if (autograd::needs_grad(self))
    autograd::record("FillBackward0", self, {self}, {},
                     [](autograd::Backward&, const Tensor& g) -> Tensors {
                       return {zeros_like(g)};
                     });
  self.bump_version();
  return self;
}

Tensor zero_(const Tensor& self) {
  if (!is_stored_only(self.dtype())) return fill_(self, 0);
  autograd::check_inplace(self);
  zeroed(self);
  self.bump_version();
  return self;
}

namespace {

/// A tensor that a program gets without elements of its own.
Tensor unset(Tensor t) {
  if (!fills_memory()) [[likely]]
    return t;
  const Tensor numbers = as_numbers(t);
  filled(numbers, filling(numbers.dtype()));
  return t;
}

/// Dense, with dimensions in memory in the order of `layout`.
Tensor empty_permuted(IntSpan size, IntSpan layout, TensorOptions options) {
  HOTARU_CHECK(layout.size() == size.size(),
               "Number of dimensions in size does not match the length of the "
               "physical_layout; i.e. len(size) = ",
               size.size(),
               " is not equal to len(physical_layout) = ", layout.size());
  Dims strides(size.size(), -1);
  int64_t step = 1;
  for (size_t i = layout.size(); i-- > 0;) {
    const int64_t dim = layout[i];
    HOTARU_CHECK(dim >= 0 && dim < int64_t(size.size()),
                 "Dimension out of range (expected to be between 0 and ",
                 int64_t(size.size()) - 1, ", but got ", dim, " at index ", i,
                 ").  NB: negative dims not currently supported; file an issue "
                 "if you want it.");
    HOTARU_CHECK(strides[size_t(dim)] == -1, "Duplicate dim not allowed");
    strides[size_t(dim)] = step;
    HOTARU_CHECK(
        !__builtin_mul_overflow(step, std::max<int64_t>(size[size_t(dim)], 1),
                                &step),
        "Storage size calculation overflowed with sizes=", shape_text(size));
  }
  return empty_strided(size, strides, options);
}

HOTARU_OP(
    "empty.memory_format(SymInt[] size, " HOTARU_OPTIONS
    ", MemoryFormat? memory_format=None) -> Tensor",
    +[](IntSpan size, HOTARU_OPTION_ARGS, const GivenFormat& format) {
      if (!format) return unset(empty(size, given_options(dtype, device)));
      HOTARU_CHECK(MemoryFormat(*format) != MemoryFormat::kPreserve,
                   "unsupported memory format Preserve");
      return unset(empty_strided(size,
                                 format_strides(size, MemoryFormat(*format)),
                                 given_options(dtype, device)));
    });
HOTARU_OP(
    "empty_strided(SymInt[] size, SymInt[] stride, " HOTARU_OPTIONS
    ") -> Tensor",
    +[](IntSpan size, IntSpan stride, HOTARU_OPTION_ARGS) {
      return unset(empty_strided(size, stride, given_options(dtype, device)));
    });
HOTARU_OP(
    "empty_permuted(SymInt[] size, int[] physical_layout, " HOTARU_OPTIONS
    ") -> Tensor",
    +[](IntSpan size, IntSpan layout, HOTARU_OPTION_ARGS) {
      return unset(empty_permuted(size, layout, given_options(dtype, device)));
    });
HOTARU_OP(
    "new_empty_strided(Tensor self, SymInt[] size, SymInt[] "
    "stride, " HOTARU_OPTIONS ") -> Tensor",
    +[](const Tensor& self, IntSpan size, IntSpan stride, HOTARU_OPTION_ARGS) {
      return unset(empty_strided(size, stride, like(self, dtype, device)));
    });
HOTARU_OP(
    "full(SymInt[] size, Scalar fill_value, " HOTARU_OPTIONS ") -> Tensor",
    +[](IntSpan size, const Scalar& value, HOTARU_OPTION_ARGS) {
      auto options = given_options(dtype, device);
      // Default dtypes of 16 bits are included.
      if (!options.dtype && value.dtype() == DType::kComplex32)
        options.dtype = DType::kComplex64;
      return full(size, value, options);
    });
HOTARU_OP(
    "zeros(SymInt[] size, " HOTARU_OPTIONS ") -> Tensor",
    +[](IntSpan size, HOTARU_OPTION_ARGS) {
      return zeros(size, given_options(dtype, device));
    });
HOTARU_OP(
    "ones(SymInt[] size, " HOTARU_OPTIONS ") -> Tensor",
    +[](IntSpan size, HOTARU_OPTION_ARGS) {
      return ones(size, given_options(dtype, device));
    });
HOTARU_OP(
    "scalar_tensor(Scalar s, " HOTARU_OPTIONS ") -> Tensor",
    +[](const Scalar& s, HOTARU_OPTION_ARGS) {
      return scalar_tensor(s, given_options(dtype, device));
    });
HOTARU_OP(
    "arange(Scalar end, " HOTARU_OPTIONS ") -> Tensor",
    +[](const Scalar& end, HOTARU_OPTION_ARGS) {
      return arange(end.is_integral() ? Scalar(0) : Scalar(0.0), end, 1,
                    given_options(dtype, device));
    });
HOTARU_OP(
    "arange.start(Scalar start, Scalar end, " HOTARU_OPTIONS ") -> Tensor",
    +[](const Scalar& start, const Scalar& end, HOTARU_OPTION_ARGS) {
      return arange(start, end, 1, given_options(dtype, device));
    });
HOTARU_OP(
    "arange.start_step(Scalar start, Scalar end, Scalar step=1, " HOTARU_OPTIONS
    ") -> Tensor",
    +[](const Scalar& start, const Scalar& end, const Scalar& step,
        HOTARU_OPTION_ARGS) {
      return arange(start, end, step, given_options(dtype, device));
    });

HOTARU_OP(
    "linspace.Tensor_Tensor(Tensor start, Tensor end, int "
    "steps, " HOTARU_OPTIONS ") -> Tensor",
    +[](const Tensor& start, const Tensor& end, int64_t steps,
        HOTARU_OPTION_ARGS) {
      check_bounds("linspace", start, end);
      return linspace(bound_of("linspace", start), bound_of("linspace", end),
                      steps, given_options(dtype, device));
    });
HOTARU_OP(
    "linspace.Tensor_Scalar(Tensor start, Scalar end, int "
    "steps, " HOTARU_OPTIONS ") -> Tensor",
    +[](const Tensor& start, const Scalar& end, int64_t steps,
        HOTARU_OPTION_ARGS) {
      check_bounds("linspace", start, Tensor());
      return linspace(bound_of("linspace", start), end, steps,
                      given_options(dtype, device));
    });
HOTARU_OP(
    "linspace.Scalar_Tensor(Scalar start, Tensor end, int "
    "steps, " HOTARU_OPTIONS ") -> Tensor",
    +[](const Scalar& start, const Tensor& end, int64_t steps,
        HOTARU_OPTION_ARGS) {
      check_bounds("linspace", Tensor(), end);
      return linspace(start, bound_of("linspace", end), steps,
                      given_options(dtype, device));
    });
HOTARU_OP(
    "linspace(Scalar start, Scalar end, int steps, " HOTARU_OPTIONS
    ") -> Tensor",
    +[](const Scalar& start, const Scalar& end, int64_t steps,
        HOTARU_OPTION_ARGS) {
      return linspace(start, end, steps, given_options(dtype, device));
    });
HOTARU_OP(
    "eye(SymInt n, " HOTARU_OPTIONS ") -> Tensor",
    +[](int64_t n, HOTARU_OPTION_ARGS) {
      return eye(n, n, given_options(dtype, device));
    });
HOTARU_OP(
    "eye.m(SymInt n, SymInt m, " HOTARU_OPTIONS ") -> Tensor",
    +[](int64_t n, int64_t m, HOTARU_OPTION_ARGS) {
      return eye(n, m, given_options(dtype, device));
    });

HOTARU_OP(
    "empty_like(Tensor self, " HOTARU_OPTIONS
    ", MemoryFormat? memory_format=None) -> Tensor",
    +[](const Tensor& self, HOTARU_OPTION_ARGS, const GivenFormat& format) {
      return unset(empty_like(self, dtype, device, format));
    });
HOTARU_OP(
    "zeros_like(Tensor self, " HOTARU_OPTIONS
    ", MemoryFormat? memory_format=None) -> Tensor",
    +[](const Tensor& self, HOTARU_OPTION_ARGS, const GivenFormat& format) {
      return zeroed(empty_like(self, dtype, device, format));
    });
HOTARU_OP(
    "ones_like(Tensor self, " HOTARU_OPTIONS
    ", MemoryFormat? memory_format=None) -> Tensor",
    +[](const Tensor& self, HOTARU_OPTION_ARGS, const GivenFormat& format) {
      return filled(empty_like(self, dtype, device, format), 1);
    });
HOTARU_OP(
    "full_like(Tensor self, Scalar fill_value, " HOTARU_OPTIONS
    ", MemoryFormat? memory_format=None) -> Tensor",
    +[](const Tensor& self, const Scalar& value, HOTARU_OPTION_ARGS,
        const GivenFormat& format) {
      return filled(empty_like(self, dtype, device, format), value);
    });
HOTARU_OP(
    "new_empty(Tensor self, SymInt[] size, " HOTARU_OPTIONS ") -> Tensor",
    +[](const Tensor& self, IntSpan size, HOTARU_OPTION_ARGS) {
      return unset(empty(size, like(self, dtype, device)));
    });
HOTARU_OP(
    "new_zeros(Tensor self, SymInt[] size, " HOTARU_OPTIONS ") -> Tensor",
    +[](const Tensor& self, IntSpan size, HOTARU_OPTION_ARGS) {
      return zeros(size, like(self, dtype, device));
    });
HOTARU_OP(
    "new_ones(Tensor self, SymInt[] size, " HOTARU_OPTIONS ") -> Tensor",
    +[](const Tensor& self, IntSpan size, HOTARU_OPTION_ARGS) {
      return ones(size, like(self, dtype, device));
    });
HOTARU_OP(
    "new_full(Tensor self, SymInt[] size, Scalar fill_value, " HOTARU_OPTIONS
    ") -> Tensor",
    +[](const Tensor& self, IntSpan size, const Scalar& value,
        HOTARU_OPTION_ARGS) {
      return full(size, value, like(self, dtype, device));
    });

HOTARU_OP(
    "fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!)",
    +[](const Tensor& self, const Tensor& value) {
      HOTARU_CHECK(value.dim() == 0,
                   "fill_ only supports 0-dimension value tensor but got "
                   "tensor with ",
                   value.dim(), " dimensions.");
      return copy_(self, value);
    });
HOTARU_OP("fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)", fill_);
HOTARU_OP("zero_(Tensor(a!) self) -> Tensor(a!)", zero_);

}  // namespace
}  // namespace hotaru
