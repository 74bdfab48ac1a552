// Tokens of TorchScript, Python's lexical rules included: indentation,
// implicit line joining inside brackets, string prefixes, type comments.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "hotaru/script/source/source.h"

namespace hotaru::script {

enum class TokenKind : uint8_t {
  kEnd,
  kNewline,
  kIndent,
  kDedent,
  kName,  // identifiers and keywords alike
  kInt,   // spelling in `text`
  kFloat,
  kImaginary,
  kString,  // spelling with prefix and quotes
  kOperator,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  SourceRange range;
  std::string_view text;

  bool is(std::string_view spelling) const {
    return (kind == TokenKind::kName || kind == TokenKind::kOperator) &&
           text == spelling;
  }
};

/// Produces one token at a time, so that a hostile source costs no memory
/// beyond its own text. Throws ScriptError for text that is no token and for
/// inconsistent indentation.
class Lexer {
 public:
  explicit Lexer(const Source& source);
  /// Tokens of one expression inside a source, e.g. a field of an f-string.
  explicit Lexer(const SourceRange& expression);

  Token next();

  /// The text after `# type:` on the given line (index from 0), or empty.
  /// Known for the lines that next() has passed.
  SourceRange type_comment(int line_index) const;

 private:
  bool skip_blank_and_comments();
  Token begin_line();
  Token name_or_string();
  Token number();
  Token string(uint32_t begin);
  Token symbol();
  Token make(TokenKind kind, uint32_t begin) const;
  char peek(uint32_t ahead = 0) const;
  void comment();

  const Source& source_;
  std::string_view text_;
  uint32_t pos_ = 0;
  int brackets_ = 0;
  int pending_dedents_ = 0;
  bool line_start_ = true;
  bool ended_ = false;
  std::vector<uint32_t> indents_ = {0};
  std::map<int, SourceRange> type_comments_;
};

/// Value of a string literal's spelling: prefix and quotes removed, escapes
/// resolved unless raw. Throws ScriptError for a malformed escape.
std::string unquote(const Token& token);

/// True if the string literal has an f prefix.
bool is_format_string(std::string_view spelling);

}  // namespace hotaru::script
