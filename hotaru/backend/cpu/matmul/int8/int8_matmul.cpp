// The kernels "int8_matmul" and "pack_int8" over gemm_int8.
#include <algorithm>

#include "hotaru/backend/cpu/matmul/areas.h"
#include "hotaru/backend/cpu/matmul/int8/int8_numbers.h"
#include "hotaru/backend/cpu/scratch.h"
#include "hotaru/runtime/kernel.h"

namespace hotaru::cpu {
namespace {

class Matmul {
 public:
  explicit Matmul(const KernelCall& call)
      : g_(call.attributes<Int8MatmulAttributes>()),
        out_(call.tensor(0)),
        a_(call.tensor(1)),
        b_(call.tensor(2)),
        a_zero_(call.tensor(3)),
        b_zero_(call.tensor(4)),
        a_scale_(call.tensor(5)),
        b_scale_(call.tensor(6)) {
    if (out_.dtype() == DType::kFloat32 && call.tensor(9).defined())
      bias_ = call.tensor(9).data<float>();
    if (!call.tensor(7).defined()) return;
    y_scale_ = *call.tensor(7).data<float>();
    y_zero_ = byte_at(call.tensor(8), 0);
  }

  void run() const {
    for_batch(g_.batch, g_.m * g_.n * g_.k, [&](int64_t i) { multiply(i); });
  }

 private:
  void multiply(int64_t i) const {
    // One buffer: zero points of rows and columns, then scales of both.
    auto* zeros = scratch<int32_t>(ScratchUse::kInt8Zeros, 2 * (g_.m + g_.n));
    int32_t* b_zeros = zeros + g_.m;
    read_zeros(a_zero_, i * g_.a_zero.batch, g_.a_zero.step, g_.m, zeros);
    read_zeros(b_zero_, i * g_.b_zero.batch, g_.b_zero.step, g_.n, b_zeros);
    Int8Product p{g_.m,
                  g_.n,
                  g_.k,
                  byte_matrix(a_, i * g_.a.batch, g_.a),
                  byte_matrix(b_, i * g_.b.batch, g_.b),
                  zeros,
                  b_zeros,
                  g_.packed ? b_.data<int32_t>() : nullptr,
                  {}};
    p.out.kind = output_kind(out_);
    p.out.stride = g_.n;
    const int64_t bytes = int64_t(itemsize(out_.dtype()));
    p.out.data = static_cast<char*>(out_.raw_data()) + i * g_.m * g_.n * bytes;
    if (a_scale_.defined())
      set_scales(i, reinterpret_cast<float*>(b_zeros + g_.n), p.out);
    gemm_int8(p);
  }

  /// Sets the scales of rows, of columns, or of both.
  void set_scales(int64_t i, float* rows, Int8Output& out) const {
    float* columns = rows + g_.m;
    const float* a = a_scale_.data<float>() + i * g_.a_scale.batch;
    const float* b = b_scale_.data<float>() + i * g_.b_scale.batch;
    out.column_bias = bias_;
    out.zero = y_zero_;
    out.divisor = y_scale_;
    const bool by_rows = g_.a_scale.step != 0, by_columns = g_.b_scale.step;
    if (by_rows && by_columns) {
      for (int64_t r = 0; r < g_.m; ++r) rows[r] = a[r * g_.a_scale.step];
      for (int64_t j = 0; j < g_.n; ++j) columns[j] = b[j * g_.b_scale.step];
    } else if (by_rows) {
      for (int64_t r = 0; r < g_.m; ++r)
        rows[r] = a[r * g_.a_scale.step] * b[0] / y_scale_;
    } else {
      for (int64_t j = 0; j < g_.n; ++j)
        columns[j] = a[0] * b[j * g_.b_scale.step] / y_scale_;
    }
    out.row_scale = by_rows ? rows : nullptr;
    out.column_scale = by_rows && !by_columns ? nullptr : columns;
  }

  const Int8MatmulAttributes& g_;
  const Tensor &out_, &a_, &b_, &a_zero_, &b_zero_, &a_scale_, &b_scale_;
  const float* bias_ = nullptr;
  float y_scale_ = 1;
  int32_t y_zero_ = 0;
};

void int8_matmul(const KernelCall& call) {
  Matmul(call).run();
}

void pack(const KernelCall& call) {
  const auto& g = call.attributes<PackInt8Attributes>();
  auto* zeros = scratch<int32_t>(ScratchUse::kInt8Zeros, g.n);
  read_zeros(call.tensor(2), 0, g.b_zero, g.n, zeros);
  pack_int8(g.k, g.n, byte_matrix(call.tensor(1), 0, g.b), zeros,
            call.tensor(0).data<int32_t>());
}

HOTARU_KERNEL(kCPU, "int8_matmul", int8_matmul);
HOTARU_KERNEL(kCPU, "pack_int8", pack);

}  // namespace
}  // namespace hotaru::cpu
