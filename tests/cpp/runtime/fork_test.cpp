// fork and wait of TorchScript: what runs where, and that nothing deadlocks.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "hotaru/autograd/grad_mode.h"
#include "hotaru/autograd/node.h"
#include "hotaru/core/printing/concat.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/runtime/threads/parallel.h"
#include "hotaru/runtime/threads/scheduler.h"
#include "hotaru/script/program/unit.h"
#include "hotaru/script/run/interpreter.h"
#include "tests/cpp/sanitizers.h"

namespace hotaru::script {
namespace {

struct Program {
  explicit Program(const std::string& text) : unit(CompilationUnit::create()) {
    unit->define(std::make_unique<Source>("test.py", text), "__torch__");
  }
  Function& function(const std::string& name) {
    return *unit->find_function("__torch__." + name);
  }
  Value operator()(const std::string& name, std::vector<Value> arguments) {
    return function(name)(std::move(arguments));
  }
  std::shared_ptr<CompilationUnit> unit;
};

class ForkTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { set_num_threads(GetParam()); }
  ~ForkTest() override { set_num_threads(saved_); }
  int saved_ = get_num_threads();
};
INSTANTIATE_TEST_SUITE_P(Threads, ForkTest, ::testing::Values(1, 2, 4));

const char* const kSums =
    "def square(x: int) -> int:\n"
    "  return x * x\n"
    "def many(n: int) -> int:\n"
    "  futures = annotate(List[Future[int]], [])\n"
    "  for i in range(n):\n"
    "    futures.append(torch.jit.fork(__torch__.square, i))\n"
    "  total = 0\n"
    "  for f in futures:\n"
    "    total += torch.jit.wait(f)\n"
    "  return total\n"
    "def fibonacci(n: int) -> int:\n"
    "  if n < 2:\n"
    "    return n\n"
    "  a = torch.jit.fork(__torch__.fibonacci, n - 1)\n"
    "  b = torch.jit.fork(__torch__.fibonacci, n - 2)\n"
    "  return torch.jit.wait(a) + torch.jit.wait(b)\n";

TEST_P(ForkTest, ThousandsOfForks) {
  Program program(kSums);
  int64_t n = 5000;
  EXPECT_EQ(program("many", {Value(n)}).as_int(),
            n * (n - 1) * (2 * n - 1) / 6);
}

TEST_P(ForkTest, ForksInForks) {
  Program program(kSums);
  EXPECT_EQ(program("fibonacci", {Value(17)}).as_int(), 1597);
}

// Each link is forked before the one that it waits for, so a thread that only
// helped would bury every link under the next one: 20,000 deep.
TEST_P(ForkTest, ChainsOfWaitsUseNoStack) {
  Program program(
      "def link(n: int) -> int:\n"
      "  if n == 0:\n"
      "    return 0\n"
      "  next = torch.jit.fork(__torch__.link, n - 1)\n"
      "  return torch.jit.wait(next) + 1\n");
  EXPECT_EQ(program("link", {Value(20000)}).as_int(), 20000);
}

// B waits for A, and A for the gate. Whoever waits by helping would run B on
// top of A's stack and never come back to A.
TEST_P(ForkTest, FuturesPassedBetweenForks) {
  Program program(
      "def a(gate: Future[int]) -> int:\n"
      "  return torch.jit.wait(gate) + 1\n"
      "def b(first: Future[int], gate: Future[int]) -> int:\n"
      "  return torch.jit.wait(first) * 10 + torch.jit.wait(gate)\n"
      "def f(gate: Future[int]) -> Tuple[Future[int], Future[int]]:\n"
      "  first = torch.jit.fork(__torch__.a, gate)\n"
      "  second = torch.jit.fork(__torch__.b, first, gate)\n"
      "  return first, second\n"
      "def g(second: Future[int]) -> int:\n"
      "  return torch.jit.wait(second)\n");
  for (int round = 0; round < 200; ++round) {
    auto gate = make_ref<Future>();
    Value both = program("f", {Value::from_object(gate)});
    Value second = both.as_tuple().items[1];
    EXPECT_FALSE(future_of(second).done());
    launch([gate] { gate->set_value(4); });
    EXPECT_EQ(program("g", {second}).as_int(), 54);
  }
}

TEST_P(ForkTest, WorkersAreFreeWhileForksWait) {
  Program program(
      "def f(gate: Future[int]) -> int:\n"
      "  return torch.jit.wait(gate)\n");
  auto gate = make_ref<Future>();
  std::vector<Ref<Future>> waiting;
  for (int i = 0; i < 100; ++i) {
    waiting.push_back(
        run_async(program.function("f"), {Value::from_object(gate)}));
  }
  // No thread waits here, so only a worker can run this task; it stands behind
  // a hundred programs that cannot finish before it did.
  std::mutex mutex;
  std::condition_variable condition;
  bool ran = false;
  launch([&] {
    std::lock_guard lock(mutex);
    ran = true;
    condition.notify_all();
  });
  {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(condition.wait_for(lock, std::chrono::seconds(20),
                                   [&] { return ran; }));
  }
  for (const auto& future : waiting) EXPECT_FALSE(future->done());
  gate->set_value(7);
  for (const auto& future : waiting) EXPECT_EQ(future->wait().as_int(), 7);
}

TEST_P(ForkTest, SuspendsInsideCallsAndInterfaces) {
  Program program(
      "class Shape(Interface):\n"
      "  def area(self, by: Future[int]) -> int:\n"
      "    pass\n"
      "class Square:\n"
      "  side : int\n"
      "  def __init__(self: __torch__.Square, side: int) -> NoneType:\n"
      "    self.side = side\n"
      "    return None\n"
      "  def area(self: __torch__.Square, by: Future[int]) -> int:\n"
      "    with_text = '{}'.format(self.side)\n"
      "    factor = torch.jit.wait(by)\n"
      "    return self.side * factor + len(with_text)\n"
      "def ask(shape: __torch__.Shape, by: Future[int]) -> int:\n"
      "  total = 0\n"
      "  for i in range(3):\n"
      "    total += shape.area(by) + i\n"
      "  return total\n"
      "def f(gate: Future[int]) -> Future[int]:\n"
      "  return torch.jit.fork(__torch__.ask, __torch__.Square(12), gate)\n");
  auto gate = make_ref<Future>();
  Value result = program("f", {Value::from_object(gate)});
  auto marker = make_ref<Future>();
  launch([marker] { marker->set_value({}); });
  marker->wait();
  EXPECT_FALSE(future_of(result).done());
  gate->set_value(3);
  EXPECT_EQ(future_of(result).wait().as_int(), 3 * 38 + 3);
}

TEST_P(ForkTest, ErrorsArriveThroughWait) {
  Program program(
      "def g(x: int) -> int:\n"
      "  assert x < 3, 'too big'\n"
      "  return x * 10\n"
      "def middle(x: int) -> int:\n"
      "  return torch.jit.wait(torch.jit.fork(__torch__.g, x))\n"
      "def f(x: int) -> int:\n"
      "  return torch.jit.wait(torch.jit.fork(__torch__.middle, x))\n"
      "def unread(x: int) -> int:\n"
      "  a = torch.jit.fork(__torch__.g, x)\n"
      "  return x\n"
      "def unused(x: int) -> int:\n"
      "  a = torch.jit.wait(torch.jit.fork(__torch__.g, x))\n"
      "  return x\n");
  EXPECT_EQ(program("f", {Value(2)}).as_int(), 20);
  EXPECT_EQ(program("unread", {Value(5)}).as_int(), 5);
  EXPECT_THROW(program("unused", {Value(5)}), ExecutionError);
  try {
    program("f", {Value(5)});
    ADD_FAILURE() << "the error was lost";
  } catch (const ExecutionError& error) {
    // PyTorch's text: one report in the other, from the outside in.
    const std::string prefix =
        "The following operation failed in the TorchScript interpreter.\n";
    std::string text = error.what();
    EXPECT_TRUE(text.starts_with(prefix));
    EXPECT_TRUE(error.message().starts_with(prefix));
    EXPECT_NE(text.find(concat("RuntimeError: ", prefix)), std::string::npos);
    size_t outer = text.find("in f"), between = text.find("in middle");
    size_t inner = text.find("in g");
    EXPECT_LT(outer, between);
    EXPECT_LT(between, inner);
    EXPECT_LT(inner, text.find("AssertionError: too big"));
  }
}

TEST_P(ForkTest, GradModeTravels) {
  Program program(
      "def g(x: Tensor, gate: Future[int]) -> Tuple[bool, bool, bool]:\n"
      "  before = torch.is_grad_enabled()\n"
      "  torch.set_grad_enabled(True)\n"
      "  n = torch.jit.wait(gate)\n"
      "  return before, torch.is_grad_enabled(),"
      " torch.requires_grad(torch.mul(x, x))\n"
      "def f(x: Tensor, gate: Future[int])"
      " -> Future[Tuple[bool, bool, bool]]:\n"
      "  return torch.jit.fork(__torch__.g, x, gate)\n");
  Tensor x = ones(Dims{2});
  autograd::set_requires_grad(x, true);
  for (bool on : {true, false}) {
    auto gate = make_ref<Future>();
    const autograd::GradMode mode(on);
    Value future = program("f", {x, Value::from_object(gate)});
    gate->set_value(1);
    const Value& result = future_of(future).wait();
    EXPECT_EQ(result.as_tuple().items[0].as_bool(), on);
    EXPECT_TRUE(result.as_tuple().items[1].as_bool());
    EXPECT_TRUE(result.as_tuple().items[2].as_bool());
    EXPECT_EQ(autograd::grad_enabled(), on) << "helping changed this thread";
  }
}

TEST_P(ForkTest, SixteenThreadsCallOneProgram) {
  Program program(kSums);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 20; ++round) {
        int64_t n = 20 + i;
        Value sum = program("many", {Value(n)});
        if (sum.as_int() != n * (n - 1) * (2 * n - 1) / 6) ++wrong;
        if (program("fibonacci", {Value(8)}).as_int() != 21) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(ForkTest, OutlivesItsProgramAndCaller) {
  Ref<Future> result;
  auto gate = make_ref<Future>();
  {
    Program program(
        "def f(gate: Future[int]) -> str:\n"
        "  n = torch.jit.wait(gate)\n"
        "  return 'got {}'.format(n)\n");
    result = run_async(program.function("f"), {Value::from_object(gate)});
  }
  gate->set_value(5);
  EXPECT_EQ(result->wait().as_string(), "got 5");
}

TEST_P(ForkTest, ForksRunBesideTheirCaller) {
  // The caller only leaves its loop when the fork has seen what it did first.
  Program program(
      "def fill(x: Tensor) -> int:\n"
      "  n = 0\n"
      "  while int(x[0]) == 0:\n"
      "    n = n + 1\n"
      "  y = torch.fill_(x[1], 1)\n"
      "  return n\n"
      "def f(x: Tensor) -> int:\n"
      "  future = torch.jit.fork(__torch__.fill, x)\n"
      "  y = torch.fill_(x[0], 1)\n"
      "  while int(x[1]) == 0:\n"
      "    pass\n"
      "  return torch.jit.wait(future)\n");
  if (kThreadSanitizer) GTEST_SKIP() << "the program races on purpose";
  EXPECT_GE(program("f", {zeros(Dims{2})}).as_int(), 0);
}

}  // namespace
}  // namespace hotaru::script
