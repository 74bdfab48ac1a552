#include "hotaru/script/source/lexer.h"

#include <algorithm>
#include <cctype>

#include "hotaru/core/printing/hex.h"

namespace hotaru::script {

namespace {

// Longest first, so that the first match is the right one.
constexpr std::string_view kSymbols[] = {
    "...", "**=", "//=", ">>=", "<<=", "->", ":=", "**", "//", "<<", ">>", "<=",
    ">=",  "==",  "!=",  "+=",  "-=",  "*=", "/=", "%=", "@=", "&=", "|=", "^=",
    "+",   "-",   "*",   "/",   "%",   "@",  "&",  "|",  "^",  "~",  "<",  ">",
    "(",   ")",   "[",   "]",   "{",   "}",  ",",  ":",  ".",  ";",  "="};

constexpr uint32_t kTabWidth = 8;
// Deeper nesting of brackets than any program needs; the parser's own limit
// on recursion is lower.
constexpr int kMaxBrackets = 1000;

bool is_name_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_name_char(char c) {
  return is_name_start(c) || is_digit(c);
}

bool is_string_prefix(std::string_view name) {
  return name.size() <= 2 && std::all_of(name.begin(), name.end(), [](char c) {
           return std::string_view("rRbBuUfF").find(c) !=
                  std::string_view::npos;
         });
}

void append_utf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out.push_back(char(code));
    return;
  }
  int extra = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr uint8_t kLead[] = {0, 0xC0, 0xE0, 0xF0};
  out.push_back(char(kLead[extra] | (code >> (6 * extra))));
  while (extra-- > 0)
    out.push_back(char(0x80 | ((code >> (6 * extra)) & 0x3F)));
}

// Reads up to `max` digits of the base at `pos`; returns how many there were.
int read_digits(std::string_view text, size_t pos, int base, int max,
                uint32_t* value) {
  int count = 0;
  *value = 0;
  for (; count < max && pos + count < text.size(); ++count) {
    char c = text[pos + count];
    int digit = is_digit(c)            ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : 99;
    if (digit >= base) break;
    *value = *value * base + digit;
  }
  return count;
}

// Appends the meaning of the escape whose backslash is at text[i]; returns
// the index of its last character.
size_t append_escape(std::string& out, std::string_view text, size_t i,
                     const SourceRange& range) {
  char c = text[i + 1];
  constexpr std::string_view kNames = "abfnrtv\\'\"";
  constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\'\"";
  if (size_t at = kNames.find(c); at != std::string_view::npos) {
    out.push_back(kMeanings[at]);
    return i + 1;
  }
  uint32_t code = 0;
  if (c >= '0' && c <= '7') {
    int n = read_digits(text, i + 1, 8, 3, &code);
    out.push_back(char(code));
    return i + n;
  }
  int wanted = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
  if (wanted == 0) {
    if (c != '\n') out.append({'\\', c});
    return i + 1;
  }
  if (read_digits(text, i + 2, 16, wanted, &code) != wanted || code > 0x10FFFF)
    fail_at(range, "malformed \\", c, " escape in a string literal");
  // Archives have the bytes of characters in octal; \x is Python's character.
  append_utf8(out, code);
  return i + 1 + wanted;
}

}  // namespace

Lexer::Lexer(const Source& source) : source_(source), text_(source.text()) {}

Lexer::Lexer(const SourceRange& expression)
    : source_(*expression.source),
      text_(source_.text().substr(0, expression.end)),
      pos_(expression.begin),
      brackets_(1),
      line_start_(false) {}

char Lexer::peek(uint32_t ahead) const {
  return pos_ + ahead < text_.size() ? text_[pos_ + ahead] : '\0';
}

Token Lexer::make(TokenKind kind, uint32_t begin) const {
  return {kind, {&source_, begin, pos_}, text_.substr(begin, pos_ - begin)};
}

SourceRange Lexer::type_comment(int line_index) const {
  auto found = type_comments_.find(line_index);
  return found == type_comments_.end() ? SourceRange{} : found->second;
}

void Lexer::comment() {
  uint32_t begin = pos_;
  size_t newline = text_.find('\n', pos_);
  pos_ = newline == std::string_view::npos ? text_.size() : uint32_t(newline);
  std::string_view body = text_.substr(begin + 1, pos_ - begin - 1);
  size_t start = body.find_first_not_of(" \t");
  constexpr std::string_view kMark = "type:";
  if (start == std::string_view::npos ||
      body.substr(start, kMark.size()) != kMark)
    return;
  uint32_t from = begin + 1 + uint32_t(start + kMark.size());
  std::string_view content = text_.substr(from, pos_ - from);
  if (content.find("ignore") != std::string_view::npos) return;
  type_comments_[source_.line_index(begin)] = {&source_, from, pos_};
}

// Skips what separates tokens on a line; true when a logical line ended.
bool Lexer::skip_blank_and_comments() {
  while (pos_ < text_.size()) {
    char c = text_[pos_];
    if (c == ' ' || c == '\t' || c == '\r' || c == '\f')
      ++pos_;
    else if (c == '\\' &&
             (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n')))
      pos_ += peek(1) == '\n' ? 2 : 3;
    else if (c == '#')
      comment();
    else if (c == '\n' && brackets_ > 0)
      ++pos_;
    else
      return c == '\n';
  }
  return false;
}

// Measures the indentation of the next line that has content.
Token Lexer::begin_line() {
  uint32_t width = 0;
  uint32_t start = pos_;
  for (;;) {
    char c = peek();
    if (pos_ >= text_.size()) {
      width = 0;
      break;
    }
    if (c == ' ') {
      ++width;
    } else if (c == '\t') {
      width = (width / kTabWidth + 1) * kTabWidth;
    } else if (c == '\n' || c == '\r' || c == '\f') {
      width = 0;
      start = pos_ + 1;
    } else if (c == '#') {
      comment();
      continue;
    } else {
      break;
    }
    ++pos_;
  }
  line_start_ = false;
  if (width > indents_.back()) {
    indents_.push_back(width);
    return make(TokenKind::kIndent, start);
  }
  while (width < indents_.back()) {
    indents_.pop_back();
    ++pending_dedents_;
  }
  if (width != indents_.back()) {
    fail_at({&source_, pos_, pos_ + 1},
            "unindent does not match any outer indentation level");
  }
  return next();
}

Token Lexer::next() {
  if (pending_dedents_ > 0) {
    --pending_dedents_;
    return make(TokenKind::kDedent, pos_);
  }
  if (line_start_) return begin_line();
  bool newline = skip_blank_and_comments();
  if (newline) {
    uint32_t begin = pos_++;
    line_start_ = true;
    return make(TokenKind::kNewline, begin);
  }
  if (pos_ >= text_.size()) {
    if (!ended_) {
      ended_ = true;
      pending_dedents_ = int(indents_.size()) - 1;
      indents_.resize(1);
      return make(TokenKind::kNewline, pos_);
    }
    return make(TokenKind::kEnd, pos_);
  }
  char c = peek();
  if (is_name_start(c)) return name_or_string();
  if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
  if (c == '"' || c == '\'') return string(pos_);
  return symbol();
}

Token Lexer::name_or_string() {
  uint32_t begin = pos_;
  while (is_name_char(peek())) ++pos_;
  std::string_view name = text_.substr(begin, pos_ - begin);
  if ((peek() == '"' || peek() == '\'') && is_string_prefix(name))
    return string(begin);
  return make(TokenKind::kName, begin);
}

Token Lexer::number() {
  uint32_t begin = pos_;
  TokenKind kind = TokenKind::kInt;
  if (peek() == '0' &&
      std::string_view("xXoObB").find(peek(1)) != std::string_view::npos &&
      peek(1) != '\0') {
    pos_ += 2;
    while (std::isxdigit(static_cast<unsigned char>(peek())) || peek() == '_')
      ++pos_;
    return make(kind, begin);
  }
  auto digits = [&] {
    while (is_digit(peek()) || (peek() == '_' && is_digit(peek(1)))) ++pos_;
  };
  digits();
  if (peek() == '.') {
    kind = TokenKind::kFloat;
    ++pos_;
    digits();
  }
  if (peek() == 'e' || peek() == 'E') {
    uint32_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
    if (is_digit(peek(1 + sign))) {
      kind = TokenKind::kFloat;
      pos_ += 1 + sign;
      digits();
    }
  }
  if (peek() == 'j' || peek() == 'J') {
    kind = TokenKind::kImaginary;
    ++pos_;
  }
  if (is_name_start(peek()))
    fail_at({&source_, begin, pos_ + 1}, "invalid number literal");
  return make(kind, begin);
}

Token Lexer::string(uint32_t begin) {
  char quote = peek();
  bool triple = peek(1) == quote && peek(2) == quote;
  pos_ += triple ? 3 : 1;
  for (;;) {
    if (pos_ >= text_.size() || (peek() == '\n' && !triple)) {
      fail_at({&source_, begin, pos_},
              "expected a valid token but found an unterminated string here");
    }
    if (peek() == '\\') {
      if (pos_ + 1 >= text_.size()) {
        fail_at({&source_, begin, pos_},
                "expected a valid token but found an unterminated string here");
      }
      pos_ += 2;
      continue;
    }
    if (peek() == quote && !triple) {
      ++pos_;
      break;
    }
    if (peek() == quote && peek(1) == quote && peek(2) == quote) {
      pos_ += 3;
      break;
    }
    ++pos_;
  }
  return make(TokenKind::kString, begin);
}

Token Lexer::symbol() {
  uint32_t begin = pos_;
  std::string_view rest = text_.substr(pos_);
  for (std::string_view symbol : kSymbols) {
    if (rest[0] != symbol[0] || !rest.starts_with(symbol)) continue;
    pos_ += uint32_t(symbol.size());
    char c = symbol[0];
    if (symbol.size() == 1 && (c == '(' || c == '[' || c == '{')) {
      if (++brackets_ > kMaxBrackets)
        fail_at({&source_, begin, pos_}, "brackets are nested too deeply");
    }
    if (symbol.size() == 1 && (c == ')' || c == ']' || c == '}'))
      brackets_ = std::max(0, brackets_ - 1);
    return make(TokenKind::kOperator, begin);
  }
  fail_at({&source_, begin, begin + 1}, "unexpected character 0x",
          hex_text(static_cast<unsigned char>(rest[0])));
}

bool is_format_string(std::string_view spelling) {
  std::string_view prefix = spelling.substr(0, spelling.find_first_of("'\""));
  return prefix.find_first_of("fF") != std::string_view::npos;
}

std::string unquote(const Token& token) {
  std::string_view text = token.text;
  size_t quote_at = text.find_first_of("'\"");
  bool raw =
      text.substr(0, quote_at).find_first_of("rR") != std::string_view::npos;
  text.remove_prefix(quote_at);
  size_t quotes =
      text.size() >= 6 && text[1] == text[0] && text[2] == text[0] ? 3 : 1;
  text = text.substr(quotes, text.size() - 2 * quotes);
  if (raw || text.find('\\') == std::string_view::npos)
    return std::string(text);
  std::string out;
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\\' && i + 1 < text.size())
      i = append_escape(out, text, i, token.range);
    else
      out.push_back(text[i]);
  return out;
}

}  // namespace hotaru::script
