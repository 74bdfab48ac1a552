// Operators of PyTorch's that the registry has none of, as libtorch/operators
// lists them: with a formula, or only with a name.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "generate/cpp_signature.h"

namespace hotaru::libtorch {

struct Declared {
  Schema schema;
  bool function = false, method = false;
  /// C++ of the value in terms of the arguments; "" if there is none here, and
  /// calls throw.
  std::string formula;
};

/// Lines "KIND SCHEMA" or "KIND SCHEMA := FORMULA", KIND being f for a
/// function, m for a method, fm for both; lines that begin with # say something
/// about what follows. Throws with the line for anything else.
std::vector<Declared> read_declared(const std::string& path);

/// Definition of one signature's function, or of its method.
std::string definition(const Declared& declared, const CppSignature& signature,
                       bool method);

}  // namespace hotaru::libtorch
