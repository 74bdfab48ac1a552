// Launching samples at places that the data choose; see params/vision.h.
#include <algorithm>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cuda/clear.h"
#include "hotaru/backend/cuda/geometry.h"
#include "hotaru/backend/cuda/params/vision.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::cuda {
namespace {

constexpr KernelTypes<FloatTypes> kTypes{0, "deformable_im2col"};

DeformParams params_of(const KernelCall& call, const Tensor& columns,
                       const Tensor& input, const Tensor& offsets,
                       const Tensor& mask) {
  DeformParams p;
  p.attributes = call.attributes<DeformAttributes>();
  const int64_t positions = offsets.size(-2) * offsets.size(-1);
  HOTARU_CHECK(positions < kMostElements,
               "deform_conv2d: pictures of 2^31 positions and more are not "
               "implemented for CUDA yet");
  p.columns = columns.numel() > 0 ? device_address(columns) : nullptr;
  p.input = input.numel() > 0 ? device_address(input) : nullptr;
  p.offsets = device_address(offsets);
  if (mask.defined()) p.mask = device_address(mask);
  p.positions = Divider(uint32_t(positions));
  p.row = offsets.size(-1);
  p.taps = p.attributes.kernel[0] * p.attributes.kernel[1];
  p.channels = input.size(0) / p.attributes.groups;
  p.height = input.size(1);
  p.width = input.size(2);
  return p;
}

/// So many lines, cut.
void launch_lines(const Function& function, int64_t lines, DeformParams p) {
  const int64_t each = p.positions.divisor;
  const int64_t most = std::max<int64_t>(1, most_elements() / each);
  for (p.first = 0; p.first < lines; p.first += most) {
    const int64_t numel = std::min(most, lines - p.first) * each;
    p.numel = uint32_t(numel);
    launch(function, {blocks_for(numel, kBlock)}, kBlock, p);
  }
}

void deform_columns(const KernelCall& call) {
  check_types<kTypes>(call);
  static constinit const Functions functions("DeformColumns");
  const Tensor &columns = call.tensor(0), &input = call.tensor(1);
  if (columns.numel() == 0) return;
  const DeformParams p =
      params_of(call, columns, input, call.tensor(2), call.tensor(3));
  launch_lines(functions.of(input.dtype()), input.size(0) * p.taps, p);
}

void deform_columns_backward(const KernelCall& call) {
  check_types<kTypes>(call);
  static constinit const Functions of_input("DeformInputGrad"),
      of_places("DeformPlaceGrad");
  const Tensor &input_grad = call.tensor(0), &offsets_grad = call.tensor(1),
               &mask_grad = call.tensor(2), &columns = call.tensor(3),
               &input = call.tensor(4);
  clear(input_grad);
  if (offsets_grad.numel() == 0) return;
  DeformParams p =
      params_of(call, columns, input, call.tensor(5), call.tensor(6));
  p.offsets_grad = device_address(offsets_grad);
  if (mask_grad.defined()) p.mask_grad = device_address(mask_grad);
  launch_lines(of_places.of(input.dtype()), p.attributes.groups * p.taps, p);
  if (columns.numel() == 0) return;
  p.input = device_address(input_grad);
  launch_lines(of_input.of(input.dtype()), input.size(0) * p.taps, p);
}

HOTARU_KERNEL(kCUDA, "deform_columns", deform_columns, check_types<kTypes>);
HOTARU_KERNEL(kCUDA, "deform_columns_backward", deform_columns_backward,
              check_types<kTypes>);

}  // namespace
}  // namespace hotaru::cuda
