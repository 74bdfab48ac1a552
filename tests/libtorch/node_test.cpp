// Nodes of a program's own, and what at::Context switches.
#include <gtest/gtest.h>

#include "ATen/Context.h"
#include "hotaru/ops/attention/attention_kinds.h"
#include "hotaru/runtime/library_settings.h"
#include "torch/csrc/autograd/saved_variable.h"
#include "torch/torch.h"

namespace {

using torch::Tensor;
using torch::autograd::Edge;
using torch::autograd::Node;
using torch::autograd::variable_list;

int alive = 0;

/// The gradient of cube(), and of what it is told to return beside.
struct Cube : Node {
  Cube() { ++alive; }
  ~Cube() override { --alive; }
  variable_list apply(variable_list&& grads) override {
    variable_list out{grads[0] * 3 * saved.pow(2)};
    out.resize(gradients);
    return out;
  }
  void release_variables() override { saved.reset(); }
  std::string name() const override { return "Cube"; }

  Tensor saved;
  size_t gradients = 1;
};

/// Its outputs are those of `node`.
Tensor cube(const Tensor& x, const std::shared_ptr<Cube>& node) {
  node->saved = x.detach();
  node->set_next_edges(torch::autograd::collect_next_edges(x));
  const torch::NoGradGuard none;
  const auto out = torch::autograd::_wrap_outputs(
      {x}, {}, {}, torch::autograd::to_optional(x.pow(3)), node);
  return *out[0];
}

Tensor leaf(std::vector<double> values) {
  return torch::tensor(values, torch::kDouble).requires_grad_();
}

TEST(Node, OfAProgramIsInGraphs) {
  const Tensor x = leaf({1, 2});
  {
    auto node = std::make_shared<Cube>();
    const Tensor y = cube(x * 2, node);
    EXPECT_EQ(y.grad_fn(), node);
    EXPECT_EQ(node->num_inputs(), 1u);
    EXPECT_EQ(node->num_outputs(), 1u);
    EXPECT_EQ(node->next_edge(0).function->name(), "MulBackward0");
    EXPECT_TRUE(node->should_compute_output(0));
    const std::weak_ptr<Cube> seen = node;
    node.reset();
    EXPECT_FALSE(seen.expired());  // the tensor keeps it
    y.sum().backward();
    EXPECT_FALSE(seen.lock()->saved.defined());
  }
  EXPECT_EQ(alive, 0);
  EXPECT_TRUE(x.grad().equal(torch::tensor({24.0, 96.0}, torch::kDouble)));
}

TEST(Node, GradientsOfHigherOrderGoThroughIt) {
  const Tensor x = leaf({2});
  auto node = std::make_shared<Cube>();
  const Tensor y = cube(x, node);
  node->saved = x;
  const Tensor first = torch::autograd::grad({y}, {x}, {}, true, true)[0];
  EXPECT_EQ(torch::autograd::grad({first}, {x})[0].item<double>(), 12);
}

TEST(Node, WrongCountsOfGradientsAreRefused) {
  const Tensor x = leaf({1});
  auto node = std::make_shared<Cube>();
  node->gradients = 2;
  const Tensor y = cube(x, node);
  EXPECT_THROW(y.backward(), c10::Error);
  EXPECT_THROW(node->set_next_edges({}), c10::Error);
}

TEST(Node, OutputsThatAreWrittenOrGivenBack) {
  const Tensor x = leaf({1, 2});
  auto node = std::make_shared<Cube>();
  node->saved = torch::ones(2, torch::kDouble);
  const Tensor y = x * 1, count = torch::ones(2, torch::kLong);
  node->set_next_edges(torch::autograd::collect_next_edges(y));
  std::vector<std::optional<Tensor>> out;
  {
    const torch::NoGradGuard none;
    y.mul_(3);
    y.unsafeGetTensorImpl()->bump_version();
    out = torch::autograd::_wrap_outputs({y}, {}, {y.unsafeGetTensorImpl()},
                                         {y, count, std::nullopt}, node);
  }
  EXPECT_TRUE(out[0]->is_same(y));
  EXPECT_EQ(y.grad_fn(), node);
  EXPECT_FALSE(out[1]->requires_grad());
  EXPECT_FALSE(out[2].has_value());
  EXPECT_EQ(node->num_inputs(), 3u);
  y.sum().backward();
  EXPECT_TRUE(x.grad().equal(torch::full({2}, 3.0, torch::kDouble)));

  const auto other = std::make_shared<Cube>();
  EXPECT_THROW(torch::autograd::_wrap_outputs(
                   {x}, {}, {x.unsafeGetTensorImpl()}, {x}, other),
               c10::Error);
  const auto same = torch::autograd::_wrap_outputs({x}, {}, {}, {x}, other);
  EXPECT_FALSE(same[0]->is_same(x));
  EXPECT_EQ(same[0]->grad_fn(), other);
  EXPECT_TRUE(x.is_leaf());
}

TEST(Node, SavedOutputsKeepNoCycle) {
  const Tensor x = leaf({2});
  {
    const auto node = std::make_shared<Cube>();
    const Tensor y = cube(x, node);
    const torch::autograd::SavedVariable saved(y, true);
    const Tensor again = saved.unpack(node);
    EXPECT_EQ(again.grad_fn(), node);
    EXPECT_TRUE(again.equal(y));
    EXPECT_THROW(saved.unpack(), c10::Error);
  }
  EXPECT_EQ(alive, 0);
}

TEST(Context, SwitchesReachWhatComputes) {
  auto& context = at::globalContext();
  const bool before = context.allowTF32CuBLAS();
  context.setAllowTF32CuBLAS(!before);
  EXPECT_EQ(hotaru::allows_tf32(hotaru::Tf32::kMatmul), !before);
  context.setAllowTF32CuBLAS(before);
  const std::vector<int> kinds = hotaru::attention_kinds();
  context.setSDPUseFlash(false);
  EXPECT_FALSE(context.userEnabledFlashSDP());
  EXPECT_EQ(hotaru::attention_kinds().size(), kinds.size() - 1);
  context.setSDPUseFlash(true);
  EXPECT_EQ(hotaru::attention_kinds(), kinds);  // in the order of before
  context.setSDPUseMath(false);
  context.setSDPUseMath(true);
  EXPECT_EQ(hotaru::attention_kinds(), kinds);
  context.setAllowFP16ReductionCuBLAS(false);
  EXPECT_EQ(context.allowFP16ReductionCuBLAS(),
            at::CuBLASReductionOption::DisallowReducedPrecisionAllowSplitK);
  context.setAllowFP16ReductionCuBLAS(true);
}

TEST(Context, DefaultGeneratorsAndTheirStates) {
  at::Generator generator =
      at::globalContext().defaultGenerator(at::DeviceType::CPU);
  EXPECT_EQ(generator, at::detail::getDefaultCPUGenerator());
  const at::Generator other(generator.getIntrusivePtr());
  EXPECT_EQ(other, generator);
  const Tensor state = generator.get_state();
  EXPECT_EQ(state.scalar_type(), torch::kByte);
  const Tensor first = torch::rand(4);
  EXPECT_FALSE(torch::rand(4).equal(first));
  generator.set_state(state);
  EXPECT_TRUE(torch::rand(4).equal(first));
  EXPECT_THROW(generator.set_state(torch::ones(3)), c10::Error);
}

TEST(Context, BitsOfHalvesAndTensorsByReference) {
  EXPECT_EQ(c10::Half(1.0f).x, 0x3c00);
  EXPECT_EQ(c10::BFloat16(1.0f).x, 0x3f80);
  torch::IValue value(torch::ones(2));
  value.toTensor().add_(1);
  const Tensor& held = std::as_const(value).toTensor();
  EXPECT_EQ(held.sum().item<float>(), 4);
  EXPECT_THROW(torch::IValue(1).toTensor(), c10::Error);
}

}  // namespace
