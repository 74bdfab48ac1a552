// Modules of C++ programs.
#include <gtest/gtest.h>

#include <sstream>

#include "torch/torch.h"

namespace {

namespace nn = torch::nn;
using torch::Tensor;

struct NetImpl : nn::Cloneable<NetImpl> {
  NetImpl() { NetImpl::reset(); }
  void reset() override {
    conv = register_module("conv", nn::Conv2d(nn::Conv2dOptions(1, 4, 3)));
    norm = register_module("norm", nn::BatchNorm2d(4));
    fc = register_module("fc", nn::Linear(4 * 13 * 13, 10));
    scale = register_parameter("scale", torch::ones({1}));
  }
  Tensor forward(Tensor x) {
    x = torch::max_pool2d(torch::relu(norm(conv(x))), 2);
    return fc(x.flatten(1)) * scale;
  }

  nn::Conv2d conv = nullptr;
  nn::BatchNorm2d norm = nullptr;
  nn::Linear fc = nullptr;
  Tensor scale;
};
TORCH_MODULE(Net);

TEST(Module, NamesInOrder) {
  const Net net;
  EXPECT_EQ(net->named_parameters().keys(),
            (std::vector<std::string>{"scale", "conv.weight", "conv.bias",
                                      "norm.weight", "norm.bias", "fc.weight",
                                      "fc.bias"}));
  EXPECT_EQ(net->named_buffers().keys(),
            (std::vector<std::string>{"norm.running_mean", "norm.running_var",
                                      "norm.num_batches_tracked"}));
  EXPECT_EQ(net->modules().size(), 4u);
  EXPECT_EQ(net->children().size(), 3u);
  EXPECT_THROW(net->named_parameters()["nothing"], c10::Error);
}

TEST(Module, FirstWeightsAreThoseOfPython) {
  torch::manual_seed(0);
  const nn::Linear linear(2, 2);
  EXPECT_TRUE(linear->weight.allclose(
      torch::tensor({{-0.00529398, 0.37932289}, {-0.58198076, -0.52038747}}), 0,
      1e-6));
  EXPECT_TRUE(
      linear->bias.allclose(torch::tensor({-0.27234524, 0.18961589}), 0, 1e-6));
}

TEST(Module, TrainsAndEvaluates) {
  Net net;
  const Tensor x = torch::randn({2, 1, 28, 28});
  net->train();
  net(x).sum().backward();
  EXPECT_TRUE(net->conv->weight.grad().defined());
  EXPECT_EQ(net->norm->num_batches_tracked.item<int64_t>(), 1);
  net->eval();
  EXPECT_FALSE(net->norm->is_training());
  const Tensor y = net(x);
  EXPECT_TRUE(net(x).equal(y));
  EXPECT_EQ(net->norm->num_batches_tracked.item<int64_t>(), 1);
  net->zero_grad();
  EXPECT_FALSE(net->conv->weight.grad().defined());
}

TEST(Module, ChangesItsDtype) {
  Net net;
  const Tensor kept = net->fc->weight;
  net->to(torch::kDouble);
  EXPECT_EQ(kept.scalar_type(), torch::kDouble);
  EXPECT_EQ(net->norm->running_mean.scalar_type(), torch::kDouble);
  EXPECT_EQ(net->norm->num_batches_tracked.scalar_type(), torch::kLong);
  net->eval();
  EXPECT_EQ(net(torch::randn({1, 1, 28, 28}, torch::kDouble)).scalar_type(),
            torch::kDouble);
}

TEST(Module, ClonesShareNothing) {
  Net net;
  const auto copy = std::dynamic_pointer_cast<NetImpl>(net->clone());
  EXPECT_TRUE(copy->fc->weight.equal(net->fc->weight));
  {
    const torch::NoGradGuard no_grad;
    copy->fc->weight.add_(1);
  }
  EXPECT_FALSE(copy->fc->weight.equal(net->fc->weight));
  net->eval();
  copy->eval();
  const Tensor x = torch::randn({1, 1, 28, 28});
  EXPECT_FALSE(copy->forward(x).equal(net(x)));
}

TEST(Module, RefusesBadNames) {
  struct M : nn::Module {};
  M module;
  module.register_parameter("a", torch::ones(1));
  EXPECT_THROW(module.register_parameter("a", torch::ones(1)), c10::Error);
  EXPECT_THROW(module.register_parameter("a.b", torch::ones(1)), c10::Error);
  EXPECT_THROW(module.register_buffer("", torch::ones(1)), c10::Error);
  EXPECT_THROW(nn::Linear(nullptr)->forward(torch::ones(1)), c10::Error);
}

TEST(Sequential, CallsOneAfterTheOther) {
  nn::Sequential net(nn::Linear(3, 4), nn::Functional(torch::relu),
                     nn::Dropout(0.5), nn::LogSoftmax(1));
  net->eval();
  const Tensor y = net->forward(torch::randn({2, 3}));
  EXPECT_TRUE(y.exp().sum(1).allclose(torch::ones(2)));
  EXPECT_EQ(net->size(), 4u);
  EXPECT_EQ(net->parameters().size(), 2u);
  EXPECT_EQ(net->at<nn::LinearImpl>(0).options.out_features(), 4);
  EXPECT_THROW(net->at<nn::ReLUImpl>(0), c10::Error);
  EXPECT_THROW(net->ptr(9), c10::Error);
  EXPECT_THROW(net->forward(1), c10::Error);
  nn::Sequential named({{"first", nn::Linear(3, 4)}, {"second", nn::ReLU()}});
  EXPECT_EQ(named->named_children().keys(),
            (std::vector<std::string>{"first", "second"}));
}

TEST(Sequential, DefaultArgumentsOfForward) {
  nn::Sequential net(nn::ConvTranspose2d(2, 3, 4), nn::Sigmoid());
  EXPECT_EQ(net->forward(torch::randn({1, 2, 5, 5})).sizes(),
            at::IntArrayRef({1, 3, 8, 8}));
}

TEST(Module, PrintsItself) {
  nn::Sequential net(
      nn::Conv2d(nn::Conv2dOptions(1, 2, 3).stride(2).padding(1).bias(false)),
      nn::BatchNorm2d(2),
      nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)),
      nn::MaxPool2d(2), nn::Linear(3, 4), nn::Dropout(0.1));
  std::ostringstream out;
  out << net;
  EXPECT_EQ(out.str(),
            "torch::nn::Sequential(\n"
            "  (0): torch::nn::Conv2d(1, 2, kernel_size=[3, 3], stride=[2, 2], "
            "padding=[1, 1], bias=false)\n"
            "  (1): torch::nn::BatchNorm2d(2, eps=1e-05, momentum=0.1, "
            "affine=true, track_running_stats=true)\n"
            "  (2): torch::nn::LeakyReLU(negative_slope=0.2)\n"
            "  (3): torch::nn::MaxPool2d(kernel_size=[2, 2], stride=[2, 2], "
            "padding=[0, 0], dilation=[1, 1], ceil_mode=false)\n"
            "  (4): torch::nn::Linear(in_features=3, out_features=4, "
            "bias=true)\n"
            "  (5): torch::nn::Dropout(p=0.1, inplace=false)\n"
            ")");
}

TEST(Conv, PaddingModes) {
  const Tensor x = torch::randn({1, 2, 6, 6});
  nn::Conv2d same(nn::Conv2dOptions(2, 3, 3).padding(torch::kSame));
  EXPECT_EQ(same(x).sizes(), at::IntArrayRef({1, 3, 6, 6}));
  nn::Conv2d circular(
      nn::Conv2dOptions(2, 3, 3).padding(1).padding_mode(torch::kCircular));
  const Tensor padded = at::pad(x, {1, 1, 1, 1}, "circular");
  EXPECT_TRUE(circular(x).allclose(
      torch::conv2d(padded, circular->weight, circular->bias)));
  EXPECT_THROW(nn::Conv2d(nn::Conv2dOptions(2, 3, 3).groups(4)), c10::Error);
}

TEST(Losses, AgreeWithTheirOperators) {
  const Tensor x = torch::randn({4, 3}), target = torch::tensor({0, 2, 1, 1});
  EXPECT_TRUE(nn::CrossEntropyLoss()(x, target).equal(
      torch::nll_loss(torch::log_softmax(x, 1), target)));
  EXPECT_TRUE(nn::MSELoss()(x, torch::zeros({4, 3})).allclose(x.pow(2).mean()));
  EXPECT_TRUE(
      nn::L1Loss(nn::L1LossOptions(torch::kSum))(x, torch::zeros({4, 3}))
          .allclose(x.abs().sum()));
  EXPECT_EQ(nn::functional::mse_loss(x, x, torch::kNone).sizes(), x.sizes());
}

TEST(Recurrent, StatesGoOnWhereTheyWere) {
  torch::manual_seed(0);
  nn::LSTM lstm(nn::LSTMOptions(3, 4).num_layers(2).bidirectional(true));
  EXPECT_EQ(lstm->named_parameters().keys()[4], "weight_ih_l0_reverse");
  EXPECT_EQ(lstm->parameters().size(), 16u);
  nn::GRU gru(nn::GRUOptions(3, 4).batch_first(true));
  const Tensor x = torch::randn({2, 6, 3});
  const auto [all, last] = gru(x);
  EXPECT_EQ(all.sizes(), at::IntArrayRef({2, 6, 4}));
  EXPECT_TRUE(all.select(1, 5).equal(last[0]));
  const auto [first, state] = gru(x.slice(1, 0, 3));
  const auto [second, end] = gru(x.slice(1, 3), state);
  EXPECT_TRUE(end.allclose(last));
  nn::LSTM one(3, 4);
  const auto [outputs, states] = one(x.transpose(0, 1));
  // The cell by hand, one step.
  const auto [h, c] = std::get<1>(one(x.transpose(0, 1).slice(0, 0, 1)));
  const auto weights = one->all_weights();
  const Tensor gates =
      x.select(1, 0).mm(weights[0].t()) + weights[2] + weights[3];
  const auto parts = gates.chunk(4, 1);
  const Tensor cell = parts[0].sigmoid() * parts[2].tanh();
  EXPECT_TRUE(c[0].allclose(cell, 1e-5, 1e-6));
  EXPECT_TRUE(h[0].allclose(parts[3].sigmoid() * cell.tanh(), 1e-5, 1e-6));
  std::get<0>(lstm(x)).sum().backward();
  EXPECT_TRUE(lstm->parameters()[0].grad().defined());
  EXPECT_THROW(one(torch::randn({2, 3})), c10::Error);
  EXPECT_THROW(one(torch::randn({2, 2, 5})), c10::Error);
  EXPECT_THROW(nn::GRU(3, 0), c10::Error);
}

TEST(Init, FillsAsItSays) {
  torch::manual_seed(1);
  Tensor w = torch::empty({64, 32});
  nn::init::orthogonal_(w);
  EXPECT_TRUE(w.t().mm(w).allclose(torch::eye(32), 1e-4, 1e-5));
  nn::init::sparse_(w, 0.25);
  EXPECT_TRUE(w.eq(0).sum(0).equal(torch::full({32}, 16, torch::kLong)));
  nn::init::xavier_uniform_(w);
  EXPECT_LE(w.abs().max().item<double>(), std::sqrt(6.0 / 96));
  EXPECT_THROW(nn::init::kaiming_normal_(torch::empty(3)), c10::Error);
}

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "";
}

TEST(AnyModule, NamesTypesAsTheyAreWritten) {
  nn::AnyModule any(nn::Linear(2, 2));
  EXPECT_EQ(message([&] { any.get<nn::ReLUImpl>(); }),
            "Attempted to cast module of type torch::nn::LinearImpl to type "
            "torch::nn::ReLUImpl");
  EXPECT_EQ(message([&] { any.forward(5); }),
            "Expected argument #0 to be of type at::Tensor, but received value "
            "of type int");
  EXPECT_EQ(message([] { nn::AnyModule().ptr(); }),
            "Cannot call ptr() on an empty AnyModule");
  EXPECT_EQ(message([] { nn::AnyValue(5).get<float>(); }),
            "Attempted to cast AnyValue to float, but its actual type is int");
}

TEST(AnyModule, EmptyOnesSayWhatWasCalled) {
  EXPECT_EQ(message([] { nn::AnyModule().forward(5); }),
            "Cannot call forward() on an empty AnyModule");
  EXPECT_EQ(message([] { torch::OrderedDict<std::string, int>().front(); }),
            "Called front() on an empty OrderedDict");
}

TEST(Hardtanh, RefusesEmptyRanges) {
  const char* text = "max_val must be greater than min_val";
  EXPECT_EQ(message([] {
              nn::Hardtanh(nn::HardtanhOptions().min_val(1).max_val(1));
            }),
            text);
  nn::Hardtanh module;
  module->options.min_val(2);
  EXPECT_EQ(message([&] { module->reset(); }), text);
}

TEST(ParameterDict, UpdatesWhatIsThere) {
  nn::ParameterDict dict, other, wrong;
  dict->insert("a", torch::zeros(2));
  other->insert("a", torch::ones(2));
  wrong->insert("b", torch::ones(2));
  dict->update(*other);
  EXPECT_TRUE(dict["a"].equal(torch::ones(2)));
  EXPECT_EQ(message([&] { dict->update(*wrong); }),
            "Parameter 'b' is not defined");
  EXPECT_EQ(dict->size(), 1);
}

/// The factor is rounded to the tensors' precision first.
TEST(Clip, ScalesInTheTensorsPrecision) {
  for (const double order : {0.0, 0.5, 1.5, 2.0, 4.0}) {
    const Tensor grad = torch::arange(1., 101).view({10, 10});
    const Tensor norm = order ? grad.norm(order) : torch::ones({});
    Tensor x = torch::zeros({10, 10});
    x.mutable_grad() = grad.clone();
    EXPECT_EQ(nn::utils::clip_grad_norm_({x}, 0.7, order), norm.item<double>());
    EXPECT_TRUE(x.grad().equal(grad * (0.7 / (norm + 1e-6))));
  }
}

TEST(Sequences, PadOnEitherSide) {
  namespace rnn = nn::utils::rnn;
  const Tensor a = torch::tensor({1, 2}), b = torch::tensor({3});
  EXPECT_TRUE(rnn::pad_sequence({a, b}, true, 9, "left")
                  .equal(torch::tensor({{1, 2}, {9, 3}})));
  EXPECT_TRUE(rnn::pad_sequence({a, b}, true, 9)
                  .equal(torch::tensor({{1, 2}, {3, 9}})));
  EXPECT_THROW(rnn::pad_sequence({a}, true, 9, "middle"), c10::Error);
}

TEST(Pooling, NormsOfWindows) {
  const Tensor x = torch::rand({1, 2, 4, 4, 4});
  const Tensor y = nn::LPPool3d(nn::LPPool3dOptions(2, 2))(x);
  const Tensor first = x.slice(2, 0, 2).slice(3, 0, 2).slice(4, 0, 2);
  EXPECT_TRUE(y.select(2, 0).select(2, 0).select(2, 0).allclose(
      first.flatten(2).pow(2).sum(-1).sqrt()));
}

/// Not each with each: 4 losses.
TEST(Losses, EntropyOfColumnsAndRows) {
  const Tensor x = torch::rand({4, 1}).requires_grad_();
  const Tensor y = torch::tensor({0.0, 1.0, 1.0, 0.0});
  const Tensor loss = at::binary_cross_entropy(x, y);
  const Tensor other = x.detach().flatten().requires_grad_();
  const Tensor expected = at::binary_cross_entropy(other, y);
  EXPECT_TRUE(loss.allclose(expected));
  loss.backward();
  expected.backward();
  EXPECT_TRUE(x.grad().flatten().allclose(other.grad()));
}

}  // namespace
