// Arguments of captured functions: what they must be like, and which of them
// share memory.
#pragma once

#include <nanobind/nanobind.h>

#include <span>
#include <vector>

#include "bindings/stable_abi.h"
#include "hotaru/core/tensor.h"

namespace hotaru::python {

/// Demands on one argument, and where its values go.
struct Argument {
  Dims sizes, strides;
  DType dtype;
  bool requires_grad;
  /// Set if it is a leaf; asked for only if that matters to the function.
  bool leaf, leaf_matters = false;
  /// Set if the function asks for strides: those of dimensions of one element
  /// have to be the same then, too.
  bool strides_matter = false;
  PyTypeObject* type;
  Tensor target;              // undefined for what is no tensor
  nanobind::object constant;  // what it must equal then
  /// The first argument that is the same object.
  size_t first = 0;
  /// Set if its elements share memory with each other.
  bool overlaps = false;
  /// Set if nobody but the graph knows the target's memory, all of which it is:
  /// it may then lie where the argument does.
  bool own = false;
};

/// Arguments of a call, by position.
using Arguments = std::span<PyObject* const>;

inline Arguments span_of(const nanobind::tuple& arguments) {
  return {tuple_items(arguments.ptr()), size_t(tuple_size(arguments.ptr()))};
}

/// `target` is None for what is no tensor.
Argument argument_like(nanobind::handle sample, nanobind::handle target,
                       bool own);
bool fits(PyObject* object, const Argument& wanted);
/// True if the same ones are the same object as among those of the capture.
bool same_objects(Arguments arguments, const std::vector<Argument>& wanted);

/// Tells whether elements of a geometry may share memory with each other.
bool may_overlap(IntSpan sizes, IntSpan strides);
/// Copies values between tensors of one geometry, whose elements may share
/// memory: each byte once, those of bools as they are.
void bring_values(const Tensor& to, const Tensor& from);

bool same_memory(const Tensor& a, const Tensor& b);
/// Tells whether two tensors of one geometry could stand for each other:
/// dimensions of one element have no stride.
bool same_strides(const Tensor& t, IntSpan sizes, IntSpan strides);

/// A tensor that a graph knows by its address, as it was.
struct Guarded {
  Tensor tensor;
  const Storage* storage;
  Dims sizes, strides;
  int64_t offset;
  DType dtype;
  bool contiguous;
  bool requires_grad;

  explicit Guarded(const Tensor& t);
  /// True if it has the same memory and geometry as then.
  bool in_place() const;
  bool intact() const;
};

/// That tensor `tensor` of several overlaps tensor `with`, and how many bytes
/// behind that one's first element its own first one lies. What graphs own
/// comes before all tensors: `with` is then -1 - its index.
struct Alias {
  int64_t tensor, with, distance;
  bool operator==(const Alias&) const = default;
};

/// Appends how tensors[at] overlaps one of `owned`, if it does, and every
/// earlier tensor.
void find_aliases(std::span<const Tensor* const> tensors, size_t at,
                  std::span<const Tensor* const> owned,
                  std::vector<Alias>& out);

}  // namespace hotaru::python
