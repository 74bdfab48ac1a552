// Recurrent layers over sequences (L, N, input_size), or (N, L, input_size)
// with batch_first.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "torch/nn/modules/container/any.h"
#include "torch/nn/options/rnn.h"
#include "torch/nn/utils/rnn.h"

namespace torch::nn {

namespace detail {

using rnn_options_base_mode_t =
    std::variant<enumtype::kLSTM, enumtype::kGRU, enumtype::kRNN_TANH,
                 enumtype::kRNN_RELU>;

/// The options of any of them as the layer was made with, for code that takes
/// all kinds.
struct RNNOptionsBase {
  RNNOptionsBase(rnn_options_base_mode_t mode, int64_t input_size,
                 int64_t hidden_size)
      : mode_(mode), input_size_(input_size), hidden_size_(hidden_size) {}
  TORCH_ARG(rnn_options_base_mode_t, mode);
  TORCH_ARG(int64_t, input_size);
  TORCH_ARG(int64_t, hidden_size);
  TORCH_ARG(int64_t, num_layers) = 1;
  TORCH_ARG(bool, bias) = true;
  TORCH_ARG(bool, batch_first) = false;
  TORCH_ARG(double, dropout) = 0.0;
  TORCH_ARG(bool, bidirectional) = false;
  TORCH_ARG(int64_t, proj_size) = 0;
};
RNNOptionsBase options_base_of(const RNNOptions& options);
RNNOptionsBase options_base_of(const LSTMOptions& options);
RNNOptionsBase options_base_of(const GRUOptions& options);

/// Common parts of all of them: weights by layer and direction, under Python's
/// names (weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, ..._reverse).
template <class Derived, class Options>
class RecurrentImpl : public Cloneable<Derived> {
 public:
  /// Throws PyTorch's texts for options that make no sense.
  explicit RecurrentImpl(const Options& options)
      : options(options), options_base(options_base_of(options)) {
    RecurrentImpl::reset();
  }
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& out) const override;
  /// In their order.
  std::vector<Tensor> all_weights() const;
  /// Nothing: weights are packed where they are used.
  void flatten_parameters() {}

  Options options;
  RNNOptionsBase options_base;

 protected:
  /// A state of zeros for the batch, `size` long.
  Tensor zeros(const Tensor& input, int64_t size) const;
  /// The same for the sequences of a packed batch.
  Tensor zeros(const utils::rnn::PackedSequence& input, int64_t size) const;
  void check_input(const Tensor& input) const;
};

}  // namespace detail

/// h' = tanh(W x + b + U h + c), or with ReLU. Gives (output, h_n).
class RNNImpl : public detail::RecurrentImpl<RNNImpl, RNNOptions> {
 public:
  RNNImpl(int64_t input_size, int64_t hidden_size)
      : RNNImpl(RNNOptions(input_size, hidden_size)) {}
  explicit RNNImpl(const RNNOptions& options) : RecurrentImpl(options) {}
  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {});
  std::tuple<utils::rnn::PackedSequence, Tensor> forward_with_packed_input(
      const utils::rnn::PackedSequence& input, Tensor hx = {});

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())})
};
HOTARU_TORCH_MODULE(RNN);

/// Long short-term memory. Gives (output, (h_n, c_n)).
class LSTMImpl : public detail::RecurrentImpl<LSTMImpl, LSTMOptions> {
 public:
  using State = std::tuple<Tensor, Tensor>;

  LSTMImpl(int64_t input_size, int64_t hidden_size)
      : LSTMImpl(LSTMOptions(input_size, hidden_size)) {}
  explicit LSTMImpl(const LSTMOptions& options) : RecurrentImpl(options) {}
  std::tuple<Tensor, State> forward(const Tensor& input,
                                    std::optional<State> hx = {});
  std::tuple<utils::rnn::PackedSequence, State> forward_with_packed_input(
      const utils::rnn::PackedSequence& input, std::optional<State> hx = {});

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(std::optional<State>())})
};
HOTARU_TORCH_MODULE(LSTM);

/// Gated recurrent units. Gives (output, h_n).
class GRUImpl : public detail::RecurrentImpl<GRUImpl, GRUOptions> {
 public:
  GRUImpl(int64_t input_size, int64_t hidden_size)
      : GRUImpl(GRUOptions(input_size, hidden_size)) {}
  explicit GRUImpl(const GRUOptions& options) : RecurrentImpl(options) {}
  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {});
  std::tuple<utils::rnn::PackedSequence, Tensor> forward_with_packed_input(
      const utils::rnn::PackedSequence& input, Tensor hx = {});

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())})
};
HOTARU_TORCH_MODULE(GRU);

}  // namespace torch::nn
