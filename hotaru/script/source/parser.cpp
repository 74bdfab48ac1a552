#include "hotaru/script/source/parser.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>

#include "hotaru/core/printing/concat.h"
#include "hotaru/runtime/threads/stack_room.h"
#include "hotaru/script/source/parser_impl.h"

namespace hotaru::script {

namespace {

constexpr std::array<std::string_view, 12> kAugmented = {
    "+=", "-=", "*=", "/=", "//=", "%=", "**=", "@=", "&=", "|=", "^=", ">>="};

constexpr std::array<std::string_view, 9> kUnsupported = {
    "try",    "global", "nonlocal", "lambda", "yield",
    "except", "async",  "await",    "finally"};

// Name that messages give a statement or expression that begins with the word.
std::string unsupported(std::string_view word) {
  if (word == "try") return "try blocks";
  if (word == "global" || word == "nonlocal") return concat(word, " variables");
  std::string out(word);
  out[0] = char(std::toupper(static_cast<unsigned char>(out[0])));
  return out;
}

template <class List>
bool contains(const List& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

}  // namespace

Parser::Level::Level(Parser& parser) : parser_(parser) {
  if (++parser_.depth_ > parser_.limits_.depth || stack_is_low()) {
    --parser_.depth_;
    fail_at(parser_.current_.range, "the code is nested more than ",
            std::min(parser_.depth_, parser_.limits_.depth), " levels deep");
  }
}

Parser::Parser(const Source& source, Ast& ast, const ParseLimits& limits)
    : source_(source), ast_(ast), limits_(limits), lexer_(source) {
  current_ = lexer_.next();
}

Parser::Parser(const SourceRange& range, Ast& ast, const ParseLimits& limits,
               int depth)
    : source_(*range.source),
      ast_(ast),
      limits_(limits),
      lexer_(range),
      depth_(depth) {
  current_ = lexer_.next();
}

Token Parser::take() {
  Token token = current_;
  last_ = token.range;
  current_ = lexer_.next();
  return token;
}

bool Parser::accept(std::string_view spelling) {
  if (!at(spelling)) return false;
  take();
  return true;
}

Token Parser::expect(std::string_view spelling) {
  if (!at(spelling)) {
    fail_at(
        current_.range, "expected ", spelling, " but found '",
        current_.kind == TokenKind::kNewline ? "end of line" : current_.text,
        "' here");
  }
  return take();
}

Token Parser::expect(TokenKind kind, const char* what) {
  if (current_.kind != kind) {
    fail_at(
        current_.range, "expected ", what, " but found '",
        current_.kind == TokenKind::kNewline ? "end of line" : current_.text,
        "' here");
  }
  return take();
}

std::string_view Parser::intern(std::string_view text) {
  if (text.empty()) return {};
  char* p = static_cast<char*>(ast_.arena().allocate(text.size(), 1));
  std::memcpy(p, text.data(), text.size());
  return {p, text.size()};
}

Stmt* Parser::make_stmt(StmtKind kind, const SourceRange& begin) {
  std::pmr::polymorphic_allocator<Stmt> allocator(&ast_.arena());
  Stmt* stmt = allocator.allocate(1);
  new (stmt) Stmt();
  stmt->kind = kind;
  stmt->range = since(begin);
  return stmt;
}

std::span<const Stmt* const> Parser::module() {
  Stmts out;
  while (current_.kind != TokenKind::kEnd) {
    // Beside line ends, a docstring says nothing.
    if (current_.kind == TokenKind::kNewline ||
        (out.empty() && current_.kind == TokenKind::kString))
      take();
    else
      statement(out, true);
  }
  return copy(out);
}

void Parser::statement(Stmts& out, bool top_level) {
  Level level(*this);
  if (current_.kind == TokenKind::kIndent)
    fail_at(current_.range, "unexpected indent");
  skip_decorators();
  if (at("import") || at("from")) {
    if (!top_level)
      fail_at(current_.range, "import statements aren't supported");
    skip_import();
  } else if (const Stmt* stmt = compound_statement()) {
    if (top_level && stmt->kind != StmtKind::kDef &&
        stmt->kind != StmtKind::kClass)
      fail_at(stmt->range, "expected a function or class definition");
    out.push_back(stmt);
  } else if (top_level) {
    fail_at(current_.range, "expected a function or class definition");
  } else {
    simple_statements(out);
  }
}

void Parser::skip_import() {
  while (current_.kind != TokenKind::kNewline &&
         current_.kind != TokenKind::kEnd)
    take();
}

void Parser::skip_decorators() {
  while (at("@")) {
    take();
    postfix();
    while (current_.kind == TokenKind::kNewline) take();
  }
}

void Parser::simple_statements(Stmts& out) {
  do {
    if (current_.kind == TokenKind::kNewline) break;
    out.push_back(simple_statement());
  } while (accept(";"));
  if (current_.kind != TokenKind::kEnd)
    expect(TokenKind::kNewline, "the end of the statement");
}

const Stmt* Parser::compound_statement() {
  if (current_.kind != TokenKind::kName) return nullptr;
  if (at("if")) return if_statement();
  if (at("while")) return while_statement();
  if (at("for")) return for_statement();
  if (at("with")) return with_statement();
  if (at("def")) return def_statement();
  if (at("class")) return class_statement();
  return nullptr;
}

const Stmt* Parser::simple_statement() {
  SourceRange begin = current_.range;
  struct Plain {
    std::string_view name;
    StmtKind kind;
  };
  constexpr Plain kPlain[] = {{"pass", StmtKind::kPass},
                              {"break", StmtKind::kBreak},
                              {"continue", StmtKind::kContinue}};
  for (const Plain& plain : kPlain)
    if (accept(plain.name)) return make_stmt(plain.kind, begin);
  if (at("return") || at("raise")) {
    StmtKind kind = at("return") ? StmtKind::kReturn : StmtKind::kRaise;
    take();
    const Expr* value = at_expression_end() ? nullptr : expression_list(false);
    if (kind == StmtKind::kRaise && accept("from")) expression();
    Stmt* stmt = make_stmt(kind, begin);
    stmt->value = value;
    return stmt;
  }
  if (at("assert")) return assert_statement();
  if (accept("del")) {
    const Expr* target = expression_list(false);
    Stmt* stmt = make_stmt(StmtKind::kDelete, begin);
    stmt->targets =
        target->kind == ExprKind::kTuple ? target->items : copy(Exprs{target});
    return stmt;
  }
  if (current_.kind == TokenKind::kName &&
      contains(kUnsupported, current_.text))
    fail_at(begin, unsupported(current_.text), " aren't supported");
  return expression_statement();
}

const Stmt* Parser::assert_statement() {
  SourceRange begin = take().range;
  const Expr* value = expression();
  const Expr* message = accept(",") ? expression() : nullptr;
  Stmt* stmt = make_stmt(StmtKind::kAssert, begin);
  stmt->value = value;
  stmt->message = message;
  return stmt;
}

void Parser::check_target(const Expr* target) {
  switch (target->kind) {
    case ExprKind::kName:
    case ExprKind::kAttribute:
    case ExprKind::kSubscript:
      return;
    case ExprKind::kStarred:
      if (target->items[0]->kind != ExprKind::kName)
        fail_at(target->range, "Cannot pack a tuple into a non-variable");
      return;
    case ExprKind::kTuple:
    case ExprKind::kList:
      for (const Expr* item : target->items) check_target(item);
      return;
    default:
      fail_at(target->range,
              "unexpected expression on left-hand side of assignment");
  }
}

const Stmt* Parser::expression_statement() {
  SourceRange begin = current_.range;
  const Expr* first = expression_list(true);
  if (current_.kind == TokenKind::kOperator &&
      (contains(kAugmented, current_.text) || at("<<="))) {
    std::string_view op = take().text;
    check_target(first);
    const Expr* value = expression_list(false);
    Stmt* stmt = make_stmt(StmtKind::kAugAssign, begin);
    stmt->op = op.substr(0, op.size() - 1);
    stmt->targets = copy(Exprs{first});
    stmt->value = value;
    return stmt;
  }
  const Expr* annotation = nullptr;
  Exprs parts = {first};
  if (accept(":")) {
    annotation = expression();
    if (accept("=")) parts.push_back(expression_list(true));
  } else {
    while (accept("=")) parts.push_back(expression_list(true));
  }
  if (parts.size() == 1 && !annotation) {
    Stmt* stmt = make_stmt(StmtKind::kExpr, begin);
    stmt->value = first;
    return stmt;
  }
  Stmt* stmt = make_stmt(StmtKind::kAssign, begin);
  if (parts.size() > 1) {
    stmt->value = parts.back();
    parts.pop_back();
  }
  for (const Expr* target : parts) check_target(target);
  stmt->targets = copy(parts);
  if (!annotation) {
    SourceRange comment = lexer_.type_comment(source_.line_index(last_.begin));
    if (comment.source)
      annotation = Parser(comment, ast_, limits_, depth_).whole_expression();
  }
  stmt->annotation = annotation;
  return stmt;
}

std::span<const Stmt* const> Parser::suite() {
  expect(":");
  if (current_.kind == TokenKind::kNewline) return block();
  Stmts out;
  simple_statements(out);
  return copy(out);
}

// The indented lines below a header, from the header's newline on.
std::span<const Stmt* const> Parser::block() {
  while (current_.kind == TokenKind::kNewline) take();
  expect(TokenKind::kIndent, "an indented block");
  Stmts out;
  while (current_.kind != TokenKind::kDedent &&
         current_.kind != TokenKind::kEnd)
    if (current_.kind == TokenKind::kNewline)
      take();
    else
      statement(out, false);
  if (current_.kind == TokenKind::kDedent) take();
  return copy(out);
}

const Stmt* Parser::if_statement() {
  // The parts of a chain lie beside each other, though each is in the else of
  // the one before.
  std::vector<Stmt*> parts;
  do {
    SourceRange begin = take().range;
    const Expr* condition = expression();
    SourceRange header = since(begin);
    std::span<const Stmt* const> body = suite();
    Stmt* stmt = make_stmt(StmtKind::kIf, begin);
    stmt->range = header;
    stmt->value = condition;
    stmt->body = body;
    parts.push_back(stmt);
  } while (at("elif"));
  if (accept("else")) parts.back()->orelse = suite();
  for (size_t i = 1; i < parts.size(); ++i)
    parts[i - 1]->orelse = copy(Stmts{parts[i]});
  return parts.front();
}

const Stmt* Parser::while_statement() {
  SourceRange begin = take().range;
  const Expr* condition = expression();
  Stmt* stmt = make_stmt(StmtKind::kWhile, begin);
  stmt->value = condition;
  stmt->body = suite();
  if (at("else"))
    fail_at(current_.range, "else branches of while loops aren't supported");
  return stmt;
}

const Stmt* Parser::for_statement() {
  SourceRange begin = take().range;
  if (at("*")) {
    fail_at(current_.range, kLoneStar);
  }
  const Expr* target = target_list();
  check_target(target);
  expect("in");
  const bool bare = !at("(");
  const Expr* iterable = expression_list(false);
  // PyTorch reads text otherwise than Python's own functions.
  if (bare && iterable->kind == ExprKind::kTuple &&
      source_.name() == "<string>")
    fail_at(since(begin), "List of iterables is not supported currently");
  Stmt* stmt = make_stmt(StmtKind::kFor, begin);
  stmt->targets = copy(Exprs{target});
  stmt->value = iterable;
  stmt->body = suite();
  if (at("else"))
    fail_at(current_.range, "else branches of for loops aren't supported");
  return stmt;
}

const Stmt* Parser::with_statement() {
  SourceRange begin = take().range;
  std::vector<WithItem> items;
  do {
    WithItem item;
    item.context = expression();
    if (accept("as")) {
      item.target = postfix();
      check_target(item.target);
    }
    items.push_back(item);
  } while (accept(","));
  Stmt* stmt = make_stmt(StmtKind::kWith, begin);
  stmt->items = copy(items);
  stmt->body = suite();
  return stmt;
}

std::vector<Param> Parser::parameters() {
  std::vector<Param> params;
  bool keyword_only = false;
  expect("(");
  while (!at(")")) {
    if (at("**"))
      fail_at(current_.range, "**kwargs are not supported in TorchScript");
    if (accept("*")) {
      if (!at(","))
        fail_at(current_.range, "*args are not supported in TorchScript");
      keyword_only = true;
    } else if (!accept("/")) {
      Param param;
      Token name = expect(TokenKind::kName, "a parameter's name");
      param.name = name.text;
      param.keyword_only = keyword_only;
      if (accept(":")) param.type = expression();
      if (accept("=")) param.default_value = expression();
      param.range = since(name.range);
      params.push_back(param);
    }
    if (!accept(",")) break;
  }
  expect(")");
  return params;
}

// Python 2 style signatures: `# type: (Tensor, int) -> Tensor` below the
// header, or one comment beside each parameter.
void Parser::apply_type_comments(Def& def, std::vector<Param>& params,
                                 int first_line, int body_line) {
  for (Param& param : params) {
    int line = source_.line_index(param.range.end - 1);
    SourceRange comment = lexer_.type_comment(line);
    if (!comment.source || param.type || line > body_line ||
        comment.text().find("->") != std::string_view::npos)
      continue;
    param.type = Parser(comment, ast_, limits_, depth_).whole_expression();
  }
  for (int line = first_line; line <= body_line; ++line) {
    SourceRange comment = lexer_.type_comment(line);
    if (!comment.source) continue;
    SourceRange left = comment;
    if (size_t arrow = comment.text().rfind("->");
        arrow != std::string_view::npos) {
      left.end = comment.begin + uint32_t(arrow);
      SourceRange right = comment;
      right.begin = left.end + 2;
      def.return_type = Parser(right, ast_, limits_, depth_).whole_expression();
    } else if (size_t start = comment.text().find_first_not_of(" \t");
               line == first_line || start == std::string_view::npos ||
               comment.text()[start] != '(') {
      continue;  // of a parameter, or of what the body assigns
    }
    if (left.text().find("...") != std::string_view::npos) return;
    const Expr* types = Parser(left, ast_, limits_, depth_).whole_expression();
    Exprs list = types->kind == ExprKind::kTuple
                     ? Exprs(types->items.begin(), types->items.end())
                     : Exprs{types};
    size_t self = params.size() == list.size() + 1 ? 1 : 0;
    if (list.size() + self != params.size()) {
      fail_at(def.range, "Number of type annotations (", list.size(),
              ") did not match the number of function parameters (",
              params.size(), ")");
    }
    for (size_t i = 0; i < list.size(); ++i) params[i + self].type = list[i];
    return;
  }
}

const Stmt* Parser::def_statement() {
  SourceRange begin = take().range;
  Def def;
  Token name = expect(TokenKind::kName, "a function's name");
  def.name = name.text;
  def.name_range = name.range;
  std::vector<Param> params = parameters();
  if (accept("->")) def.return_type = expression();
  int header_line = source_.line_index(current_.range.begin);
  def.range = since(begin);  // of the header, as long as that is read
  // Skipping the newlines makes the lexer pass the comments before the body.
  expect(":");
  if (current_.kind == TokenKind::kNewline) {
    while (current_.kind == TokenKind::kNewline) take();
    apply_type_comments(def, params, header_line,
                        source_.line_index(current_.range.end));
    def.body = block();
  } else {
    Stmts body;
    simple_statements(body);
    def.body = copy(body);
  }
  def.range = since(begin);
  def.params = copy(params);
  std::pmr::polymorphic_allocator<Def> allocator(&ast_.arena());
  Def* stored = new (allocator.allocate(1)) Def(def);
  Stmt* stmt = make_stmt(StmtKind::kDef, begin);
  stmt->range = def.range;
  stmt->def = stored;
  return stmt;
}

const Stmt* Parser::class_statement() {
  SourceRange begin = take().range;
  Class cls;
  cls.name = expect(TokenKind::kName, "a class's name").text;
  Exprs bases;
  if (accept("(")) {
    while (!at(")")) {
      bases.push_back(expression());
      if (!accept(",")) break;
    }
    expect(")");
  }
  cls.bases = copy(bases);
  SourceRange header = since(begin);
  cls.body = suite();
  cls.range = header;
  std::pmr::polymorphic_allocator<Class> allocator(&ast_.arena());
  Class* stored = new (allocator.allocate(1)) Class(cls);
  Stmt* stmt = make_stmt(StmtKind::kClass, begin);
  stmt->range = header;
  stmt->cls = stored;
  return stmt;
}

std::unique_ptr<Ast> parse_module(const Source& source,
                                  const ParseLimits& limits) {
  auto ast = std::make_unique<Ast>(limits.memory);
  Parser parser(source, *ast, limits);
  ast->statements = parser.module();
  return ast;
}

std::unique_ptr<Ast> parse_expression(const Source& source,
                                      const ParseLimits& limits) {
  auto ast = std::make_unique<Ast>(limits.memory);
  SourceRange all = {&source, 0, uint32_t(source.text().size())};
  Parser parser(all, *ast, limits, 0);
  ast->expression = parser.whole_expression();
  return ast;
}

}  // namespace hotaru::script
