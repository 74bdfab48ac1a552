// Classes that a C++ program defines.
#include <gtest/gtest.h>

#include <sstream>

#include "torch/custom_class.h"
#include "torch/script.h"
#include "torch/torch.h"

namespace {

using torch::Tensor;

struct Stack : torch::CustomClassHolder {
  explicit Stack(std::vector<std::string> items) : items(std::move(items)) {}
  void push(std::string item) { items.push_back(std::move(item)); }
  std::string pop() {
    TORCH_CHECK(!items.empty(), "the stack is empty");
    std::string last = items.back();
    items.pop_back();
    return last;
  }
  int64_t size() const { return int64_t(items.size()); }
  void merge(const c10::intrusive_ptr<Stack>& other) {
    for (const std::string& item : other->items) push(item);
  }
  c10::intrusive_ptr<Stack> clone() const {
    return c10::make_intrusive<Stack>(items);
  }

  std::vector<std::string> items;
  double weight = 1.5;
};

struct Span : torch::CustomClassHolder {
  using State = std::tuple<std::tuple<std::string, int64_t>,
                           std::vector<std::tuple<std::string, int64_t>>>;
  Span(int64_t from, int64_t to) : from(from), to(to) {}
  int64_t size() const { return to - from; }
  State state() const { return {{"from", from}, {{"to", to}}}; }
  int64_t from, to;
};

TORCH_LIBRARY(class_test, m) {
  m.class_<Span>("Span")
      .def(torch::init([](int64_t from, int64_t to, bool swap) {
             return swap ? c10::make_intrusive<Span>(to, from)
                         : c10::make_intrusive<Span>(from, to);
           }),
           "",
           {torch::arg("from"), torch::arg("to"), torch::arg("swap") = false})
      .def("size", &Span::size)
      .def("state", &Span::state)
      .def_pickle([](const c10::intrusive_ptr<Span>& s) { return s->state(); },
                  [](Span::State state) {
                    return c10::make_intrusive<Span>(
                        std::get<1>(std::get<0>(state)),
                        std::get<1>(std::get<1>(state).at(0)));
                  });
  m.class_<Stack>("Stack")
      .def(torch::init<std::vector<std::string>>())
      .def("push", &Stack::push)
      .def("pop", &Stack::pop)
      .def("size", &Stack::size)
      .def("merge", &Stack::merge)
      .def("clone", &Stack::clone)
      .def("top",
           [](const c10::intrusive_ptr<Stack>& self) {
             return self->items.back();
           })
      .def("repeat",
           [](const c10::intrusive_ptr<Stack>& self, int64_t times, bool all) {
             return int64_t(self->items.size()) * times + all;
           },
           "", {torch::arg("times") = int64_t(2), torch::arg("all") = true})
      .def_readwrite("weight", &Stack::weight)
      .def_static("answer", [](int64_t n) { return n + 40; })
      .def_pickle(
          [](const c10::intrusive_ptr<Stack>& self) { return self->items; },
          [](std::vector<std::string> items) {
            return c10::make_intrusive<Stack>(std::move(items));
          });
  m.def("total(__torch__.torch.classes.class_test.Stack s, Tensor x) -> Tensor",
        [](const c10::intrusive_ptr<Stack>& s, const Tensor& x) {
          return x + s->size();
        });
  m.def("made", [](int64_t n) {
    return c10::make_intrusive<Stack>(std::vector<std::string>(size_t(n), "x"));
  });
}

TEST(Class, TorchScriptMakesAndCallsIt) {
  const auto unit = torch::jit::compile(R"(
def f(x: Tensor) -> Tuple[str, int, Tensor, int]:
    s = torch.classes.class_test.Stack(["a", "b"])
    s.push("c")
    t = s.clone()
    s.merge(t)
    top = s.top()
    return top, s.size(), torch.ops.class_test.total(s, x), s.repeat() + s.repeat(3, False)

def g(n: int) -> int:
    s = torch.ops.class_test.made(n)
    s.push("y")
    return s.size()

def h() -> str:
    s = torch.classes.class_test.Stack(["a"])
    s.pop()
    return s.pop()

def w(s: __torch__.torch.classes.class_test.Stack) -> float:
    return s.weight
)");
  const auto tuple = unit->run_method("f", torch::zeros({1})).toTuple();
  EXPECT_EQ(tuple->elements()[0].toStringRef(), "c");
  EXPECT_EQ(tuple->elements()[1].toInt(), 6);
  EXPECT_EQ(tuple->elements()[2].toTensor().item<float>(), 6);
  EXPECT_EQ(tuple->elements()[3].toInt(), 6 * 2 + 1 + 6 * 3);
  EXPECT_EQ(unit->run_method("g", 3).toInt(), 4);
  EXPECT_THROW(unit->run_method("h"), c10::Error);
  const auto made =
      torch::make_custom_class<Stack>(std::vector<std::string>{"one"});
  EXPECT_EQ(unit->run_method("w", made).toDouble(), 1.5);
  EXPECT_THROW(unit->run_method("w", 3), c10::Error);
}

TEST(Class, GoesThroughValues) {
  const auto value =
      torch::make_custom_class<Stack>(std::vector<std::string>{"one"});
  EXPECT_TRUE(value.isCustomClass());
  EXPECT_FALSE(c10::IValue(3).isCustomClass());
  EXPECT_EQ(value.toCustomClass<Stack>()->items[0], "one");
  struct Other : torch::CustomClassHolder {};
  EXPECT_THROW(value.toCustomClass<Other>(), c10::Error);
  EXPECT_THROW(torch::make_custom_class<Other>(), c10::Error);
}

TEST(Class, IsMadeByAFunctionAndKeepsTuples) {
  const auto unit = torch::jit::compile(R"(
def f() -> Tuple[int, int, Tuple[Tuple[str, int], List[Tuple[str, int]]]]:
    a = torch.classes.class_test.Span(2, 7)
    b = torch.classes.class_test.Span(2, 7, True)
    return a.size(), b.size(), a.state()

def g() -> int:
    return torch.classes.class_test.Span("2", 7).size()
)");
  const auto tuple = unit->run_method("f").toTuple();
  EXPECT_EQ(tuple->elements()[0].toInt(), 5);
  EXPECT_EQ(tuple->elements()[1].toInt(), -5);
  const auto state = tuple->elements()[2].toTuple();
  const auto first = state->elements()[0].toTuple();
  EXPECT_EQ(first->elements()[0].toStringRef(), "from");
  EXPECT_EQ(first->elements()[1].toInt(), 2);
  const c10::IValue last = state->elements()[1].toListRef()[0];
  EXPECT_EQ(last.toTuple()->elements()[1].toInt(), 7);
  EXPECT_THROW(unit->run_method("g"), c10::Error);
}

TEST(Class, IsRegisteredOnce) {
  EXPECT_THROW(torch::class_<Stack>("class_test", "Stack"), c10::Error);
}

}  // namespace
