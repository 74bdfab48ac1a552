#include "hotaru/backend/cpu/rnn/rnn_kernel.h"

#include <algorithm>
#include <memory>
#include <type_traits>

#include "hotaru/backend/cpu/matmul/gemm_bf16.h"
#include "hotaru/backend/cpu/matmul/halves/gemm_widened.h"
#include "hotaru/backend/cpu/matmul/halves/reduced_rows.h"
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
  int64_t n, k;
  RnnMatrix<T> weight;

  /// out (rows x n) = a times the transposed weight.
  void apply(int64_t rows, MatrixRef<T> a, T* out) const {
    if constexpr (std::is_same_v<T, float>) {
      if (weight.half)
        return gemm_widened(rows, 1, a, {weight.half, k, n}, 0, out, n, {});
      if (const BFloat16* w = weight.rounded) {
        if (weight.packed) return gemm_bf16(rows, 1, a, {w, k, n}, 0, out, n);
        return gemm_bf16(rows, n, k, 1, a, MatrixRef<BFloat16>{w, 1, k}, 0, out,
                         n);
      }
    }
    if (weight.packed)
      gemm<T>(rows, T(1), a, PackedRef<T>{weight.data, k, n}, T(0), out, n);
    else
      gemm<T>(rows, n, k, T(1), a, {weight.data, 1, k}, T(0), out, n);
  }
};

/// The same for many products of one call, in memory of its own.
template <class T>
class OwnPanels {
 public:
  /// Packs panels of so many rows each.
  void pack(int64_t rows, Projection<T>& p) {
    RnnMatrix<T>& weight = p.weight;
    if constexpr (std::is_same_v<T, float>) {
      if (weight.half && rows > cpu::kReducedRows) {
        const int64_t size = packed_size(p.k, p.n, sizeof(float));
        memory_.reset(aligned_new<std::byte>(size * sizeof(float)));
        auto* to = reinterpret_cast<float*>(memory_.get());
        weight = {widen_packed({weight.half, p.k, p.n}, to).data, true};
      }
      if (weight.rounded && !weight.packed) {
        const int64_t size = packed_size(p.k, p.n, sizeof(BFloat16));
        memory_.reset(aligned_new<std::byte>(size * sizeof(BFloat16)));
        auto* to = reinterpret_cast<BFloat16*>(memory_.get());
        const MatrixRef<BFloat16> from{weight.rounded, 1, p.k};
        weight.rounded = pack_bf16(p.k, p.n, from, to).data;
      }
    }
    if (!weight.packed && !weight.half && !weight.rounded) {
      own_ = PackedMatrix<T>(p.k, p.n, {weight.data, 1, p.k});
      weight.data = own_.ref().data;
    }
    weight.packed = true;
  }

 private:
  PackedMatrix<T> own_;
  std::unique_ptr<std::byte[], AlignedDelete> memory_;
};

}  // namespace

template <class T>
void rnn_layer(const RnnSizes& sizes, const RnnWeights<T>& weights,
               const RnnOperands<T>& io) {
  const int64_t batch = sizes.batch, hidden = sizes.hidden_size;
  const int64_t gate_size = sizes.gate_size(), depth = sizes.input_size;
  if (batch == 0) return;
  const RnnKernels<T>& kernels = rnn_kernels<T>();
  const Projection<T> of_input{gate_size, depth, weights.input};
  Projection<T> of_hidden{gate_size, hidden, weights.hidden};
  OwnPanels<T> own;
  if (sizes.steps >= kStepsWorthPacking) own.pack(batch, of_hidden);

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
  if (h.data != io.hn)
    for (int64_t b = 0; b < batch; ++b)
      std::copy_n(h.data + b * h.row_stride, hidden, io.hn + b * hidden);
  if (sizes.kind == RnnKind::kLstm && c != io.cn)
    std::copy_n(c, batch * hidden, io.cn);
}

template void rnn_layer(const RnnSizes&, const RnnWeights<float>&,
                        const RnnOperands<float>&);
template void rnn_layer(const RnnSizes&, const RnnWeights<double>&,
                        const RnnOperands<double>&);

}  // namespace hotaru
