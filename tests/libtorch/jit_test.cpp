// TorchScript in C++ programs.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "ATen/core/future.h"
#include "c10/util/tempfile.h"
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

TEST(Jit, ModulesThatAProgramMakes) {
  torch::jit::Module m("m");
  m.register_parameter("weight", torch::full({2}, 3.0), false);
  m.register_buffer("shift", torch::ones({2}));
  m.register_attribute("times", c10::IntType::get(), 2);
  m.define(R"(
    def scaled(self, x):
      return x * self.weight + self.shift
    def forward(self, x, n: int = 1):
      for i in range(n * self.times):
        x = self.scaled(x)
      return x
  )");
  const Tensor x = torch::zeros({2});
  EXPECT_TRUE(m.forward({x}).toTensor().equal(torch::full({2}, 4.0)));
  EXPECT_TRUE(m.forward({x, 2}).toTensor().equal(torch::full({2}, 40.0)));
  ASSERT_EQ(m.named_parameters().size(), 1u);
  EXPECT_EQ(m.named_parameters()[0].name, "weight");
  EXPECT_EQ(m.buffers().size(), 1u);
  // Again: the value changes, another kind is refused.
  m.register_parameter("weight", torch::zeros({2}), false);
  EXPECT_TRUE(m.forward({x}).toTensor().equal(torch::ones({2})));
  EXPECT_THROW(m.register_parameter("weight", x, true), c10::Error);
  EXPECT_THROW(m.register_attribute("times", c10::IntType::get(), "x"),
               c10::Error);
  EXPECT_THROW(m.define("def broken(:"), c10::Error);

  torch::jit::Module outer("outer");
  outer.register_module("inner", m);
  outer.register_attribute("names",
                           c10::ListType::create(c10::StringType::get()),
                           std::vector<std::string>{"a"});
  outer.define("def forward(self, x):\n  return self.inner.scaled(x) + 1\n");
  EXPECT_TRUE(outer.forward({x}).toTensor().equal(torch::full({2}, 2.0)));
  EXPECT_EQ(outer.named_attributes(false).size(), 2u);
  EXPECT_EQ(outer.named_attributes()[1].name, "inner.weight");
  std::stringstream archive;
  outer.save(archive);
  const torch::jit::Module again = torch::jit::load(archive);
  EXPECT_TRUE(again.forward({x}).toTensor().equal(torch::full({2}, 2.0)));
}

TEST(Jit, TypesAndFunctionsOfMethods) {
  torch::jit::Module m("m");
  m.define("def forward(self, x, n: int = 1) -> List[int]:\n  return [n]\n");
  const auto type = m.type();
  EXPECT_EQ(type->kind(), c10::TypeKind::ClassType);
  EXPECT_EQ(type->name()->name(), "m");
  const auto& schema = type->getMethod("forward").getSchema();
  ASSERT_EQ(schema.arguments().size(), 3u);
  EXPECT_TRUE(schema.arguments()[1].type()->cast<c10::TensorType>());
  EXPECT_FALSE(schema.arguments()[2].type()->cast<c10::TensorType>());
  EXPECT_EQ(schema.arguments()[2].default_value()->toInt(), 1);
  EXPECT_EQ(*schema.returns()[0].type(),
            *c10::ListType::create(c10::IntType::get()));
  EXPECT_EQ(schema.returns()[0].type()->str(), "int[]");
  EXPECT_THROW(type->getMethod("nothing"), c10::Error);

  const torch::jit::Method method = m.get_method("forward");
  EXPECT_EQ(method.function().num_inputs(), 3u);
  EXPECT_EQ(&method.function(), &method.function());
  EXPECT_EQ(method.function()({m, torch::ones(1), 7}).toIntVector()[0], 7);
  const auto unit = torch::jit::compile(kSource);
  torch::jit::Function* add = unit->find_function("add");
  ASSERT_TRUE(add);
  EXPECT_EQ((*add)({torch::ones(1), torch::ones(1)}).toTensor().item<int>(), 2);
  EXPECT_EQ(add->getSchema().returns().size(), 1u);
  EXPECT_FALSE(unit->find_function("nothing"));
}

TEST(Jit, LoadsWhateverIsAProgram) {
  const std::string folder = HOTARU_ARCHIVES;
  for (const char* name : {"/onnx/perceptron.onnx", "/pt2/rows.pt2"}) {
    const torch::jit::Module from_path = torch::jit::load(folder + name);
    EXPECT_TRUE(from_path.has_method("forward"));
    std::ifstream file(folder + name, std::ios::binary);
    torch::jit::ExtraFilesMap extra{{"note", ""}};
    const torch::jit::Module from_stream = torch::jit::load(file, {}, extra);
    EXPECT_EQ(from_stream.named_parameters().size(),
              from_path.named_parameters().size());
  }
  std::istringstream nothing("neither");
  EXPECT_THROW(torch::jit::load(nothing), c10::Error);
}

TEST(IValue, EntriesOfDictionaries) {
  c10::Dict<std::string, int64_t> dict;
  dict.insert("a", 1);
  dict.insert("b", 2);
  for (auto& item : dict) item.setValue(item.value() * 10);
  int64_t sum = 0;
  for (const auto& item : dict) sum += item.value() + int(item.key().size());
  EXPECT_EQ(sum, 32);
  EXPECT_EQ(dict.find("b")->value(), 20);
}

struct Bytes : caffe2::serialize::ReadAdapterInterface {
  explicit Bytes(std::string text) : text(std::move(text)) {}
  size_t size() const override { return text.size(); }
  size_t read(uint64_t at, void* to, size_t n, const char*) const override {
    return text.copy(static_cast<char*>(to), n, size_t(at));
  }
  std::string text;
};

TEST(Jit, ReadersAndParametersOfFiles) {
  torch::jit::Module m("m");
  m.register_parameter("w", torch::ones({2}), false);
  std::ostringstream archive;
  m.save(archive);
  const auto again = torch::jit::load(std::make_shared<Bytes>(archive.str()));
  EXPECT_TRUE(again.attr("w").toTensor().equal(torch::ones({2})));

  c10::Dict<std::string, Tensor> dict;
  dict.insert("w", torch::full({1}, 3));
  const std::vector<char> bytes = torch::pickle_save(IValue(dict));
  c10::TempFile file = c10::make_tempfile();
  std::ofstream(file.name, std::ios::binary)
      .write(bytes.data(), std::streamsize(bytes.size()));
  const auto read = torch::jit::_load_parameters(file.name);
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read.at("w").item<int>(), 3);
  EXPECT_THROW(torch::jit::_load_parameters("/nowhere"), c10::Error);
}

TEST(Jit, ObjectsOfClasses) {
  torch::jit::Module m("m");
  m.register_attribute("n", c10::IntType::get(), 1);
  m.define("def forward(self, x: int):\n  return x + self.n\n");
  const auto object = IValue(m).toObject();
  object->setAttr("n", 5);
  EXPECT_EQ(object->getAttr("n").toInt(), 5);
  EXPECT_THROW(object->setAttr("n", "text"), c10::Error);
  EXPECT_THROW(object->getAttr("nothing"), c10::Error);
  const IValue sum = object->type()->getMethod("forward")({m, 2});
  EXPECT_EQ(sum.toInt(), 7);
  EXPECT_THROW(m.create_class("nothing", {}), c10::Error);
}

}  // namespace
