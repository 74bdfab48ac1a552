// Syntax tree of TorchScript. Nodes live in the Ast's arena: no node owns
// another, and all go away together.
#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <string_view>

#include "hotaru/script/source/source.h"

namespace hotaru::script {

inline constexpr const char* kLoneStar =
    "A Starred expression may only appear on the lhs within the presence of "
    "another non-starred expression";

enum class ExprKind : uint8_t {
  kName,       // text
  kInt,        // text: spelling
  kFloat,      // text: spelling
  kImaginary,  // text: spelling
  kString,     // text: value, quotes and escapes resolved
  kFormat,     // text: template with {} fields; items: the fields' values
  kTrue,
  kFalse,
  kNone,
  kEllipsis,
  kAttribute,  // items[0] . text
  kSubscript,  // items[0] [ items[1..] ]
  kSlice,      // items: begin, end, step; each may be null
  kCall,       // items[0] ( items[1..], keywords )
  kUnary,      // op items[0]
  kBinary,     // items[0] op items[1]; arithmetic and bitwise
  kCompare,    // items[0] op items[1]; is, is not, in, not in, ==, <, ...
  kAnd,        // items[0], items[1]
  kOr,
  kNot,
  kConditional,  // items: value if true, condition, value if false
  kList,
  kTuple,
  kDict,      // items: key, value, key, value, ...
  kListComp,  // items: element, target, iterable, conditions...
  kDictComp,  // items: key, value, target, iterable, conditions...
  kStarred,   // * items[0]
};

struct Expr;

struct Keyword {
  std::string_view name;
  const Expr* value = nullptr;
};

struct Expr {
  ExprKind kind = ExprKind::kNone;
  /// Levels of nesting below this node, which the parser bounds. The left side
  /// of a chain of operators counts none: what walks it does so in a loop.
  uint16_t depth = 0;
  SourceRange range;
  std::string_view text;
  /// Operator of kUnary, kBinary and kCompare.
  std::string_view op;
  std::span<const Expr* const> items;
  std::span<const Keyword> keywords;

  const Expr& item(size_t i) const { return *items[i]; }
};

enum class StmtKind : uint8_t {
  kExpr,       // value
  kAssign,     // targets = ... = value; value null: declaration only
  kAugAssign,  // targets[0] op= value
  kReturn,     // value or null
  kRaise,      // value or null
  kAssert,     // value, message or null
  kIf,         // value; body; orelse
  kFor,        // targets[0] in value: body
  kWhile,      // value: body
  kWith,       // items: body
  kPass,
  kBreak,
  kContinue,
  kDelete,  // targets
  kDef,
  kClass,
};

struct Def;
struct Class;
struct Stmt;

struct WithItem {
  const Expr* context = nullptr;
  const Expr* target = nullptr;  // may be null
};

struct Stmt {
  StmtKind kind = StmtKind::kPass;
  SourceRange range;
  std::string_view op;
  std::span<const Expr* const> targets;
  const Expr* value = nullptr;
  const Expr* annotation = nullptr;
  const Expr* message = nullptr;
  std::span<const WithItem> items;
  std::span<const Stmt* const> body;
  std::span<const Stmt* const> orelse;
  const Def* def = nullptr;
  const Class* cls = nullptr;
};

struct Param {
  std::string_view name;
  SourceRange range;
  const Expr* type = nullptr;
  const Expr* default_value = nullptr;
  bool keyword_only = false;
};

struct Def {
  std::string_view name;
  SourceRange range;  // the whole definition
  SourceRange name_range;
  std::span<const Param> params;
  const Expr* return_type = nullptr;
  std::span<const Stmt* const> body;
};

struct Class {
  std::string_view name;
  SourceRange range;
  /// Bases as written, e.g. `Module`, `NamedTuple`, `Interface`.
  std::span<const Expr* const> bases;
  /// Fields, defs and assignments in order.
  std::span<const Stmt* const> body;
};

/// Heap memory up to a limit; beyond it allocation throws hotaru::Error.
class LimitedMemory : public std::pmr::memory_resource {
 public:
  explicit LimitedMemory(size_t limit) : limit_(limit) {}
  size_t used() const { return used_; }

 private:
  void* do_allocate(size_t bytes, size_t alignment) override;
  void do_deallocate(void* p, size_t bytes, size_t alignment) override;
  bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }

  size_t limit_;
  size_t used_ = 0;
};

/// A parsed source: its top-level statements, which are defs and classes
/// (imports are skipped).
class Ast {
 public:
  explicit Ast(size_t memory_limit) : memory_(memory_limit) {}
  Ast(const Ast&) = delete;
  Ast& operator=(const Ast&) = delete;

  std::pmr::monotonic_buffer_resource& arena() { return arena_; }
  size_t memory_used() const { return memory_.used(); }

  std::span<const Stmt* const> statements;
  /// Set when a single expression was parsed.
  const Expr* expression = nullptr;

 private:
  LimitedMemory memory_;
  std::pmr::monotonic_buffer_resource arena_{&memory_};
};

}  // namespace hotaru::script
