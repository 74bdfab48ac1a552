#include "hotaru/ops/schema.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>
#include <utility>

#include "hotaru/core/checks/check.h"

namespace hotaru {
namespace {

constexpr std::array<std::pair<std::string_view, ArgKind>, 13> kKinds{{
    {"Tensor", ArgKind::kTensor},
    {"int", ArgKind::kInt},
    {"SymInt", ArgKind::kInt},
    {"float", ArgKind::kFloat},
    {"bool", ArgKind::kBool},
    {"Scalar", ArgKind::kScalar},
    {"str", ArgKind::kString},
    {"complex", ArgKind::kComplex},
    {"ScalarType", ArgKind::kDType},
    {"Layout", ArgKind::kLayout},
    {"MemoryFormat", ArgKind::kMemoryFormat},
    {"Device", ArgKind::kDevice},
    {"Generator", ArgKind::kGenerator},
}};

// Names that stand for integers in defaults (at::Reduction, memory formats).
constexpr std::array<std::pair<std::string_view, int64_t>, 5> kNamed{{
    {"Mean", 1},
    {"Sum", 2},
    {"contiguous_format", 0},
    {"preserve_format", 1},
    {"strided", 0},
}};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Schema schema() {
    Schema out;
    out.name = word(".(");
    if (accept('.')) out.overload = word("(");
    expect('(');
    bool keyword_only = false;
    while (!accept(')')) {
      if (accept('*')) {
        keyword_only = true;
      } else {
        out.arguments.push_back(argument(true));
        out.arguments.back().keyword_only = keyword_only;
      }
      if (!peek(')')) expect(',');
    }
    expect('-');
    expect('>');
    if (accept('(')) {
      while (!accept(')')) {
        out.results.push_back(argument(false));
        if (!peek(')')) expect(',');
      }
    } else {
      out.results.push_back(argument(false));
    }
    skip();
    if (at_ != text_.size()) error("nothing more");
    return out;
  }

 private:
  Argument argument(bool named) {
    Argument out;
    out.type = type();
    skip();
    if (named || (at_ < text_.size() && !peek(',') && !peek(')')))
      out.name = word(",)=");
    if (accept('=')) out.default_value = literal(out.type);
    return out;
  }

  ArgType type() {
    skip();
    ArgType out;
    const size_t begin = at_;
    const bool tuple = peek('(');  // (str, int)
    if (tuple) skip_parentheses();
    const std::string_view base =
        tuple ? text_.substr(begin, at_ - begin) : identifier();
    for (const auto& [name, kind] : kKinds)
      if (name == base) out.kind = kind;
    std::string text(base);
    if (!tuple && peek('(')) {
      if (out.kind == ArgKind::kOther) {  // Dict(str, Tensor), Future(t) ...
        const size_t open = at_;
        skip_parentheses();
        text.append(text_.substr(open, at_ - open));
      } else {
        expect('(');
        skip();
        out.alias = next();
        while (!accept(')')) out.written |= next() == '!';
      }
    }
    while (at_ < text_.size()) {
      if (text_[at_] == '?') {
        ++at_;
        out.optional = true;
        text += '?';
      } else if (text_[at_] == '[') {
        out.optional_elements = std::exchange(out.optional, false);
        const size_t open = at_++;
        while (!accept(']')) out.list_size = out.list_size * 10 + digit();
        out.list = true;
        text.append(text_.substr(open, at_ - open));
      } else if (text_[at_] == '(') {  // Tensor[](a!)
        skip_parentheses();
      } else {
        break;
      }
    }
    out.text = std::move(text);
    return out;
  }

  Value literal(const ArgType& type) {
    skip();
    if (accept('[')) {
      std::vector<Value> items;
      ArgType element = type;
      element.list = false;
      while (!accept(']')) {
        items.push_back(literal(element));
        if (!peek(']')) expect(',');
      }
      return Value::list(std::move(items));
    }
    if (peek('\'') || peek('"')) {
      const char quote = text_[at_++];
      const size_t end = text_.find(quote, at_);
      if (end == std::string_view::npos) error("a closing quote");
      const std::string text(text_.substr(at_, end - at_));
      at_ = end + 1;
      return text;
    }
    const std::string text = word(",)]");
    if (text == "None") return {};
    if (text == "True") return true;
    if (text == "False") return false;
    for (const auto& [name, number] : kNamed)
      if (name == text) return broadcast(type, number);
    if (text == "inf") return std::numeric_limits<double>::infinity();
    if (text == "-inf") return -std::numeric_limits<double>::infinity();
    return broadcast(type, number(type, text));
  }

  // int[2] stride=1 means [1, 1].
  static Value broadcast(const ArgType& type, Value value) {
    if (!type.list) return value;
    return Value::list(
        std::vector<Value>(size_t(std::max(type.list_size, 1)), value));
  }

  Value number(const ArgType& type, const std::string& text) {
    int64_t integer = 0;
    const char* end = text.data() + text.size();
    if (type.kind != ArgKind::kFloat &&
        std::from_chars(text.data(), end, integer).ptr == end)
      return integer;
    double real = 0;
    if (std::from_chars(text.data(), end, real).ptr != end) error("a literal");
    return real;
  }

  /// Programs write long schemas on several lines.
  static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  void skip() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  char next() {
    if (at_ >= text_.size()) error("more");
    return text_[at_++];
  }
  int digit() {
    const char c = next();
    if (c < '0' || c > '9') --at_, error("a digit or ']'");
    return c - '0';
  }
  void skip_parentheses() {
    int depth = 0;
    do {
      if (at_ >= text_.size()) error("')'");
      if (text_[at_] == '(') ++depth;
      if (text_[at_] == ')') --depth;
      ++at_;
    } while (depth > 0);
  }
  bool peek(char c) {
    skip();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool accept(char c) {
    if (!peek(c)) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) error(std::string("'") + c + "'");
  }
  std::string_view identifier() {
    const size_t start = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
            text_[at_] == '_' || text_[at_] == '.'))
      ++at_;
    if (start == at_) error("a type");
    return text_.substr(start, at_ - start);
  }
  std::string word(std::string_view stops) {
    skip();
    const size_t start = at_;
    while (at_ < text_.size() && !is_space(text_[at_]) &&
           stops.find(text_[at_]) == std::string_view::npos)
      ++at_;
    if (start == at_) error("a name");
    return std::string(text_.substr(start, at_ - start));
  }
  [[noreturn]] void error(const std::string& wanted) {
    fail<ValueError>("operator schema \"", text_, "\": expected ", wanted,
                     " at position ", at_);
  }

  std::string_view text_;
  size_t at_ = 0;
};

void print(std::string& out, const Argument& argument) {
  const std::string& text = argument.type.text;
  const size_t base = text.find_first_of("?[");
  out += text.substr(0, base);
  if (argument.type.alias) {
    out += '(';
    out += argument.type.alias;
    if (argument.type.written) out += '!';
    out += ')';
  }
  if (base != std::string::npos) out += text.substr(base);
  if (!argument.name.empty()) out += " " + argument.name;
}

void print(std::string& out, const Value& value) {
  if (value.is_none()) {
    out += "None";
  } else if (value.is_string()) {
    out += "\"" + value.as_string() + "\"";
  } else if (value.is_list()) {
    out += '[';
    for (const Value& item : value.as_list().items) {
      if (out.back() != '[') out += ", ";
      print(out, item);
    }
    out += ']';
  } else {
    out += concat(value.as_scalar());
  }
}

}  // namespace

Schema Schema::parse(std::string_view text) {
  return Reader(text).schema();
}

int Schema::find(std::string_view argument) const {
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].name == argument) return int(i);
  return -1;
}

std::string Schema::str() const {
  std::string out = name;
  if (!overload.empty()) out += "." + overload;
  out += '(';
  bool keyword_only = false;
  for (const Argument& argument : arguments) {
    if (&argument != &arguments.front()) out += ", ";
    if (argument.keyword_only && !keyword_only) out += "*, ";
    keyword_only = argument.keyword_only;
    print(out, argument);
    if (!argument.default_value) continue;
    out += '=';
    print(out, *argument.default_value);
  }
  out += ") -> ";
  if (results.size() != 1) out += '(';
  for (const Argument& result : results) {
    if (&result != &results.front()) out += ", ";
    print(out, result);
  }
  if (results.size() != 1) out += ')';
  return out;
}

}  // namespace hotaru
