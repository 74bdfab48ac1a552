// Arguments that an operator is called with in C++: PyTorch's rules for the
// types of functions made from schemas.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hotaru/ops/schema.h"

namespace hotaru::libtorch {

struct CppArgument {
  std::string type;   // "const at::Tensor &"
  std::string name;   // "self"
  std::string value;  // its default as C++ source; "" for none
  /// Expression that the call by name gets in its place: "self", or of options
  /// four.
  std::string passed;
};

/// One way to call an operator.
struct CppSignature {
  std::string name;
  std::string result;
  std::vector<CppArgument> arguments;
  /// Position of the tensor that a method belongs to; -1 for functions only.
  int self = -1;
  /// Set if it gives its `self` back, written in place.
  bool in_place = false;
  /// Position of a TensorOptions, -1 if there is none.
  int options = -1;
  /// Tensors that results are written into, in front: of `X_out`.
  int out = 0;

  /// Without names and defaults: two functions with the same can't be told
  /// apart.
  std::string key(bool method) const;
};

/// All ways to call it, the first being the plain one: with TensorOptions, with
/// its four parts one by one, with `out`, also for a list of tensors if `lists`
/// says so. Empty for operators of which C++ has no form; then `why` says the
/// reason.
std::vector<CppSignature> cpp_signatures(const Schema& schema, std::string* why,
                                         bool lists = false);

}  // namespace hotaru::libtorch
