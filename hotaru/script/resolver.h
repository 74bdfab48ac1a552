// What names mean that a function's body does not define itself.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "hotaru/core/value.h"
#include "hotaru/script/type.h"

namespace hotaru::script {

class Function;

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
    kType,  // a class or other type
  };
  Kind kind = Kind::kUnknown;
  std::string text = {};
  Value value = {};
  Function* function = nullptr;
  TypePtr type = nullptr;
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

 protected:
  CompilationUnit& unit_;
};

}  // namespace hotaru::script
