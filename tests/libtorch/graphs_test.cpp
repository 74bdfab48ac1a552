// Captured graphs of modules in C++ programs.
#include "torch/graphs.h"

#include <gtest/gtest.h>

#include "torch/torch.h"

namespace {

namespace nn = torch::nn;
using torch::Tensor;

TEST(Graphs, ReplayAModule) {
  torch::manual_seed(0);
  nn::Sequential model(nn::Linear(8, 16), nn::ReLU(), nn::Linear(16, 4));
  model->eval();
  auto graphed = torch::make_graphed(
      [&](const std::vector<Tensor>& x) {
        return std::vector<Tensor>{model->forward(x[0])};
      },
      {torch::zeros({1, 8})});
  for (int i = 0; i < 3; ++i) {
    const Tensor x = torch::randn({1, 8});
    EXPECT_TRUE(torch::allclose(graphed(x), model->forward(x)));
  }
  {
    const torch::NoGradGuard no_grad;
    for (Tensor& p : model->parameters()) p.mul_(0.5);
  }
  const Tensor x = torch::randn({1, 8});
  EXPECT_TRUE(torch::allclose(graphed(x), model->forward(x)));
  EXPECT_FALSE(graphed(x).requires_grad());
}

TEST(Graphs, ReplayAHolder) {
  nn::Linear layer(3, 2);
  auto graphed = torch::make_graphed(layer, torch::zeros({5, 3}));
  const Tensor x = torch::randn({5, 3});
  EXPECT_TRUE(torch::allclose(graphed(x), layer(x)));
}

TEST(Graphs, RefuseWhatDoesNotFit) {
  nn::Linear layer(3, 2);
  auto graphed = torch::make_graphed(layer, torch::zeros({5, 3}));
  EXPECT_THROW(graphed(torch::zeros({4, 3})), c10::Error);
  EXPECT_THROW(graphed(torch::zeros({5, 3}, torch::kDouble)), c10::Error);
  EXPECT_THROW(graphed({torch::zeros({5, 3}), torch::zeros({5, 3})}),
               c10::Error);
  EXPECT_THROW(torch::make_graphed(
                   [](const std::vector<Tensor>& x) {
                     return x[0].sum().item<float>() > 0
                                ? x
                                : std::vector<Tensor>{-x[0]};
                   },
                   {torch::ones({2})}),
               c10::Error);
}

TEST(Graphs, ReplayCompiledSource) {
  // Queries, keys and a mask that depends on sizes alone.
  const auto unit = torch::jit::compile(R"(
def f(x: Tensor, y: Tensor) -> Tuple[Tensor, Tensor]:
    z = x @ y.t()
    return torch.softmax(z, 1), z.sum(0)
)");
  auto graphed = torch::make_graphed(
      [unit](const std::vector<Tensor>& x) {
        return unit->run_method("f", x[0], x[1]).to<std::vector<Tensor>>();
      },
      {torch::zeros({3, 4}), torch::zeros({5, 4})});
  const Tensor x = torch::randn({3, 4}), y = torch::randn({5, 4});
  const auto& results = graphed({x, y});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_TRUE(torch::allclose(results[0], torch::softmax(x.mm(y.t()), 1)));
  EXPECT_TRUE(torch::allclose(results[1], x.mm(y.t()).sum(0)));
}

}  // namespace
