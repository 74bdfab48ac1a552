// Parameters of the kernel of recurrent layers besides its operands.
#pragma once

#include <cstdint>

namespace hotaru {

enum class RnnMode : uint8_t { kLstm, kGru, kTanh, kRelu };

/// Pre-activations a hidden unit has: i f g o; r z n; or one.
constexpr int64_t rnn_gates(RnnMode mode) {
  return mode == RnnMode::kLstm ? 4 : mode == RnnMode::kGru ? 3 : 1;
}

/// One layer in one direction over a whole sequence; a cell is a sequence of
/// one step. Operands of "rnn_layer", row-major unless said otherwise:
///   0 write y    [T, B, row_stride]; this direction's H values start at
///                `offset` of each row (see below)
///   1 write hn   [B, H]
///   2 write cn   [B, C], LSTM only, else undefined
///   3 read  x    [T, B, I]
///   4 read  h0   [B, H]
///   5 read  c0   [B, C] or undefined
///   6 read  w_ih [G C, I]
///   7 read  w_hh [G C, H]
///   8 read  b_ih, 9 read b_hh: [G C] or undefined
///   10 read w_hr [H, C], LSTM with projection, else undefined (then H = C)
/// With g = x w_ih^T + b_ih and q = h w_hh^T + b_hh, sigma the logistic
/// function, a step is
///   LSTM  i, f, o = sigma(g + q); n = tanh(g + q); c' = f c + i n;
///         h' = (o tanh(c')) w_hr^T
///   GRU   r, z = sigma(g + q); n = tanh(g_n + r q_n); h' = n + z (h - n)
///   tanh, relu   h' = act(g + q)
struct RnnAttributes {
  RnnMode mode = RnnMode::kLstm;
  bool reverse = false;
  int64_t row_stride = 0;
  int64_t offset = 0;
  /// The weights are what "pack_matrix" wrote of their transposes; on the CPU,
  /// without w_hr, with both biases or none.
  bool packed_input = false, packed_hidden = false;
  /// Set if factors of float32 may be rounded to bfloat16, which packed weights
  /// of that dtype are; sums, gates and cells are in float32. Nobody has to.
  bool bf16 = false;
};

}  // namespace hotaru
