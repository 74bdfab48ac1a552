#include "bindings/tensor/indexing.h"

#include <algorithm>
#include <limits>

#include "bindings/stable_abi.h"
#include "bindings/tensor/checks.h"
#include "bindings/tensor/creation.h"
#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/value_convert.h"
#include "hotaru/backend/common/index/bounds.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/index/index.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/warning.h"

namespace hotaru::python {
namespace {

/// Rest of an index after its basic part has been applied: a view, and the
/// tensors that index some of its dimensions.
struct Indexed {
  Tensor view;
  std::vector<Value> tensors;  // Tensor or None, by dimension
  bool advanced = false;
};

bool is_sequence(PyObject* o) {
  return PySequence_Check(o) && !is_tensor(o);
}

constexpr const char* kListAsTuple =
    "Using a non-tuple sequence for multidimensional indexing is deprecated "
    "and will be changed in pytorch 2.9; use x[tuple(seq)] instead of x[seq]. "
    "In pytorch 2.9 this will be interpreted as tensor index, "
    "x[torch.tensor(seq)], which will result either in an error or a different "
    "result";

/// A short sequence that holds slices, tensors or sequences is a tuple that
/// was written otherwise, as it was in numpy once.
bool is_index_list(PyObject* o) {
  if (!is_sequence(o) || PyTuple_Check(o) || nb::hasattr(o, "__array__"))
    return false;
  const Py_ssize_t n = PySequence_Size(o);
  if (n < 0) PyErr_Clear();
  if (n < 0 || n >= 32) return false;
  for (Py_ssize_t i = 0; i < n; ++i) {
    const nb::object item = nb::steal(PySequence_GetItem(o, i));
    if (!item.is_valid()) throw nb::python_error();
    if (is_tensor(item.ptr()) || PySequence_Check(item.ptr()) ||
        PySlice_Check(item.ptr()) || item.ptr() == Py_Ellipsis ||
        item.is_none())
      return true;
  }
  return false;
}

bool is_mask(const Tensor& t) {
  return t.dtype() == DType::kBool || t.dtype() == DType::kUInt8;
}

/// Dimensions an index consumes.
int64_t consumed(PyObject* o) {
  if (o == Py_None || o == Py_Ellipsis || PyBool_Check(o)) return 0;
  if (is_tensor(o)) {
    const Tensor& t = tensor_of(o);
    if (is_mask(t)) return t.dim();
  }
  return 1;
}

/// The index that a sequence or an array is: a mask, or integers, which
/// numbers of every other kind are taken for.
Tensor index_tensor(PyObject* o) {
  const Tensor t = tensor_from_data(o, std::nullopt, std::nullopt);
  return is_mask(t) ? t : tensor_from_data(o, DType::kInt64, std::nullopt);
}

Optional<int64_t> slice_bound(PyObject* o) {
  if (o == Py_None) return std::nullopt;
  HOTARU_CHECK_AS(TypeError, PyIndex_Check(o),
                  "slice indices must be integers or None or have an "
                  "__index__ method");
  const nb::object index = nb::steal(PyNumber_Index(o));
  if (!index.is_valid()) throw nb::python_error();
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  // Bounds beyond every size are like the largest.
  constexpr int64_t kFar = std::numeric_limits<int64_t>::max() / 2;
  return overflow ? overflow * kFar : std::clamp<int64_t>(value, -kFar, kFar);
}

/// Integer that an object is; null for who is none.
nb::object as_index(PyObject* o) {
  nb::object index = nb::steal(PyNumber_Index(o));
  if (!index.is_valid()) PyErr_Clear();
  return index;
}

int64_t integer(PyObject* o) {
  return to_long_long(o);
}

class Indexer {
 public:
  explicit Indexer(const Tensor& self) : view_(self) {}

  Indexed apply(PyObject* index) {
    PyObject* tuple = index;
    nb::object made;
    if (is_index_list(index)) {
      warn(kListAsTuple);
      made = nb::steal(PySequence_Tuple(index));
      tuple = made.ptr();
    }
    if (PySlice_Check(tuple) || PyLong_Check(tuple)) {
      step(tuple);
    } else if (!PyTuple_Check(tuple)) {
      expand_ellipsis(&index, 1);
    } else {
      PyObject** items = tuple_items(tuple);
      expand_ellipsis(items, tuple_size(tuple));
    }
    return {view_, std::move(tensors_), advanced_};
  }

 private:
  void expand_ellipsis(PyObject** items, Py_ssize_t n) {
    int64_t used = 0;
    for (Py_ssize_t i = 0; i < n; ++i) used += consumed(items[i]);
    const int64_t ndim = view_.dim();
    HOTARU_CHECK_AS(IndexError, used <= ndim,
                    "too many indices for tensor of dimension ", ndim);
    bool seen = false;
    for (Py_ssize_t i = 0; i < n; ++i) {
      if (items[i] != Py_Ellipsis) {
        step(items[i]);
      } else if (!seen) {
        seen = true;
        dim_ += ndim - used;
        consumed_ += ndim - used;
      }
    }
  }

  void step(PyObject* o) {
    if (o == Py_None) {
      view_ = unsqueeze(view_, dim_++);
    } else if (o == Py_Ellipsis) {
      // Stands for no dimension here.
    } else if (PyBool_Check(o)) {
      put_flag(o == Py_True);
    } else if (PySlice_Check(o)) {
      step_slice(o);
    } else if (PyLong_Check(o)) {
      index_with(integer(o));
    } else if (is_tensor(o)) {
      step_tensor(tensor_of(o));
    } else if (is_sequence(o)) {
      step_tensor(index_tensor(o));
    } else if (const nb::object index = as_index(o); index.is_valid()) {
      index_with(integer(index.ptr()));
    } else {
      fail<IndexError>(
          "only integers, slices (`:`), ellipsis (`...`), None and "
          "long or byte Variables are valid indices (got ",
          class_name(o), ")");
    }
  }

  void step_tensor(const Tensor& t) {
    if (t.dim() > 0 || !is_integral(t.dtype(), true))
      put(t);
    else if (is_mask(t))
      put_flag(item(t).to_int() != 0);
    else
      index_with(item(t).to_int());
  }

  /// A bool adds a dimension that it keeps or empties.
  void put_flag(bool keep) {
    view_ = unsqueeze(view_, dim_);
    --consumed_;
    put(zeros({{int64_t(keep)}}, {DType::kInt64, view_.device()}));
  }

  void check_dim() const {
    HOTARU_CHECK_AS(IndexError, view_.dim() > 0,
                    "invalid index of a 0-dim tensor. Use `tensor.item()` in "
                    "Python or `tensor.item<T>()` in C++ to convert a 0-dim "
                    "tensor to a number");
  }

  void index_with(int64_t i) {
    check_dim();
    const int64_t size = view_.size(dim_);
    if (i < -size || i >= size)
      index_out_of_bounds<IndexError>(i, consumed_, size);
    view_ = select(view_, dim_, i);
    ++consumed_;
  }

  void step_slice(PyObject* o) {
    const int64_t step = slice_bound(slice_part(o, 2)).value_or(1);
    HOTARU_CHECK_AS(IndexError, view_.dim() > 0,
                    "slice() cannot be applied to a 0-dim tensor.");
    HOTARU_CHECK_AS(ValueError, step != 0, "slice step cannot be zero");
    HOTARU_CHECK_AS(ValueError, step > 0, "step must be greater than zero");
    const auto start = slice_bound(slice_part(o, 0)),
               stop = slice_bound(slice_part(o, 1));
    if (start || stop || step != 1)
      view_ = slice(view_, dim_, start, stop, step);
    ++dim_;
    ++consumed_;
  }

  void put(const Tensor& t) {
    const bool mask = is_mask(t);
    HOTARU_CHECK_AS(IndexError, mask || is_integral(t.dtype()),
                    "tensors used as indices must be long, int, byte or bool "
                    "tensors");
    if (t.dtype() == DType::kUInt8) warn(kByteIndex);
    tensors_.resize(size_t(dim_ - behind_));
    tensors_.push_back(mask && t.dtype() == DType::kUInt8 ? to(t, DType::kBool)
                                                          : t);
    advanced_ = true;
    // A mask consumes its dimensions but one place of the list: the list
    // falls behind, and later indices are placed by it.
    const int64_t span = mask ? std::max<int64_t>(t.dim(), 1) : 1;
    dim_ += span;
    consumed_ += span;
    behind_ += span - 1;
  }

  Tensor view_;
  std::vector<Value> tensors_;
  int64_t dim_ = 0;       // of the view that is indexed next
  int64_t consumed_ = 0;  // dimensions of the tensor dealt with so far
  int64_t behind_ = 0;
  bool advanced_ = false;
};

const Operator& op(const char* name, const char* overload) {
  const Operator* found = Registry::instance().find(name, overload);
  HOTARU_CHECK(found, name, ": not part of this build");
  return *found;
}

Tensor value_tensor(const Tensor& view, PyObject* value) {
  if (is_tensor(value)) return tensor_of(value);
  HOTARU_CHECK_AS(TypeError, is_number(value), "can't assign a ",
                  class_name(value), " to a torch.",
                  scalar_type_name(view.dtype()), "Tensor");
  return full({}, to_scalar(value, view.dtype()), TensorOptions(view));
}

/// Leading dimensions of size 1 that the target lacks are dropped.
Tensor trim(const Tensor& value, int64_t ndim) {
  Dims shape(value.sizes());
  while (int64_t(shape.size()) > ndim && shape[0] == 1) shape.erase(0);
  return shape.size() == value.sizes().size() ? value : view(value, shape);
}

/// Copies values that fit into a view, of any dtype.
void assign(const Tensor& target, const Tensor& source) {
  const Tensor fitting = trim(source, target.dim());
  const bool same_shape = same(fitting.sizes(), target.sizes());
  copy_(target, same_shape ? fitting : expand(fitting, target.sizes()));
}

}  // namespace

Tensor get_item(const Tensor& self, PyObject* index) {
  Indexed indexed = Indexer(self).apply(index);
  if (!indexed.advanced) {
    // x[...] and x[:] are views of their own.
    if (indexed.view.is_same(self)) return view(self, self.sizes());
    return indexed.view;
  }
  Value arguments[] = {indexed.view, Value::list(std::move(indexed.tensors))};
  Value result;
  static const Operator& op_index = op("index", "Tensor");
  op_index.call(arguments, &result);
  return result.as_tensor();
}

void set_item(const Tensor& self, PyObject* index, PyObject* value) {
  if (index == Py_True || index == Py_False) {  // all of it, or nothing
    const Tensor source = value_tensor(self, value);
    if (index == Py_True) assign(unsqueeze(self, 0), source);
    return;
  }
  Indexed indexed = Indexer(self).apply(index);
  const Tensor source = value_tensor(indexed.view, value);
  if (!indexed.advanced) return assign(indexed.view, source);
  Value arguments[] = {indexed.view, Value::list(std::move(indexed.tensors)),
                       trim(source, 0), false};
  Value result;
  static const Operator& op_index_put = op("index_put_", "");
  op_index_put.call(arguments, &result);
}

}  // namespace hotaru::python
