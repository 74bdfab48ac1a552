// The tensor's methods that are no operators, and C++'s operators.
#include <iostream>

#include "ATen/Functions.h"
#include "hotaru/core/host.h"
#include "hotaru/core/inference/inference.h"
#include "hotaru/core/sparse/sparse.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/print.h"
#include "source/call.h"

namespace at {

using hotaru::libtorch::Op;

void TensorBase::undefined() {
  throw c10::Error("tensor does not have a device");
}

void TensorBase::wrong_type(c10::ScalarType type) const {
  throw c10::Error(c10::str("expected scalar type ", c10::toString(type),
                            " but found ", c10::toString(scalar_type())));
}

void TensorBase::check_accessor(size_t dimensions) const {
  TORCH_CHECK(dim() == int64_t(dimensions), "TensorAccessor expected ",
              dimensions, " dims but tensor has ", dim());
}

size_t TensorBase::use_count() const {
  return defined() ? size_t(tensor_.impl()->use_count()) : 0;
}

bool TensorBase::is_contiguous(c10::MemoryFormat format) const {
  if (format == c10::MemoryFormat::Contiguous) return checked().is_contiguous();
  return hotaru::has_format(checked().sizes(), tensor_.strides(),
                            static_cast<hotaru::MemoryFormat>(format));
}
bool TensorBase::is_non_overlapping_and_dense() const {
  return hotaru::is_dense(checked().sizes(), tensor_.strides());
}
c10::MemoryFormat TensorBase::suggest_memory_format(bool) const {
  return static_cast<c10::MemoryFormat>(
      hotaru::suggested_format(checked().sizes(), tensor_.strides()));
}

c10::Layout TensorBase::layout() const {
  const auto* sparse = hotaru::sparse_storage(checked());
  switch (sparse ? sparse->layout() : hotaru::Layout::kStrided) {
    case hotaru::Layout::kStrided:
      return c10::kStrided;
    case hotaru::Layout::kSparseCoo:
      return c10::kSparse;
    case hotaru::Layout::kSparseCsr:
      return c10::kSparseCsr;
    case hotaru::Layout::kSparseCsc:
      return c10::kSparseCsc;
    case hotaru::Layout::kSparseBsr:
      return c10::kSparseBsr;
    case hotaru::Layout::kSparseBsc:
      return c10::kSparseBsc;
  }
  return c10::kStrided;
}

bool TensorBase::is_inference() const {
  return hotaru::is_inference(checked());
}

void* TensorBase::mutable_data_ptr() const {
  if (!defined()) return nullptr;
  tensor_.storage()->expose();
  return tensor_.address();
}
const void* TensorBase::const_data_ptr() const {
  if (!defined()) return nullptr;
  tensor_.storage()->wait();
  return tensor_.address();
}

std::string TensorBase::toString() const {
  return hotaru::type_text(tensor_);
}
void TensorBase::print() const {
  std::cerr << '[' << toString();
  if (defined()) std::cerr << ' ' << sizes();
  std::cerr << "]\n";
}

Tensor Tensor::contiguous(MemoryFormat format) const {
  static constinit Op op("contiguous", "");
  return op.call<Tensor>(*this, format);
}

Scalar Tensor::item() const {
  return Scalar(hotaru::item(checked()));
}

Tensor Tensor::to(const TensorOptions& options, bool non_blocking, bool copy,
                  optional<MemoryFormat> format) const {
  TORCH_CHECK(!options.requires_grad(),
              "to(options) expects unset requires_grad flag, but got "
              "options.requires_grad set as true");
  TORCH_CHECK(!options.has_layout() || options.layout() == layout(),
              "to(options) doesn't support converting to a different layout, "
              "but got self.layout being ",
              layout(), " and options.layout set as ", options.layout());
  static constinit Op op("to", "device");
  const auto type = options.dtype_opt();
  return op.call<Tensor>(*this, options.device_opt().value_or(device()),
                         type ? type->toScalarType() : scalar_type(),
                         non_blocking, copy,
                         format ? format : options.memory_format_opt());
}
Tensor Tensor::to(Device device, ScalarType dtype, bool non_blocking, bool copy,
                  optional<MemoryFormat> format) const {
  return to(TensorOptions(dtype).device(device), non_blocking, copy, format);
}
Tensor Tensor::to(ScalarType dtype, bool non_blocking, bool copy,
                  optional<MemoryFormat> format) const {
  return to(TensorOptions(dtype), non_blocking, copy, format);
}
Tensor Tensor::to(const Tensor& other, bool non_blocking, bool copy,
                  optional<MemoryFormat> format) const {
  return to(other.device(), other.scalar_type(), non_blocking, copy, format);
}

Tensor& Tensor::operator=(const Scalar& value) && {
  fill_(value);
  return *this;
}
Tensor& Tensor::operator=(const Tensor& other) && {
  copy_(other);
  return *this;
}

Tensor Tensor::operator[](int64_t index) const {
  return select(0, index);
}
Tensor Tensor::operator[](const Scalar& index) const {
  TORCH_CHECK_INDEX(index.isIntegral(false),
                    "Can only index tensors with integral scalars");
  return (*this)[index.toLong()];
}
Tensor Tensor::operator[](const Tensor& index) const {
  TORCH_CHECK_INDEX(index.defined(),
                    "Can only index with tensors that are defined");
  TORCH_CHECK_INDEX(index.dim() == 0,
                    "Can only index with tensors that are scalars (zero-dim)");
  return (*this)[index.item()];
}

Tensor Tensor::operator~() const {
  return bitwise_not();
}
Tensor Tensor::operator-() const {
  return neg();
}

#define HOTARU_TORCH_IN_PLACE(op, name) \
  Tensor& Tensor::operator op(const Tensor& other) { \
    return name(other); \
  } \
  Tensor& Tensor::operator op(const Scalar& other) { \
    return name(other); \
  }
HOTARU_TORCH_IN_PLACE(+=, add_)
HOTARU_TORCH_IN_PLACE(-=, sub_)
HOTARU_TORCH_IN_PLACE(*=, mul_)
HOTARU_TORCH_IN_PLACE(/=, div_)
#undef HOTARU_TORCH_IN_PLACE
Tensor& Tensor::operator&=(const Tensor& other) {
  return bitwise_and_(other);
}
Tensor& Tensor::operator|=(const Tensor& other) {
  return bitwise_or_(other);
}
Tensor& Tensor::operator^=(const Tensor& other) {
  return bitwise_xor_(other);
}

// `first` says what a number in front means.
#define HOTARU_TORCH_OPERATOR(op, name, first) \
  Tensor operator op(const Tensor& a, const Tensor& b) { \
    return a.name(b); \
  } \
  Tensor operator op(const Tensor& a, const Scalar& b) { \
    return a.name(b); \
  } \
  Tensor operator op(const Scalar& a, const Tensor& b) { \
    return first; \
  }
HOTARU_TORCH_OPERATOR(+, add, b.add(a))
HOTARU_TORCH_OPERATOR(*, mul, b.mul(a))
HOTARU_TORCH_OPERATOR(-, sub, b.rsub(a))
HOTARU_TORCH_OPERATOR(/, div, b.reciprocal().mul(a))
HOTARU_TORCH_OPERATOR(%, remainder, at::remainder(a, b))
HOTARU_TORCH_OPERATOR(<, lt, b.gt(a))
HOTARU_TORCH_OPERATOR(<=, le, b.ge(a))
HOTARU_TORCH_OPERATOR(>, gt, b.lt(a))
HOTARU_TORCH_OPERATOR(>=, ge, b.le(a))
HOTARU_TORCH_OPERATOR(==, eq, b.eq(a))
HOTARU_TORCH_OPERATOR(!=, ne, b.ne(a))
HOTARU_TORCH_OPERATOR(&, bitwise_and, b.bitwise_and(a))
HOTARU_TORCH_OPERATOR(|, bitwise_or, b.bitwise_or(a))
HOTARU_TORCH_OPERATOR(^, bitwise_xor, b.bitwise_xor(a))
#undef HOTARU_TORCH_OPERATOR

namespace {

/// Calls what it was given when the tensor's memory goes.
struct BlobOwner final : hotaru::RefCounted {
  BlobOwner(void* data, Deleter deleter)
      : data(data), deleter(std::move(deleter)) {}
  ~BlobOwner() override {
    if (deleter) deleter(data);
  }
  void* data;
  Deleter deleter;
};

}  // namespace

Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                 const Deleter& deleter, const TensorOptions& options,
                 optional<Device> target_device) {
  const ScalarType type = options.dtype().toScalarType();
  const Device device = target_device.value_or(options.device());
  const hotaru::IntSpan shape(sizes.data(), sizes.size());
  const hotaru::IntSpan steps(strides.data(), strides.size());
  const size_t bytes =
      hotaru::storage_bytes(shape, steps, c10::elementSize(type));
  auto storage = hotaru::make_ref<hotaru::Storage>(
      data, bytes, to_hotaru(device),
      hotaru::make_ref<BlobOwner>(data, deleter));
  Tensor out(hotaru::make_tensor(std::move(storage), to_hotaru(type), shape,
                                 steps, 0));
  return hotaru::libtorch::with_grad(std::move(out), options);
}
Tensor from_blob(void* data, IntArrayRef sizes, const Deleter& deleter,
                 const TensorOptions& options, optional<Device> target_device) {
  const hotaru::IntSpan shape(sizes.data(), sizes.size());
  // Or PyTorch's error.
  hotaru::storage_bytes(shape,
                        c10::elementSize(options.dtype().toScalarType()));
  const hotaru::Dims strides = hotaru::contiguous_strides(shape);
  return from_blob(data, sizes, IntArrayRef(strides.data(), strides.size()),
                   deleter, options, target_device);
}
Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                 const TensorOptions& options) {
  return from_blob(data, sizes, strides, Deleter(), options);
}
Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options) {
  return from_blob(data, sizes, Deleter(), options);
}

}  // namespace at
