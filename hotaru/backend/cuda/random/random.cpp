// Launching random draws; see params/random/random.h.
#include "hotaru/backend/common/random/random.h"

#include <limits>
#include <mutex>
#include <numbers>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cuda/geometry.h"
#include "hotaru/backend/cuda/graph/recorder.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/random/random.h"
#include "hotaru/backend/cuda/params/types.h"
#include "hotaru/backend/cuda/random/random.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::cuda {

PhiloxState take(PhiloxGenerator& generator, uint64_t draws) {
  if (CallRecorder* recorder = launching_timeline().recorder())
    return recorder->take(generator, draws);
  std::lock_guard lock(generator.mutex());
  return {{generator.initial_seed(), generator.take(draws) / 4}};
}

uint32_t draw_blocks_here(int64_t numel) {
  const auto& device = properties(launching_timeline().device());
  return draw_blocks(numel, device.processors, device.threads_per_processor);
}

namespace {

constexpr KernelTypes<FloatingAndComplexTypes> kUniformTypes{
    0, "check_uniform_bounds"};
constexpr KernelTypes<FloatingAndComplexTypes> kNormalTypes{
    0, "normal_kernel_cuda"};
constexpr KernelTypes<FloatingTypes> kExponentialTypes{0, "exponential_cuda"};
constexpr KernelTypes<FloatingTypes> kCauchyTypes{0, "cauchy_cuda"};
constexpr KernelTypes<FloatingTypes> kLogNormalTypes{0, "log_normal_cuda"};
constexpr KernelTypes<RealTypes> kGeometricTypes{0, "geometric_cuda"};
constexpr KernelTypes<RealAndBoolTypes> kIntegerTypes{0, "random_kernel_cuda"};
constexpr KernelTypes<RealAndBoolTypes> kBernoulliTypes{
    0, "bernoulli_tensor_cuda_self_"};
constexpr KernelTypes<FloatingTypes> kMultinomialTypes{
    1, "multinomial_kernel_cuda"};
constexpr KernelTypes<FloatingTypes> kSlopeTypes{1,
                                                 "rrelu_with_noise_out_cuda"};

DrawParams params_of(const Tensor& out) {
  DrawParams p;
  p.out = device_address(out);
  p.numel = uint64_t(out.numel());
  return p;
}

/// Draws with so many values of four words.
void run(const Functions& functions, DType dtype, PhiloxGenerator& generator,
         DrawParams& p, uint32_t values) {
  const auto numel = int64_t(p.numel);
  const uint32_t blocks = draw_blocks_here(numel);
  p.state = take(generator, draws_of(numel, blocks, values));
  launch(functions.of(dtype), {blocks}, kBlock, p);
}

/// The same for elements anywhere. PyTorch cuts what reaches farther than 31
/// bits of bytes, after the generator has moved on as if it were whole.
void run_parts(const Functions& functions, const Tensor& out,
               PhiloxGenerator& generator, DrawParams& p, uint32_t values) {
  // Complex numbers are their parts, one after the other.
  const DType dtype = to_real(out.dtype());
  const auto item = int64_t(itemsize(dtype));
  Dims shape(out.sizes());
  Geometry<1>::Steps steps{};
  for (size_t d = 0; d < Geometry<1>::checked_dims(shape); ++d)
    if (shape[d] != 1)
      steps[d] = {out.strides()[d] * int64_t(itemsize(out.dtype()))};
  if (is_complex(out.dtype())) {
    steps[shape.size()] = {item};
    shape.push_back(2);
  }
  const auto whole = Geometry<1>::over(
      {static_cast<char*>(device_address(out))}, shape, steps);
  const int64_t n = whole.numel(), most = (most_elements() - 1) / item + 1;
  if (n > most) take(generator, draws_of(n, draw_blocks_here(n), values));
  whole.for_parts(
      [&](const Geometry<1>& part) {
        p.out = part.address[0];
        p.numel = uint64_t(part.numel());
        p.index = part.index();
        run(functions, dtype, generator, p, values);
      },
      most);
}

/// Values that four words make of a dtype's real draws.
uint32_t reals(DType dtype) {
  return to_real(dtype) == DType::kFloat64 ? 2 : 4;
}

/// random_() without bounds: what a word is the remainder of.
uint64_t full_range(DType dtype) {
  uint64_t range = 0;
  visit_dtype(RealAndBoolTypes{}, dtype, "random_kernel_cuda", [&]<class T>() {
    if constexpr (std::is_same_v<T, Half>)
      range = (uint64_t{1} << 11) + 1;
    else if constexpr (std::is_same_v<T, BFloat16>)
      range = (uint64_t{1} << 8) + 1;
    else if constexpr (std::is_floating_point_v<T>)
      range = (uint64_t{1} << std::numeric_limits<T>::digits) + 1;
    else if constexpr (kIsBool<T>)
      range = 2;
    else
      range = uint64_t(std::numeric_limits<T>::max()) + 1;
  });
  return range;
}

/// Elements that dropout gives a thread at a time: 16 bytes of the input's, or
/// less so that nothing is left over.
uint32_t kept_vector(int64_t numel, uint64_t itemsize) {
  auto vector = uint32_t(16 / itemsize);
  while (vector > 1 && numel % vector != 0) vector /= 2;
  return vector;
}

void check_draw(const KernelCall& call, Draw draw) {
  switch (draw) {
    case Draw::kUniform:
      return check_types<kUniformTypes>(call);
    case Draw::kNormal:
      return check_types<kNormalTypes>(call);
    case Draw::kExponential:
      return check_types<kExponentialTypes>(call);
    case Draw::kCauchy:
      return check_types<kCauchyTypes>(call);
    case Draw::kLogNormal:
      return check_types<kLogNormalTypes>(call);
    case Draw::kGeometric:
      return check_types<kGeometricTypes>(call);
    default:
      return check_types<kIntegerTypes>(call);
  }
}

/// Operands: result, generator.
void random(const KernelCall& call) {
  const Tensor& out = call.tensor(0);
  auto& generator = call.object<PhiloxGenerator>(1);
  const auto& a = call.attributes<DrawAttributes>();
  check_draw(call, a.draw);
  if (out.numel() == 0) return;
  if (a.draw == Draw::kPermutation) return draw_permutation(out, generator);
  DrawParams p = params_of(out);
  p.a = a.a;
  p.b = a.b;
  const uint32_t values = reals(out.dtype());
  static constinit const Functions uniform("DrawUniform"), normal("DrawNormal"),
      exponential("DrawExponential"), cauchy("DrawCauchy"),
      log_normal("DrawLogNormal"), geometric("DrawGeometric"),
      bernoulli("DrawBernoulli"), kept("DrawKept"), integer("DrawInteger");
  switch (a.draw) {
    case Draw::kUniform:
      return run_parts(uniform, out, generator, p, values);
    case Draw::kNormal:
      if (is_complex(out.dtype())) p.b *= std::numbers::sqrt2 / 2;
      return run_parts(normal, out, generator, p, values);
    case Draw::kExponential:
      return run_parts(exponential, out, generator, p, values);
    case Draw::kCauchy:
      return run_parts(cauchy, out, generator, p, values);
    case Draw::kLogNormal:
      return run_parts(log_normal, out, generator, p, values);
    case Draw::kGeometric:
      return run_parts(geometric, out, generator, p, values);
    case Draw::kBernoulli:
      return run_parts(bernoulli, out, generator, p, values);
    case Draw::kKept:
      HOTARU_CHECK(
          Geometry<1>::of({&out}, out.sizes()).dense(0, itemsize(out.dtype())),
          "dropout draws for dense tensors");
      p.wide = a.range == 8;
      p.vector = kept_vector(out.numel(), a.range);
      return run(kept, out.dtype(), generator, p, 4);
    case Draw::kInteger:
      // The remainders of 32 bits are even enough for short ranges only.
      p.range = a.range;
      p.base = a.range ? a.from : 0;
      p.wide = a.range == 0 || a.range >= uint64_t{1} << 28;
      break;
    default:
      p.range = full_range(out.dtype());
      p.wide = out.dtype() == DType::kFloat64 || out.dtype() == DType::kInt64;
  }
  run_parts(integer, out, generator, p, p.wide ? 2 : 4);
}

/// Operands: result, probabilities (float32 or float64, of the same strides),
/// generator; both dense.
void bernoulli(const KernelCall& call) {
  check_types<kBernoulliTypes>(call);
  const Tensor &out = call.tensor(0), &chances = call.tensor(1);
  if (out.numel() == 0) return;
  DrawParams p = params_of(out);
  p.in = device_address(chances);
  p.wide = chances.dtype() == DType::kFloat64;
  p.state = take(call.object<PhiloxGenerator>(2), 10);
  static constinit const Functions functions("DrawEach");
  launch(functions.of(out.dtype()), {blocks_for(p.numel, 4 * kBlock)}, kBlock,
         p);
}

/// Operands: slopes, input of the same dtype, generator; row-major.
void random_slopes(const KernelCall& call) {
  check_types<kSlopeTypes>(call);
  const Tensor &out = call.tensor(0), &in = call.tensor(1);
  if (out.numel() == 0) return;
  const auto& a = call.attributes<DrawAttributes>();
  DrawParams p = params_of(out);
  p.in = device_address(in);
  p.a = a.a;
  p.b = a.b;
  static constinit const Functions functions("DrawSlopes");
  run(functions, out.dtype(), call.object<PhiloxGenerator>(2), p,
      reals(out.dtype()));
}

/// Operands: indices [rows, samples], weights [rows, n], generator; row-major.
void multinomial(const KernelCall& call) {
  check_types<kMultinomialTypes>(call);
  const Tensor &out = call.tensor(0), &weights = call.tensor(1);
  if (out.numel() == 0 || weights.numel() == 0) return;
  MultinomialParams p;
  p.out = device_address(out);
  p.weights = device_address(weights);
  p.n = uint32_t(weights.size(-1));
  p.rows = uint32_t(weights.numel() / p.n);
  p.samples = uint64_t(out.size(-1));
  const size_t item = std::max<size_t>(itemsize(weights.dtype()), 4);
  const Workspace sums{size_t(weights.numel()) * item};
  p.sums = sums.data();
  p.state = take(call.object<PhiloxGenerator>(2),
                 ((p.rows - 1) / kMultinomialRows + 1) * 4);
  static constinit const Functions running("MultinomialSums"),
      draw("MultinomialDraw");
  launch(running.of(weights.dtype()), {p.rows}, kBlock, p);
  launch(draw.of(weights.dtype()), {blocks_for(out.numel(), kBlock)}, kBlock,
         p);
}

HOTARU_KERNEL(kCUDA, "random", random);
HOTARU_KERNEL(kCUDA, "bernoulli", bernoulli);
HOTARU_KERNEL(kCUDA, "random_slopes", random_slopes);
HOTARU_KERNEL(kCUDA, "multinomial", multinomial);

}  // namespace
}  // namespace hotaru::cuda
