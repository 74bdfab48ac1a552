#include "torch/nn/modules/rnn.h"

#include <cmath>
#include <type_traits>

#include "torch/nn/init.h"

namespace torch::nn {

namespace detail {
namespace {

template <class Options>
constexpr bool kIsLstm = std::is_same_v<Options, LSTMOptions>;

/// Gates of a cell.
template <class Options>
constexpr int64_t kGates = kIsLstm<Options>                      ? 4
                           : std::is_same_v<Options, GRUOptions> ? 3
                                                                 : 1;
template <class Options>
constexpr const char* kName = kIsLstm<Options>                      ? "LSTM"
                              : std::is_same_v<Options, GRUOptions> ? "GRU"
                                                                    : "RNN";

template <class Options>
int64_t projection(const Options& options) {
  if constexpr (kIsLstm<Options>) return options.proj_size();
  return 0;
}

template <class Options>
void check(const Options& options) {
  TORCH_CHECK(options.dropout() >= 0 && options.dropout() <= 1,
              "dropout should be a number in range [0, 1] representing the "
              "probability of an element being zeroed");
  if (options.dropout() > 0 && options.num_layers() == 1)
    TORCH_WARN(
        "dropout option adds dropout after all but last recurrent layer, so "
        "non-zero dropout expects num_layers greater than 1, but got "
        "dropout=",
        options.dropout(), " and num_layers=", options.num_layers());
  TORCH_CHECK(options.hidden_size() > 0,
              "hidden_size must be greater than zero");
  TORCH_CHECK(options.num_layers() > 0, "num_layers must be greater than zero");
  TORCH_CHECK(projection(options) >= 0,
              "proj_size should be a positive integer or zero to disable "
              "projections");
  TORCH_CHECK(projection(options) < options.hidden_size(),
              "proj_size has to be smaller than hidden_size");
}

}  // namespace

namespace {

template <class Options>
RNNOptionsBase base_of(const Options& options, rnn_options_base_mode_t mode) {
  return RNNOptionsBase(mode, options.input_size(), options.hidden_size())
      .num_layers(options.num_layers())
      .bias(options.bias())
      .batch_first(options.batch_first())
      .dropout(options.dropout())
      .bidirectional(options.bidirectional())
      .proj_size(projection(options));
}

}  // namespace

RNNOptionsBase options_base_of(const RNNOptions& options) {
  const bool relu =
      std::holds_alternative<enumtype::kReLU>(options.nonlinearity());
  return relu ? base_of(options, torch::kRNN_RELU)
              : base_of(options, torch::kRNN_TANH);
}
RNNOptionsBase options_base_of(const LSTMOptions& options) {
  return base_of(options, torch::kLSTM);
}
RNNOptionsBase options_base_of(const GRUOptions& options) {
  return base_of(options, torch::kGRU);
}

template <class Derived, class Options>
void RecurrentImpl<Derived, Options>::reset() {
  check(options);
  const int64_t gates = kGates<Options> * options.hidden_size();
  const int64_t real =
      projection(options) > 0 ? projection(options) : options.hidden_size();
  const int64_t directions = options.bidirectional() ? 2 : 1;
  for (int64_t layer = 0; layer < options.num_layers(); ++layer) {
    const int64_t inputs =
        layer == 0 ? options.input_size() : real * directions;
    for (int64_t direction = 0; direction < directions; ++direction) {
      const std::string suffix =
          "_l" + std::to_string(layer) + (direction ? "_reverse" : "");
      const auto add = [&](const char* name, at::IntArrayRef sizes) {
        this->register_parameter(name + suffix, torch::empty(sizes));
      };
      add("weight_ih", {gates, inputs});
      add("weight_hh", {gates, real});
      if (options.bias()) {
        add("bias_ih", {gates});
        add("bias_hh", {gates});
      }
      if (projection(options) > 0)
        add("weight_hr", {real, options.hidden_size()});
    }
  }
  reset_parameters();
}
template <class Derived, class Options>
void RecurrentImpl<Derived, Options>::reset_parameters() {
  const double bound = 1.0 / std::sqrt(double(options.hidden_size()));
  for (const Tensor& weight : all_weights())
    init::uniform_(weight, -bound, bound);
}
template <class Derived, class Options>
std::vector<Tensor> RecurrentImpl<Derived, Options>::all_weights() const {
  return this->parameters(/*recurse=*/false);
}

template <class Derived, class Options>
void RecurrentImpl<Derived, Options>::pretty_print(std::ostream& out) const {
  out << std::boolalpha << "torch::nn::" << kName<Options> << "(input_size="
      << options.input_size() << ", hidden_size=" << options.hidden_size()
      << ", num_layers=" << options.num_layers() << ", bias=" << options.bias()
      << ", batch_first=" << options.batch_first()
      << ", dropout=" << options.dropout()
      << ", bidirectional=" << options.bidirectional();
  if (projection(options) > 0) out << ", proj_size=" << projection(options);
  out << ")";
}

template <class Derived, class Options>
Tensor RecurrentImpl<Derived, Options>::zeros(const Tensor& input,
                                              int64_t size) const {
  const int64_t layers =
      options.num_layers() * (options.bidirectional() ? 2 : 1);
  return torch::zeros({layers, input.size(options.batch_first() ? 0 : 1), size},
                      input.options());
}
template <class Derived, class Options>
Tensor RecurrentImpl<Derived, Options>::zeros(
    const utils::rnn::PackedSequence& input, int64_t size) const {
  const int64_t layers =
      options.num_layers() * (options.bidirectional() ? 2 : 1);
  return torch::zeros({layers, input.batch_sizes()[0].item<int64_t>(), size},
                      input.data().options());
}
template <class Derived, class Options>
void RecurrentImpl<Derived, Options>::check_input(const Tensor& input) const {
  TORCH_CHECK(input.dim() == 3, "input must have 3 dimensions, got ",
              input.dim());
  TORCH_CHECK(input.size(-1) == options.input_size(),
              "input.size(-1) must be equal to input_size. Expected ",
              options.input_size(), ", got ", input.size(-1));
}

template class RecurrentImpl<RNNImpl, RNNOptions>;
template class RecurrentImpl<LSTMImpl, LSTMOptions>;
template class RecurrentImpl<GRUImpl, GRUOptions>;

}  // namespace detail

std::tuple<Tensor, Tensor> RNNImpl::forward(const Tensor& input, Tensor hx) {
  check_input(input);
  if (!hx.defined()) hx = zeros(input, options.hidden_size());
  const auto call = [&](auto rnn) {
    return rnn(input, hx, all_weights(), options.bias(), options.num_layers(),
               options.dropout(), is_training(), options.bidirectional(),
               options.batch_first());
  };
  if (is_chosen<enumtype::kReLU>(options.nonlinearity()))
    return call([](auto&&... a) { return torch::rnn_relu(a...); });
  return call([](auto&&... a) { return torch::rnn_tanh(a...); });
}

std::tuple<Tensor, LSTMImpl::State> LSTMImpl::forward(const Tensor& input,
                                                      std::optional<State> hx) {
  check_input(input);
  if (!hx) {
    const int64_t real =
        options.proj_size() > 0 ? options.proj_size() : options.hidden_size();
    hx = State(zeros(input, real), zeros(input, options.hidden_size()));
  }
  auto [output, h, c] = torch::lstm(
      input, {std::get<0>(*hx), std::get<1>(*hx)}, all_weights(),
      options.bias(), options.num_layers(), options.dropout(), is_training(),
      options.bidirectional(), options.batch_first());
  return {output, State(h, c)};
}

std::tuple<Tensor, Tensor> GRUImpl::forward(const Tensor& input, Tensor hx) {
  check_input(input);
  if (!hx.defined()) hx = zeros(input, options.hidden_size());
  return torch::gru(input, hx, all_weights(), options.bias(),
                    options.num_layers(), options.dropout(), is_training(),
                    options.bidirectional(), options.batch_first());
}

namespace {

using utils::rnn::PackedSequence;

/// States are in the caller's order, kernels want them by length.
Tensor permuted(const Tensor& state, const Tensor& order) {
  return order.defined() ? state.index_select(1, order) : state;
}
PackedSequence repacked(const Tensor& data, const PackedSequence& like) {
  return {data, like.batch_sizes(), like.sorted_indices(),
          like.unsorted_indices()};
}

}  // namespace

std::tuple<PackedSequence, Tensor> RNNImpl::forward_with_packed_input(
    const PackedSequence& input, Tensor hx) {
  hx = hx.defined() ? permuted(hx, input.sorted_indices())
                    : zeros(input, options.hidden_size());
  const auto call = [&](auto rnn) {
    return rnn(input.data(), input.batch_sizes(), hx, all_weights(),
               options.bias(), options.num_layers(), options.dropout(),
               is_training(), options.bidirectional());
  };
  const auto [output, h] =
      is_chosen<enumtype::kReLU>(options.nonlinearity())
          ? call([](auto&&... a) { return torch::rnn_relu(a...); })
          : call([](auto&&... a) { return torch::rnn_tanh(a...); });
  return {repacked(output, input), permuted(h, input.unsorted_indices())};
}

std::tuple<PackedSequence, LSTMImpl::State> LSTMImpl::forward_with_packed_input(
    const PackedSequence& input, std::optional<State> hx) {
  if (hx) {
    hx = State(permuted(std::get<0>(*hx), input.sorted_indices()),
               permuted(std::get<1>(*hx), input.sorted_indices()));
  } else {
    const int64_t real =
        options.proj_size() > 0 ? options.proj_size() : options.hidden_size();
    hx = State(zeros(input, real), zeros(input, options.hidden_size()));
  }
  const auto [output, h, c] = torch::lstm(
      input.data(), input.batch_sizes(), {std::get<0>(*hx), std::get<1>(*hx)},
      all_weights(), options.bias(), options.num_layers(), options.dropout(),
      is_training(), options.bidirectional());
  return {repacked(output, input),
          State(permuted(h, input.unsorted_indices()),
                permuted(c, input.unsorted_indices()))};
}

std::tuple<PackedSequence, Tensor> GRUImpl::forward_with_packed_input(
    const PackedSequence& input, Tensor hx) {
  hx = hx.defined() ? permuted(hx, input.sorted_indices())
                    : zeros(input, options.hidden_size());
  const auto [output, h] =
      torch::gru(input.data(), input.batch_sizes(), hx, all_weights(),
                 options.bias(), options.num_layers(), options.dropout(),
                 is_training(), options.bidirectional());
  return {repacked(output, input), permuted(h, input.unsorted_indices())};
}

}  // namespace torch::nn
