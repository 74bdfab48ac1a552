#include "hotaru/script/source/parser.h"

#include <gtest/gtest.h>

#include <functional>

#include "hotaru/core/error.h"
#include "hotaru/script/source/lexer.h"
#include "hotaru/script/source/script_error.h"

namespace hotaru::script {
namespace {

// A tree as fully bracketed text, to compare structures.
std::string show(const Expr* expr) {
  if (!expr) return "_";
  auto items = [&](const char* separator) {
    std::string out;
    for (const Expr* item : expr->items) {
      if (!out.empty()) out += separator;
      out += show(item);
    }
    return out;
  };
  switch (expr->kind) {
    case ExprKind::kName:
    case ExprKind::kInt:
    case ExprKind::kFloat:
    case ExprKind::kImaginary:
      return std::string(expr->text);
    case ExprKind::kString:
      return "'" + std::string(expr->text) + "'";
    case ExprKind::kFormat:
      return "f'" + std::string(expr->text) + "'(" + items(" ") + ")";
    case ExprKind::kTrue:
      return "True";
    case ExprKind::kFalse:
      return "False";
    case ExprKind::kNone:
      return "None";
    case ExprKind::kEllipsis:
      return "...";
    case ExprKind::kAttribute:
      return show(expr->items[0]) + "." + std::string(expr->text);
    case ExprKind::kSlice:
      return items(":");
    case ExprKind::kCall: {
      std::string out = "(call " + items(" ");
      for (const Keyword& k : expr->keywords)
        out += " " + std::string(k.name) + "=" + show(k.value);
      return out + ")";
    }
    case ExprKind::kUnary:
    case ExprKind::kBinary:
    case ExprKind::kCompare:
      return "(" + std::string(expr->op) + " " + items(" ") + ")";
    case ExprKind::kAnd:
      return "(and " + items(" ") + ")";
    case ExprKind::kOr:
      return "(or " + items(" ") + ")";
    case ExprKind::kNot:
      return "(not " + items(" ") + ")";
    case ExprKind::kConditional:
      return "(if " + items(" ") + ")";
    case ExprKind::kSubscript:
      return "(index " + items(" ") + ")";
    case ExprKind::kList:
      return "[" + items(" ") + "]";
    case ExprKind::kTuple:
      return "(tuple" + (expr->items.empty() ? "" : " " + items(" ")) + ")";
    case ExprKind::kDict:
      return "{" + items(" ") + "}";
    case ExprKind::kListComp:
      return "(listcomp " + items(" ") + ")";
    case ExprKind::kDictComp:
      return "(dictcomp " + items(" ") + ")";
    case ExprKind::kStarred:
      return "*" + items(" ");
  }
  return "?";
}

std::string parsed(const std::string& text) {
  Source source("test.py", text);
  return show(parse_expression(source)->expression);
}

struct Parsed {
  explicit Parsed(const std::string& text)
      : source("test.py", text), ast(parse_module(source)) {}
  const Stmt& at(size_t i) const { return *ast->statements[i]; }
  Source source;
  std::unique_ptr<Ast> ast;
};

std::string error_of(const std::string& text) {
  try {
    Parsed parsed(text);
  } catch (const ScriptError& error) {
    return error.what();
  }
  return "";
}

TEST(Parser, PrecedenceIsPythons) {
  const std::pair<const char*, const char*> cases[] = {
      {"a + b * c", "(+ a (* b c))"},
      {"a - b - c", "(- (- a b) c)"},
      {"-a ** -b", "(- (** a (- b)))"},
      {"a ** b ** c", "(** a (** b c))"},
      {"not a == b", "(not (== a b))"},
      {"a or b and not c", "(or a (and b (not c)))"},
      {"a if b else c if d else e", "(if a b (if c d e))"},
      {"a | b ^ c & d << e", "(| a (^ b (& c (<< d e))))"},
      {"a < b < c", "(and (< a b) (< b c))"},
      {"a < b < c == d", "(and (and (< a b) (< b c)) (== c d))"},
      {"a is not None", "(is not a None)"},
      {"a not in b", "(not in a b)"},
      {"~x[0].y(1)", "(~ (call (index x 0).y 1))"},
      {"a @ b % c // d", "(// (% (@ a b) c) d)"},
  };
  for (const auto& [text, tree] : cases) EXPECT_EQ(parsed(text), tree);
}

TEST(Parser, SubscriptsAndCalls) {
  const std::pair<const char*, const char*> cases[] = {
      {"x[1:2, ..., None, ::3]", "(index x 1:2:_ ... None _:_:3)"},
      {"x[:]", "(index x _:_:_)"},
      {"f(a, *b, c=1, )", "(call f a *b c=1)"},
      {"(a).forward(x, )", "(call a.forward x)"},
      {"()", "(tuple)"},
      {"(a,)", "(tuple a)"},
      {"[a, b, ]", "[a b]"},
      {"{'a': 1, \"b\": 2}", "{'a' 1 'b' 2}"},
      {"[x * 2 for x, y in z if x if y]",
       "(listcomp (* x 2) (tuple x y) z x y)"},
      {"{k: v for k, v in d}", "(dictcomp k v (tuple k v) d)"},
      {"torch.zeros([_11, 128], dtype=_12)",
       "(call torch.zeros [_11 128] dtype=_12)"},
  };
  for (const auto& [text, tree] : cases) EXPECT_EQ(parsed(text), tree);
}

TEST(Parser, Literals) {
  const std::pair<const char*, const char*> cases[] = {
      {"1e-05", "1e-05"},
      {"0.", "0."},
      {".5", ".5"},
      {"2j", "2j"},
      {"0x1F", "0x1F"},
      {"1_000", "1_000"},
      {"'a\\n\\x41\\u00e9'", "'a\nA\xc3\xa9'"},
      {"r'\\n'", "'\\n'"},
      {"'a' \"b\"", "'ab'"},
      {"'''x\ny'''", "'x\ny'"},
      {"f'a{x + 1}b{{}}'", "f'a{}b{{}}'((+ x 1))"},
  };
  for (const auto& [text, tree] : cases) EXPECT_EQ(parsed(text), tree);
}

TEST(Parser, DefinitionsKeepTypesAndDefaults) {
  Parsed p(
      "@torch.jit.export\n"
      "def f(self: X, a: int=3, *, b: Optional[Tensor]=None) -> "
      "Tuple[int, int]:\n"
      "  return (a, a)\n");
  const Def& def = *p.at(0).def;
  EXPECT_EQ(def.name, "f");
  ASSERT_EQ(def.params.size(), 3u);
  EXPECT_EQ(show(def.params[1].type), "int");
  EXPECT_EQ(show(def.params[1].default_value), "3");
  EXPECT_FALSE(def.params[1].keyword_only);
  EXPECT_TRUE(def.params[2].keyword_only);
  EXPECT_EQ(show(def.return_type), "(index Tuple int int)");
  EXPECT_EQ(def.body[0]->kind, StmtKind::kReturn);
}

TEST(Parser, TypeComments) {
  Parsed p(
      "def f(a, b):\n"
      "    # type: (int, List[int]) -> Tensor\n"
      "    x = []  # type: List[float]\n"
      "    return x  # plain comment\n"
      "def g(a,  # type: int\n"
      "      b  # type: float\n"
      "      ):\n"
      "    # type: (...) -> int\n"
      "    pass\n");
  const Def& f = *p.at(0).def;
  EXPECT_EQ(show(f.params[1].type), "(index List int)");
  EXPECT_EQ(show(f.return_type), "Tensor");
  EXPECT_EQ(show(f.body[0]->annotation), "(index List float)");
  const Def& g = *p.at(1).def;
  EXPECT_EQ(show(g.params[0].type), "int");
  EXPECT_EQ(show(g.params[1].type), "float");
  EXPECT_EQ(show(g.return_type), "int");
}

TEST(Parser, StatementsOfEveryKind) {
  Parsed p(
      "def f(x):\n"
      "    a, b, = x\n"
      "    y : int = 1; z = w = 2\n"
      "    y += 1\n"
      "    for i in range(3):\n"
      "        if i == 1:\n"
      "            continue\n"
      "        elif i == 2: break\n"
      "        else:\n"
      "            pass\n"
      "    while True:\n"
      "        del a[0]\n"
      "    with torch.no_grad() as g, h:\n"
      "        raise ValueError('x')\n"
      "    assert x, 'm'\n"
      "    f(x,\n"
      "      # inside brackets lines join\n"
      "  x)\n");
  const auto& body = p.at(0).def->body;
  std::vector<StmtKind> kinds;
  for (const Stmt* stmt : body) kinds.push_back(stmt->kind);
  EXPECT_EQ(kinds, (std::vector<StmtKind>{
                       StmtKind::kAssign, StmtKind::kAssign, StmtKind::kAssign,
                       StmtKind::kAugAssign, StmtKind::kFor, StmtKind::kWhile,
                       StmtKind::kWith, StmtKind::kAssert, StmtKind::kExpr}));
  EXPECT_EQ(show(body[0]->targets[0]), "(tuple a b)");
  EXPECT_EQ(body[2]->targets.size(), 2u);
  EXPECT_EQ(body[3]->op, "+");
  const Stmt& branch = *body[4]->body[0];
  EXPECT_EQ(branch.orelse[0]->kind, StmtKind::kIf);
  EXPECT_EQ(branch.orelse[0]->orelse[0]->kind, StmtKind::kPass);
  EXPECT_EQ(body[6]->items.size(), 2u);
}

TEST(Parser, Classes) {
  Parsed p(
      "class A(Module):\n"
      "  __parameters__ = [\"w\", ]\n"
      "  w : Tensor\n"
      "  __annotations__[\"0\"] = __torch__.B\n"
      "  k : Final[Tuple[int]] = (1,)\n"
      "  def f(self: __torch__.A) -> NoneType:\n"
      "    return None\n");
  const Class& cls = *p.at(0).cls;
  EXPECT_EQ(cls.name, "A");
  EXPECT_EQ(show(cls.bases[0]), "Module");
  ASSERT_EQ(cls.body.size(), 5u);
  EXPECT_EQ(cls.body[1]->value, nullptr);
  EXPECT_EQ(show(cls.body[3]->value), "(tuple 1)");
  EXPECT_EQ(cls.body[4]->kind, StmtKind::kDef);
}

TEST(Parser, ErrorsPointAtTheirPlace) {
  const std::pair<const char*, const char*> cases[] = {
      {"def f(x):\n  return x +\n", "line 2"},
      {"def f(x):\nreturn x\n", "expected an indented block"},
      {"def f(x):\n    y = 1\n  z = 2\n", "unindent does not match"},
      {"def f(*args):\n  pass\n", "*args are not supported"},
      {"def f(x):\n  y = lambda: 1\n", "Lambda aren't supported"},
      {"def f(x):\n  try:\n    pass\n", "try blocks aren't supported"},
      {"def f(x):\n  f(x) = 1\n", "left-hand side"},
      {"def f(x):\n  y = 'abc\n", "an unterminated string"},
      {"x = 1\n", "expected a function or class definition"},
      {"if x:\n  pass\n", "expected a function or class definition"},
      {"for x in y:\n  pass\n", "expected a function or class definition"},
      {"while x:\n  pass\n", "expected a function or class definition"},
      {"with x:\n  pass\n", "expected a function or class definition"},
      {"def f(x):\n  return 1a\n", "invalid number"},
      {"def f(x):\n  return $\n", "unexpected character 0x24"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_NE(error_of(text).find(message), std::string::npos)
        << text << "\n"
        << error_of(text);
  }
  EXPECT_NE(error_of("def f(x):\n  return x +\n").find("test.py"),
            std::string::npos);
}

// Whatever nests, nesting ends in an error, not in an exhausted stack.
TEST(Parser, NestingIsBounded) {
  auto repeat = [](std::string text, int n) {
    std::string out;
    for (int i = 0; i < n; ++i) out += text;
    return out;
  };
  constexpr int kDeep = 100000;
  const std::string cases[] = {
      repeat("(", kDeep),           repeat("[", 3000) + repeat("]", 3000),
      repeat("not ", kDeep) + "x",  repeat("-", kDeep) + "x",
      repeat("x ** ", kDeep) + "x", repeat("x if y else ", kDeep) + "x",
      "x" + repeat(".a", kDeep),    "x" + repeat("[0]", kDeep),
      "x" + repeat("()", kDeep),    repeat("a < ", kDeep) + "b",
  };
  for (const std::string& text : cases) {
    EXPECT_NE(error_of("def f():\n  return " + text + "\n"), "")
        << text.substr(0, 20);
  }
  std::string nested = "def f():\n";
  for (int i = 1; i < 3000; ++i)
    nested += std::string(size_t(i), ' ') + "if x:\n";
  EXPECT_NE(error_of(nested), "");
  // Chains are no nesting.
  EXPECT_EQ(error_of("def f():\n  return " + repeat("x + ", kDeep) + "x\n"),
            "");
  EXPECT_EQ(
      error_of("def f():\n  if x: pass\n" + repeat("  elif x: pass\n", kDeep)),
      "");
}

TEST(Parser, MemoryIsBounded) {
  std::string text = "def f():\n  return [";
  for (int i = 0; i < 100000; ++i) text += "a,";
  Source source("test.py", text + "]\n");
  ParseLimits limits;
  limits.memory = 1 << 20;
  EXPECT_THROW(parse_module(source, limits), Error);
  limits.memory = size_t{64} << 20;
  EXPECT_NO_THROW(parse_module(source, limits));
}

}  // namespace
}  // namespace hotaru::script
