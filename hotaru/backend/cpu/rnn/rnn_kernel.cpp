#include "hotaru/backend/cpu/rnn/rnn_kernel.h"

#include <algorithm>
#include <type_traits>

#include "hotaru/backend/cpu/matmul/gemm_bf16.h"
#include "hotaru/backend/cpu/rnn/rnn_kernel_gates.h"
#include "hotaru/backend/cpu/scratch.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru {
namespace {

// Input products computed ahead, in rows (steps x batch).
constexpr int64_t kRowsAhead = 256;
// Steps from which packing the recurrent weight for one call pays.
constexpr int64_t kStepsWorthPacking = 16;

/// A weight (n x k) that rows are multiplied by, transposed.
template <class T>
struct Projection {
  PackedRef<T> weight;
  bool packed;
  const BFloat16* rounded;

  /// out (rows x n) = a times the transposed weight.
  void apply(int64_t rows, MatrixRef<T> a, T* out) const {
    const auto [data, k, n] = weight;
    if constexpr (std::is_same_v<T, float>)
      if (rounded) return gemm_bf16(rows, 1, a, {rounded, k, n}, 0, out, n);
    if (packed)
      gemm<T>(rows, T(1), a, weight, T(0), out, n);
    else
      gemm<T>(rows, n, k, T(1), a, {data, 1, k}, T(0), out, n);
  }
};

}  // namespace

template <class T>
void rnn_layer(const RnnSizes& sizes, const RnnWeights<T>& weights,
               const RnnOperands<T>& io) {
  const int64_t batch = sizes.batch, hidden = sizes.hidden_size;
  const int64_t gate_size = sizes.gate_size(), depth = sizes.input_size;
  if (batch == 0) return;
  const RnnKernels<T>& kernels = rnn_kernels<T>();
  const Projection<T> of_input{{weights.input, depth, gate_size},
                               weights.packed_input,
                               weights.rounded_input};
  Projection<T> of_hidden{{weights.hidden, hidden, gate_size},
                          weights.packed_hidden,
                          weights.rounded_hidden};
  PackedMatrix<T> own;
  if (!of_hidden.packed && !of_hidden.rounded &&
      sizes.steps >= kStepsWorthPacking) {
    own = PackedMatrix<T>(hidden, gate_size, {weights.hidden, 1, hidden});
    of_hidden = {own.ref(), true, nullptr};
  }

  const int64_t ahead = std::clamp<int64_t>(kRowsAhead / batch, 1,
                                            std::max<int64_t>(sizes.steps, 1));
  T* from_input = scratch<T>(ScratchUse::kRnn, (ahead + 1) * batch * gate_size);
  T* from_hidden = from_input + ahead * batch * gate_size;
  MatrixRef<T> h{io.h0, hidden, 1};
  const T* c = io.c0;
  for (int64_t done = 0; done < sizes.steps; ++done) {
    const int64_t within = done % ahead;
    if (within == 0) {
      // Steps [done, done + count) in order of time, whichever end comes
      // first.
      const int64_t count = std::min(ahead, sizes.steps - done);
      const int64_t first = sizes.reverse ? sizes.steps - done - count : done;
      of_input.apply(count * batch, {io.x + first * batch * depth, depth, 1},
                     from_input);
    }
    of_hidden.apply(batch, h, from_hidden);
    const int64_t count = std::min(ahead, sizes.steps - (done - within));
    const int64_t slot = sizes.reverse ? count - 1 - within : within;
    const int64_t time = sizes.reverse ? sizes.steps - 1 - done : done;
    T* out = io.y ? io.y + time * batch * io.y_stride : io.hn;
    const int64_t stride = io.y ? io.y_stride : hidden;
    const auto rows = [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        const RnnGates<T> gates{from_input + (slot * batch + b) * gate_size,
                                from_hidden + b * gate_size, weights.input_bias,
                                weights.hidden_bias, hidden};
        T* h_out = out + b * stride;
        switch (sizes.kind) {
          case RnnKind::kLstm:
            kernels.lstm(gates, c + b * hidden, io.cn + b * hidden, h_out);
            break;
          case RnnKind::kGru:
            kernels.gru(gates, h.data + b * h.row_stride, h_out);
            break;
          case RnnKind::kTanh:
            kernels.tanh(gates, h_out);
            break;
          case RnnKind::kRelu:
            kernels.relu(gates, h_out);
            break;
        }
      }
    };
    parallel_for(0, batch,
                 std::max<int64_t>(1, kGrainSize / 8 / (gate_size + 1)), rows);
    h = {out, stride, 1};
    c = io.cn;
  }
  if (h.data != io.hn) {
    for (int64_t b = 0; b < batch; ++b) {
      std::copy_n(h.data + b * h.row_stride, hidden, io.hn + b * hidden);
    }
  }
  if (sizes.kind == RnnKind::kLstm && c != io.cn) {
    std::copy_n(c, batch * hidden, io.cn);
  }
}

template void rnn_layer(const RnnSizes&, const RnnWeights<float>&,
                        const RnnOperands<float>&);
template void rnn_layer(const RnnSizes&, const RnnWeights<double>&,
                        const RnnOperands<double>&);

}  // namespace hotaru
