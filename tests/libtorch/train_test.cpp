// Optimizers, data and files of C++ programs.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "torch/torch.h"

namespace {

namespace nn = torch::nn;
using torch::Tensor;

std::string file(const std::string& name) {
  return (std::filesystem::path(testing::TempDir()) / name).string();
}

/// Two steps by hand, beside the optimizer's.
TEST(Optimizer, SgdWithMomentum) {
  const Tensor x = torch::tensor({1.0, 2.0}).requires_grad_();
  torch::optim::SGD sgd(
      {x}, torch::optim::SGDOptions(0.1).momentum(0.9).weight_decay(0.01));
  Tensor expected = torch::tensor({1.0, 2.0}), buffer;
  for (int i = 0; i < 3; ++i) {
    sgd.zero_grad();
    x.pow(2).sum().backward();
    const Tensor grad = 2 * expected + 0.01 * expected;
    buffer = buffer.defined() ? 0.9 * buffer + grad : grad;
    expected = expected - 0.1 * buffer;
    sgd.step();
    EXPECT_TRUE(x.detach().allclose(expected, 1e-6, 1e-7)) << x;
  }
}

TEST(Optimizer, AdamAndAdamW) {
  for (const bool decoupled : {false, true}) {
    const Tensor x = torch::tensor({1.0, -2.0}).requires_grad_();
    std::unique_ptr<torch::optim::Optimizer> adam;
    if (decoupled)
      adam = std::make_unique<torch::optim::AdamW>(
          std::vector<Tensor>{x}, torch::optim::AdamWOptions(0.1));
    else
      adam = std::make_unique<torch::optim::Adam>(
          std::vector<Tensor>{x}, torch::optim::AdamOptions(0.1));
    Tensor e = torch::tensor({1.0, -2.0}), m = torch::zeros(2),
           v = torch::zeros(2);
    for (int t = 1; t <= 3; ++t) {
      adam->zero_grad();
      x.pow(2).sum().backward();
      const Tensor grad = 2 * e;
      if (decoupled) e = e * (1 - 0.1 * 0.01);
      m = 0.9 * m + 0.1 * grad;
      v = 0.999 * v + 0.001 * grad * grad;
      const Tensor step = (m / (1 - std::pow(0.9, t))) /
                          ((v / (1 - std::pow(0.999, t))).sqrt() + 1e-8);
      e = e - 0.1 * step;
      adam->step();
      EXPECT_TRUE(x.detach().allclose(e, 1e-5, 1e-6)) << x << e;
    }
  }
}

TEST(Optimizer, GroupsTakeWhatTheyDoNotSay) {
  const Tensor a = torch::ones(1).requires_grad_(),
               b = torch::ones(1).requires_grad_();
  std::vector<torch::optim::OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<Tensor>{a});
  groups.emplace_back(std::vector<Tensor>{b},
                      std::make_unique<torch::optim::AdamOptions>(
                          torch::optim::AdamOptions().weight_decay(0.5)));
  torch::optim::Adam adam(groups, torch::optim::AdamOptions(0.25));
  EXPECT_EQ(adam.param_groups()[1].options().get_lr(), 0.25);
  const auto& options = static_cast<const torch::optim::AdamOptions&>(
      adam.param_groups()[1].options());
  EXPECT_EQ(options.weight_decay(), 0.5);
  EXPECT_THROW(adam.add_param_group(
                   torch::optim::OptimizerParamGroup(std::vector<Tensor>{a})),
               c10::Error);
  EXPECT_THROW(torch::optim::SGD({a * 2}, 0.1), c10::Error);
  EXPECT_THROW(torch::optim::SGD({a}, -0.1), c10::Error);
}

TEST(Optimizer, ClosureGivesTheLoss) {
  const Tensor x = torch::tensor({3.0}).requires_grad_();
  torch::optim::SGD sgd({x}, 0.5);
  const Tensor loss = sgd.step([&] {
    sgd.zero_grad();
    const Tensor loss = x.pow(2).sum();
    loss.backward();
    return loss;
  });
  EXPECT_EQ(loss.item<double>(), 9);
  EXPECT_EQ(x.item<double>(), 0);
}

struct PlainOptions : torch::optim::OptimizerCloneableOptions<PlainOptions> {
  PlainOptions(double lr = 1) : lr_(lr) {}
  TORCH_ARG(double, lr);
};
/// An optimizer of a program's own: neither a list of fields nor states.
struct Plain : torch::optim::Optimizer {
  explicit Plain(std::vector<Tensor> parameters, double lr)
      : Optimizer(std::move(parameters), std::make_unique<PlainOptions>(lr)) {}
  Tensor step(LossClosure = nullptr) override {
    const torch::NoGradGuard no_grad;
    for (auto& group : param_groups())
      for (auto& p : group.params())
        p.sub_(p.grad() *
               static_cast<const PlainOptions&>(group.options()).lr());
    return {};
  }
};

TEST(Optimizer, OfOnesOwn) {
  const Tensor x = torch::tensor({1.0, 2.0}).requires_grad_();
  Plain plain({x}, 0.5);
  EXPECT_EQ(plain.defaults().get_lr(), 0.5);
  plain.defaults().set_lr(0.25);
  EXPECT_EQ(plain.defaults().get_lr(), 0.25);
  x.sum().backward();
  plain.step();
  EXPECT_TRUE(x.detach().allclose(torch::tensor({0.5, 1.5})));
  torch::serialize::OutputArchive archive;
  EXPECT_THROW(plain.defaults().serialize(archive), c10::Error);
}

/// Bytes that Python's torch.load reads.
TEST(Files, PicklesOfValues) {
  const Tensor x = torch::rand({2, 3});
  c10::GenericDict dict;
  dict.insert("x", x);
  dict.insert("n", int64_t{7});
  const std::vector<char> bytes = torch::pickle_save(dict);
  const auto back = torch::pickle_load(bytes).toGenericDict();
  EXPECT_TRUE(back.at("x").toTensor().equal(x));
  EXPECT_EQ(back.at("n").toInt(), 7);
  EXPECT_THROW(torch::pickle_load({'x', 'y'}), c10::Error);
}

TEST(Files, TensorsAndModules) {
  const Tensor t = torch::randn({2, 3});
  torch::save(t, file("tensor.pt"));
  Tensor back;
  torch::load(back, file("tensor.pt"));
  EXPECT_TRUE(back.equal(t));

  std::stringstream stream;
  torch::save(std::vector<Tensor>{t, t * 2}, stream);
  std::vector<Tensor> list;
  torch::load(list, stream);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_TRUE(list[1].equal(t * 2));

  nn::Sequential net(nn::Linear(3, 4), nn::BatchNorm1d(4));
  net->forward(torch::randn({5, 3}));
  torch::save(net, file("net.pt"));
  nn::Sequential other(nn::Linear(3, 4), nn::BatchNorm1d(4));
  torch::load(other, file("net.pt"));
  net->eval();
  other->eval();
  EXPECT_TRUE(other->forward(t).equal(net->forward(t)));
  nn::Sequential wrong(nn::Linear(3, 4), nn::Linear(4, 4), nn::BatchNorm1d(4));
  EXPECT_THROW(torch::load(wrong, file("net.pt")), c10::Error);
  std::ofstream(file("none.pt")) << "no archive";
  EXPECT_THROW(torch::load(back, file("none.pt")), c10::Error);
}

TEST(Files, OptimizersGoOnWhereTheyWere) {
  const auto steps = [](const Tensor& x, torch::optim::Adam& adam, int n) {
    for (int i = 0; i < n; ++i) {
      adam.zero_grad();
      x.pow(2).sum().backward();
      adam.step();
    }
  };
  const Tensor x = torch::tensor({1.0, 2.0}).requires_grad_();
  torch::optim::Adam adam({x}, torch::optim::AdamOptions(0.1));
  steps(x, adam, 3);
  torch::save(adam, file("adam.pt"));
  const Tensor y = x.detach().clone().requires_grad_();
  torch::optim::Adam again({y}, torch::optim::AdamOptions(0.5));
  torch::load(again, file("adam.pt"));
  EXPECT_EQ(again.param_groups()[0].options().get_lr(), 0.1);
  steps(x, adam, 2);
  steps(y, again, 2);
  EXPECT_TRUE(x.equal(y));
}

/// golden/linear.pt and adam.pt are libtorch's (2.13), after two steps; the
/// numbers what its third one gave.
TEST(Files, ThoseOfLibtorchGoOnHere) {
  nn::Linear linear(2, 1);
  torch::optim::Adam adam(linear->parameters(), torch::optim::AdamOptions(1));
  torch::load(linear, HOTARU_GOLDEN "/linear.pt");
  torch::load(adam, HOTARU_GOLDEN "/adam.pt");
  const auto& options = static_cast<const torch::optim::AdamOptions&>(
      adam.param_groups()[0].options());
  EXPECT_EQ(options.lr(), 0.25);
  EXPECT_EQ(options.weight_decay(), 0.5);
  linear(torch::ones({1, 2})).sum().backward();
  adam.step();
  const Tensor expected = torch::tensor({-0.749720871, -0.366412163});
  EXPECT_TRUE(linear->weight.detach()[0].allclose(expected, 1e-6, 1e-6));
  EXPECT_NEAR(linear->bias.item<double>(), -1.32223213, 1e-6);
}

struct Squares : torch::data::datasets::Dataset<Squares> {
  torch::data::Example<> get(size_t i) override {
    if (i == fails) throw std::runtime_error("no such example");
    return {torch::tensor(int64_t(i)), torch::tensor(int64_t(i * i))};
  }
  std::optional<size_t> size() const override { return 10; }
  size_t fails = 100;
};

template <class Loader>
std::vector<int64_t> data_of(Loader& loader) {
  std::vector<int64_t> out;
  for (auto& batch : loader) {
    EXPECT_TRUE(batch.target.equal(batch.data * batch.data));
    for (int64_t i = 0; i < batch.data.size(0); ++i)
      out.push_back(batch.data[i].template item<int64_t>());
  }
  return out;
}

TEST(Data, BatchesInOrderByAnyNumberOfWorkers) {
  using torch::data::samplers::SequentialSampler;
  const std::vector<int64_t> all{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  for (const size_t workers : {0, 1, 3}) {
    auto loader = torch::data::make_data_loader<SequentialSampler>(
        Squares().map(torch::data::transforms::Stack<>()),
        torch::data::DataLoaderOptions().batch_size(4).workers(workers));
    EXPECT_EQ(data_of(*loader), all);
    EXPECT_EQ(data_of(*loader), all);  // a second epoch
    auto dropped = torch::data::make_data_loader<SequentialSampler>(
        Squares().map(torch::data::transforms::Stack<>()),
        torch::data::DataLoaderOptions()
            .batch_size(4)
            .workers(workers)
            .drop_last(true));
    EXPECT_EQ(data_of(*dropped).size(), 8u);
  }
}

TEST(Data, RandomOrderIsTheGenerators) {
  const auto order = [] {
    torch::manual_seed(3);
    auto loader = torch::data::make_data_loader(
        Squares().map(torch::data::transforms::Stack<>()), 3);
    return data_of(*loader);
  };
  auto first = order();
  EXPECT_EQ(first, order());
  std::sort(first.begin(), first.end());
  EXPECT_EQ(first, (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(Data, ErrorsOfWorkersArrive) {
  Squares squares;
  squares.fails = 5;
  auto loader =
      torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
          squares.map(torch::data::transforms::Stack<>()),
          torch::data::DataLoaderOptions().batch_size(2).workers(2));
  try {
    data_of(*loader);
    FAIL();
  } catch (const torch::data::WorkerException& error) {
    EXPECT_NE(std::string(error.what()).find("no such example"),
              std::string::npos);
  }
}

TEST(Data, TransformsOfTensors) {
  const auto tensors = torch::data::datasets::TensorDataset(
      torch::arange(8, torch::kFloat).reshape({2, 1, 2, 2}));
  auto dataset = tensors;
  EXPECT_EQ(dataset.size(), 2u);
  torch::data::transforms::Normalize<> normalize(1.0, 2.0);
  EXPECT_TRUE(
      normalize(dataset.get(1).data).allclose((tensors.tensor[1] - 1) / 2));
}

TEST(Data, MnistNamesWhatIsWrong) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "mnist";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "t10k-images-idx3-ubyte", std::ios::binary)
      << std::string("\0\0\x08\x03\0\0\0\x05", 8);
  try {
    torch::data::datasets::MNIST(folder.string(),
                                 torch::data::datasets::MNIST::Mode::kTest);
    FAIL();
  } catch (const c10::Error& error) {
    EXPECT_NE(std::string(error.what()).find("number of pictures is 5"),
              std::string::npos);
  }
  EXPECT_THROW(torch::data::datasets::MNIST("/nowhere"), c10::Error);
}

}  // namespace
