// TorchScript in C++ programs.
#include <gtest/gtest.h>

#include <sstream>

#include "ATen/core/future.h"
#include "torch/script.h"
#include "torch/serialize.h"

namespace {

using torch::Tensor;
using torch::jit::IValue;

constexpr char kSource[] = R"(
def add(a: Tensor, b: Tensor) -> Tensor:
  return torch.add(a, b)
def many(a: Tensor, n: int, names: List[str]) -> Tuple[Tensor, Dict[str, int]]:
  out: Dict[str, int] = {}
  for name in names:
    out[name] = n
  return torch.mul(a, n), out
def waits(a: Tensor) -> Tensor:
  f = fork(add, a, a)
  return wait(f)
)";

TEST(Jit, FunctionsOfASource) {
  const auto unit = torch::jit::compile(kSource);
  const Tensor sum =
      unit->run_method("add", torch::ones(2), torch::ones(2)).toTensor();
  EXPECT_TRUE(sum.equal(torch::full({2}, 2.0)));
  const IValue result = unit->run_method("many", torch::ones(1), 3,
                                         std::vector<std::string>{"x", "y"});
  ASSERT_TRUE(result.isTuple());
  const auto elements = result.toTuple()->elements();
  EXPECT_EQ(elements[0].toTensor().item<double>(), 3);
  const auto dict = elements[1].toGenericDict();
  EXPECT_EQ(dict.at("y").toInt(), 3);
  EXPECT_EQ(dict.size(), 2u);
  EXPECT_THROW(unit->run_method("nothing"), c10::Error);
  EXPECT_THROW(unit->run_method("add", 1), c10::Error);
  EXPECT_THROW(torch::jit::compile("def broken(:"), c10::Error);
}

TEST(IValue, KindsAndTheirErrors) {
  EXPECT_EQ(IValue(3).toInt(), 3);
  EXPECT_EQ(IValue(2.5).toDouble(), 2.5);
  EXPECT_TRUE(IValue(true).toBool());
  EXPECT_EQ(IValue("text").toStringRef(), "text");
  EXPECT_EQ(IValue("text").toString()->string(), "text");
  EXPECT_TRUE(IValue().isNone());
  EXPECT_TRUE(IValue(torch::ones(1)).isTensor());
  EXPECT_EQ(IValue(std::vector<int64_t>{1, 2}).toIntVector().size(), 2u);
  EXPECT_EQ(IValue(std::make_tuple(1, std::string("a"))).tagKind(), "Tuple");
  EXPECT_FALSE(IValue(std::optional<int64_t>()).toOptional<int64_t>());
  EXPECT_EQ(IValue(torch::kHalf).toScalarType(), torch::kHalf);
  EXPECT_EQ(IValue(torch::Device("cuda:1")).toDevice(),
            torch::Device("cuda:1"));
  try {
    IValue(3).toTensor();
    FAIL();
  } catch (const c10::Error& error) {
    EXPECT_STREQ(error.what(), "Expected Tensor but got Int");
  }
  std::ostringstream out;
  out << IValue(std::make_tuple(1, std::vector<int64_t>{2, 3}));
  EXPECT_EQ(out.str(), "(1, [2, 3])");
}

TEST(IValue, ListsAreShared) {
  c10::List<int64_t> list{1, 2};
  const IValue value(list);
  list.push_back(3);
  EXPECT_EQ(value.toIntList().size(), 3u);
  list[0] = 7;
  EXPECT_EQ(value.toIntVector()[0], 7);
  int64_t sum = 0;
  for (const int64_t x : list) sum += x;
  EXPECT_EQ(sum, 12);
  EXPECT_NE(list.copy().object(), list.object());
}

/// A module in an archive, made with the archive writer.
torch::jit::Module saved_and_loaded() {
  torch::serialize::OutputArchive archive, inner;
  inner.write("weight", torch::ones({2, 2}));
  archive.write("inner", inner);
  archive.write("mean", torch::zeros(2), /*is_buffer=*/true);
  archive.write("factor", IValue(2.5));
  std::stringstream stream;
  archive.save_to(stream);
  return torch::jit::load(stream);
}

TEST(Jit, ModulesOfAnArchive) {
  const torch::jit::Module module = saved_and_loaded();
  EXPECT_EQ(module.attr("factor").toDouble(), 2.5);
  EXPECT_EQ(module.attr("nothing", IValue(1)).toInt(), 1);
  ASSERT_EQ(module.named_parameters().size(), 1u);
  EXPECT_EQ(module.named_parameters()[0].name, "inner.weight");
  EXPECT_EQ(module.buffers().size(), 1u);
  EXPECT_EQ(module.named_children()[0].name, "inner");
  module.setattr("factor", 4.0);
  EXPECT_EQ(module.attr("factor").toDouble(), 4);
  module.to(torch::kDouble);
  EXPECT_EQ(module.parameters()[0].scalar_type(), torch::kDouble);
  EXPECT_THROW(module.forward({torch::ones(1)}), c10::Error);
  EXPECT_THROW(module.get_method("nothing"), c10::Error);
  EXPECT_THROW(torch::jit::load("/nowhere.pt"), c10::Error);
  EXPECT_THROW(torch::jit::Module().forward({}), c10::Error);
}

TEST(Future, ValuesAndErrors) {
  const c10::ivalue::Future future;
  int called = 0;
  future.addCallback(
      [&](c10::ivalue::Future& done) { called = int(done.value().toInt()); });
  future.markCompleted(IValue(7));
  EXPECT_EQ(called, 7);
  EXPECT_TRUE(future.hasValue());
  const c10::ivalue::Future failed;
  failed.setError(std::make_exception_ptr(std::runtime_error("no")));
  EXPECT_TRUE(failed.hasError());
  EXPECT_THROW(failed.waitAndThrow(), std::runtime_error);
}

/// As raw strings in programs stand.
TEST(Compile, SourceThatIsIndented) {
  const auto unit = torch::jit::compile(R"(
      def twice(x: int):
          return x * 2

      def thrice(x: int):
          return x * 3
  )");
  EXPECT_EQ(unit->run_method("twice", 4).toInt(), 8);
  EXPECT_EQ(unit->run_method("thrice", 4).toInt(), 12);
}

/// One thing that is twice in a value is one in its copy.
TEST(IValues, DeepCopies) {
  const torch::Tensor x = torch::ones({2});
  const c10::IValue list(std::vector<torch::Tensor>{x, x});
  const auto copy = list.deepcopy().toTensorVector();
  EXPECT_FALSE(copy[0].is_same(x));
  EXPECT_TRUE(copy[0].is_same(copy[1]));
  EXPECT_TRUE(copy[0].equal(x));
}

}  // namespace
