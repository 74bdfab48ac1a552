// The error of programs that do not compile, for those who catch it; who finds
// one calls fail_at (source.h).
#pragma once

#include <string>
#include <string_view>

#include "hotaru/core/error.h"
#include "hotaru/script/source/source.h"

namespace hotaru::script {

/// Source code that is not valid TorchScript. The text names file, line and
/// column and shows the line.
class ScriptError : public Error {
 public:
  ScriptError(const std::string& what, const SourceRange& where);
  /// The same error, with the call that made `callee` compile added.
  ScriptError called_from(std::string_view callee, std::string_view caller,
                          const SourceRange& where) const;

 private:
  explicit ScriptError(const std::string& text) : Error(text) {}
};

}  // namespace hotaru::script
