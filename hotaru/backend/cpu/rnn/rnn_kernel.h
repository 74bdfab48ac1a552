// Recurrent layers (LSTM, GRU, plain) on raw memory, for float and double,
// with PyTorch's formulas, weights and gate order. Used for one step (cells)
// and for sequences, one layer and one direction at a time.
#pragma once

#include <cstdint>

#include "hotaru/backend/cpu/matmul/gemm.h"
#include "hotaru/core/half.h"

namespace hotaru {

enum class RnnKind : uint8_t { kLstm, kGru, kTanh, kRelu };

/// Rows of the weights per hidden unit: LSTM i, f, g, o; GRU r, z, n.
constexpr int64_t rnn_gates(RnnKind kind) {
  return kind == RnnKind::kLstm ? 4 : kind == RnnKind::kGru ? 3 : 1;
}

struct RnnSizes {
  RnnKind kind;
  int64_t steps = 1;
  int64_t batch = 1;
  int64_t input_size;
  int64_t hidden_size;
  bool reverse = false;  // from the last step to the first

  int64_t gate_size() const { return rnn_gates(kind) * hidden_size; }
};

/// A weight (gate_size, k), contiguous, or its transpose as pack_matrix()
/// writes it: `data`, or one of the others, in 16 bits, beside a layer of
/// float.
template <class T>
struct RnnMatrix {
  const T* data = nullptr;
  bool packed = false;
  const BFloat16* rounded = nullptr;
  const Half* half = nullptr;  // packed only
};

/// input: k is input_size; hidden: hidden_size; biases: (gate_size) or both
/// null.
template <class T>
struct RnnWeights {
  RnnMatrix<T> input, hidden;
  const T* input_bias = nullptr;
  const T* hidden_bias = nullptr;
};

/// Operands of a layer besides weights. h0, c0, hn, cn: (batch, hidden_size),
/// c0 and cn for LSTM only; hn may be h0 and cn may be c0. x: (steps, batch,
/// input_size) contiguous. y: the hidden state after each step, rows of
/// hidden_size elements y_stride apart, or null.
template <class T>
struct RnnOperands {
  const T* x;
  const T* h0;
  const T* c0;
  T* hn;
  T* cn;
  T* y = nullptr;
  int64_t y_stride = 0;
};

/// Runs a layer over its steps.
template <class T>
void rnn_layer(const RnnSizes& sizes, const RnnWeights<T>& weights,
               const RnnOperands<T>& operands);

}  // namespace hotaru
