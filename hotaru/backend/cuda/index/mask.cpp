// Launching what chooses elements by value; see params/index/select.h.
#include <vector>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cuda/geometry.h"
#include "hotaru/backend/cuda/kernel_errors.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/index/select.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::cuda {
namespace {

constexpr KernelTypes<RealAndBoolTypes> kRunTypes{2, "unique"};

/// Runs both kernels, over what is cut the first one everywhere first. `space`
/// is that of what chooses, elements of `item` bytes, and of the other operand
/// or null. total: where the number of chosen elements goes, or null.
void run(SelectParams p, const Geometry<2>& space, size_t item,
         const Function& function, int64_t* total = nullptr) {
  const int sms = properties(launching_timeline().device()).processors;
  std::vector<SelectParams> parts;
  uint32_t blocks = 0;
  space.for_stretches([&](const Geometry<2>& part, int64_t before) {
    p.chosen = part.address[0];
    p.other = part.address[1];
    p.numel = uint32_t(part.numel());
    p.at = part.index();
    p.first = before;
    p.first_block = blocks;
    plan_select(p, sms);
    blocks += select_blocks(p);
    parts.push_back(p);
  });
  const Workspace counts{size_t(blocks) * 8};
  for (SelectParams& part : parts)
    part.counts = static_cast<int64_t*>(counts.data());
  static constinit const Functions counting("CountChosen");
  static const Function totalling("TotalChosen");
  const Function& count = counting.of_size(item);
  for (const SelectParams& part : parts)
    launch(count, {select_blocks(part)}, kBlock, part);
  for (const SelectParams& part : parts)
    launch(function, {select_blocks(part)}, kBlock, part);
  if (total)
    launch(totalling, {1}, kBlock,
           TotalParams{static_cast<int64_t*>(counts.data()), blocks, total});
}

/// The same of a tensor that chooses and another one of its shape, or null.
void run(SelectParams p, const Tensor& chosen, const Tensor* other,
         const Tensor& out, const Function& function) {
  if (chosen.numel() == 0) return;
  const size_t item = itemsize(chosen.dtype());
  std::array<char*, 2> address{static_cast<char*>(device_address(chosen)),
                               nullptr};
  if (other) address[1] = static_cast<char*>(device_address(*other));
  Geometry<2>::Steps steps{};
  for (size_t d = 0; d < size_t(chosen.dim()); ++d) {
    steps[d][0] = chosen.strides()[d] * int64_t(item);
    if (other)
      steps[d][1] = other->strides()[d] * int64_t(itemsize(other->dtype()));
  }
  p.out = device_address(out);
  run(p, Geometry<2>::over(address, chosen.sizes(), steps, false), item,
      function);
}

/// The bits of an element by which it is not 0: -0.0 is.
void set_bits(SelectParams& p, DType dtype) {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  switch (dtype) {
    case DType::kFloat16:
    case DType::kBFloat16:
      p.bits[0] = 0x7fff;
      break;
    case DType::kFloat32:
      p.bits[0] = 0x7fffffff;
      break;
    case DType::kComplex64:
      p.bits[0] = 0x7fffffff'7fffffff;
      break;
    case DType::kFloat64:
    case DType::kComplex128:
      p.bits[0] = p.bits[1] = ~kSign;
      break;
    default:
      break;
  }
}

/// Operands: positions [n, dims], column by column, and input with n nonzero
/// elements.
void nonzero(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1);
  if (in.dim() == 0 || out.numel() == 0) return;
  HOTARU_CHECK(in.dim() <= SelectParams::kMaxDims, "nonzero: more than ",
               SelectParams::kMaxDims, " dimensions are not supported");
  SelectParams p;
  p.room = out.sizes()[0];
  p.dims = int32_t(in.dim());
  for (size_t d = 0; d < size_t(p.dims); ++d)
    p.sizes[size_t(p.dims) - 1 - d] = in.sizes()[d];
  set_bits(p, in.dtype());
  static constinit const Functions functions("Positions");
  run(p, in, nullptr, out, functions.of_size(itemsize(in.dtype())));
}

/// Operands: result [n], input, mask of the input's shape with n ones.
void masked_select(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1),
               &mask = call.tensor(2);
  if (out.numel() == 0) return;
  SelectParams p;
  p.room = out.numel();
  static constinit const Functions functions("Select");
  run(p, mask, &in, out, functions.of_size(itemsize(in.dtype())));
}

/// Operands: target, mask of its shape, row-major source.
void masked_scatter(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &mask = call.tensor(1),
               &source = call.tensor(2);
  SelectParams p;
  p.room = source.numel();
  p.errors = watch_errors(
      call, {[](const FailureText&, int64_t, const int64_t*) {
        fail("Number of elements of source < number of ones in mask");
      }});
  static constinit const Functions functions("ScatterChosen");
  run(p, mask, &out, source, functions.of_size(itemsize(out.dtype())));
}

/// Operands: values [n], of which the first `count` are set, count int64 [1],
/// row-major input [n], n > 0.
void run_values(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &count = call.tensor(1),
               &in = call.tensor(2);
  static constinit const Functions starting("RunStarts"), selecting("Select");
  const auto item = int64_t(itemsize(in.dtype()));
  const Workspace starts{size_t(in.numel())};
  const std::array<char*, 2> address{static_cast<char*>(starts.data()),
                                     static_cast<char*>(device_address(in))};
  launch(starting.of(in.dtype()), {blocks_for(in.numel(), kBlock)}, kBlock,
         RunParams{address[1], in.numel(), address[0]});
  SelectParams p;
  p.room = out.numel();
  p.out = device_address(out);
  Geometry<2>::Steps steps{};
  steps[0] = {1, item};
  run(p, Geometry<2>::over(address, in.sizes(), steps, false), 1,
      selecting.of_size(size_t(item)),
      static_cast<int64_t*>(device_address(count)));
}

HOTARU_KERNEL(kCUDA, "run_values", run_values, check_types<kRunTypes>);
HOTARU_KERNEL(kCUDA, "nonzero", nonzero);
HOTARU_KERNEL(kCUDA, "masked_select", masked_select);
HOTARU_KERNEL(kCUDA, "masked_scatter", masked_scatter);

}  // namespace
}  // namespace hotaru::cuda
