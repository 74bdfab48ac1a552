// Functions from source: what compiles, what it computes, what is refused.
#include <gtest/gtest.h>

#include "hotaru/core/error.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/script/program/unit.h"
#include "hotaru/script/run/code.h"
#include "hotaru/script/run/interpreter.h"
#include "hotaru/script/source/script_error.h"

namespace hotaru::script {
namespace {

std::shared_ptr<CompilationUnit> unit_of(const std::string& text) {
  auto unit = CompilationUnit::create();
  unit->define(std::make_unique<Source>("test.py", text), "__torch__");
  return unit;
}

Value call(const std::string& text, std::vector<Value> arguments) {
  auto unit = unit_of(text);
  return (*unit->find_function("__torch__.f"))(std::move(arguments));
}

std::string error_of(const std::string& text) {
  try {
    auto unit = unit_of(text);
    unit->find_function("__torch__.f")->code();
  } catch (const ScriptError& error) {
    return error.what();
  }
  return "";
}

size_t count(const Code& code, Opcode op) {
  size_t n = 0;
  for (const Instruction& in : code.instructions) n += in.op == op;
  return n;
}

TEST(Compiler, LoopsCarryWhatTheyAssign) {
  const char* text =
      "def f(n: int) -> Tuple[int, int]:\n"
      "  a, b = 0, 1\n"
      "  for i in range(n):\n"
      "    a, b = b, a + b\n"  // both move at once
      "  return a, b\n";
  Value result = call(text, {Value(10)});
  EXPECT_EQ(result.as_tuple().items[0].as_int(), 55);
  EXPECT_EQ(result.as_tuple().items[1].as_int(), 89);
  EXPECT_EQ(call(text, {Value(0)}).as_tuple().items[1].as_int(), 1);
}

TEST(Compiler, EarlyExits) {
  const char* text =
      "def f(n: int) -> int:\n"
      "  total = 0\n"
      "  for i in range(100):\n"
      "    if i == n:\n"
      "      return -total\n"
      "    if i % 2 == 0:\n"
      "      continue\n"
      "    j = 0\n"
      "    while True:\n"
      "      j += 1\n"
      "      if j > 3:\n"
      "        break\n"
      "    total += i * j\n"
      "    if total > 1000:\n"
      "      break\n"
      "  return total\n";
  auto expected = [](int64_t n) {
    int64_t total = 0;
    for (int64_t i = 0; i < 100; ++i) {
      if (i == n) return -total;
      if (i % 2 == 0) continue;
      total += i * 4;
      if (total > 1000) break;
    }
    return total;
  };
  for (int64_t n : {0, 1, 5, 30, 99, 1000})
    EXPECT_EQ(call(text, {Value(n)}).as_int(), expected(n)) << n;
}

TEST(Compiler, NoneIsNarrowed) {
  const char* text =
      "def f(x: Optional[int], y: Optional[int]=None) -> int:\n"
      "  if x is None and y is None:\n"
      "    return 0\n"
      "  if x is None or y is None:\n"
      "    z = x if x is not None else y\n"
      "    assert z is not None\n"
      "    return z\n"
      "  return x + y\n";
  EXPECT_EQ(call(text, {Value()}).as_int(), 0);
  EXPECT_EQ(call(text, {Value(2)}).as_int(), 2);
  EXPECT_EQ(call(text, {Value(), Value(3)}).as_int(), 3);
  EXPECT_EQ(call(text, {Value(2), Value(3)}).as_int(), 5);
}

TEST(Compiler, OverloadsFollowTheTypes) {
  const std::pair<const char*, double> cases[] = {
      {"2 + 3", 5},           {"2 + 0.5", 2.5},       {"7 // 2 * 1.0", 3},
      {"-7 % 3", 2},          {"1 / 4", 0.25},        {"2 ** 3", 8},
      {"max(2, 3.5)", 3.5},   {"abs(-2.5)", 2.5},     {"len('abc')", 3},
      {"int(2.9)", 2},        {"float('1e3')", 1000}, {"min([3, 1, 2])", 1},
      {"sum([1.5, 2.5])", 4}, {"math.sqrt(16)", 4},   {"len([1, 2] + [3])", 3},
  };
  for (const auto& [expression, expected] : cases) {
    Value result = call(
        std::string("def f() -> float:\n  return float(") + expression + ")\n",
        {});
    EXPECT_EQ(result.as_double(), expected) << expression;
  }
}

TEST(Compiler, TensorsIndexLikePythons) {
  const char* text =
      "def f(x: Tensor) -> List[int]:\n"
      "  return [x[1].numel(), x[..., 0].numel(), x[None].dim(),\n"
      "          x[:, 1:, ::2].numel(), x[..., None].dim(), x[0, -1].numel(),\n"
      "          x.shape[2], x[1:][0].dim()]\n";
  Value result = call(text, {zeros(Dims{2, 3, 4})});
  EXPECT_EQ(result.to_int_vector(),
            (std::vector<int64_t>{12, 6, 4, 8, 4, 4, 4, 2}));
}

TEST(Compiler, FormatStringsJoinTheirNeighbours) {
  const char* text =
      "def f(n: int, x: List[int]) -> str:\n"
      "  return f'n={n} {{}} ' '{x}' f'{x[1:]}!'\n";
  Value result = call(text, {Value(3), Value::list({Value(1), Value(2)})});
  EXPECT_EQ(result.as_string(), "n=3 {} {x}[2]!");
}

TEST(Compiler, NumbersBesideTensorsStayNumbers) {
  const char* text =
      "def f(x: Tensor) -> List[int]:\n"
      "  return [(2 * x).dtype, (2.5 * x).dtype, (1 - x).dtype, (x // "
      "2).dtype,\n"
      "          (7 / (x + 1)).dtype, (3 > x).dtype, (True * x).dtype]\n";
  auto number = [](DType dtype) { return int64_t(dtype); };
  int64_t i = number(DType::kInt64);
  int64_t f = number(DType::kFloat32);
  Value result = call(text, {zeros(Dims{2}, TensorOptions(DType::kInt64))});
  EXPECT_EQ(result.to_int_vector(),
            (std::vector<int64_t>{i, f, i, i, f, number(DType::kBool), i}));
}

TEST(Compiler, OneNumberForABroadcastingList) {
  const char* text =
      "def g(x: BroadcastingList2[int],\n"
      "      y: Optional[BroadcastingList3[int]] = None) -> int:\n"
      "  n = len(x)\n"
      "  if y is not None:\n"
      "    n += 10 * len(y)\n"
      "  return n\n"
      "def f(t: Tuple[int, int]) -> List[int]:\n"
      "  return [__torch__.g(5), __torch__.g([1]), __torch__.g(5, 6), "
      "len(t)]\n";
  Value result = call(text, {Value::tuple({Value(1), Value(2)})});
  EXPECT_EQ(result.to_int_vector(), (std::vector<int64_t>{2, 1, 32, 2}));
}

TEST(Compiler, NestedListsOfATensor) {
  const char* text =
      "def f(x: Tensor) -> float:\n"
      "  rows: List[List[float]] = x.tolist()\n"
      "  return rows[1][2] + float(len(rows))\n";
  EXPECT_EQ(call(text, {ones(Dims{2, 3})}).as_double(), 3.0);
}

TEST(Compiler, RefusalsNameTheReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"def f(x: int) -> str:\n  return x\n", "annotated as having type str"},
      {"def f(x: int):\n  return y\n", "undefined value y"},
      {"def f(x: bool):\n  if x:\n    y = 1\n  return y\n",
       "y is not defined in the false branch"},
      {"def f(x: bool):\n  if x:\n    y = 1\n  else:\n    y = 'a'\n"
       "  return y\n",
       "type int in the true branch"},
      {"def f(x: Tensor):\n  return torch.no_such_operator(x)\n",
       "operator 'aten::no_such_operator' is not implemented"},
      {"def f(x: str):\n  return x + 1\n", "Arguments for call are not valid"},
      {"def f(x: Foo):\n  return x\n", "Unknown type name 'Foo'"},
      {"def f(x: Optional[str]):\n  return x.upper()\n", "has no attribute"},
      {"def f(x: Tensor):\n  for i in range(3):\n    x = 1\n  return x\n",
       "Variable 'x' previously had type Tensor"},
      {"def f():\n  break\n", "outside loop"},
      {"def f(x: Tuple[int, int], i: int):\n  return x[i]\n",
       "with a non-integer literal"},
      {"def f(x: int) -> int:\n  if x > 0:\n    return x\n",
       "does not return along all paths"},
      {"def f(x: List[int]):\n  return g(x)\n", "undefined value g"},
      {"def f() -> int:\n  return 99999999999999999999\n", "64 bits"},
      {"def f(x: int) -> int:\n  x = [1]\n  return x\n",
       "annotated as having type int but is actually of type List[int]"},
      {"def f():\n  for i in reversed():\n    pass\n", "takes 1 arguments"},
      {"def f(x):\n  import math\n  return x\n", "import statements"},
      {"def f(x: Tensor):\n  return x.tolist()\n", "type hint"},
      // Lists keep the type of their elements, whatever is put into them.
      {"def f(x: List[Tensor]):\n  torch.append(x, None)\n",
       "Could not match type"},
      {"def f(x: List[Tensor], y: Optional[Tensor]):\n"
       "  torch.insert(x, 0, y)\n",
       "Could not match type"},
      {"def f(x: Dict[str, Tensor]):\n  torch._set_item(x, 'a', None)\n",
       "Arguments for call are not valid"},
  };
  for (const auto& [text, message] : cases) {
    std::string error = error_of(text);
    EXPECT_NE(error.find(message), std::string::npos) << text << "\n" << error;
    EXPECT_NE(error.find("test.py"), std::string::npos) << error;
  }
}

// A source that is refused half-way leaves nothing dangling behind.
TEST(Compiler, DuplicatesAreRefusedForGood) {
  auto unit = CompilationUnit::create();
  const char* text = "def f() -> int:\n  return 1\ndef f() -> int:\n  pass\n";
  EXPECT_THROW(
      unit->define(std::make_unique<Source>("test.py", text), "__torch__"),
      ScriptError);
  EXPECT_EQ((*unit->find_function("__torch__.f"))({}).as_int(), 1);
}

// An operator that does not exist matters only where it is reached.
TEST(Compiler, MissingOperatorsFailWhereTheyStand) {
  const char* text =
      "def f(x: int) -> int:\n"
      "  if x > 0:\n"
      "    y = torch.no_such_operator(torch.zeros([1]))\n"
      "  return x\n";
  EXPECT_EQ(call(text, {Value(0)}).as_int(), 0);
  try {
    call(text, {Value(1)});
    ADD_FAILURE() << "the missing operator went unnoticed";
  } catch (const ExecutionError& error) {
    EXPECT_EQ(error.class_name(), "builtins.NotImplementedError");
    EXPECT_NE(error.message().find("aten::no_such_operator"),
              std::string::npos);
    EXPECT_NE(std::string(error.what()).find("line 3"), std::string::npos);
  }
}

TEST(Passes, ConstantsFoldAndDeadBranchesGo) {
  auto unit = unit_of(
      "def g(x: Tensor, inplace: bool=False) -> Tensor:\n"
      "  if inplace:\n"
      "    y = torch.relu_(x)\n"
      "  else:\n"
      "    y = torch.relu(x)\n"
      "  return y\n"
      "def f(x: Tensor) -> Tensor:\n"
      "  unused = (2 + 3) * 4\n"
      "  return __torch__.g(x)\n");
  const Code& code = unit->find_function("__torch__.f")->code();
  EXPECT_EQ(count(code, Opcode::kCall), 0u);
  EXPECT_EQ(count(code, Opcode::kJumpIfNot), 0u);
  EXPECT_EQ(code.instructions.size(), 2u);  // relu, return
}

TEST(Passes, StateIsNotFolded) {
  auto unit = unit_of(
      "def f() -> Tuple[bool, bool]:\n"
      "  a = torch.is_grad_enabled()\n"
      "  torch.set_grad_enabled(False)\n"
      "  b = torch.is_grad_enabled()\n"
      "  torch.set_grad_enabled(a)\n"
      "  return a, b\n");
  Value result = (*unit->find_function("__torch__.f"))({});
  EXPECT_TRUE(result.as_tuple().items[0].as_bool());
  EXPECT_FALSE(result.as_tuple().items[1].as_bool());
}

// Exponential growth and endless recursion stop at limits.
TEST(Passes, InliningIsBounded) {
  std::string text = "def f0(x: int) -> int:\n  return x + 1\n";
  for (int i = 1; i <= 40; ++i) {
    std::string before = "__torch__.f" + std::to_string(i - 1);
    text += "def f" + std::to_string(i) + "(x: int) -> int:\n  return " +
            before + "(x) + " + before + "(x)\n";
  }
  auto unit = unit_of(text);
  const Code& code = unit->find_function("__torch__.f40")->code();
  EXPECT_LT(code.instructions.size(), 50000u);
  unit = unit_of(
      "def f(x: int) -> int:\n"
      "  return __torch__.f(x + 1)\n");
  EXPECT_THROW((*unit->find_function("__torch__.f"))({Value(0)}),
               ExecutionError);
}

// x + 1 + 1 + ...: no tensor outlives its last use.
TEST(Lowering, LastUsesTake) {
  auto unit = unit_of(
      "def f(x: Tensor) -> Tensor:\n"
      "  y = torch.add(x, 1)\n"
      "  z = torch.add(y, 1)\n"
      "  return torch.add(z, y)\n");
  const Code& code = unit->find_function("__torch__.f")->code();
  size_t takes = 0;
  for (Operand operand : code.operands) takes += operand.takes();
  EXPECT_EQ(takes, 4u);  // x, y and z once each, and the result
  EXPECT_LE(code.registers, 3u);
}

TEST(Interpreter, MethodsClassesAndWith) {
  const char* text =
      "class Guard:\n"
      "  depth : int\n"
      "  def __init__(self: __torch__.Guard) -> NoneType:\n"
      "    self.depth = 0\n"
      "    return None\n"
      "  def __enter__(self: __torch__.Guard) -> NoneType:\n"
      "    self.depth = self.depth + 1\n"
      "    return None\n"
      "  def __exit__(self: __torch__.Guard, a: Any, b: Any, c: Any) -> "
      "NoneType:\n"
      "    self.depth = self.depth - 1\n"
      "    return None\n"
      "def f(n: int) -> List[int]:\n"
      "  g = __torch__.Guard()\n"
      "  out = annotate(List[int], [])\n"
      "  for i in range(n):\n"
      "    with g:\n"
      "      if i == 1:\n"
      "        continue\n"
      "      out.append(g.depth)\n"
      "      if i == 3:\n"
      "        break\n"
      "  out.append(g.depth)\n"
      "  return out\n";
  EXPECT_EQ(call(text, {Value(9)}).to_int_vector(),
            (std::vector<int64_t>{1, 1, 1, 0}));
}

TEST(Interpreter, WhatOnlyAnErrorCallsIsCompiledForIt) {
  const char* text =
      "def explain(x: int) -> str:\n"
      "  return torch.no_such_function(x)\n"
      "def f(x: int) -> int:\n"
      "  if x > 2:\n"
      "    raise ValueError(__torch__.explain(x))\n"
      "  return x * 10\n";
  EXPECT_EQ(call(text, {Value(2)}).as_int(), 20);
  try {
    call(text, {Value(3)});
    ADD_FAILURE() << "the error was lost";
  } catch (const Error& error) {
    EXPECT_NE(std::string_view(error.what()).find("no_such_function"),
              std::string_view::npos)
        << error.what();
  }
}

TEST(Interpreter, PrintGoesToTheHandler) {
  std::string printed;
  set_print_handler([&](std::string_view text) { printed += text; });
  call("def f(x: float):\n  print('x is', x, [1, 2])\n", {Value(3.0)});
  set_print_handler(nullptr);
  EXPECT_EQ(printed, "x is 3. [1, 2]\n");
}

TEST(Interpreter, ForkCarriesResultsAndErrors) {
  const char* text =
      "def g(x: int) -> int:\n"
      "  if x > 2:\n"
      "    raise ValueError('too big')\n"
      "  return x * 10\n"
      "def f(x: int) -> int:\n"
      "  a = torch.jit.fork(__torch__.g, x)\n"
      "  def local():\n"
      "    return x + 1\n"
      "  b = torch.jit.fork(local)\n"
      "  return torch.jit.wait(a) + torch.jit.wait(b)\n";
  EXPECT_EQ(call(text, {Value(2)}).as_int(), 23);
  try {
    call(text, {Value(3)});
    ADD_FAILURE() << "the error was lost";
  } catch (const ExecutionError& error) {
    EXPECT_TRUE(error.message().ends_with("ValueError: too big"));
  }
}

}  // namespace
}  // namespace hotaru::script
