#include "hotaru/backend/cpu/rnn/rnn_kernel.h"

#include <algorithm>
#include <optional>

#include "hotaru/backend/cpu/rnn/rnn_kernel_gates.h"
#include "hotaru/backend/cpu/scratch.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru {
namespace {

// Input products computed ahead, in rows (steps x batch).
constexpr int64_t kRowsAhead = 256;
// Steps from which packing the recurrent weight for one call pays.
constexpr int64_t kStepsWorthPacking = 16;

/// out (rows x gate_size) = a times the transposed weight.
template <class T>
void project(int64_t rows, int64_t depth, int64_t gate_size, MatrixRef<T> a,
             const T* weight, const PackedMatrix<T>* packed, T* out) {
  if (packed != nullptr) {
    gemm<T>(rows, T(1), a, *packed, T(0), out, gate_size);
  } else {
    gemm<T>(rows, gate_size, depth, T(1), a, {weight, 1, depth}, T(0), out,
            gate_size);
  }
}

}  // namespace

template <class T>
PackedRnnWeights<T>::PackedRnnWeights(const RnnSizes& sizes,
                                      const RnnWeights<T>& weights)
    : input(sizes.input_size, sizes.gate_size(),
            {weights.input, 1, sizes.input_size}),
      hidden(sizes.hidden_size, sizes.gate_size(),
             {weights.hidden, 1, sizes.hidden_size}) {}

template <class T>
void rnn_layer(const RnnSizes& sizes, const RnnWeights<T>& weights,
               const RnnOperands<T>& io, const PackedRnnWeights<T>* packed) {
  const int64_t batch = sizes.batch, hidden = sizes.hidden_size;
  const int64_t gate_size = sizes.gate_size(), depth = sizes.input_size;
  if (batch == 0) return;
  const RnnKernels<T>& kernels = rnn_kernels<T>();
  const PackedMatrix<T>* packed_hidden = packed ? &packed->hidden : nullptr;
  std::optional<PackedMatrix<T>> own;
  if (packed_hidden == nullptr && sizes.steps >= kStepsWorthPacking) {
    own.emplace(hidden, gate_size, MatrixRef<T>{weights.hidden, 1, hidden});
    packed_hidden = &*own;
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
      project<T>(count * batch, depth, gate_size,
                 {io.x + first * batch * depth, depth, 1}, weights.input,
                 packed ? &packed->input : nullptr, from_input);
    }
    project<T>(batch, hidden, gate_size, h, weights.hidden, packed_hidden,
               from_hidden);
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

template struct PackedRnnWeights<float>;
template struct PackedRnnWeights<double>;
template void rnn_layer(const RnnSizes&, const RnnWeights<float>&,
                        const RnnOperands<float>&,
                        const PackedRnnWeights<float>*);
template void rnn_layer(const RnnSizes&, const RnnWeights<double>&,
                        const RnnOperands<double>&,
                        const PackedRnnWeights<double>*);

}  // namespace hotaru
