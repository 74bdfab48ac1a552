// A call's arguments, bound to an operator's schema.
#pragma once

#include <Python.h>

#include <array>

#include "bindings/stable_abi.h"
#include "hotaru/ops/registry.h"

namespace hotaru::python {

inline constexpr size_t kMaxArguments = 24;

/// A call's arguments as CPython passes them.
struct Call {
  PyObject* const* args;
  size_t positional;
  PyObject* keywords;  // names, or null

  size_t keyword_count() const {
    return keywords ? size_t(tuple_size(keywords)) : 0;
  }
  PyObject* keyword_name(size_t i) const {
    return tuple_item(keywords, Py_ssize_t(i));
  }
  PyObject* keyword_value(size_t i) const { return args[positional + i]; }
  /// The keyword's value, or null.
  PyObject* keyword(const char* name) const;
};

/// True if None may be given for a list that is empty by default (a stride).
bool stands_for_default(PyObject* object, const Argument& argument);

/// Tells whether a keyword names the parameter: by its own name, as `input` for
/// self, or by numpy's.
bool same_name(const std::string& parameter, PyObject* keyword);

/// True if numbers stand for tensors in calls of that operator: add(t, 1).
bool takes_numbers(std::string_view name);

/// Work of a call: something with each element, a product, or a layer over a
/// sequence.
enum class Work : uint8_t { kElements, kProducts, kSequences };

/// An overload, with what binding needs to know of its schema.
class Signature {
 public:
  Signature(const Operator& op, bool method);

  const Operator& op() const { return *op_; }
  const Schema& schema() const { return *schema_; }
  size_t arguments() const { return schema_->arguments.size(); }
  Work work() const { return work_; }
  /// True if it changes a list of tensors, which Python gets back.
  bool returns_list() const {
    return schema_->results.empty() && schema_->name.starts_with("_foreach_");
  }
  /// True if it is one of its own to the user, no number that stands for
  /// another one's tensor.
  bool shown() const;

  /// Fills values[0..arguments()). False, without a Python error, when the
  /// call doesn't fit.
  bool bind(const Call& call, Value* values) const;

 private:
  using Present = std::array<bool, kMaxArguments>;
  bool bind_positional(const Call& call, Value* values, Present& present) const;
  bool bind_keywords(const Call& call, Value* values, Present& present) const;
  bool take(size_t i, PyObject* object, Value* values, Present& present) const;
  void settle(PyObject* big, Value* values) const;
  bool take_rest(size_t i, const Call& call, size_t from, Value* values,
                 Present& present) const;

  const Operator* op_;
  const Schema* schema_;
  Work work_;
  /// Position of the tensor that a method belongs to; -1 for a function.
  int self_ = -1;
  /// Position of the list that f(2, 3) fills as f((2, 3)); -1 if none.
  int varargs_ = -1;
  /// Position of the device of what is made from no tensor; -1 if none.
  int device_ = -1;
  /// Position of the tensor that a number may stand for, add(1, t) and
  /// t.copy_(1); -1 if none.
  int number_at_ = -1;
};

}  // namespace hotaru::python
