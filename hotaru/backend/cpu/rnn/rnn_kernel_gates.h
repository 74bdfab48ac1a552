// The element-wise half of recurrent layers, as SIMD kernels chosen at run
// time.
#pragma once

#include <cstdint>

#include "hotaru/backend/cpu/rnn/rnn_kernel.h"

namespace hotaru {

/// One batch row. from_input and from_hidden are the products before their
/// biases (null biases are zero); an LSTM or plain layer adds both up.
template <class T>
struct RnnGates {
  const T* from_input;
  const T* from_hidden;
  const T* input_bias;
  const T* hidden_bias;
  int64_t hidden_size;
};

template <class T>
struct RnnKernels {
  /// c_out = sigmoid(f) c + sigmoid(i) tanh(g); h_out = sigmoid(o)
  /// tanh(c_out). c_out may be c.
  void (*lstm)(const RnnGates<T>& gates, const T* c, T* c_out, T* h_out);
  /// n = tanh(n_x + b_x + sigmoid(r) (n_h + b_h)); h_out = (h - n) z + n with
  /// z = sigmoid(z). h_out may be h.
  void (*gru)(const RnnGates<T>& gates, const T* h, T* h_out);
  void (*tanh)(const RnnGates<T>& gates, T* h_out);
  void (*relu)(const RnnGates<T>& gates, T* h_out);
};

/// T: float, double.
template <class T>
const RnnKernels<T>& rnn_kernels();

}  // namespace hotaru
