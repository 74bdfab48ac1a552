// Launching padding and its transpose; see params/join.h.
#include "hotaru/backend/common/shape/pad.h"

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cuda/clear.h"
#include "hotaru/backend/cuda/index/ordered.h"
#include "hotaru/backend/cuda/params/join.h"
#include "hotaru/backend/cuda/params/types.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::cuda {
namespace {

Outside outside(PadMode mode) {
  switch (mode) {
    case PadMode::kReflect:
      return Outside::kReflect;
    case PadMode::kReplicate:
      return Outside::kReplicate;
    case PadMode::kCircular:
      return Outside::kCircular;
    default:
      return Outside::kValue;
  }
}

/// From the outermost dimension on; what is not padded joins the one around it.
struct PadDim {
  int64_t out, in, before;
};
std::vector<PadDim> merged(const Tensor& out, const Tensor& in,
                           const Dims& before) {
  std::vector<PadDim> dims;
  for (size_t d = 0; d < size_t(out.dim()); ++d) {
    const PadDim dim{out.sizes()[d], in.sizes()[d], before[d]};
    const bool whole = dim.before == 0 && dim.out == dim.in;
    if (whole && !dims.empty() && dims.back().before == 0 &&
        dims.back().out == dims.back().in) {
      dims.back().out *= dim.out;
      dims.back().in *= dim.in;
    } else {
      dims.push_back(dim);
    }
  }
  return dims;
}

/// f(params) of halves along the outermost dimension that has two elements,
/// until a kernel can count them: in row-major order.
template <class F>
void for_parts(std::vector<PadDim> dims, PadParams p, int64_t item,
               const F& f) {
  int64_t numel = 1;
  for (const PadDim& dim : dims) numel *= dim.out;
  if (numel > most_elements()) {
    const auto wide = std::find_if(dims.begin(), dims.end(),
                                   [](const PadDim& d) { return d.out > 1; });
    const int64_t size = wide->out, half = size / 2;
    wide->out = half;
    for_parts(dims, p, item, f);
    wide->out = size - half;
    wide->before -= half;
    p.out = static_cast<char*>(p.out) + numel / size * half * item;
    return for_parts(std::move(dims), p, item, f);
  }
  HOTARU_CHECK(dims.size() <= PadParams::kMaxDims, "padding of more than ",
               PadParams::kMaxDims, " dimensions is not supported");
  p.numel = uint32_t(numel);
  int64_t step = item;
  for (size_t d = dims.size(); d-- > 0;) {
    p.dim[p.dims++] = {Divider(uint32_t(dims[d].out)), dims[d].in, step,
                       dims[d].before};
    step *= dims[d].in;
  }
  f(p);
}

void run(const Function& function, const PadParams& p) {
  launch(function, {blocks_for(p.numel, kStridedItems)}, kBlock, p);
}

PadParams params_of(const PadAttributes& a, const Tensor& out,
                    const Tensor& in) {
  PadParams p;
  p.outside = outside(a.mode);
  p.out = device_address(out);
  p.in = device_address(in);
  return p;
}

/// Operands: result, input, both row-major.
void pad(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1);
  if (out.numel() == 0) return;
  const auto& a = call.attributes<PadAttributes>();
  PadParams p = params_of(a, out, in);
  visit_dtype(AllTypes{}, in.dtype(), "pad", [&]<class T>() {
    const T value = a.value.to<T>();
    std::memcpy(p.value, &value, sizeof(T));
  });
  const auto item = int64_t(itemsize(in.dtype()));
  static constinit const Functions functions("Pad");
  const Function& function = functions.of_size(size_t(item));
  for_parts(merged(out, in, a.before), p, item,
            [&](const PadParams& part) { run(function, part); });
}

constexpr KernelTypes<NumberTypes> kBackwardTypes{0, "pad_backward"};

void add_ordered_part(PadParams p, DType dtype) {
  static const Function finding("PadTargets");
  const Workspace targets{p.numel * sizeof(*p.targets)};
  p.targets = static_cast<int64_t*>(targets.data());
  run(finding, p);
  add_ordered(p.out, p.in, p.targets, p.numel, dtype);
}

/// Operands: the sums (row-major), what is added to where it came from.
void pad_transposed(const KernelCall& call) {
  const Tensor &in = call.tensor(0), &out = call.tensor(1);
  check_types<kBackwardTypes>(call);
  if (in.numel() == 0) return;
  const auto& a = call.attributes<PadAttributes>();
  const auto item = int64_t(itemsize(in.dtype()));
  const PadParams p = params_of(a, out, in);
  clear(in);
  if (out.numel() == 0) return;
  const DType dtype = in.dtype();
  const auto dims = merged(out, in, a.before);
  if (keeps_order(dtype, WriteMode::kAdd))
    return for_parts(dims, p, item, [&](const PadParams& part) {
      add_ordered_part(part, dtype);
    });
  static constinit const Functions functions("PadTransposed");
  for_parts(dims, p, item,
            [&](const PadParams& part) { run(functions.of(dtype), part); });
}

HOTARU_KERNEL(kCUDA, "pad", pad);
HOTARU_KERNEL(kCUDA, "pad_transposed", pad_transposed);

}  // namespace
}  // namespace hotaru::cuda
