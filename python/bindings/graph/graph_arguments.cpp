#include "bindings/graph/graph_arguments.h"

#include <bit>

#include "bindings/tensor/tensor_object.h"
#include "hotaru/autograd/node.h"

namespace hotaru::python {
namespace {

namespace nb = nanobind;

/// Offset of the first byte, and one behind the last.
struct Bytes {
  int64_t begin, end;
};

Bytes bytes_of(const Tensor& t) {
  const int64_t item = int64_t(itemsize(t.dtype()));
  const int64_t begin = t.storage_offset() * item;
  return {begin, begin + storage_extent(t.sizes(), t.strides()) * item};
}

/// How much later b begins, if they overlap.
bool overlap(const Tensor& a, const Tensor& b, int64_t* distance) {
  if (a.storage() != b.storage()) return false;
  const Bytes first = bytes_of(a), second = bytes_of(b);
  *distance = second.begin - first.begin;
  return first.begin < second.end && second.begin < first.end;
}

}  // namespace

bool same_strides(const Tensor& t, IntSpan sizes, IntSpan strides) {
  for (size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] > 1 && t.strides()[d] != strides[d]) return false;
  return true;
}

Guarded::Guarded(const Tensor& t)
    : tensor(t),
      storage(t.storage().get()),
      sizes(t.sizes()),
      strides(t.strides()),
      offset(t.storage_offset()),
      dtype(t.dtype()),
      contiguous(t.is_contiguous()),
      requires_grad(autograd::requires_grad(t)) {}

bool Guarded::in_place() const {
  const TensorImpl& now = *tensor.impl();
  if (now.storage.get() != storage || now.offset != offset ||
      now.dtype != dtype || now.sizes.size() != sizes.size())
    return false;
  const int64_t *wanted = sizes.data(), *size = now.sizes.data();
  for (size_t n = sizes.size(); n-- > 0;)
    if (*size++ != *wanted++) return false;
  // Sizes tell all of what is row-major.
  return (now.contiguous && contiguous) || same_strides(tensor, sizes, strides);
}

bool Guarded::intact() const {
  return in_place() && autograd::requires_grad(tensor) == requires_grad;
}

bool same_memory(const Tensor& a, const Tensor& b) {
  return a.storage() == b.storage() && a.storage_offset() == b.storage_offset();
}

Argument argument_like(nb::handle sample, nb::handle target, bool own) {
  Argument a{};
  if (target.is_none()) {
    a.constant = nb::borrow(sample);
    return a;
  }
  const Tensor& t = tensor_of(sample.ptr());
  a.sizes = Dims(t.sizes());
  a.strides = Dims(t.strides());
  a.dtype = t.dtype();
  a.requires_grad = autograd::requires_grad(t);
  a.target = tensor_of(target.ptr());
  a.own = own && a.target.storage_offset() == 0 &&
          size_t(a.target.numel()) * itemsize(a.dtype) ==
              a.target.storage()->nbytes();
  return a;
}

bool fits(PyObject* object, const Argument& wanted) {
  if (!wanted.target.defined()) {
    PyObject* constant = wanted.constant.ptr();
    if (object == constant) return true;
    if (Py_TYPE(object) != Py_TYPE(constant) || is_tensor(object)) return false;
    if (PyFloat_CheckExact(object))  // zeros have signs, NaN equals itself
      return std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(object)) ==
             std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(constant));
    const int equal = PyObject_RichCompareBool(object, constant, Py_EQ);
    if (equal < 0) PyErr_Clear();
    return equal == 1;
  }
  if (!is_tensor(object)) return false;
  const Tensor& t = tensor_of(object);
  return t.dtype() == wanted.dtype && t.sizes() == IntSpan(wanted.sizes) &&
         t.device() == wanted.target.device() &&
         same_strides(t, wanted.sizes, wanted.strides) &&
         autograd::requires_grad(t) == wanted.requires_grad;
}

void find_aliases(std::span<const Tensor* const> tensors, size_t at,
                  std::span<const Tensor* const> owned,
                  std::vector<Alias>& out) {
  int64_t distance = 0;
  for (size_t i = 0; i < owned.size(); ++i) {
    if (!overlap(*owned[i], *tensors[at], &distance)) continue;
    out.push_back({int64_t(at), -1 - int64_t(i), distance});
    break;
  }
  for (size_t i = 0; i < at; ++i)
    if (overlap(*tensors[i], *tensors[at], &distance))
      out.push_back({int64_t(at), int64_t(i), distance});
}

}  // namespace hotaru::python
