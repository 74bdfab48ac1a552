// An operator's signature, in PyTorch's schema language:
//   "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hotaru/core/value.h"

namespace hotaru {

enum class ArgKind : uint8_t {
  kTensor,
  kInt,
  kFloat,
  kBool,
  kScalar,
  kString,
  kComplex,
  kDType,
  kLayout,
  kMemoryFormat,
  kDevice,
  kGenerator,
  /// Anything the script layer reads from `text` itself: t, Any, Dict(...).
  kOther,
};

/// The type of an argument or result.
struct ArgType {
  ArgKind kind = ArgKind::kOther;
  bool list = false;
  /// n of int[n]: a single value stands for n equal ones. 0: any length.
  int list_size = 0;
  bool optional = false;
  /// Tensor?[]: elements may be None.
  bool optional_elements = false;
  /// Tensor(a!): written in place.
  bool written = false;
  /// Tensor(a) or Tensor(a!): shares memory with the result so marked.
  char alias = 0;
  /// As written, without the alias mark.
  std::string text;
};

struct Argument {
  std::string name;
  ArgType type;
  std::optional<Value> default_value;
  bool keyword_only = false;
};

/// A parsed signature; immutable.
struct Schema {
  /// Throws ValueError with the position when the text is malformed.
  static Schema parse(std::string_view text);
  /// As PyTorch prints it: "add.Tensor(Tensor self, ...) -> Tensor".
  std::string str() const;
  /// Position of the argument of that name, or -1.
  int find(std::string_view argument) const;

  std::string name;      // "add"
  std::string overload;  // "Tensor", may be empty
  std::vector<Argument> arguments;
  std::vector<Argument> results;
};

}  // namespace hotaru
