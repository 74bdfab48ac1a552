#include "torch/nn/modules/rnn_cell.h"

#include <cmath>

#include "torch/nn/init.h"

namespace torch::nn {

namespace detail {

namespace {

template <class Options>
constexpr int64_t kGates = std::is_same_v<Options, LSTMCellOptions>  ? 4
                           : std::is_same_v<Options, GRUCellOptions> ? 3
                                                                     : 1;
template <class Options>
constexpr const char* kName = std::is_same_v<Options, LSTMCellOptions>  ? "LSTM"
                              : std::is_same_v<Options, GRUCellOptions> ? "GRU"
                                                                        : "RNN";

}  // namespace

template <class Derived, class Options>
void CellImpl<Derived, Options>::reset() {
  const int64_t gates = kGates<Options> * options.hidden_size();
  const auto add = [&](const char* name, at::IntArrayRef sizes, bool there) {
    return this->register_parameter(
        name, there ? torch::empty(sizes) : Tensor(), there);
  };
  weight_ih = add("weight_ih", {gates, options.input_size()}, true);
  weight_hh = add("weight_hh", {gates, options.hidden_size()}, true);
  bias_ih = add("bias_ih", {gates}, options.bias());
  bias_hh = add("bias_hh", {gates}, options.bias());
  reset_parameters();
}

template <class Derived, class Options>
void CellImpl<Derived, Options>::reset_parameters() {
  const double bound = 1.0 / std::sqrt(double(options.hidden_size()));
  for (const Tensor& parameter : this->parameters())
    init::uniform_(parameter, -bound, bound);
}

template <class Derived, class Options>
void CellImpl<Derived, Options>::pretty_print(std::ostream& out) const {
  out << std::boolalpha << "torch::nn::" << kName<Options> << "Cell("
      << options.input_size() << ", " << options.hidden_size();
  if (!options.bias()) out << ", bias=" << false;
  if constexpr (std::is_same_v<Options, RNNCellOptions>)
    if (!is_chosen<enumtype::kTanh>(options.nonlinearity()))
      out << ", nonlinearity="
          << enumtype::get_enum_name(options.nonlinearity());
  out << ")";
}

template <class Derived, class Options>
void CellImpl<Derived, Options>::check(const Tensor& input, const Tensor& state,
                                       const char* what) const {
  TORCH_CHECK(input.dim() == 1 || input.dim() == 2,
              "Expected input to be 1D or "
              "2D, got ",
              input.dim(), "D instead");
  TORCH_CHECK(input.size(-1) == options.input_size(),
              "input has inconsistent input_size: got ", input.size(-1),
              " expected ", options.input_size());
  if (!state.defined()) return;
  TORCH_CHECK(state.dim() == input.dim() || state.dim() == 2, "Expected ", what,
              " to be 1D or 2D, got ", state.dim(), "D instead");
  const char label = std::string_view(what) == "hx[1]" ? '1' : '0';
  TORCH_CHECK(input.dim() == 1 || input.size(0) == state.size(0),
              "Input batch size ", input.size(0), " doesn't match hidden",
              label, " batch size ", state.size(0));
  TORCH_CHECK(state.size(-1) == options.hidden_size(), "hidden", label,
              " has inconsistent hidden_size: got ", state.size(-1),
              ", expected ", options.hidden_size());
}

template <class Derived, class Options>
Tensor CellImpl<Derived, Options>::zeros(const Tensor& input) const {
  std::vector<int64_t> sizes{options.hidden_size()};
  if (input.dim() == 2) sizes.insert(sizes.begin(), input.size(0));
  return torch::zeros(sizes, input.options());
}

template class CellImpl<RNNCellImpl, RNNCellOptions>;
template class CellImpl<LSTMCellImpl, LSTMCellOptions>;
template class CellImpl<GRUCellImpl, GRUCellOptions>;

namespace {

/// Kernels take batches.
Tensor batched(const Tensor& t, bool one) {
  return one ? t.unsqueeze(0) : t;
}
Tensor as_given(const Tensor& t, bool one) {
  return one ? t.squeeze(0) : t;
}

}  // namespace

}  // namespace detail

Tensor RNNCellImpl::forward(const Tensor& input, const Tensor& hx) {
  check(input, hx);
  const bool one = input.dim() == 1;
  const Tensor x = detail::batched(input, one);
  const Tensor h = detail::batched(hx.defined() ? hx : zeros(input), one);
  return detail::as_given(
      is_chosen<enumtype::kReLU>(options.nonlinearity())
          ? torch::rnn_relu_cell(x, h, weight_ih, weight_hh, bias_ih, bias_hh)
          : torch::rnn_tanh_cell(x, h, weight_ih, weight_hh, bias_ih, bias_hh),
      one);
}

LSTMCellImpl::State LSTMCellImpl::forward(const Tensor& input,
                                          std::optional<State> hx) {
  if (hx) {
    check(input, std::get<0>(*hx), "hx[0]");
    check(input, std::get<1>(*hx), "hx[1]");
  } else {
    check(input, {});
    hx = State(zeros(input), zeros(input));
  }
  const bool one = input.dim() == 1;
  const auto [h, c] = torch::lstm_cell(detail::batched(input, one),
                                       {detail::batched(std::get<0>(*hx), one),
                                        detail::batched(std::get<1>(*hx), one)},
                                       weight_ih, weight_hh, bias_ih, bias_hh);
  return {detail::as_given(h, one), detail::as_given(c, one)};
}

Tensor GRUCellImpl::forward(const Tensor& input, const Tensor& hx) {
  check(input, hx);
  const bool one = input.dim() == 1;
  return detail::as_given(
      torch::gru_cell(detail::batched(input, one),
                      detail::batched(hx.defined() ? hx : zeros(input), one),
                      weight_ih, weight_hh, bias_ih, bias_hh),
      one);
}

}  // namespace torch::nn
