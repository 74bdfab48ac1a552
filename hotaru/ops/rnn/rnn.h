// Recurrent cells and layers: LSTM, GRU and Elman's, with tanh or ReLU.
#pragma once

#include <tuple>

#include "hotaru/ops/boxing.h"

namespace hotaru {

/// input [B, I], hx {h [B, H], c [B, H]}, w_ih [4 H, I], w_hh [4 H, H], biases
/// [4 H] or undefined; gives the next h and c.
std::tuple<Tensor, Tensor> lstm_cell(const Tensor& input, const Tensors& hx,
                                     const Tensor& w_ih, const Tensor& w_hh,
                                     const Tensor& b_ih = {},
                                     const Tensor& b_hh = {});
/// input [B, I], hx [B, H], w_ih [3 H, I], w_hh [3 H, H].
Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih,
                const Tensor& w_hh, const Tensor& b_ih = {},
                const Tensor& b_hh = {});

/// How the layers of a recurrent network are arranged.
struct RnnShape {
  bool has_biases = true;
  int64_t num_layers = 1;
  double dropout = 0;  // between layers, if training
  bool train = false;
  bool bidirectional = false;
  bool batch_first = false;
};

/// input [T, B, I] ([B, T, I] if batch_first), hx {h0 [L D, B, H], c0}, params
/// w_ih, w_hh, b_ih, b_hh (, w_hr) for each layer and direction. Gives the
/// output [T, B, D H], hn and cn.
std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& input, const Tensors& hx,
                                        const Tensors& params,
                                        const RnnShape& shape);

}  // namespace hotaru
