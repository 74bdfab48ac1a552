// Gradients in C++ programs.
#include <gtest/gtest.h>

#include "ATen/autocast_mode.h"
#include "torch/csrc/autograd/engine.h"
#include "torch/torch.h"

namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

Tensor leaf(std::vector<double> values) {
  return torch::tensor(values, torch::kDouble).requires_grad_();
}

TEST(Autograd, BackwardAddsUp) {
  const Tensor x = leaf({1, 2});
  (x * x).sum().backward({}, /*retain_graph=*/true);
  (x * 3).sum().backward();
  EXPECT_TRUE(x.grad().equal(torch::tensor({5.0, 7.0}, torch::kDouble)));
  EXPECT_EQ((x * x).grad_fn()->name(), "MulBackward0");
  EXPECT_FALSE(x.detach().requires_grad());
  const torch::NoGradGuard no_grad;
  EXPECT_FALSE((x * x).requires_grad());
}

TEST(Autograd, GradOfHigherOrder) {
  const Tensor x = leaf({2});
  const Tensor first =
      torch::autograd::grad({x.pow(3)}, {x}, {}, true, true)[0];
  const Tensor second = torch::autograd::grad({first}, {x})[0];
  EXPECT_EQ(second.item<double>(), 12);
  EXPECT_FALSE(x.grad().defined());
  EXPECT_THROW(torch::ones(2).backward(), c10::Error);
  EXPECT_THROW(torch::autograd::grad({x * 2}, {leaf({1})}), c10::Error);
}

TEST(Autograd, HooksSeeAndReplaceGradients) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 2;
  int seen = 0;
  y.register_hook([&](Tensor) { ++seen; });
  const unsigned hook =
      y.register_hook([](const Tensor& grad) { return grad * 10; });
  y.sum().backward({}, true);
  EXPECT_EQ(x.grad()[0].item<double>(), 20);
  y.remove_hook(hook);
  x.mutable_grad().reset();
  y.sum().backward();
  EXPECT_EQ(x.grad()[0].item<double>(), 2);
  EXPECT_EQ(seen, 2);
}

struct Scale : torch::autograd::Function<Scale> {
  static Tensor forward(AutogradContext* ctx, Tensor x, double factor,
                        Tensor bias) {
    ctx->save_for_backward({x});
    ctx->saved_data["factor"] = factor;
    EXPECT_FALSE(at::GradMode::is_enabled());
    return x * factor + bias;
  }
  static tensor_list backward(AutogradContext* ctx, tensor_list grads) {
    EXPECT_TRUE(ctx->needs_input_grad(0));
    EXPECT_FALSE(ctx->needs_input_grad(1));
    const Tensor x = ctx->get_saved_variables()[0];
    const double factor = ctx->saved_data["factor"].toDouble();
    // The second factor shows that what was saved is what was given.
    return {grads[0] * factor * (x / x), Tensor(), grads[0]};
  }
};

TEST(Function, ForwardAndBackward) {
  const Tensor x = leaf({1, 2}), bias = leaf({0, 1});
  const Tensor y = Scale::apply(x, 3.0, bias);
  EXPECT_TRUE(y.equal(torch::tensor({3.0, 7.0}, torch::kDouble)));
  y.sum().backward();
  EXPECT_TRUE(x.grad().equal(torch::tensor({3.0, 3.0}, torch::kDouble)));
  EXPECT_TRUE(bias.grad().equal(torch::ones({2}, torch::kDouble)));
  const Tensor z = Scale::apply(x, 3.0, bias);
  x.data().mul_(1);  // goes unnoticed
  {
    const torch::NoGradGuard no_grad;
    const_cast<Tensor&>(x).mul_(2);
  }
  EXPECT_THROW(z.sum().backward(), c10::Error);
}

struct TwoOutputs : torch::autograd::Function<TwoOutputs> {
  static tensor_list forward(AutogradContext* ctx, const Tensor& x) {
    const Tensor sign = x.sign();
    ctx->mark_non_differentiable({sign});
    return {x * 2, sign, x * 5};
  }
  static tensor_list backward(AutogradContext*, tensor_list grads) {
    // Gradients that nobody asked for come as zeros.
    EXPECT_TRUE(grads[2].equal(torch::zeros_like(grads[0])));
    return {grads[0] * 2 + grads[2] * 5};
  }
};

TEST(Function, SeveralOutputs) {
  const Tensor x = leaf({1, -2});
  const auto out = TwoOutputs::apply(x);
  EXPECT_TRUE(out[0].requires_grad());
  EXPECT_FALSE(out[1].requires_grad());
  out[0].sum().backward();
  EXPECT_TRUE(x.grad().equal(torch::full({2}, 2.0, torch::kDouble)));
}

struct Double : torch::autograd::Function<Double> {
  static Tensor forward(AutogradContext* ctx, Tensor x) {
    x.mul_(2);
    ctx->mark_dirty({x});
    return x;
  }
  static tensor_list backward(AutogradContext*, tensor_list grads) {
    return {grads[0] * 2};
  }
};

TEST(Function, WritesInPlace) {
  const Tensor x = leaf({1, 2});
  Tensor y = x * 3;
  const Tensor z = Double::apply(y);
  EXPECT_TRUE(z.is_same(y));
  z.sum().backward();
  EXPECT_TRUE(x.grad().equal(torch::full({2}, 6.0, torch::kDouble)));
  EXPECT_THROW(Double::apply(x), c10::Error);
}

struct TooMany : torch::autograd::Function<TooMany> {
  static Tensor forward(AutogradContext*, Tensor x) { return x * 2; }
  static tensor_list backward(AutogradContext*, tensor_list grads) {
    return {grads[0], grads[0]};
  }
};

TEST(Function, WrongNumberOfGradients) {
  const Tensor y = TooMany::apply(leaf({1}));
  try {
    y.sum().backward();
    FAIL();
  } catch (const c10::Error& error) {
    EXPECT_NE(
        std::string(error.what())
            .find("returned an incorrect number of gradients (expected 1, "
                  "got 2)"),
        std::string::npos);
  }
}

TEST(InferenceMode, NothingIsRecorded) {
  const Tensor x = leaf({1});
  Tensor y;
  {
    const c10::InferenceMode mode;
    y = x * 2;
    EXPECT_TRUE(y.is_inference());
    const c10::InferenceMode off(false);
    EXPECT_TRUE((x * 2).requires_grad());
  }
  EXPECT_FALSE(y.requires_grad());
  EXPECT_FALSE(c10::InferenceMode::is_enabled());
}

struct SumOfProducts : torch::autograd::Function<SumOfProducts> {
  static Tensor forward(torch::autograd::AutogradContext* context,
                        at::TensorList tensors) {
    context->save_for_backward(tensors.vec());
    return tensors[0] * tensors[1];
  }
  static torch::autograd::variable_list backward(
      torch::autograd::AutogradContext* context,
      torch::autograd::variable_list grads) {
    const auto saved = context->get_saved_variables();
    return {grads[0] * saved[1], grads[0] * saved[0]};
  }
};

/// Each tensor of a list is an input.
TEST(Function, ListsOfTensors) {
  const Tensor x = torch::tensor({2.0}).requires_grad_();
  const Tensor y = torch::tensor({3.0}).requires_grad_();
  const std::vector<Tensor> both{x, y};
  SumOfProducts::apply(at::TensorList(both)).backward();
  EXPECT_EQ(x.grad().item<double>(), 3);
  EXPECT_EQ(y.grad().item<double>(), 2);
}

struct Written : torch::autograd::Function<Written> {
  static Tensor forward(torch::autograd::AutogradContext* context, Tensor x) {
    x.data_ptr<float>()[0] = 2;
    context->mark_dirty({x});
    return x;
  }
  static torch::autograd::variable_list backward(
      torch::autograd::AutogradContext*, torch::autograd::variable_list grads) {
    return grads;
  }
};

/// A function that saved the tensor before hears of a write to its address.
TEST(Function, MarkDirtyCountsAsAWrite) {
  const Tensor x = torch::ones({2}).requires_grad_().clone();
  const Tensor squared = x * x;
  const auto before = x._version();
  Written::apply(x);
  EXPECT_GT(x._version(), before);
  EXPECT_THROW(squared.sum().backward(), c10::Error);
}

TEST(Autograd, RefusesWhatIsNotThere) {
  const Tensor x = torch::ones({2}).requires_grad_();
  EXPECT_THROW(torch::autograd::grad({x.sum()}, {}), c10::Error);
  EXPECT_THROW(x.remove_hook(77), c10::Error);
}

TEST(Autograd, AnomaliesAreErrors) {
  const Tensor x = torch::tensor({-1.0}).requires_grad_();
  EXPECT_NO_THROW(x.sqrt().sum().backward());
  {
    const torch::autograd::DetectAnomalyGuard guard;
    EXPECT_TRUE(torch::autograd::AnomalyMode::is_enabled());
    EXPECT_THROW(x.sqrt().sum().backward(), c10::Error);
  }
  EXPECT_FALSE(torch::autograd::AnomalyMode::is_enabled());
}

TEST(Autograd, EngineOfEdges) {
  using torch::autograd::impl::gradient_edge;
  const Tensor x = torch::full({2}, 3.0).requires_grad_();
  const Tensor unused = torch::ones({2}).requires_grad_();
  const Tensor y = x * x;
  auto& engine = torch::autograd::Engine::get_default_engine();
  const auto grads =
      engine.execute({gradient_edge(y)}, {torch::ones({2})}, true, false, false,
                     {gradient_edge(x), gradient_edge(unused)});
  EXPECT_TRUE(grads[0].equal(torch::full({2}, 6.0)));
  EXPECT_FALSE(grads[1].defined());
  EXPECT_FALSE(x.grad().defined());
  engine.execute({gradient_edge(y)}, {torch::ones({2})}, false, false, true);
  EXPECT_TRUE(x.grad().equal(torch::full({2}, 6.0)));
}

TEST(Autograd, AutocastNamesOfC10) {
  EXPECT_FALSE(at::autocast::is_cpu_enabled());
  at::autocast::increment_nesting();
  at::autocast::set_cpu_enabled(true);
  EXPECT_EQ(at::matmul(torch::ones({2, 2}), torch::ones({2, 2})).scalar_type(),
            at::kBFloat16);
  at::autocast::set_cpu_enabled(false);
  EXPECT_EQ(at::autocast::decrement_nesting(), 0);
}

}  // namespace
