// Modules, functions and optimizers as libtorch prints and computes them, case
// by case. To make golden/layers.txt anew, compile with -DLAYER_CASES_MAIN as
// C++ against PyTorch's wheel and run it.
#pragma once

#include <torch/torch.h>

#include <iostream>
#include <string>
#include <vector>

namespace layer_cases {

namespace nn = torch::nn;
namespace F = torch::nn::functional;
using torch::Tensor;

inline std::ostream* out = &std::cout;

/// Sizes, and some numbers that all elements are in.
inline void show(const std::string& what, const Tensor& t) {
  const Tensor x = t.detach().to(torch::kDouble).flatten();
  const Tensor w = torch::cos(torch::arange(x.numel(), torch::kDouble));
  *out << "== " << what << " " << t.sizes() << " " << x.sum().item<double>()
       << " " << (x * w).sum().item<double>() << "\n";
}
inline void text(const std::string& what, const std::string& value) {
  *out << "== " << what << " " << value << "\n";
}
template <class M>
void module(const M& m) {
  *out << m << "\n";
}
template <class F>
void refused(const std::string& what, F f) {
  try {
    f();
    text(what, "no error");
  } catch (const std::exception&) {
    text(what, "error");
  }
}

inline Tensor input(at::IntArrayRef sizes) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  return torch::sin(torch::arange(n, torch::kFloat) * 0.7).reshape(sizes);
}

inline void shapes() {
  const Tensor x = input({2, 3, 4, 6});
  module(nn::ReflectionPad2d(2));
  module(nn::ConstantPad3d(nn::ConstantPad3dOptions({1, 2, 3, 4, 5, 6}, 2.5)));
  show("reflect", nn::ReflectionPad2d(2)(x));
  show("reflect 1", nn::ReflectionPad1d(std::vector<int64_t>{1, 2})(x[0]));
  show("replicate",
       nn::ReplicationPad2d(nn::ReplicationPad2dOptions({1, 2, 3, 0}))(x));
  show("replicate 3", nn::ReplicationPad3d(1)(x.unsqueeze(0)));
  show("zero", nn::ZeroPad2d(nn::ZeroPad2dOptions({1, 1, 2, 0}))(x));
  show("constant", nn::ConstantPad1d(2, 3.5)(x[0]));
  show("circular",
       F::pad(x, F::PadFuncOptions({1, 2, 0, 1}).mode(torch::kCircular)));
  show("pad", F::pad(x, F::PadFuncOptions({1, 2, 0, 1}).value(2)));
  module(nn::Fold(nn::FoldOptions({4, 5}, {2, 2}).padding(1)));
  module(nn::Unfold(nn::UnfoldOptions({2, 2}).padding(1).stride(2)));
  const Tensor columns = nn::Unfold(nn::UnfoldOptions({2, 2}).padding(1))(x);
  show("unfold", columns);
  show("fold", nn::Fold(nn::FoldOptions({4, 6}, {2, 2}).padding(1))(columns));
  module(nn::PixelShuffle(3));
  module(nn::PixelUnshuffle(2));
  show("shuffle", nn::PixelShuffle(2)(input({1, 8, 2, 3})));
  show("unshuffle", nn::PixelUnshuffle(2)(x));
  module(nn::CosineSimilarity(nn::CosineSimilarityOptions().dim(0).eps(0.5)));
  module(
      nn::PairwiseDistance(nn::PairwiseDistanceOptions().p(3).keepdim(true)));
  show("cosine", F::cosine_similarity(x[0], x[1]));
  show("distance", F::pairwise_distance(x[0][0], x[0][1]));
  show("pdist", F::pdist(input({4, 3}), 3));
  show("one hot", F::one_hot(torch::tensor({0, 2, 1}), 4));
}

inline void resampling() {
  const Tensor x = input({2, 3, 4, 6});
  const auto to = [&](const std::string& what, auto mode, const Tensor& t,
                      std::vector<double> factor) {
    show(what,
         F::interpolate(
             t, F::InterpolateFuncOptions().scale_factor(factor).mode(mode)));
  };
  to("nearest", torch::kNearest, x, {2, 1.5});
  to("bilinear", torch::kBilinear, x, {2, 1.5});
  to("bicubic", torch::kBicubic, x, {2, 0.5});
  to("linear", torch::kLinear, x[0], {1.7});
  to("trilinear", torch::kTrilinear, x.unsqueeze(0), {1, 2, 2});
  to("area", torch::kArea, x, {0.5, 0.5});
  to("nearest exact", torch::kNearestExact, x, {0.5, 1.5});
  show("corners", F::interpolate(x, F::InterpolateFuncOptions()
                                        .size(std::vector<int64_t>{7, 9})
                                        .mode(torch::kBilinear)
                                        .align_corners(true)));
  show("antialias", F::interpolate(x, F::InterpolateFuncOptions()
                                          .size(std::vector<int64_t>{3, 3})
                                          .mode(torch::kBilinear)
                                          .antialias(true)));
  module(nn::Upsample(nn::UpsampleOptions()
                          .scale_factor(std::vector<double>{2, 3})
                          .mode(torch::kBilinear)));
  module(nn::Upsample(nn::UpsampleOptions().size(std::vector<int64_t>{8, 8})));
  show("upsample", nn::Upsample(nn::UpsampleOptions().scale_factor(
                       std::vector<double>{2, 2}))(x));
  refused("both", [&] {
    F::interpolate(x, F::InterpolateFuncOptions()
                          .size(std::vector<int64_t>{1, 1})
                          .scale_factor(std::vector<double>{1, 1}));
  });
  refused("linear of a picture", [&] {
    F::interpolate(x, F::InterpolateFuncOptions()
                          .size(std::vector<int64_t>{1, 1})
                          .mode(torch::kLinear));
  });
  const Tensor theta = input({2, 2, 3});
  const Tensor grid = F::affine_grid(theta, {2, 3, 5, 5}, false);
  show("grid", grid);
  show("sample", F::grid_sample(
                     x, grid, F::GridSampleFuncOptions().align_corners(false)));
  show("sample nearest", F::grid_sample(x, grid,
                                        F::GridSampleFuncOptions()
                                            .mode(torch::kNearest)
                                            .padding_mode(torch::kBorder)
                                            .align_corners(true)));
}

inline void pooling() {
  const Tensor x = input({2, 3, 6, 6});
  module(nn::MaxUnpool2d(nn::MaxUnpool2dOptions({2, 3}).padding(1)));
  const auto [y, i] = nn::MaxPool2d(2)->forward_with_indices(x);
  show("unpool", nn::MaxUnpool2d(2)(y, i));
  show("unpool to", nn::MaxUnpool2d(2)(y, i, std::vector<int64_t>{2, 3, 7, 7}));
  const auto [y1, i1] =
      F::max_pool1d_with_indices(x[0], F::MaxPool1dFuncOptions(2));
  show("unpool 1", F::max_unpool1d(y1, i1, F::MaxUnpool1dFuncOptions(2)));
  const auto [y3, i3] = F::max_pool3d_with_indices(input({1, 2, 4, 4, 4}),
                                                   F::MaxPool3dFuncOptions(2));
  show("unpool 3", F::max_unpool3d(y3, i3, F::MaxUnpool3dFuncOptions(2)));
  refused("unpool to what does not fit", [&, y = y, i = i] {
    nn::MaxUnpool2d(2)(y, i, std::vector<int64_t>{2, 3, 9, 9});
  });
  const Tensor samples = torch::full({2, 3, 2}, 0.4);
  show("fractional",
       nn::FractionalMaxPool2d(
           nn::FractionalMaxPool2dOptions(2).output_size(3)._random_samples(
               samples))(x));
  show("fractional ratio",
       F::fractional_max_pool2d(x,
                                F::FractionalMaxPool2dFuncOptions(2)
                                    .output_ratio(std::vector<double>{0.5, 0.7})
                                    ._random_samples(samples)));
}

inline void weights() {
  const Tensor x = input({2, 4, 6, 6});
  show("conv1d",
       F::conv1d(x[0], input({3, 6, 3}), F::Conv1dFuncOptions().stride(2)));
  show("conv2d", F::conv2d(x, input({4, 2, 3, 3}),
                           F::Conv2dFuncOptions()
                               .groups(2)
                               .padding(torch::kSame)
                               .bias(input({4}))));
  show("conv3d", F::conv3d(x.unsqueeze(0), input({3, 2, 1, 3, 3}),
                           F::Conv3dFuncOptions().padding({0, 1, 1})));
  show("transposed",
       F::conv_transpose2d(
           x, input({4, 3, 3, 3}),
           F::ConvTranspose2dFuncOptions().stride(2).output_padding(1)));
  show("linear", F::linear(input({2, 3}), input({4, 3}), input({4})));
  show("bilinear",
       F::bilinear(input({2, 3}), input({2, 4}), input({5, 3, 4}), input({5})));
  show("batch norm",
       F::batch_norm(
           x, torch::zeros(4), torch::ones(4),
           F::BatchNormFuncOptions().training(true).weight(input({4}))));
  show("instance norm",
       F::instance_norm(x, F::InstanceNormFuncOptions().bias(input({4}))));
  show("layer norm",
       F::layer_norm(x, F::LayerNormFuncOptions({6, 6}).eps(2e-5)));
  show("group norm",
       F::group_norm(x, F::GroupNormFuncOptions(2).weight(input({4}))));
  show("local response",
       F::local_response_norm(x, F::LocalResponseNormFuncOptions(3)));
  module(nn::CrossMapLRN2d(nn::CrossMapLRN2dOptions(4).alpha(1e-2).k(2)));
  show("cross map",
       nn::CrossMapLRN2d(nn::CrossMapLRN2dOptions(3).alpha(0.1))(x));
  show("normalize", F::normalize(x, F::NormalizeFuncOptions().p(1).dim(-1)));
  const Tensor table = input({7, 3}),
               ids = torch::tensor({{0, 2, 6}, {1, 1, 3}});
  show("embedding",
       F::embedding(ids, table, F::EmbeddingFuncOptions().padding_idx(-1)));
  show("renormalised", F::embedding(ids, table.clone(),
                                    F::EmbeddingFuncOptions().max_norm(0.5)));
  show("bag", F::embedding_bag(ids, table));
  show("bag sum", F::embedding_bag(ids.view(-1), table,
                                   F::EmbeddingBagFuncOptions()
                                       .mode(torch::kSum)
                                       .offsets(torch::tensor({0, 4}))
                                       .per_sample_weights(input({6}))));
  module(nn::EmbeddingBag(
      nn::EmbeddingBagOptions(4, 3).mode(torch::kMax).max_norm(2)));
  show("bag max", nn::EmbeddingBag::from_pretrained(
                      table, nn::EmbeddingBagFromPretrainedOptions().mode(
                                 torch::kMax))(ids));
}

inline void recurrent() {
  torch::manual_seed(1);
  module(nn::RNNCell(nn::RNNCellOptions(2, 3).nonlinearity(torch::kReLU)));
  module(nn::LSTMCell(nn::LSTMCellOptions(2, 3).bias(false)));
  module(nn::GRUCell(2, 3));
  torch::manual_seed(2);
  const Tensor x = input({4, 2});
  show("rnn cell", nn::RNNCell(2, 3)(x));
  const auto [h, c] =
      nn::LSTMCell(2, 3)(x, std::make_tuple(input({4, 3}), input({4, 3})));
  show("lstm cell", h);
  show("lstm cell's state", c);
  show("gru cell", nn::GRUCell(2, 3)(x, input({4, 3})));
  namespace rnn = nn::utils::rnn;
  const Tensor batch = input({5, 3, 2});
  const auto packed = rnn::pack_padded_sequence(
      batch, torch::tensor({2, 5, 3}), false, /*enforce_sorted=*/false);
  show("packed", packed.data());
  show("packed sizes", packed.batch_sizes());
  show("packed order", packed.sorted_indices());
  show("packed back", packed.unsorted_indices());
  const auto [y, state] = nn::LSTM(nn::LSTMOptions(2, 3).bidirectional(true))
                              ->forward_with_packed_input(packed);
  const auto [padded, lengths] = rnn::pad_packed_sequence(y, true, -1, 7);
  show("lstm of packed", padded);
  show("lengths", lengths);
  show("its state", std::get<0>(state));
  const auto [g, gh] =
      nn::GRU(2, 3)->forward_with_packed_input(packed, input({1, 3, 3}));
  show("gru of packed", g.data());
  show("gru's state", gh);
  show("padded", rnn::pad_sequence({input({2, 2}), input({4, 2})}, true, 9));
  refused("unsorted", [&] {
    rnn::pack_padded_sequence(batch, torch::tensor({2, 5, 3}));
  });
}

inline void attention() {
  torch::manual_seed(3);
  nn::MultiheadAttention heads(8, 2);
  module(heads);
  const Tensor q = input({4, 2, 8}), k = input({5, 2, 8});
  const auto [y, w] = heads(q, k, k);
  show("attention", y);
  show("weights", w);
  const Tensor hidden =
      torch::tensor({{0, 0, 0, 0, 1}, {0, 1, 0, 0, 0}}).to(torch::kBool);
  show("padding", std::get<0>(heads(q, k, k, hidden)));
  show("mask", std::get<0>(heads(q, k, k, Tensor(), true, input({4, 5}))));
  show("of itself", std::get<0>(heads(q, q, q)));
  nn::MultiheadAttention other(nn::MultiheadAttentionOptions(8, 2)
                                   .kdim(6)
                                   .vdim(6)
                                   .add_bias_kv(true)
                                   .add_zero_attn(true));
  show("other sizes",
       std::get<0>(other(q, input({5, 2, 6}), input({5, 2, 6}))));
  torch::manual_seed(4);
  nn::Transformer model(nn::TransformerOptions(8, 2, 2, 2)
                            .dim_feedforward(16)
                            .dropout(0.0)
                            .activation(torch::kGELU));
  text("parameters", std::to_string(model->parameters().size()));
  for (const auto& item : model->named_parameters())
    text("parameter", item.key());
  show("transformer",
       model(q, k, Tensor(),
             nn::TransformerImpl::generate_square_subsequent_mask(5)));
  nn::TransformerEncoder encoder(nn::TransformerEncoderOptions(
      nn::TransformerEncoderLayerOptions(8, 2).dim_feedforward(16).dropout(0.0),
      2));
  show("encoder", encoder(q, Tensor(), torch::zeros({2, 4}).to(torch::kBool)));
}

inline void adaptive() {
  torch::manual_seed(6);
  nn::AdaptiveLogSoftmaxWithLoss softmax(
      nn::AdaptiveLogSoftmaxWithLossOptions(8, 10, {2, 5}).div_value(2.));
  module(softmax);
  const Tensor x = input({4, 8});
  const auto found = softmax(x, torch::tensor({0, 3, 9, 5}));
  show("adaptive", found.output);
  text("loss", std::to_string(found.loss));
  show("log_prob", softmax->log_prob(x));
  show("predict", softmax->predict(x));
}

inline void containers() {
  nn::ModuleDict dict;
  dict->update(std::vector<std::pair<std::string, std::shared_ptr<nn::Module>>>{
      {"a", nn::Linear(1, 2).ptr()}, {"b", nn::ReLU().ptr()}});
  module(dict);
  text("size", std::to_string(dict->size()));
  dict->pop("a");
  text("left", dict->keys()[0]);
  nn::ParameterList list(torch::ones({2}), torch::zeros({1, 3}));
  text("list", std::to_string(list->size()) + " " +
                   std::to_string(list->parameters().size()));
  nn::ParameterDict named;
  named->insert("x", torch::ones({2}));
  text("named", named->keys()[0]);
  const auto copy =
      std::dynamic_pointer_cast<nn::ModuleDictImpl>(dict->clone());
  text("copy", std::to_string(copy->size()));
}

template <class Make>
void optimize(const std::string& what, Make make, int steps = 5) {
  torch::manual_seed(5);
  nn::Sequential model(nn::Linear(3, 4), nn::Tanh(), nn::Linear(4, 1));
  auto optimizer = make(model->parameters());
  const Tensor x = input({6, 3}), y = input({6, 1});
  for (int i = 0; i < steps; ++i)
    optimizer.step([&] {
      optimizer.zero_grad();
      const Tensor loss = torch::mse_loss(model->forward(x), y);
      loss.backward();
      return loss;
    });
  for (const auto& p : model->parameters()) show(what, p);
}

inline void optimizers() {
  using namespace torch::optim;
  optimize("rmsprop", [](auto p) { return RMSprop(p, RMSpropOptions(0.05)); });
  optimize("rmsprop centered", [](auto p) {
    return RMSprop(
        p, RMSpropOptions(0.05).centered(true).momentum(0.9).weight_decay(0.1));
  });
  optimize("adagrad", [](auto p) {
    return Adagrad(p, AdagradOptions(0.1).lr_decay(0.1).weight_decay(0.01));
  });
  optimize("lbfgs",
           [](auto p) { return LBFGS(p, LBFGSOptions(0.5).max_iter(3)); });
  // Few steps: rounding grows from one line search to the next.
  optimize(
      "lbfgs wolfe",
      [](auto p) {
        return LBFGS(
            p, LBFGSOptions(1).max_iter(4).line_search_fn("strong_wolfe"));
      },
      2);
  const Tensor p = torch::ones({2}).requires_grad_();
  SGD sgd({p}, SGDOptions(1));
  StepLR schedule(sgd, 2, 0.5);
  for (int i = 0; i < 5; ++i) {
    schedule.step();
    text("rate", std::to_string(sgd.param_groups()[0].options().get_lr()));
  }
  ReduceLROnPlateauScheduler plateau(sgd, ReduceLROnPlateauScheduler::min, 0.5,
                                     1);
  for (const float metric : {1.0f, 0.9f, 0.95f, 0.95f, 0.95f, 0.95f, 0.95f}) {
    plateau.step(metric);
    text("rate", std::to_string(sgd.param_groups()[0].options().get_lr()));
  }
}

inline void utilities() {
  const Tensor p = torch::ones({2, 3}).requires_grad_();
  (p * input({2, 3}) * 10).sum().backward();
  text("norm", std::to_string(nn::utils::clip_grad_norm_(p, 2.0)).substr(0, 6));
  show("clipped", p.grad());
  nn::utils::clip_grad_value_(p, 0.5);
  show("clamped", p.grad());
  const Tensor vector = nn::utils::parameters_to_vector({p, torch::zeros({2})});
  show("vector", vector);
  nn::utils::vector_to_parameters(torch::arange(6, torch::kFloat), {p});
  show("parameters", p);
}

inline void all() {
  shapes();
  resampling();
  pooling();
  weights();
  recurrent();
  attention();
  adaptive();
  containers();
  optimizers();
  utilities();
}

}  // namespace layer_cases

#ifdef LAYER_CASES_MAIN
int main() {
  layer_cases::all();
}
#endif
