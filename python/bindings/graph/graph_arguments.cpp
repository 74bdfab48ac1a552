#include "bindings/graph/graph_arguments.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "bindings/stable_abi.h"
#include "bindings/tensor/tensor_object.h"
#include "hotaru/autograd/node.h"
#include "hotaru/ops/create/copy.h"

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

/// How much later b begins, if they overlap. Those without elements do so with
/// their neighbours: a write to the one counts as one to the other.
bool overlap(const Tensor& a, const Tensor& b, int64_t* distance) {
  if (a.storage() != b.storage()) return false;
  const Bytes first = bytes_of(a), second = bytes_of(b);
  *distance = second.begin - first.begin;
  if (first.begin == first.end || second.begin == second.end)
    return first.begin <= second.end && second.begin <= first.end;
  return first.begin < second.end && second.begin < first.end;
}

/// True if somebody gave the tensor attributes of their own.
bool has_attributes(PyObject* tensor) {
  PyObject* dict = reinterpret_cast<TensorObject*>(tensor)->dict;
  return dict && dict_size(dict) > 0;
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
  a.leaf = autograd::is_leaf(t);
  a.type = answering_class(sample.ptr());
  a.overlaps = may_overlap(t.sizes(), t.strides());
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
      return std::bit_cast<uint64_t>(float_value(object)) ==
             std::bit_cast<uint64_t>(float_value(constant));
    const int equal = PyObject_RichCompareBool(object, constant, Py_EQ);
    if (equal < 0) PyErr_Clear();
    return equal == 1;
  }
  if (answering_class(object) != wanted.type || has_attributes(object))
    return false;
  const Tensor& t = tensor_of(object);
  return t.dtype() == wanted.dtype && t.sizes() == IntSpan(wanted.sizes) &&
         t.device() == wanted.target.device() &&
         same_strides(t, wanted.sizes, wanted.strides) &&
         autograd::requires_grad(t) == wanted.requires_grad &&
         (!wanted.leaf_matters || autograd::is_leaf(t) == wanted.leaf) &&
         (!wanted.strides_matter || t.strides() == IntSpan(wanted.strides));
}

bool same_objects(Arguments arguments, const std::vector<Argument>& wanted) {
  const size_t n = arguments.size();
  constexpr size_t kFew = 16;
  if (n <= kFew) {
    for (size_t i = 1; i < n; ++i) {
      if (!wanted[i].target.defined()) continue;
      size_t first = 0;
      while (arguments[first] != arguments[i]) ++first;
      if (first != wanted[i].first) return false;
    }
    return true;
  }
  std::unordered_map<PyObject*, size_t> seen;
  for (size_t i = 0; i < n; ++i) {
    const size_t first = seen.try_emplace(arguments[i], i).first->second;
    if (wanted[i].target.defined() && first != wanted[i].first) return false;
  }
  return true;
}

bool may_overlap(IntSpan sizes, IntSpan strides) {
  std::vector<std::pair<int64_t, int64_t>> steps;  // stride, size
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return false;
    if (sizes[d] > 1) steps.emplace_back(strides[d], sizes[d]);
  }
  std::sort(steps.begin(), steps.end());
  int64_t last = 0;
  for (const auto& [stride, size] : steps) {
    if (stride <= last) return true;
    last += (size - 1) * stride;
  }
  return false;
}

void bring_values(const Tensor& to, const Tensor& from) {
  // A copy of bools makes one of every byte but zero.
  const bool bytes = to.dtype() == DType::kBool;
  const auto part = [&](const Tensor& t, IntSpan sizes, IntSpan strides) {
    Tensor out = make_tensor(t.storage(), bytes ? DType::kUInt8 : t.dtype(),
                             sizes, strides, t.storage_offset());
    out.impl()->tracks_version = t.impl()->tracks_version;
    return out;
  };
  if (!may_overlap(to.sizes(), to.strides())) {
    if (bytes)
      copy_(part(to, to.sizes(), to.strides()),
            part(from, from.sizes(), from.strides()));
    else
      copy_(to, from);
    return;
  }
  // Dimensions without a stride hold one element.
  Dims sizes(to.sizes());
  for (size_t d = 0; d < sizes.size(); ++d)
    if (to.strides()[d] == 0 && sizes[d] > 1) sizes[d] = 1;
  Dims strides(to.strides());
  if (may_overlap(sizes, strides)) {
    sizes = Dims{storage_extent(to.sizes(), to.strides())};
    strides = Dims{1};
  }
  copy_(part(to, sizes, strides), part(from, sizes, strides));
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
