// The kernels "linear" and "pack_matrix" as graphs call them: CUDA's results
// are the CPU's.
#include "hotaru/backend/common/matmul/linear.h"

#include <gtest/gtest.h>

#include "hotaru/core/host.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/random/random.h"
#include "hotaru/ops/reduce/extremum.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

const Device kCuda{DeviceType::kCUDA, 0};

struct Operands {
  Tensor a, b, bias{}, scale{}, residual{};

  Operands on(Device device) const {
    const auto moved = [&](const Tensor& t) {
      return t.defined() ? to(t, device) : t;
    };
    return {moved(a), moved(b), moved(bias), moved(scale), moved(residual)};
  }
};

/// The result into `out`, which is on the operands' device.
void linear(const Tensor& out, const Operands& o, const LinearAttributes& g) {
  enqueue(kernel("linear"),
          {write(out), read(o.a), read(o.b), read(o.bias), read(o.scale),
           read(o.residual)},
          g);
}

void expect_same(const Operands& o, const LinearAttributes& g, Dims shape) {
  const Tensor expected = zeros(shape, TensorOptions(o.a));
  linear(expected, o, g);
  const Tensor out = zeros(shape, {o.a.dtype(), kCuda});
  linear(out, o.on(kCuda), g);
  const Tensor difference = max(abs(sub(to(out, Device{}), expected)));
  EXPECT_LT(item(difference).to_double(), 1e-4);
}

Tensor numbers(Dims shape, DType dtype) {
  return randn(shape, {dtype, Device{}});
}

TEST(CudaLinear, DoesAllThatGraphsAsk) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64})
    for (const int64_t k : {1, 40, 1100}) {
      const int64_t m = 37, n = 70;
      Operands o{numbers({m, k}, dtype), numbers({n, k}, dtype),
                 numbers({n}, dtype), numbers({1}, dtype),
                 numbers({m, n + 3}, dtype)};
      LinearAttributes g;
      g.m = m, g.n = n, g.k = k;
      g.a = {0, k, 1};
      g.b = {0, 1, k};
      g.alpha = Scalar(0.25);
      g.residual_stride = n + 3;
      for (int activation = 0; activation <= int(Activation::kGeluTanh);
           ++activation) {
        g.activation = Activation(activation);
        expect_same(o, g, {m, n});
      }
      o.scale = o.residual = Tensor();
      expect_same(o, g, {m, n});
      o.bias = Tensor();
      g.activation = Activation::kNone;
      expect_same(o, g, {m, n});
      g.out_row = n + 5;  // into a wider matrix
      expect_same(o, g, {m, n + 5});
    }
}

TEST(CudaLinear, Batches) {
  const int64_t batch = 3, m = 5, n = 6, k = 7;
  Operands o{numbers({batch, m, k}, DType::kFloat32),
             numbers({k, n}, DType::kFloat32)};
  LinearAttributes g;
  g.batch = batch, g.m = m, g.n = n, g.k = k;
  g.a = {m * k, k, 1};
  g.b = {0, n, 1};
  expect_same(o, g, {batch, m, n});
  g.out_row = batch * n;  // side by side
  g.out_batch = n;
  expect_same(o, g, {m, batch, n});
}

TEST(CudaLinear, AddsToItsResult) {
  const Operands o{numbers({4, 9}, DType::kFloat32),
                   numbers({9, 8}, DType::kFloat32), Tensor(), Tensor(),
                   numbers({4, 8}, DType::kFloat32)};
  LinearAttributes g;
  g.m = 4, g.n = 8, g.k = 9, g.residual_stride = 8;
  g.a = {0, 9, 1};
  g.b = {0, 8, 1};
  Tensor results[2];
  for (const bool cuda : {false, true}) {
    Operands here = o.on(cuda ? kCuda : Device{});
    if (!cuda) here.residual = clone(o.residual);
    linear(here.residual, here, g);
    results[cuda] = to(here.residual, Device{});
  }
  EXPECT_LT(item(max(abs(sub(results[0], results[1])))).to_double(), 1e-5);
}

TEST(CudaLinear, ReadsWhatItPacked) {
  const int64_t m = 6, n = 33, k = 21;
  const Operands o = Operands{numbers({m, k}, DType::kFloat32),
                              numbers({n, k}, DType::kFloat32)};
  LinearAttributes g;
  g.m = m, g.n = n, g.k = k;
  g.a = {0, k, 1};
  g.b = {0, 1, k};
  const Tensor expected = zeros(Dims{m, n}, TensorOptions(o.a));
  linear(expected, o, g);
  Operands there = o.on(kCuda);
  const Tensor packed =
      zeros(Dims{packed_size(k, n, sizeof(float))}, {DType::kFloat32, kCuda});
  enqueue(kernel("pack_matrix"), {write(packed), read(there.b)},
          PackMatrixAttributes{k, n, g.b});
  there.b = packed;
  g.packed = true;
  const Tensor out = zeros(Dims{m, n}, {DType::kFloat32, kCuda});
  linear(out, there, g);
  EXPECT_LT(item(max(abs(sub(to(out, Device{}), expected)))).to_double(), 1e-5);
}

}  // namespace
}  // namespace hotaru
