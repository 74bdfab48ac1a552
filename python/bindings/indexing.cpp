#include "bindings/indexing.h"

#include "bindings/creation.h"
#include "bindings/tensor_object.h"
#include "bindings/value_convert.h"
#include "hotaru/ops/copy.h"
#include "hotaru/ops/factory.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/view.h"

namespace hotaru::python {
namespace {

/// What is left of an index after its basic part has been applied: a view,
/// and the tensors that index some of its dimensions.
struct Indexed {
  Tensor view;
  std::vector<Value> tensors;  // Tensor or None, by dimension
  bool advanced = false;
};

bool is_sequence(PyObject* o) {
  return PyList_Check(o) || PyTuple_Check(o);
}

/// A sequence of slices, tensors or sequences is a tuple written as a list.
bool is_index_list(PyObject* o) {
  if (!PyList_Check(o)) return false;
  const Py_ssize_t n = PyList_GET_SIZE(o);
  if (n >= 32) return false;
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* item = PyList_GET_ITEM(o, i);
    if (PySlice_Check(item) || item == Py_Ellipsis || item == Py_None)
      return true;
  }
  return false;
}

/// Dimensions an index consumes.
int64_t consumed(PyObject* o) {
  if (o == Py_None || o == Py_Ellipsis || PyBool_Check(o)) return 0;
  if (is_tensor(o)) {
    const Tensor& t = tensor_of(o);
    if (t.dtype() == DType::kBool || t.dtype() == DType::kUInt8) return t.dim();
  }
  return 1;
}

Tensor index_tensor(PyObject* o) {
  if (is_tensor(o)) return tensor_of(o);
  Tensor t = tensor_from_data(o, std::nullopt, std::nullopt);
  if (t.numel() == 0 && is_sequence(o)) t = to(t, DType::kInt64);
  return t;
}

Optional<int64_t> slice_bound(PyObject* o) {
  if (o == Py_None) return std::nullopt;
  return to_int(o);
}

class Indexer {
 public:
  explicit Indexer(const Tensor& self) : view_(self) {}

  Indexed apply(PyObject* index) {
    PyObject* tuple = index;
    nb::object made;
    if (is_index_list(index)) {
      made = nb::steal(PyList_AsTuple(index));
      tuple = made.ptr();
    }
    if (!PyTuple_Check(tuple)) {
      expand_ellipsis(&index, 1);
    } else {
      PyObject** items = &PyTuple_GET_ITEM(tuple, 0);
      expand_ellipsis(items, PyTuple_GET_SIZE(tuple));
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
      }
    }
  }

  void step(PyObject* o) {
    if (o == Py_None) {
      view_ = unsqueeze(view_, dim_++);
    } else if (PyBool_Check(o)) {
      // A bool adds a dimension that it keeps or empties.
      view_ = unsqueeze(view_, dim_);
      put(full({}, o == Py_True, {DType::kBool, view_.device()}));
    } else if (PySlice_Check(o)) {
      step_slice(o);
    } else if (PyLong_Check(o)) {
      check_dim();
      index_with(to_int(o));
    } else if (is_tensor(o)) {
      const Tensor& t = tensor_of(o);
      if (t.dim() == 0 && is_integral(t.dtype(), false) &&
          t.dtype() != DType::kUInt8)
        index_with(item(t).to_int());
      else if (t.dim() == 0 && t.dtype() == DType::kBool)
        view_ = unsqueeze(view_, dim_), put(t);
      else
        put(t);
    } else if (is_sequence(o) || nb::hasattr(o, "__array__")) {
      put(index_tensor(o));
    } else if (PyIndex_Check(o)) {
      index_with(to_int(o));
    } else {
      fail<TypeError>(
          "only integers, slices (`:`), ellipsis (`...`), None and "
          "long or byte Variables are valid indices (got ",
          Py_TYPE(o)->tp_name, ")");
    }
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
    HOTARU_CHECK_AS(IndexError, i >= -size && i < size, "index ", i,
                    " is out of bounds for dimension ", dim_, " with size ",
                    size);
    view_ = select(view_, dim_, i);
  }

  void step_slice(PyObject* o) {
    const auto* s = reinterpret_cast<PySliceObject*>(o);
    const int64_t step = slice_bound(s->step).value_or(1);
    HOTARU_CHECK_AS(ValueError, step > 0, "step must be greater than zero");
    const auto start = slice_bound(s->start), stop = slice_bound(s->stop);
    if (start || stop || step != 1)
      view_ = slice(view_, dim_, start, stop, step);
    ++dim_;
  }

  void put(const Tensor& t) {
    const bool mask = t.dtype() == DType::kBool || t.dtype() == DType::kUInt8;
    HOTARU_CHECK_AS(IndexError, mask || is_integral(t.dtype()),
                    "tensors used as indices must be long, int, byte or bool "
                    "tensors");
    tensors_.resize(size_t(dim_ - behind_));
    tensors_.push_back(mask && t.dtype() == DType::kUInt8 ? to(t, DType::kBool)
                                                          : t);
    advanced_ = true;
    // A mask consumes its dimensions but one place of the list: the list
    // falls behind, and later indices are placed by it.
    const int64_t span = mask ? std::max<int64_t>(t.dim(), 1) : 1;
    dim_ += span;
    behind_ += span - 1;
  }

  Tensor view_;
  std::vector<Value> tensors_;
  int64_t dim_ = 0;
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
  const TensorOptions options(view);
  if (is_number(value)) return full({}, to_scalar(value), options);
  return tensor_from_data(value, view.dtype(), view.device());
}

/// Leading dimensions of size 1 that the target lacks are dropped.
Tensor trim(const Tensor& value, int64_t ndim) {
  Dims shape(value.sizes());
  while (int64_t(shape.size()) > ndim && shape[0] == 1) shape.erase(0);
  return shape.size() == value.sizes().size() ? value : view(value, shape);
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
  Indexed indexed = Indexer(self).apply(index);
  const Tensor source = value_tensor(indexed.view, value);
  if (!indexed.advanced) {
    copy_(indexed.view, trim(source, indexed.view.dim()));
    return;
  }
  Value arguments[] = {indexed.view, Value::list(std::move(indexed.tensors)),
                       to(source, indexed.view.dtype()), false};
  Value result;
  static const Operator& op_index_put = op("index_put_", "");
  op_index_put.call(arguments, &result);
}

}  // namespace hotaru::python
