// Loops of elementwise kernels: an element's result depends on the element
// alone, and prepared calls compute what calls compute.
#include "hotaru/backend/common/elementwise.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "hotaru/backend/common/pointwise/pointwise.h"
#include "hotaru/core/error.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

constexpr const char* kUnary[] = {
    "abs",         "acos",       "acosh",       "angle",       "asin",
    "asinh",       "atan",       "atanh",       "ceil",        "clamp",
    "clamp_max",   "clamp_min",  "cos",         "cosh",        "digamma",
    "elu",         "erf",        "erfc",        "exp",         "exp2",
    "expm1",       "floor",      "frac",        "gelu",        "gelu_tanh",
    "hardshrink",  "hardswish",  "hardtanh",    "isinf",       "isnan",
    "leaky_relu",  "lgamma",     "log",         "log10",       "log1p",
    "log2",        "mish",       "neg",         "pow_scalar",  "reciprocal",
    "relu",        "round",      "rsqrt",       "sigmoid",     "sign",
    "silu",        "sin",        "sinh",        "softplus",    "softshrink",
    "sqrt",        "tan",        "tanh",        "threshold",   "trigamma",
    "trunc",       "copy_",      "bitwise_not", "logical_not", "conj",
    "hardsigmoid", "log_sigmoid"};
constexpr const char* kBinary[] = {"add",
                                   "atan2",
                                   "bitwise_and",
                                   "copysign",
                                   "div",
                                   "div_floor",
                                   "div_trunc",
                                   "elu_grad",
                                   "eq",
                                   "elu_result_grad",
                                   "fmax",
                                   "fmin",
                                   "fmod",
                                   "ge",
                                   "gelu_grad",
                                   "gelu_tanh_grad",
                                   "gt",
                                   "hardtanh_grad",
                                   "hardsigmoid_grad",
                                   "hardswish_grad",
                                   "hypot",
                                   "le",
                                   "leaky_relu_grad",
                                   "log_sigmoid_grad",
                                   "logaddexp",
                                   "logical_and",
                                   "lt",
                                   "maximum",
                                   "minimum",
                                   "mish_grad",
                                   "mul",
                                   "ne",
                                   "pow",
                                   "prelu",
                                   "remainder",
                                   "shrink_grad",
                                   "sigmoid_grad",
                                   "silu_grad",
                                   "softplus_grad",
                                   "tanh_grad",
                                   "threshold_grad",
                                   "xlogy",
                                   "bitwise_or",
                                   "bitwise_xor"};
constexpr const char* kTernary[] = {"addcdiv", "addcmul", "lerp"};
constexpr const char* kBoolResults[] = {
    "eq",          "ne",          "lt",          "le",
    "gt",          "ge",          "logical_and", "logical_or",
    "logical_xor", "logical_not", "isnan",       "isinf"};

constexpr int64_t kCount = 1024 + 13;

/// Rows of a call's operands, the result first; inputs share their values.
struct Case {
  const Kernel& kernel;
  std::vector<Tensor> tensors;
  PointwiseNumbers numbers{0.7, 1.3, 0.4};

  template <class F>
  void call(const F& f) const {
    std::vector<Operand> operands{write(tensors[0])};
    for (size_t i = 1; i < tensors.size(); ++i)
      operands.push_back(read(tensors[i]));
    f(KernelCall(kernel, operands, numbers));
  }
  void run() const {
    call([](const KernelCall& c) { c.run(DeviceType::kCPU); });
  }
  Case part(int64_t from, int64_t n) const {
    Case out{kernel, {}};
    for (const Tensor& t : tensors)
      out.tensors.push_back(narrow(t, 0, from, n));
    return out;
  }
  Case strided() const {
    Case out{kernel, {}};
    for (const Tensor& t : tensors)
      out.tensors.push_back(
          select(contiguous(expand(unsqueeze(t, 1), Dims{kCount, 2})), 1, 1));
    return out;
  }
  std::string result() const {
    const Tensor dense = contiguous(tensors[0]);
    return {static_cast<const char*>(dense.raw_data()),
            size_t(dense.numel()) * itemsize(dense.dtype())};
  }
};

Tensor values(DType dtype, unsigned seed) {
  std::mt19937 rng(seed);
  std::uniform_real_distribution<float> value(-6, 6);
  const Tensor out = zeros(Dims{kCount}, DType::kFloat32);
  for (int64_t i = 0; i < kCount; ++i) {
    const float v = value(rng);
    out.data<float>()[i] = is_floating_point(dtype) ? v : v < 0 ? v - 1 : v + 1;
  }
  return to(out, dtype);
}

void for_each_case(const auto& f) {
  const auto each = [&](const auto& names, size_t inputs) {
    for (const char* name : names)
      for (const DType dtype : {DType::kFloat32, DType::kFloat64,
                                DType::kBFloat16, DType::kInt32}) {
        const bool truth =
            std::find(std::begin(kBoolResults), std::end(kBoolResults),
                      std::string_view(name)) != std::end(kBoolResults);
        Case c{kernel(name), {}};
        c.tensors.push_back(zeros(Dims{kCount}, truth ? DType::kBool : dtype));
        for (size_t i = 0; i < inputs; ++i)
          c.tensors.push_back(values(dtype, unsigned(i)));
        try {
          c.run();
        } catch (const NotImplementedError&) {
          continue;
        }
        f(c, std::string(name) + " of " + std::string(dtype_name(dtype)));
      }
  };
  each(kUnary, 1);
  each(kBinary, 2);
  each(kTernary, 3);
}

TEST(SimdLoops, AnElementsResultDependsOnTheElementAlone) {
  int cases = 0;
  for_each_case([&](const Case& c, const std::string& name) {
    ++cases;
    const std::string want = c.result();
    for (const int64_t length : {1, 7, 100}) {
      for (int64_t i = 0; i < kCount; i += length)
        c.part(i, std::min(length, kCount - i)).run();
      EXPECT_TRUE(c.result() == want) << name << " in pieces of " << length;
    }
    const Case strided = c.strided();
    strided.run();
    EXPECT_TRUE(strided.result() == want) << name << " with strides";
  });
  EXPECT_GT(cases, 280);
}

TEST(Prepared, ComputesWhatTheCallComputes) {
  for_each_case([&](const Case& c, const std::string& name) {
    for (const Case& k : {c, c.strided(), c.part(3, 0), c.part(9, 1)}) {
      k.run();
      const std::string want = k.result();
      k.call([&](const KernelCall& call) {
        const auto prepared = call.kernel().prepare(DeviceType::kCPU, call);
        ASSERT_NE(prepared, nullptr) << name;
        for (int i = 0; i < 2; ++i) {
          std::memset(c.tensors[0].raw_data(), 0, 8);
          prepared->run();
          EXPECT_TRUE(k.result() == want) << name;
        }
      });
    }
  });
}

TEST(Prepared, BroadcastsAndLargeSizes) {
  const Tensor x = values(DType::kFloat32, 1), y = values(DType::kFloat32, 2);
  const Tensor out = zeros(Dims{200, kCount}, DType::kFloat32);
  const Case c{
      kernel("add"),
      {out, expand(x, out.sizes()), unsqueeze(narrow(y, 0, 0, 200), 1)}};
  c.run();
  const std::string want = c.result();
  c.call([&](const KernelCall& call) {
    const auto prepared = call.kernel().prepare(DeviceType::kCPU, call);
    std::memset(out.raw_data(), 0, size_t(out.numel()) * 4);
    prepared->run();
    EXPECT_TRUE(c.result() == want);
  });
}

TEST(SimdLoops, WhereTakesRowsAndNumbersOfEitherSide) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kInt8}) {
    const Tensor x = values(dtype, 1), y = values(dtype, 2);
    const Tensor mask = gt(values(DType::kFloat32, 3), 0);
    for (const Tensor& a : {x, select(x, 0, 5)})
      for (const Tensor& b : {y, select(y, 0, 7)}) {
        const Tensor out = to(where(mask, a, b), DType::kFloat64);
        const Tensor wide_a = to(a, DType::kFloat64);
        const Tensor wide_b = to(b, DType::kFloat64);
        for (int64_t i = 0; i < kCount; ++i) {
          const Tensor& from = mask.data<Bool>()[i] ? wide_a : wide_b;
          EXPECT_EQ(out.data<double>()[i],
                    from.data<double>()[from.dim() ? i : 0]);
        }
      }
  }
}

}  // namespace
}  // namespace hotaru
