// Interface that the Python module hotaru._C offers to extensions in C++: a
// table of functions in the capsule "hotaru._C._cpp_api".
#pragma once

#include "hotaru/core/value.h"

struct _object;  // PyObject

namespace hotaru::exchange {

/// All need the interpreter's lock. Objects are new references, null after a
/// Python error; what an object cannot be turned into is false, without one.
struct PythonApi {
  /// Version of this table; others do not fit.
  static constexpr int kVersion = 1;
  static constexpr const char* kCapsule = "hotaru._C._cpp_api";

  int version;
  /// The same object as long as it lives; None for an undefined tensor.
  _object* (*wrap)(const Tensor&);
  /// None is undefined.
  bool (*unwrap)(_object*, Tensor*);
  _object* (*device_object)(Device);
  bool (*to_device)(_object*, Device*);
  _object* (*dtype_object)(DType);
  bool (*to_dtype)(_object*, DType*);
  /// Numbers, texts, lists, tuples, dicts and modules of TorchScript.
  _object* (*value_object)(const Value&);
  bool (*to_value)(_object*, Value*);
  /// A Layout or MemoryFormat as its number.
  bool (*to_number)(_object*, int64_t*);
  _object* (*layout_object)(int64_t);
  /// The class hotaru.Tensor, borrowed.
  _object* tensor_class;
};

}  // namespace hotaru::exchange
