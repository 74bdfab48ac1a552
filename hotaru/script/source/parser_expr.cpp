#include <algorithm>
#include <array>
#include <cctype>

#include "hotaru/script/source/parser_impl.h"

namespace hotaru::script {

namespace {

struct BinaryOperator {
  std::string_view spelling;
  int precedence;
  ExprKind kind;
};

constexpr int kNotPrecedence = 3;
constexpr int kComparePrecedence = 4;

// Python's levels, loosest first. `not` sits between `and` and comparisons.
constexpr BinaryOperator kOperators[] = {
    {"or", 1, ExprKind::kOr},       {"and", 2, ExprKind::kAnd},
    {"<", 4, ExprKind::kCompare},   {">", 4, ExprKind::kCompare},
    {"<=", 4, ExprKind::kCompare},  {">=", 4, ExprKind::kCompare},
    {"==", 4, ExprKind::kCompare},  {"!=", 4, ExprKind::kCompare},
    {"is", 4, ExprKind::kCompare},  {"in", 4, ExprKind::kCompare},
    {"not", 4, ExprKind::kCompare}, {"|", 5, ExprKind::kBinary},
    {"^", 6, ExprKind::kBinary},    {"&", 7, ExprKind::kBinary},
    {"<<", 8, ExprKind::kBinary},   {">>", 8, ExprKind::kBinary},
    {"+", 9, ExprKind::kBinary},    {"-", 9, ExprKind::kBinary},
    {"*", 10, ExprKind::kBinary},   {"/", 10, ExprKind::kBinary},
    {"//", 10, ExprKind::kBinary},  {"%", 10, ExprKind::kBinary},
    {"@", 10, ExprKind::kBinary},
};

constexpr std::array<std::string_view, 19> kReserved = {
    "lambda", "yield",  "await", "try",  "except", "finally", "async",
    "class",  "def",    "if",    "else", "elif",   "for",     "while",
    "with",   "return", "raise", "in",   "is"};

const BinaryOperator* find_operator(const Token& token) {
  if (token.kind != TokenKind::kOperator && token.kind != TokenKind::kName)
    return nullptr;
  for (const BinaryOperator& op : kOperators)
    if (token.text == op.spelling) return &op;
  return nullptr;
}

// Fields of f-strings are expressions and nothing else, as in PyTorch.
void check_field(const SourceRange& range) {
  std::string_view field = range.text();
  int depth = 0;
  for (size_t i = 0; i < field.size(); ++i) {
    char c = field[i];
    depth += c == '[' || c == '(';
    depth -= c == ']' || c == ')';
    bool compares = i + 1 < field.size() && field[i + 1] == '=';
    if (depth == 0 && c == ':')
      fail_at(range, "Don't support formatting in JoinedStr");
    if (depth == 0 && c == '!' && !compares)
      fail_at(range, "Don't support conversion in JoinedStr");
  }
  size_t last = field.find_last_not_of(" \t\n");
  if (last != std::string_view::npos && field[last] == '=')
    fail_at(range, "Don't support conversion in JoinedStr");
}

}  // namespace

Expr* Parser::make(ExprKind kind, const SourceRange& range,
                   const Exprs& items) {
  std::pmr::polymorphic_allocator<Expr> allocator(&ast_.arena());
  Expr* expr = allocator.allocate(1);
  new (expr) Expr();
  expr->kind = kind;
  expr->range = range;
  expr->items = copy(items);
  for (size_t i = 0; i < items.size(); ++i) {
    if (!items[i]) continue;
    const bool chained = kind == ExprKind::kBinary && i == 0 &&
                         items[i]->kind == ExprKind::kBinary;
    const int depth = items[i]->depth - int{chained};
    expr->depth = std::max<uint16_t>(expr->depth, uint16_t(depth));
  }
  if (++expr->depth > limits_.depth) {
    fail_at(range, "expression is nested more than ", limits_.depth,
            " levels deep");
  }
  return expr;
}

const Expr* Parser::whole_expression() {
  const Expr* result = expression_list(false);
  while (current_.kind == TokenKind::kNewline) take();
  if (current_.kind != TokenKind::kEnd)
    fail_at(current_.range, "expected the end of the expression");
  return result;
}

const Expr* Parser::expression() {
  Level level(*this);
  const Expr* value = binary(1);
  if (!at("if")) return value;
  take();
  const Expr* condition = binary(1);
  expect("else");
  const Expr* other = expression();
  return make(ExprKind::kConditional, value->range.to(other->range),
              {value, condition, other});
}

const Expr* Parser::binary(int min_precedence) {
  const Expr* left;
  if (at("not") && min_precedence <= kNotPrecedence) {
    Level level(*this);
    SourceRange begin = take().range;
    const Expr* operand = binary(kNotPrecedence);
    left = make(ExprKind::kNot, begin.to(operand->range), {operand});
  } else {
    left = unary();
  }
  // A chain a < b < c becomes (a < b) and (b < c).
  const Expr* chain = nullptr;
  for (;;) {
    const BinaryOperator* op = find_operator(current_);
    if (!op || op->precedence < min_precedence) break;
    std::string_view spelling = take().text;
    if (spelling == "is" && accept("not")) {
      spelling = "is not";
    } else if (spelling == "not") {
      expect("in");
      spelling = "not in";
    }
    const Expr* right = binary(op->precedence + 1);
    Expr* node = make(op->kind, left->range.to(right->range), {left, right});
    node->op = spelling;
    const BinaryOperator* next = find_operator(current_);
    if (op->precedence == kComparePrecedence && next &&
        next->precedence == kComparePrecedence) {
      chain = chain ? make(ExprKind::kAnd, chain->range.to(node->range),
                           {chain, node})
                    : node;
      left = right;
    } else if (chain && op->precedence == kComparePrecedence) {
      left = make(ExprKind::kAnd, chain->range.to(node->range), {chain, node});
      chain = nullptr;
    } else {
      left = node;
    }
  }
  return left;
}

const Expr* Parser::unary() {
  if (at("-") || at("+") || at("~")) {
    Level level(*this);
    Token op = take();
    const Expr* operand = unary();
    Expr* node = make(ExprKind::kUnary, op.range.to(operand->range), {operand});
    node->op = op.text;
    return node;
  }
  return power();
}

const Expr* Parser::power() {
  const Expr* base = postfix();
  if (!at("**")) return base;
  Level level(*this);
  std::string_view op = take().text;
  const Expr* exponent = unary();
  Expr* node = make(ExprKind::kBinary, base->range.to(exponent->range),
                    {base, exponent});
  node->op = op;
  return node;
}

const Expr* Parser::postfix() {
  const Expr* value = atom();
  for (;;) {
    if (at("(")) {
      value = call(value);
    } else if (at("[")) {
      value = subscript(value);
    } else if (at(".")) {
      take();
      Token name = expect(TokenKind::kName, "an attribute's name");
      Expr* node = make(ExprKind::kAttribute, since(value->range), {value});
      node->text = name.text;
      value = node;
    } else {
      return value;
    }
  }
}

const Expr* Parser::atom() {
  switch (current_.kind) {
    case TokenKind::kName:
      return name_or_keyword();
    case TokenKind::kInt:
    case TokenKind::kFloat:
    case TokenKind::kImaginary:
      return number();
    case TokenKind::kString:
      return string();
    default:
      break;
  }
  if (at("(")) return parenthesized();
  if (at("[")) return list();
  if (at("{")) return dict();
  if (at("...")) return make(ExprKind::kEllipsis, take().range);
  if (current_.kind == TokenKind::kEnd)
    fail_at(current_.range, "expected an expression before the end");
  fail_at(current_.range, "expected an expression but found '",
          current_.kind == TokenKind::kNewline ? "end of line" : current_.text,
          "'");
}

const Expr* Parser::name_or_keyword() {
  Token token = take();
  if (token.text == "True") return make(ExprKind::kTrue, token.range);
  if (token.text == "False") return make(ExprKind::kFalse, token.range);
  if (token.text == "None") return make(ExprKind::kNone, token.range);
  if (std::find(kReserved.begin(), kReserved.end(), token.text) !=
      kReserved.end()) {
    std::string what(token.text);
    what[0] = char(std::toupper(what[0]));
    fail_at(token.range, what, " aren't supported");
  }
  Expr* node = make(ExprKind::kName, token.range);
  node->text = token.text;
  return node;
}

const Expr* Parser::number() {
  Token token = take();
  ExprKind kind = token.kind == TokenKind::kInt     ? ExprKind::kInt
                  : token.kind == TokenKind::kFloat ? ExprKind::kFloat
                                                    : ExprKind::kImaginary;
  Expr* node = make(kind, token.range);
  node->text = token.text;
  return node;
}

const Expr* Parser::string() {
  SourceRange begin = current_.range;
  std::vector<Token> pieces;
  while (current_.kind == TokenKind::kString) pieces.push_back(take());
  bool formats = std::any_of(
      pieces.begin(), pieces.end(),
      [](const Token& piece) { return is_format_string(piece.text); });
  std::string value;
  Exprs fields;
  for (const Token& piece : pieces) {
    if (is_format_string(piece.text)) {
      value += format_string(piece, fields);
      continue;
    }
    for (char c : unquote(piece)) {
      // The braces of plain neighbours of f-strings stand for themselves.
      value.append(formats && (c == '{' || c == '}') ? 2 : 1, c);
    }
  }
  Expr* node = make(formats ? ExprKind::kFormat : ExprKind::kString,
                    since(begin), fields);
  node->text = intern(value);
  return node;
}

// f"a {x} b" becomes the template "a {} b" and the field x.
std::string Parser::format_string(const Token& token, Exprs& fields) {
  Level level(*this);
  std::string_view spelling = token.text;
  size_t quote = spelling.find_first_of("'\"");
  bool triple = spelling.size() >= quote + 6 &&
                spelling.substr(quote, 3) == std::string(3, spelling[quote]);
  size_t begin = quote + (triple ? 3 : 1);
  size_t end = spelling.size() - (triple ? 3 : 1);
  std::string literal(spelling.substr(0, begin));
  for (size_t i = begin; i < end; ++i) {
    char c = spelling[i];
    bool doubled = i + 1 < end && spelling[i + 1] == c;
    if ((c == '{' || c == '}') && doubled) {
      literal.append(2, c);
      ++i;
    } else if (c == '{') {
      size_t close = spelling.find('}', i);
      if (close == std::string_view::npos || close >= end)
        fail_at(token.range, "an f-string's '{' has no '}'");
      SourceRange field = {&source_, token.range.begin + uint32_t(i + 1),
                           token.range.begin + uint32_t(close)};
      check_field(field);
      fields.push_back(Parser(field, ast_, limits_, depth_).whole_expression());
      literal += "{}";
      i = close;
    } else {
      literal.push_back(c);
    }
  }
  literal += spelling.substr(end);
  return unquote({token.kind, token.range, literal});
}

bool Parser::at_expression_end() const {
  return current_.kind == TokenKind::kNewline ||
         current_.kind == TokenKind::kEnd || at("=") || at(")") || at("]") ||
         at("}") || at(":") || at(";") || at("in");
}

// One expression, or a tuple when a comma follows.
const Expr* Parser::expression_list(bool allow_star) {
  auto element = [&]() -> const Expr* {
    if (!allow_star || !at("*")) return expression();
    SourceRange begin = take().range;
    const Expr* value = expression();
    return make(ExprKind::kStarred, since(begin), {value});
  };
  const Expr* first = element();
  if (!at(",")) return first;
  Exprs items = {first};
  while (accept(",")) {
    if (at_expression_end()) break;
    items.push_back(element());
  }
  return make(ExprKind::kTuple, since(first->range), items);
}

const Expr* Parser::parenthesized() {
  SourceRange begin = take().range;
  if (accept(")")) return make(ExprKind::kTuple, since(begin));
  const Expr* inner = expression_list(true);
  if (at("for")) return comprehension(ExprKind::kListComp, begin, {inner}, ")");
  expect(")");
  return inner;
}

const Expr* Parser::list() {
  SourceRange begin = take().range;
  Exprs items;
  while (!at("]")) {
    if (at("*")) {
      const SourceRange star = take().range;
      const Expr* value = expression();
      items.push_back(make(ExprKind::kStarred, since(star), {value}));
      if (!accept(",")) break;
      continue;
    }
    items.push_back(expression());
    if (at("for"))
      return comprehension(ExprKind::kListComp, begin, std::move(items), "]");
    if (!accept(",")) break;
  }
  expect("]");
  return make(ExprKind::kList, since(begin), items);
}

const Expr* Parser::dict() {
  SourceRange begin = take().range;
  Exprs items;
  while (!at("}")) {
    items.push_back(expression());
    if (!at(":")) fail_at(current_.range, "set literals are not supported");
    take();
    items.push_back(expression());
    if (at("for"))
      return comprehension(ExprKind::kDictComp, begin, std::move(items), "}");
    if (!accept(",")) break;
  }
  expect("}");
  return make(ExprKind::kDict, since(begin), items);
}

// Targets of `for`: names without `in`, which binary() would swallow.
const Expr* Parser::target_list() {
  const Expr* first = postfix();
  if (!at(",")) return first;
  Exprs items = {first};
  while (accept(",")) {
    if (at("in")) break;
    items.push_back(postfix());
  }
  return make(ExprKind::kTuple, since(first->range), items);
}

const Expr* Parser::comprehension(ExprKind kind, const SourceRange& begin,
                                  Exprs items, std::string_view close) {
  size_t elements = kind == ExprKind::kDictComp ? 2 : 1;
  if (items.size() != elements) fail_at(current_.range, "unexpected 'for'");
  expect("for");
  items.push_back(target_list());
  expect("in");
  items.push_back(binary(1));
  while (accept("if")) items.push_back(binary(1));
  if (at("for")) {
    fail_at(current_.range,
            "comprehensions with more than one 'for' are not supported");
  }
  expect(close);
  return make(kind, since(begin), items);
}

const Expr* Parser::call(const Expr* callee) {
  take();
  Exprs items = {callee};
  std::vector<Keyword> keywords;
  uint16_t depth = 0;
  bool closed = false;
  while (!at(")")) {
    if (at("**"))
      fail_at(current_.range, "keyword-arg expansion is not supported");
    if (at("*")) {
      SourceRange begin = take().range;
      const Expr* value = expression();
      items.push_back(make(ExprKind::kStarred, since(begin), {value}));
    } else {
      const Expr* value = expression();
      if (value->kind == ExprKind::kName && accept("=")) {
        std::string_view name = value->text;
        keywords.push_back({name, expression()});
        depth = std::max(depth, keywords.back().value->depth);
      } else if (!keywords.empty()) {
        fail_at(value->range,
                "a positional argument follows a keyword argument");
      } else {
        items.push_back(value);
      }
    }
    if (at("for")) {
      // A generator, which is the only argument: a list of its items.
      if (items.size() != 2 || !keywords.empty()) {
        fail_at(current_.range,
                "a generator expression among other arguments "
                "must be in parentheses");
      }
      items.back() = comprehension(ExprKind::kListComp, items.back()->range,
                                   {items.back()}, ")");
      closed = true;
      break;
    }
    if (!accept(",")) break;
  }
  // Errors underline a call up to its last argument, as PyTorch's do.
  SourceRange shown =
      items.size() + keywords.size() > 1 ? since(callee->range) : callee->range;
  if (!closed) expect(")");
  Expr* node = make(ExprKind::kCall, shown, items);
  node->keywords = copy(keywords);
  node->depth = std::max<uint16_t>(node->depth, depth + 1);
  if (node->depth > limits_.depth) {
    fail_at(node->range, "expression is nested more than ", limits_.depth,
            " levels deep");
  }
  return node;
}

const Expr* Parser::subscript(const Expr* value) {
  take();
  Exprs items = {value};
  while (!at("]")) {
    items.push_back(subscript_item());
    if (!accept(",")) break;
  }
  if (items.size() == 1) fail_at(current_.range, "expected an index");
  expect("]");
  return make(ExprKind::kSubscript, since(value->range), items);
}

const Expr* Parser::subscript_item() {
  Level level(*this);
  SourceRange begin = current_.range;
  const Expr* first = at(":") ? nullptr : expression();
  if (!at(":")) return first;
  Exprs parts = {first, nullptr, nullptr};
  for (size_t i = 1; i < parts.size() && accept(":"); ++i)
    if (!at(":") && !at("]") && !at(",")) parts[i] = expression();
  return make(ExprKind::kSlice, since(begin), parts);
}

}  // namespace hotaru::script
