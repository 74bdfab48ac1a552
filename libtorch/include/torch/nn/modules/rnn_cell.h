// One step of a recurrent layer, over (N, input_size) or (input_size).
#pragma once

#include <optional>
#include <tuple>

#include "torch/nn/modules/container/any.h"
#include "torch/nn/options/rnn.h"

namespace torch::nn {

namespace detail {

/// Weights weight_ih, weight_hh, bias_ih and bias_hh of `kGates` gates.
template <class Derived, class Options>
class CellImpl : public Cloneable<Derived> {
 public:
  explicit CellImpl(const Options& options) : options(options) {
    CellImpl::reset();
  }
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& out) const override;

  Options options;
  Tensor weight_ih, weight_hh;
  Tensor bias_ih, bias_hh;  // undefined without

 protected:
  /// Throws PyTorch's texts for inputs and states that do not fit.
  void check(const Tensor& input, const Tensor& state,
             const char* what = "hidden") const;
  Tensor zeros(const Tensor& input) const;
};

}  // namespace detail

/// tanh(W x + b + U h + c), or with ReLU.
class RNNCellImpl : public detail::CellImpl<RNNCellImpl, RNNCellOptions> {
 public:
  RNNCellImpl(int64_t input_size, int64_t hidden_size)
      : RNNCellImpl(RNNCellOptions(input_size, hidden_size)) {}
  explicit RNNCellImpl(const RNNCellOptions& options) : CellImpl(options) {}
  Tensor forward(const Tensor& input, const Tensor& hx = {});

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())})
};
HOTARU_TORCH_MODULE(RNNCell);

/// Gives (h, c).
class LSTMCellImpl : public detail::CellImpl<LSTMCellImpl, LSTMCellOptions> {
 public:
  using State = std::tuple<Tensor, Tensor>;

  LSTMCellImpl(int64_t input_size, int64_t hidden_size)
      : LSTMCellImpl(LSTMCellOptions(input_size, hidden_size)) {}
  explicit LSTMCellImpl(const LSTMCellOptions& options) : CellImpl(options) {}
  State forward(const Tensor& input, std::optional<State> hx = {});

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(std::optional<State>())})
};
HOTARU_TORCH_MODULE(LSTMCell);

class GRUCellImpl : public detail::CellImpl<GRUCellImpl, GRUCellOptions> {
 public:
  GRUCellImpl(int64_t input_size, int64_t hidden_size)
      : GRUCellImpl(GRUCellOptions(input_size, hidden_size)) {}
  explicit GRUCellImpl(const GRUCellOptions& options) : CellImpl(options) {}
  Tensor forward(const Tensor& input, const Tensor& hx = {});

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())})
};
HOTARU_TORCH_MODULE(GRUCell);

}  // namespace torch::nn
