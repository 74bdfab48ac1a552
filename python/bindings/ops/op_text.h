// Signatures and arguments of calls, in PyTorch's words.
#pragma once

#include <string>
#include <vector>

#include "bindings/ops/op_bind.h"

namespace hotaru::python {

/// One parameter, as errors show it.
struct Option {
  std::string type, name;
  bool required, keyword_only;
  std::string shown;  // "Tensor out = None"
};

/// "tuple of ints"; numbers are of type "Number".
std::string type_text(const ArgType& type);
/// All parameters; a method's without `self`.
std::vector<Option> options_of(const Schema& schema, bool method);
/// "(Tensor input, Tensor other, *, Tensor out = None)"
std::string signature_text(const std::vector<Option>& options);

/// "Tensor", "list"
std::string type_name(PyObject* object);
/// "list of [int, str]" for lists and tuples, else the type's name.
std::string elements_text(PyObject* object);
/// "Tensor, str, dim=int"
std::string given_text(const Call& call, bool method);
/// A line that says which arguments have the wrong type for a signature of as
/// many positional parameters as the call has arguments; else nothing.
std::string mismatch_text(const std::vector<Option>& options, const Call& call,
                          bool method);

/// A str's text; "?" for what has none.
std::string utf8(PyObject* text);

}  // namespace hotaru::python
