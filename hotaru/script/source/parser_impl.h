// The recursive-descent parser shared by parser.cpp (statements) and
// parser_expr.cpp (expressions).
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hotaru/script/source/lexer.h"
#include "hotaru/script/source/parser.h"

namespace hotaru::script {

class Parser {
 public:
  Parser(const Source& source, Ast& ast, const ParseLimits& limits);
  /// Parses one expression inside the source, e.g. a field of an f-string.
  Parser(const SourceRange& range, Ast& ast, const ParseLimits& limits,
         int depth);

  std::span<const Stmt* const> module();
  /// An expression that must reach to the end of the text.
  const Expr* whole_expression();

 private:
  using Exprs = std::vector<const Expr*>;
  using Stmts = std::vector<const Stmt*>;

  // Counts levels of recursion for as long as it lives.
  class Level {
   public:
    explicit Level(Parser& parser);
    ~Level() { --parser_.depth_; }

   private:
    Parser& parser_;
  };

  // Tokens.
  const Token& current() const { return current_; }
  bool at(std::string_view spelling) const { return current_.is(spelling); }
  Token take();
  bool accept(std::string_view spelling);
  Token expect(std::string_view spelling);
  Token expect(TokenKind kind, const char* what);
  bool at_expression_end() const;

  // Statements (parser.cpp).
  void statement(Stmts& out, bool top_level);
  void simple_statements(Stmts& out);
  const Stmt* simple_statement();
  const Stmt* compound_statement();
  const Stmt* expression_statement();
  const Stmt* if_statement();
  const Stmt* while_statement();
  const Stmt* for_statement();
  const Stmt* with_statement();
  const Stmt* def_statement();
  const Stmt* class_statement();
  const Stmt* assert_statement();
  void skip_import();
  void skip_decorators();
  std::span<const Stmt* const> suite();
  std::span<const Stmt* const> block();
  std::vector<Param> parameters();
  void apply_type_comments(Def& def, std::vector<Param>& params, int first_line,
                           int body_line);
  void check_target(const Expr* target);
  Stmt* make_stmt(StmtKind kind, const SourceRange& begin);

  // Expressions (parser_expr.cpp).
  const Expr* expression();
  const Expr* expression_list(bool allow_star);
  const Expr* binary(int min_precedence);
  const Expr* unary();
  const Expr* power();
  const Expr* postfix();
  const Expr* atom();
  const Expr* name_or_keyword();
  const Expr* number();
  const Expr* string();
  std::string format_string(const Token& token, Exprs& fields);
  const Expr* parenthesized();
  const Expr* list();
  const Expr* dict();
  const Expr* call(const Expr* callee);
  const Expr* subscript(const Expr* value);
  const Expr* subscript_item();
  const Expr* comprehension(ExprKind kind, const SourceRange& begin,
                            Exprs items, std::string_view close);
  const Expr* target_list();

  Expr* make(ExprKind kind, const SourceRange& range, const Exprs& items = {});
  SourceRange since(const SourceRange& begin) const { return begin.to(last_); }
  template <class T>
  std::span<const T> copy(const std::vector<T>& items);
  std::string_view intern(std::string_view text);

  const Source& source_;
  Ast& ast_;
  ParseLimits limits_;
  Lexer lexer_;
  Token current_;
  SourceRange last_;  // of the token taken last
  int depth_ = 0;
};

template <class T>
std::span<const T> Parser::copy(const std::vector<T>& items) {
  if (items.empty()) return {};
  std::pmr::polymorphic_allocator<T> allocator(&ast_.arena());
  T* out = allocator.allocate(items.size());
  std::uninitialized_copy(items.begin(), items.end(), out);
  return {out, items.size()};
}

}  // namespace hotaru::script
