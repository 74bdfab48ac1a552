// Meaning of names that a function's body does not define itself.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hotaru/core/value.h"
#include "hotaru/script/types/type.h"

namespace hotaru::script {

class Function;
struct Dispatch;

/// The meaning of a global name.
struct Meaning {
  enum class Kind : uint8_t {
    kUnknown,
    kNamespace,  // text: "torch", "ops.prim", "__torch__.a"; has attributes
    kBuiltin,    // text: operators of that name, "relu"
    kSpecial,    // text: syntax of the language, "annotate"
    kConstants,  // the archive's table of constants
    kValue,      // value
    kFunction,
    kType,       // a class or other type
    kGeneric,    // text: a type that takes types, "List"
    kDispatch,   // one of two functions, by a flag known while compiling
    kOverloads,  // several functions: the first that takes the arguments
    kError,      // text: why the name cannot be used
  };
  Kind kind = Kind::kUnknown;
  std::string text = {};
  Value value = {};
  Function* function = nullptr;
  TypePtr type = nullptr;
  /// Type of the result, of a kValue that Python calls.
  TypePtr result = nullptr;
  std::shared_ptr<const Dispatch> dispatch = {};
  std::vector<Function*> overloads = {};
  /// Knowledge of a kNamespace that the resolver itself wants again.
  std::shared_ptr<void> host = {};
};

/// Two functions in one: `max_pool2d(..., return_indices=True)` has another
/// result type. The argument must be a constant.
struct Dispatch {
  std::string argument;
  size_t position = 0;
  bool fallback = false;
  Meaning if_true;
  Meaning if_false;
};

/// Implemented by the archive (ArchiveResolver) and by whoever compiles
/// Python source. Called under the unit's lock.
class Resolver {
 public:
  virtual ~Resolver() = default;
  /// kUnknown when there is no such name.
  virtual Meaning name(std::string_view name) const = 0;
  /// An attribute of a kNamespace.
  virtual Meaning attribute(const Meaning& parent,
                            std::string_view name) const = 0;
  /// A function that a method of tensors is, whose operator of the same name
  /// does something else; kUnknown for all others.
  virtual Meaning tensor_method(std::string_view /*name*/) const { return {}; }
  /// From now on only what was asked before is asked again, so that the place
  /// that the names come from can be let go.
  virtual void settle() {}
  /// Version of the archive whose text it is asked for, which says what the
  /// operators' names mean; the newest for a program of today.
  virtual int64_t version() const {
    return std::numeric_limits<int64_t>::max();
  }
};

class CompilationUnit;

/// The language of archives: torch, ops, CONSTANTS, __torch__ and the
/// built-in functions and types. Also the base of other resolvers.
class ArchiveResolver : public Resolver {
 public:
  explicit ArchiveResolver(CompilationUnit& unit) : unit_(unit) {}
  Meaning name(std::string_view name) const override;
  Meaning attribute(const Meaning& parent,
                    std::string_view name) const override;
  int64_t version() const override;

 protected:
  CompilationUnit& unit_;
};

}  // namespace hotaru::script
