// Source text and the ranges in it that errors point at.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hotaru/core/printing/concat.h"

namespace hotaru::script {

/// One piece of source text: a `code/` record of an archive, or the text of a
/// Python function. Immutable; syntax trees and graphs point into it, so it
/// must outlive them.
class Source {
 public:
  /// `first_line` is the number of the text's first line in the file that it
  /// was cut from, `indent` what was cut off from the left of its lines. Throws
  /// ValueError for texts of 4 GiB and more.
  Source(std::string name, std::string text, int first_line = 1,
         int indent = 0);

  const std::string& name() const { return name_; }
  std::string_view text() const { return text_; }
  int first_line() const { return first_line_; }
  int indent() const { return indent_; }

  /// Index (from 0) of the line that holds the byte at `offset`.
  int line_index(uint32_t offset) const;
  /// The line without its newline.
  std::string_view line(int index) const;
  uint32_t line_start(int index) const { return line_starts_[index]; }
  int line_count() const { return int(line_starts_.size()); }

 private:
  std::string name_;
  std::string text_;
  int first_line_;
  int indent_;
  std::vector<uint32_t> line_starts_;
};

/// The bytes [begin, end) of a source; empty source for generated code.
struct SourceRange {
  const Source* source = nullptr;
  uint32_t begin = 0;
  uint32_t end = 0;

  std::string_view text() const;
  /// 1-based line in the original file, 0 without a source.
  int line_number() const;
  /// `  File "name", line N` and the marked lines between their neighbours, as
  /// TorchScript shows them.
  std::string highlight() const;
  /// From the beginning of this range to the end of the other.
  SourceRange to(const SourceRange& last) const;
};

/// Throws ScriptError (script_error.h) with this text at `where`.
[[noreturn]] void refuse_source(const std::string& text,
                                const SourceRange& where);
/// The same with the concatenation of the arguments.
template <class... Args>
[[noreturn]] void fail_at(const SourceRange& where, const Args&... args) {
  refuse_source(concat(args...), where);
}

}  // namespace hotaru::script
