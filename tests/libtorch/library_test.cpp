// Operators that a C++ program defines.
#include "torch/library.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "hotaru/runtime/streams/stream.h"
#include "torch/script.h"
#include "torch/torch.h"

namespace {

using torch::Tensor;

c10::OperatorHandle op(const char* name, const char* overload = "") {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload);
}

Tensor muladd(const Tensor& a, const Tensor& b, double c) {
  TORCH_CHECK(a.sizes() == b.sizes(), "sizes differ");
  Tensor out = torch::empty_like(a);
  const float* x = a.data_ptr<float>();
  const float* y = b.data_ptr<float>();
  float* z = out.data_ptr<float>();
  for (int64_t i = 0; i < a.numel(); ++i) z[i] = x[i] * y[i] + float(c);
  return out;
}

void add_into(const Tensor& a, const Tensor& b, Tensor& out) {
  const float* x = a.data_ptr<float>();
  const float* y = b.data_ptr<float>();
  for (int64_t i = 0; i < a.numel(); ++i)
    out.data_ptr<float>()[i] = x[i] + y[i];
}

std::tuple<Tensor, int64_t> both(at::TensorList tensors,
                                 std::optional<int64_t> n,
                                 const std::string& text,
                                 at::IntArrayRef sizes) {
  Tensor sum = torch::zeros(sizes);
  for (const Tensor& t : tensors) sum = sum + t;
  return {sum, n.value_or(int64_t(text.size()))};
}

TORCH_LIBRARY(own_test, m) {
  m.def("muladd(Tensor a, Tensor b, float c=1.0) -> Tensor");
  m.def("add_into(Tensor a, Tensor b, Tensor(a!) out) -> ()");
  m.def("inferred", &both);
  m.def("throws(Tensor x) -> Tensor");
  m.def("lists(Tensor[] xs, Tensor? bias, int n) -> (Tensor, Tensor[])");
  m.def("lower(Tensor x) -> Tensor");
  m.def("counted_(Tensor(a!) x) -> Tensor(a!)");
  m.def("doubles", [](Tensor x) { return x.mul_(2); });
  m.def("twice(Tensor x) -> Tensor", [](const Tensor& x) { return x * 2; });
  m.def("named.one(Tensor x) -> Tensor", [](const Tensor& x) { return x + 1; });
  m.def("named.two(Tensor x, Tensor y) -> Tensor");
  m.def(
      "multi(\n    Tensor x,\n    int[2] size=[1, 2],\n    *,\n    str "
      "mode='sum'\n) -> (Tensor, Tensor)");
  m.def("no_kernel(Tensor x) -> Tensor");
  m.def("square(Tensor x) -> Tensor");
  m.def("boxed(Tensor x, int n) -> Tensor");
}
TORCH_LIBRARY_IMPL(own_test, CPU, m) {
  m.impl("muladd", &muladd);
  m.impl("add_into", &add_into);
  m.impl("named.two", [](const Tensor& x, const Tensor& y) { return x + y; });
  m.impl("square", [](const Tensor& x) { return x * x; });
}
TORCH_LIBRARY_IMPL(own_test, Meta, m) {
  m.impl("muladd", [](const Tensor& a, const Tensor&, double) {
    return torch::empty_like(a);
  });
}

std::tuple<Tensor, std::vector<Tensor>> lists(at::TensorList xs,
                                              const std::optional<Tensor>& bias,
                                              int64_t n) {
  std::vector<Tensor> all;
  Tensor sum = torch::zeros_like(xs[0]);
  for (const Tensor& x : xs) {
    sum = sum + x;
    all.push_back(x * n);
  }
  return {bias ? sum + *bias : sum, all};
}
TORCH_LIBRARY_IMPL(own_test, CPU, m) {
  m.impl("throws", [](const Tensor&) -> Tensor {
    TORCH_CHECK(false, "a kernel's own error");
  });
  m.impl("lists", &lists);
  m.impl("lower", [](const Tensor& x) { return x + 1; });
  m.impl("counted_", [](Tensor x) { return x.add_(1); });
}
TORCH_LIBRARY_IMPL(own_test, Meta, m) {
  m.impl("throws", [](const Tensor& x) { return torch::empty_like(x); });
  m.impl("lists", [](at::TensorList xs, const std::optional<Tensor>&, int64_t) {
    std::vector<Tensor> all;
    for (const Tensor& x : xs) all.push_back(torch::empty_like(x));
    return std::make_tuple(torch::empty_like(xs[0]), all);
  });
}
TORCH_LIBRARY_IMPL(own_test, AutocastCPU, m) {
  m.impl("lower", [](const Tensor& x) {
    const c10::impl::ExcludeDispatchKeyGuard plain(
        c10::DispatchKey::AutocastCPU);
    return op("own_test::lower")
        .typed<Tensor(const Tensor&)>()
        .call(x.to(torch::kBFloat16));
  });
}

struct Square : torch::autograd::Function<Square> {
  static Tensor forward(torch::autograd::AutogradContext* ctx,
                        const Tensor& x) {
    const at::AutoDispatchBelowAutograd below;
    ctx->save_for_backward({x});
    static const auto op = c10::Dispatcher::singleton()
                               .findSchemaOrThrow("own_test::square", "")
                               .typed<Tensor(const Tensor&)>();
    return op.call(x);
  }
  static torch::autograd::tensor_list backward(
      torch::autograd::AutogradContext* ctx,
      torch::autograd::tensor_list grads) {
    return {grads[0] * ctx->get_saved_variables()[0] * 2};
  }
};
TORCH_LIBRARY_IMPL(own_test, Autograd, m) {
  m.impl("square", [](const Tensor& x) { return Square::apply(x); });
}

void boxed(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  EXPECT_EQ(op.schema().arguments().size(), 2u);
  const int64_t n = torch::jit::pop(*stack).toInt();
  const Tensor x = torch::jit::pop(*stack).toTensor();
  torch::jit::push(*stack, x * n);
}
TORCH_LIBRARY_IMPL(own_test, CompositeExplicitAutograd, m) {
  m.impl("boxed", torch::CppFunction::makeFromBoxedFunction<&boxed>());
}

const auto older =
    torch::RegisterOperators()
        .op("own_test_older::times", [](Tensor x, int64_t n) { return x * n; })
        .op("own_test_older::plus(Tensor x, int n=1) -> Tensor",
            torch::RegisterOperators::options().kernel(
                c10::DispatchKey::CPU,
                [](Tensor x, int64_t n) { return x + n; }));

TEST(Library, IsCalledByItsTypes) {
  const auto found = op("own_test::muladd")
                         .typed<Tensor(const Tensor&, const Tensor&, double)>();
  const Tensor out =
      found.call(torch::full({2}, 3.f), torch::full({2}, 4.f), 5);
  EXPECT_TRUE(torch::equal(out, torch::full({2}, 17.f)));
  EXPECT_THROW(op("own_test::muladd").typed<Tensor(const Tensor&)>(),
               c10::Error);
  EXPECT_THROW(op("own_test::nothing"), c10::Error);
  EXPECT_EQ(toString(op("own_test::named", "two").schema()),
            "own_test::named.two(Tensor x, Tensor y) -> Tensor");
}

TEST(Library, InfersASchema) {
  EXPECT_EQ(toString(op("own_test::inferred").schema()),
            "own_test::inferred(Tensor[] _0, int? _1, str _2, int[] _3) -> "
            "(Tensor, int)");
  torch::jit::Stack stack{std::vector<Tensor>{torch::ones(2), torch::ones(2)},
                          c10::IValue(), "four", std::vector<int64_t>{2}};
  op("own_test::inferred").callBoxed(stack);
  ASSERT_EQ(stack.size(), 2u);
  EXPECT_TRUE(torch::equal(stack[0].toTensor(), torch::full({2}, 2.f)));
  EXPECT_EQ(stack[1].toInt(), 4);
}

TEST(Library, ReadsSchemasOfSeveralLines) {
  const auto schema = op("own_test::multi").schema();
  EXPECT_EQ(toString(schema),
            "own_test::multi(Tensor x, int[2] size=[1, 2], *, str "
            "mode=\"sum\") -> (Tensor, Tensor)");
}

TEST(Library, RecordsItsDerivative) {
  Tensor x = torch::full({2}, 3.f).set_requires_grad(true);
  op("own_test::square")
      .typed<Tensor(const Tensor&)>()
      .call(x)
      .sum()
      .backward();
  EXPECT_TRUE(torch::equal(x.grad(), torch::full({2}, 6.f)));
  // Composite ones are differentiable as what they call is.
  x.mutable_grad() = Tensor();
  op("own_test::twice").typed<Tensor(const Tensor&)>().call(x).sum().backward();
  EXPECT_TRUE(torch::equal(x.grad(), torch::full({2}, 2.f)));
}

TEST(Library, RegisterOperatorsDoesTheSame) {
  const Tensor x = torch::ones(2);
  using F = Tensor(Tensor, int64_t);
  EXPECT_TRUE(
      torch::equal(op("own_test_older::times").typed<F>().call(x, 3), x * 3));
  EXPECT_TRUE(
      torch::equal(op("own_test_older::plus").typed<F>().call(x, 3), x + 3));
}

TEST(Library, SaysWhatIsMissing) {
  const auto f = op("own_test::no_kernel").typed<Tensor(const Tensor&)>();
  try {
    f.call(torch::ones(1));
    FAIL();
  } catch (const c10::NotImplementedError& e) {
    EXPECT_NE(std::string(e.what()).find(
                  "Could not run 'own_test::no_kernel' with arguments from the "
                  "'CPU' backend."),
              std::string::npos)
        << e.what();
  }
}

TEST(Library, TakesBoxedKernels) {
  EXPECT_TRUE(torch::equal(op("own_test::boxed")
                               .typed<Tensor(const Tensor&, int64_t)>()
                               .call(torch::ones(2), 7),
                           torch::full({2}, 7.f)));
}

template <class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "no error";
}

TEST(Library, RefusesWhatIsWrong) {
  using torch::Library;
  const auto fragment = [] {
    return Library(Library::FRAGMENT, "own_test", std::nullopt, "here.cpp", 7);
  };
  const auto starts = [](const std::string& text, const std::string& start) {
    EXPECT_EQ(text.substr(0, start.size()), start);
  };
  starts(message_of([&] { fragment().def("twice(Tensor x) -> Tensor"); }),
         "Tried to register an operator (own_test::twice(Tensor x) -> Tensor) "
         "with the same name and overload name multiple times.");
  starts(message_of([] {
           Library(Library::DEF, "own_test", std::nullopt, "here.cpp", 7);
         }),
         "Only a single TORCH_LIBRARY can be used to register the namespace "
         "own_test;");
  starts(message_of([&] {
           fragment().impl("muladd", [](const Tensor& x) { return x; });
         }),
         "Inferred operator schema for a C++ kernel function doesn't match the "
         "expected function schema.");
  starts(message_of([&] { fragment().def("other::f(Tensor x) -> Tensor"); }),
         "Explicitly provided namespace (other)");
  for (const char* text :
       {"f(Tensor", "f(Tensor x)", "f(Tensor(a", "f(int[ x) -> int",
        "f(Nothing! x) -> ()", "f(Tensor x) -> Tensor)", "", "f"})
    EXPECT_NE(message_of([&] { fragment().def(text); }), "no error") << text;
  starts(message_of([] {
           Library(Library::IMPL, "aten", c10::DispatchKey::CPU, "here.cpp", 7)
               .impl("add.Tensor", &both);
         }),
         "aten::add.Tensor is one of hotaru's own operators");
}

TEST(Library, GoesWithItsBlock) {
  {
    torch::Library block(torch::Library::FRAGMENT, "own_test", std::nullopt,
                         "here.cpp", 7);
    block.def("passing", [](const Tensor& x) { return x; });
    EXPECT_TRUE(
        c10::Dispatcher::singleton().findSchema({"own_test::passing", ""}));
  }
  EXPECT_FALSE(
      c10::Dispatcher::singleton().findSchema({"own_test::passing", ""}));
}

TEST(Library, TorchScriptCallsIt) {
  const auto unit = torch::jit::compile(R"(
def f(x: Tensor, y: Tensor) -> Tensor:
    return torch.ops.own_test.muladd(x, y, 2.0) + torch.ops.own_test.twice(x)
)");
  const Tensor out =
      unit->run_method("f", torch::full({2}, 3.f), torch::full({2}, 4.f))
          .toTensor();
  EXPECT_TRUE(torch::equal(out, torch::full({2}, 20.f)));
}

TEST(Library, TorchScriptKeepsCallsThatMayWrite) {
  // A schema that C++ types say tells nothing of writes.
  const auto unit = torch::jit::compile(R"(
def f(x: Tensor) -> Tensor:
    torch.ops.own_test.doubles(x)
    return x + 1
)");
  EXPECT_TRUE(torch::equal(unit->run_method("f", torch::ones({2})).toTensor(),
                           torch::full({2}, 3.f)));
}

TEST(Library, QueuesRunItInTurn) {
  const hotaru::Stream stream = hotaru::Stream::queued();
  const Tensor x = torch::full({1000}, 3.f), y = torch::full({1000}, 4.f);
  Tensor out, sum = torch::zeros({1000});
  {
    const hotaru::StreamGuard guard(stream);
    const Tensor z = x * 2;
    out = op("own_test::muladd")
              .typed<Tensor(const Tensor&, const Tensor&, double)>()
              .call(z, y, 1.0);
    op("own_test::add_into")
        .typed<void(const Tensor&, const Tensor&, Tensor&)>()
        .call(out, y, sum);
  }
  stream.synchronize();
  EXPECT_TRUE(torch::equal(out, torch::full({1000}, 25.f)));
  EXPECT_TRUE(torch::equal(sum, torch::full({1000}, 29.f)));
}

TEST(Library, ErrorsOfQueuedKernelsFollowTheData) {
  const hotaru::Stream stream = hotaru::Stream::queued();
  const Tensor x = torch::ones({3});
  Tensor out;
  {
    const hotaru::StreamGuard guard(stream);
    out = op("own_test::throws").typed<Tensor(const Tensor&)>().call(x);
  }
  EXPECT_NE(
      message_of([&] { out[0].item<float>(); }).find("a kernel's own error"),
      std::string::npos);
  EXPECT_NE(message_of([&] { stream.synchronize(); }).find("own_test::throws"),
            std::string::npos);
  EXPECT_EQ(message_of([&] {
              op("own_test::throws").typed<Tensor(const Tensor&)>().call(x);
            }),
            "a kernel's own error");
}

TEST(Library, ListsAndMissingTensorsAreQueued) {
  const hotaru::Stream stream = hotaru::Stream::queued();
  using F = std::tuple<Tensor, std::vector<Tensor>>(
      const std::vector<Tensor>&, const std::optional<Tensor>&, int64_t);
  const auto f = op("own_test::lists").typed<F>();
  const Tensor x = torch::ones({3});
  std::tuple<Tensor, std::vector<Tensor>> with, without;
  {
    const hotaru::StreamGuard guard(stream);
    with = f.call({x, x + 1}, x * 5, 3);
    without = f.call({x}, std::nullopt, 2);
  }
  EXPECT_TRUE(torch::equal(std::get<0>(with), torch::full({3}, 8.f)));
  EXPECT_TRUE(torch::equal(std::get<1>(with).at(1), torch::full({3}, 6.f)));
  EXPECT_TRUE(torch::equal(std::get<0>(without), x));
  EXPECT_TRUE(torch::equal(std::get<1>(without).at(0), x * 2));
}

TEST(Library, AutocastHasALayer) {
  const auto f = op("own_test::lower").typed<Tensor(const Tensor&)>();
  const Tensor x = torch::ones({3});
  EXPECT_EQ(f.call(x).scalar_type(), torch::kFloat);
  hotaru::autocast::set_enabled(hotaru::DeviceType::kCPU, true);
  EXPECT_EQ(f.call(x).scalar_type(), torch::kBFloat16);
  hotaru::autocast::set_enabled(hotaru::DeviceType::kCPU, false);
  EXPECT_EQ(f.call(x).scalar_type(), torch::kFloat);
}

TEST(Library, WhatIsWrittenIsTheResult) {
  const auto f = op("own_test::counted_").typed<Tensor(const Tensor&)>();
  const hotaru::Stream stream = hotaru::Stream::queued();
  const Tensor x = torch::ones({3});
  {
    const hotaru::StreamGuard guard(stream);
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(f.call(x).is_same(x));
  }
  EXPECT_TRUE(torch::equal(x, torch::full({3}, 101.f)));
}

TEST(Library, ManyThreadsCallWhileOthersRegister) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      const auto f = op("own_test::twice").typed<Tensor(const Tensor&)>();
      while (!stop) {
        EXPECT_EQ(f.call(torch::ones({1})).item<float>(), 2);
        op("own_test::named", "one");
      }
    });
  for (int i = 0; i < 200; ++i) {
    torch::Library block(torch::Library::FRAGMENT, "own_test", std::nullopt,
                         "here.cpp", 7);
    block.def("passing", [](const Tensor& x) { return x; });
    block.impl("named.two", c10::DispatchKey::CPU,
               [](const Tensor& x, const Tensor& y) { return x - y; });
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
