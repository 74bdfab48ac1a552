// Launching average pooling and interpolation; see params/pool.h and
// params/resample.h.
#include "hotaru/backend/common/resample/resample.h"

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cuda/clear.h"
#include "hotaru/backend/cuda/params/resample.h"
#include "hotaru/backend/cuda/params/types.h"
#include "hotaru/backend/cuda/pool/windows.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::cuda {
namespace {

bool averages(const ResampleAttributes& a) {
  return a.mode == ResampleMode::kAverage || a.mode == ResampleMode::kAdaptive;
}

template <class Averaged, class Interpolated>
struct ResampleTypes {
  size_t operand;

  template <class F>
  void visit(const KernelCall& call, F&& f) const {
    const auto& a = call.attributes<ResampleAttributes>();
    const DType dtype = call.tensor(operand).dtype();
    if (!averages(a)) return visit_dtype(Interpolated{}, dtype, "upsample", f);
    visit_dtype(
        Averaged{}, dtype,
        a.mode == ResampleMode::kAverage ? "avg_pool2d" : "adaptive_avg_pool2d",
        f);
  }
};
constexpr ResampleTypes<TypeList<float, double, Half, BFloat16, int64_t>,
                        TypeList<float, double, Half, BFloat16, uint8_t>>
    kForwardTypes{1};
constexpr ResampleTypes<FloatingTypes, FloatingTypes> kBackwardTypes{0};

void average(const ResampleAttributes& a, const Tensor& x, const Tensor& y,
             const Tensor& out, const Tensor& in, const Functions& functions) {
  PoolParams p = pool_params(a, x, y, out, in);
  p.adaptive = a.mode == ResampleMode::kAdaptive;
  p.include_pad = a.include_pad;
  p.divisor = a.divisor;
  launch(functions.of(out.dtype()), {blocks_for(p.numel, kBlock)}, kBlock, p);
}

/// Positions and weights are computed in P, as the CPU's.
template <class P>
double scale_of(const ResampleAttributes& a, size_t d, int64_t in,
                int64_t out) {
  if (a.align_corners && a.mode >= ResampleMode::kLinear)
    return out > 1 ? double(P(in - 1) / P(out - 1)) : 0;
  return double(a.scales[d] > 0 ? P(1.0 / a.scales[d]) : P(in) / P(out));
}

ResampleAxis axis_of(const ResampleAttributes& a, size_t d, int64_t in,
                     int64_t out, bool doubles) {
  ResampleAxis axis;
  axis.x = Divider(uint32_t(in));
  axis.y = Divider(uint32_t(out));
  const bool nearest = a.mode < ResampleMode::kLinear;
  axis.scale = doubles && !nearest ? scale_of<double>(a, d, in, out)
                                   : scale_of<float>(a, d, in, out);
  const bool halves =
      nearest ? a.mode == ResampleMode::kNearestExact : !a.align_corners;
  axis.shift = halves ? 0.5 : 0;
  axis.same = in == out && a.mode <= ResampleMode::kLinear && !a.antialias;
  // Twice the size is exact whatever scale was given.
  if (a.mode == ResampleMode::kNearest && out == 2 * in) axis.scale = 0.5;
  return axis;
}

void interpolate(const KernelCall& call, const Tensor& x, const Tensor& y,
                 const Tensor& out, const Tensor& in,
                 const Functions& functions) {
  const auto& a = call.attributes<ResampleAttributes>();
  const bool bytes = in.dtype() == DType::kUInt8;
  if (bytes && a.dims == 2 && a.mode >= ResampleMode::kLinear)
    fail<NotImplementedError>(
        "resample_bytes: not implemented for device cuda");
  HOTARU_CHECK(x.numel() < kMostElements && y.numel() < kMostElements,
               "interpolation of 2^31 elements and more is not implemented for "
               "CUDA yet");
  ResampleParams p;
  p.out = device_address(out);
  p.in = device_address(in);
  p.numel = uint32_t(out.numel());
  p.mode = a.mode == ResampleMode::kLanczos  ? Interpolation::kLanczos
           : a.mode == ResampleMode::kCubic  ? Interpolation::kCubic
           : a.mode == ResampleMode::kLinear ? Interpolation::kLinear
                                             : Interpolation::kNearest;
  p.antialias = a.antialias;
  const size_t dims = size_t(a.dims), lead = size_t(x.dim()) - dims;
  for (size_t d = 0; d < dims; ++d)
    p.axis[3 - dims + d] =
        axis_of(a, d, x.sizes()[lead + d], y.sizes()[lead + d],
                out.dtype() == DType::kFloat64);
  launch(functions.of(out.dtype()), {blocks_for(p.numel, kBlock)}, kBlock, p);
}

void resample(const KernelCall& call) {
  check_types<kForwardTypes>(call);
  const Tensor &out = call.tensor(0), &x = call.tensor(1);
  if (out.numel() == 0) return;
  const auto& a = call.attributes<ResampleAttributes>();
  static constinit const Functions average_pool("AveragePool"),
      interpolated("Interpolate"), lanczos("Lanczos");
  if (averages(a)) return average(a, x, out, out, x, average_pool);
  interpolate(call, x, out, out, x,
              a.mode == ResampleMode::kLanczos ? lanczos : interpolated);
}

void resample_transposed(const KernelCall& call) {
  check_types<kBackwardTypes>(call);
  const Tensor &x = call.tensor(0), &out = call.tensor(1);
  if (x.numel() == 0) return;
  const auto& a = call.attributes<ResampleAttributes>();
  static constinit const Functions average_pool("AveragePool", "_t"),
      interpolated("Interpolate", "_t"), lanczos("Lanczos", "_t");
  if (out.numel() == 0)
    clear(x);
  else if (averages(a))
    average(a, x, out, x, out, average_pool);
  else
    interpolate(call, x, out, x, out,
                a.mode == ResampleMode::kLanczos ? lanczos : interpolated);
}

HOTARU_KERNEL(kCUDA, "resample", resample);
HOTARU_KERNEL(kCUDA, "resample_transposed", resample_transposed);

}  // namespace
}  // namespace hotaru::cuda
