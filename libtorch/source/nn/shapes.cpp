// Modules and functions that move elements: padding, windows, pixels.
#include <algorithm>

#include "source/nn/printed.h"
#include "torch/nn/functional/fold.h"
#include "torch/nn/functional/padding.h"
#include "torch/nn/functional/pixelshuffle.h"
#include "torch/nn/modules/fold.h"
#include "torch/nn/modules/padding.h"
#include "torch/nn/modules/pixelshuffle.h"

namespace torch::nn {

namespace functional {

Tensor pad(const Tensor& input, const PadFuncOptions& options) {
  const auto& mode = options.mode();
  if (is_chosen<enumtype::kConstant>(mode))
    return torch::constant_pad_nd(input, options.pad(), options.value());
  TORCH_CHECK(options.value() == 0, "Padding mode \"",
              enumtype::get_enum_name(mode),
              "\" doesn't take in value argument");
  const char* name = is_chosen<enumtype::kReflect>(mode)     ? "reflect"
                     : is_chosen<enumtype::kReplicate>(mode) ? "replicate"
                                                             : "circular";
  return torch::pad(input, options.pad(), name);
}

}  // namespace functional

namespace {

template <class Mode, class Padding>
Tensor padded(const Tensor& input, const Padding& padding, Mode mode,
              double value = 0) {
  return functional::pad(
      input, functional::PadFuncOptions({padding->begin(), padding->end()})
                 .mode(mode)
                 .value(value));
}

}  // namespace

#define HOTARU_TORCH_PAD(Name, D, mode) \
  Tensor Name##D##dImpl::forward(const Tensor& input) { \
    return padded(input, options.padding(), mode); \
  } \
  void Name##D##dImpl::pretty_print(std::ostream& out) const { \
    Printed(out, #Name #D "d").with("padding", options.padding()); \
  }
#define HOTARU_TORCH_PADS(D) \
  HOTARU_TORCH_PAD(ReflectionPad, D, torch::kReflect) \
  HOTARU_TORCH_PAD(ReplicationPad, D, torch::kReplicate) \
  HOTARU_TORCH_PAD(ZeroPad, D, torch::kConstant) \
  Tensor ConstantPad##D##dImpl::forward(const Tensor& input) { \
    return padded(input, options.padding(), torch::kConstant, \
                  options.value()); \
  } \
  void ConstantPad##D##dImpl::pretty_print(std::ostream& out) const { \
    Printed(out, "ConstantPad" #D "d") \
        .with("padding", options.padding()) \
        .with("value", options.value()); \
  }
HOTARU_TORCH_PADS(1)
HOTARU_TORCH_PADS(2)
HOTARU_TORCH_PADS(3)
#undef HOTARU_TORCH_PADS
#undef HOTARU_TORCH_PAD

Tensor FoldImpl::forward(const Tensor& input) {
  return functional::fold(input, options);
}
void FoldImpl::pretty_print(std::ostream& out) const {
  Printed(out, "Fold")
      .with("output_size", options.output_size())
      .with("kernel_size", options.kernel_size())
      .with("dilation", options.dilation())
      .with("padding", options.padding())
      .with("stride", options.stride());
}
Tensor UnfoldImpl::forward(const Tensor& input) {
  return functional::unfold(input, options);
}
void UnfoldImpl::pretty_print(std::ostream& out) const {
  Printed(out, "Unfold")
      .with("kernel_size", options.kernel_size())
      .with("dilation", options.dilation())
      .with("padding", options.padding())
      .with("stride", options.stride());
}

Tensor PixelShuffleImpl::forward(const Tensor& input) {
  return functional::pixel_shuffle(input, options);
}
void PixelShuffleImpl::pretty_print(std::ostream& out) const {
  Printed(out, "PixelShuffle").with("upscale_factor", options.upscale_factor());
}
Tensor PixelUnshuffleImpl::forward(const Tensor& input) {
  return functional::pixel_unshuffle(input, options);
}
void PixelUnshuffleImpl::pretty_print(std::ostream& out) const {
  Printed(out, "PixelUnshuffle")
      .with("downscale_factor", options.downscale_factor());
}

}  // namespace torch::nn
