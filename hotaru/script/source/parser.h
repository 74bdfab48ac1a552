// Source text to syntax tree.
#pragma once

#include <cstddef>
#include <memory>

#include "hotaru/script/source/ast.h"

namespace hotaru::script {

/// Limits of one parse; beyond them the parser throws ScriptError.
struct ParseLimits {
  /// The depth of archives, where expressions are spread over statements. What
  /// is nested deeper is not saved.
  static constexpr int kArchiveDepth = 8000;
  /// Nesting of expressions and statements. A chain of elif or of operators
  /// is one level. What recurses over a tree also looks at the stack that is
  /// left (runtime/threads/stack_room.h).
  int depth = 2000;
  /// Bytes of syntax tree.
  size_t memory = size_t{1} << 30;
};

/// Parses classes, function definitions and imports (which are skipped).
/// Throws ScriptError with file, line and the marked text.
std::unique_ptr<Ast> parse_module(const Source& source,
                                  const ParseLimits& limits = {});

/// Parses one expression, e.g. a type in a string. Throws ScriptError.
std::unique_ptr<Ast> parse_expression(const Source& source,
                                      const ParseLimits& limits = {});

}  // namespace hotaru::script
