// Archives that PyTorch wrote (tests/golden/make_script.py) and what PyTorch
// computed with them.
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "hotaru/autograd/grad_mode.h"
#include "hotaru/core/error.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/script/archive/archive.h"
#include "hotaru/script/program/function.h"
#include "hotaru/script/run/interpreter.h"
#include "hotaru/script/types/enum_type.h"

namespace hotaru::script {
namespace {

std::string golden(const std::string& name) {
  return std::string(HOTARU_GOLDEN) + "/script/" + name + ".pt";
}

double distance(const Tensor& a, const Tensor& b) {
  EXPECT_TRUE(same(a.sizes(), b.sizes()));
  Tensor x = contiguous(a);
  Tensor y = contiguous(b);
  double worst = 0;
  for (int64_t i = 0; i < x.numel(); ++i) {
    worst = std::max<double>(
        worst, std::fabs(x.data<float>()[i] - y.data<float>()[i]));
  }
  return worst;
}

Module child(const Module& module, const std::string& name) {
  Value value = module.attribute(name);
  return Module(Ref<InstanceObject>(&value.as_instance()));
}

Tensor filled(double value) {
  constexpr int64_t kSize[] = {2};
  return full(kSize, value);
}

class Script : public testing::TestWithParam<const char*> {
 protected:
  std::string file(const std::string& name) const {
    return golden(name + GetParam());
  }
};

// Both of PyTorch's versions print the same language a little differently.
INSTANTIATE_TEST_SUITE_P(Versions, Script, testing::Values("", "_old"),
                         [](const auto& info) {
                           return std::string(*info.param ? "v1_13" : "v2_13");
                         });

TEST_P(Script, LanguageGivesWhatPyTorchGave) {
  Module all = load(file("language"));
  Module language = child(all, "module");
  Value expected = all.attribute("expected");
  ASSERT_GT(expected.as_dict().items.size(), 10u);
  for (const auto& [name, text] : expected.as_dict().items) {
    SCOPED_TRACE(name.as_string());
    Value result = language.call(name.as_string(), {});
    EXPECT_EQ(result.as_string(), text.as_string());
  }
}

TEST_P(Script, RunsAreIndependentAndRepeatable) {
  Module language = child(load(file("language")), "module");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(language.call("attributes", {}).as_string(),
              "(2, [2], {a: 1, b: 2, c: 3}, 2, 0.5, True)");
  }
}

TEST_P(Script, ErrorsCarryClassMessageAndPlace) {
  Module language = child(load(file("language")), "module");
  struct Case {
    int kind;
    const char* class_name;
    const char* message;
  };
  const Case cases[] = {
      {0, "builtins.ValueError", "value 0 is bad"},
      {1, "", "AssertionError: kind must not be one"},
      {2, "", "list index out of range"},
      {3, "", "KeyError: missing"},
      {4, "builtins.RuntimeError", "inside with"},
  };
  for (const Case& c : cases) {
    try {
      language.call("failing", {Value(c.kind)});
      ADD_FAILURE() << "kind " << c.kind << " did not fail";
    } catch (const ExecutionError& error) {
      EXPECT_EQ(error.class_name(), c.class_name);
      EXPECT_EQ(error.message(), c.message);
      EXPECT_NE(std::string(error.what()).find("in failing"), std::string::npos)
          << error.what();
    }
    EXPECT_TRUE(autograd::grad_enabled()) << "a with block was not left";
  }
  EXPECT_EQ(language.call("failing", {Value(9)}).as_int(), 9);
}

TEST_P(Script, CallsRunHooks) {
  Module hooks = child(load(file("cases")), "hooks");
  Module hooked = child(hooks, "hooked");
  Tensor x = hooks.call("forward", {filled(1)}).as_tensor();
  Value called = hooked({filled(1), Value(1)});
  EXPECT_EQ(distance(called.as_tensor(), x), 0);
  EXPECT_EQ(contiguous(x).data<float>()[0], 1 * 3 + 100 + 3);
  // By name, and without the hooks.
  called = hooked({filled(1)}, {{"by", Value(1)}});
  EXPECT_EQ(distance(called.as_tensor(), x), 0);
  Value alone = hooked.call("forward", {filled(1), Value(3)});
  EXPECT_EQ(contiguous(alone.as_tensor()).data<float>()[1], 3);
  // A hook may give something of another type, and may refuse.
  Module number = child(hooks, "number");
  EXPECT_EQ(number({filled(1), Value(4)}).as_double(), 8.0);
  EXPECT_THROW(number({filled(1), Value(-4)}), ExecutionError);
}

TEST_P(Script, EnumMembersOutliveTheirProgram) {
  Value color;
  {
    Module enums = child(load(file("cases")), "enums");
    color = enums.attribute("color");
  }
  ASSERT_NE(enum_of(color), nullptr);
  EXPECT_EQ(value_text(color), "Enum<Color.GREEN>");
  // The same member of the same file's class, loaded again.
  Module again = child(load(file("cases")), "enums");
  EXPECT_NE(enum_of(again.attribute("color")), enum_of(color));
  again.set_attribute("color", color);
  EXPECT_FALSE(same_member(again.attribute("color"),
                           again.attribute("palette").as_list().items[0]));
  EXPECT_EQ(again.call("assigned", {}).as_string(), "BLUE GREEN");
  EXPECT_THROW(again.set_attribute("color", Value(2)), Error);
}

TEST_P(Script, ModulesOfOneInterfaceCanBeSwapped) {
  Module one = child(load(file("cases")), "interfaces");
  Module two = child(load(file("cases")), "interfaces");
  Module learned = child(child(two, "layers"), "1");
  one.set_attribute("scale", Value(learned.object()));
  Value result = one({filled(3)});
  EXPECT_EQ(contiguous(result.as_tensor()).data<float>()[0], 3);
  EXPECT_THROW(one.set_attribute("scale", Value(one.object())), Error);
}

TEST_P(Script, NetworksGiveWhatPyTorchGave) {
  Module networks = load(file("networks"));
  autograd::NoGrad no_grad;
  int count = 0;
  for (const auto& [name, sample] : networks.named_children()) {
    SCOPED_TRACE(name);
    Tensor input = sample.attribute("input").as_tensor();
    Tensor output = sample.attribute("output").as_tensor();
    EXPECT_LT(distance(sample({input}).as_tensor(), output), 1e-5);
    ++count;
  }
  EXPECT_EQ(count, 10);
}

TEST_P(Script, FrozenNetworksGiveWhatPyTorchGave) {
  Module networks = load(file("networks"));
  autograd::NoGrad no_grad;
  for (const char* name : {"conv", "lstm"}) {
    SCOPED_TRACE(name);
    Module frozen = load(file(std::string("frozen_") + name));
    Module sample = child(networks, std::string(name) + "_script");
    Tensor output = sample.attribute("output").as_tensor();
    EXPECT_LT(distance(frozen({sample.attribute("input")}).as_tensor(), output),
              1e-5);
    EXPECT_TRUE(frozen.named_parameters().empty());
  }
}

TEST(ScriptModule, NamesComeInOrder) {
  Module conv = child(child(load(golden("networks")), "conv_script"), "net");
  std::vector<std::string> names;
  for (const auto& [name, tensor] : conv.named_parameters())
    names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{
                       "c1.weight", "c1.bias", "norm.weight", "norm.bias",
                       "c2.weight", "c2.bias", "out.weight", "out.bias"}));
  names.clear();
  for (const auto& [name, tensor] : conv.named_buffers()) names.push_back(name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"norm.running_mean", "norm.running_var",
                                      "norm.num_batches_tracked"}));
  EXPECT_EQ(conv.named_modules().size(), 7u);
}

TEST(ScriptModule, TrainAndEvalReachEveryModule) {
  Module conv = child(child(load(golden("networks")), "conv_script"), "net");
  EXPECT_FALSE(child(conv, "drop").attribute("training").as_bool());
  conv.train();
  EXPECT_TRUE(child(conv, "drop").attribute("training").as_bool());
  conv.eval();
  EXPECT_FALSE(child(conv, "norm").attribute("training").as_bool());
}

TEST(ScriptModule, ToConvertsFloatingTensorsOnly) {
  Module conv = child(child(load(golden("networks")), "conv_script"), "net");
  conv.to({}, DType::kFloat64);
  for (const auto& [name, tensor] : conv.named_parameters())
    EXPECT_EQ(tensor.dtype(), DType::kFloat64) << name;
  EXPECT_EQ(
      child(conv, "norm").attribute("num_batches_tracked").as_tensor().dtype(),
      DType::kInt64);
  EXPECT_THROW(conv.to({}, DType::kInt32), TypeError);
}

TEST(ScriptModule, ArgumentsAreChecked) {
  Module mlp = child(load(golden("networks")), "mlp_script");
  Tensor x = mlp.attribute("input").as_tensor();
  EXPECT_THROW(mlp({}), TypeError);
  EXPECT_THROW(mlp({Value(1)}), TypeError);
  EXPECT_THROW(mlp({x, x}), TypeError);
  EXPECT_THROW(mlp({}, {{"y", x}}), TypeError);
  EXPECT_THROW(mlp({x}, {{"x", x}}), TypeError);
  EXPECT_NO_THROW(mlp({}, {{"x", x}}));
  EXPECT_THROW(mlp.call("backward", {}), Error);
}

TEST(ScriptModule, AttributesKeepTheirTypes) {
  Module language = child(load(golden("language")), "module");
  language.set_attribute("state", Value(5));
  EXPECT_EQ(language.attribute("state").as_int(), 5);
  language.set_attribute("threshold", Value(1));  // int becomes float
  EXPECT_EQ(language.attribute("threshold").as_double(), 1.0);
  EXPECT_THROW(language.set_attribute("state", Value("x")), Error);
  EXPECT_THROW(language.set_attribute("nothing", Value(1)), Error);
  EXPECT_THROW(language.attribute("nothing"), Error);
}

TEST(ScriptModule, CodeAndGraphShowTheProgram) {
  Module mlp = child(load(golden("networks")), "mlp_script");
  std::string code = mlp.code();
  EXPECT_TRUE(code.starts_with("def forward(self,\n    x: Tensor)")) << code;
  std::string graph = mlp.graph();
  EXPECT_TRUE(graph.starts_with("graph(%self.")) << graph;
  EXPECT_NE(graph.find("prim::GetAttr[name=\"net\"]"), std::string::npos);
  EXPECT_NE(graph.find("return ("), std::string::npos);
}

TEST(ScriptModule, TensorsAreNotCopied) {
  Module mlp = load(golden("networks"));
  auto parameters = mlp.named_parameters();
  ASSERT_FALSE(parameters.empty());
  for (const auto& [name, tensor] : parameters)
    EXPECT_FALSE(tensor.storage()->resizable()) << name;
}

// Several threads compile and run one module at once.
TEST(ScriptModule, ThreadsShareAModule) {
  Module conv = child(load(golden("networks")), "conv_script");
  Value input = conv.attribute("input");
  Tensor output = conv.attribute("output").as_tensor();
  std::vector<double> worst(4, 1.0);
  std::vector<std::thread> threads;
  for (double& mine : worst) {
    threads.emplace_back([&] {
      autograd::NoGrad no_grad;
      mine = 0;
      for (int i = 0; i < 10; ++i)
        mine = std::max(mine, distance(conv({input}).as_tensor(), output));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (double mine : worst) EXPECT_LT(mine, 1e-5);
}

// The tensors keep the file's map alive when the module is gone.
TEST(ScriptModule, TensorsOutliveTheModule) {
  Tensor weight;
  {
    Module networks = load(golden("networks"));
    weight = networks.named_parameters()[0].second;
  }
  double sum = 0;
  for (int64_t i = 0; i < weight.numel(); ++i) sum += weight.data<float>()[i];
  EXPECT_TRUE(std::isfinite(sum));
}

}  // namespace
}  // namespace hotaru::script
