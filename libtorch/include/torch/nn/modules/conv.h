// Convolutions of one to three dimensions.
#pragma once

#include <optional>

#include "torch/nn/cloneable.h"
#include "torch/nn/modules/container/any.h"
#include "torch/nn/options/conv.h"

namespace torch::nn {

/// Convolution of (N, C, ...) or (C, ...). What all dimensions have in common;
/// use Conv1d, Conv2d and Conv3d.
template <size_t D, class Derived>
class ConvImpl : public Cloneable<Derived> {
 public:
  explicit ConvImpl(ConvOptions<D> options);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& out) const override;
  Tensor forward(const Tensor& input);

  ConvOptions<D> options;
  Tensor weight;  // (out_channels, in_channels / groups, kernel ...)
  Tensor bias;    // undefined without
};

/// The gradient of a convolution by its input, as a layer.
template <size_t D, class Derived>
class ConvTransposeImpl : public Cloneable<Derived> {
 public:
  explicit ConvTransposeImpl(ConvTransposeOptions<D> options);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& out) const override;
  /// `output_size` chooses among the sizes that a stride leaves open.
  Tensor forward(const Tensor& input,
                 const std::optional<at::IntArrayRef>& output_size = {});

  ConvTransposeOptions<D> options;
  Tensor weight;  // (in_channels, out_channels / groups, kernel ...)
  Tensor bias;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(std::optional<at::IntArrayRef>())})
};

#define HOTARU_TORCH_CONVOLUTION(D) \
  class Conv##D##dImpl : public ConvImpl<D, Conv##D##dImpl> { \
   public: \
    using ConvImpl::ConvImpl; \
    Conv##D##dImpl(int64_t in_channels, int64_t out_channels, \
                   ExpandingArray<D> kernel_size) \
        : ConvImpl(ConvOptions<D>(in_channels, out_channels, kernel_size)) {} \
  }; \
  HOTARU_TORCH_MODULE(Conv##D##d); \
  class ConvTranspose##D##dImpl \
      : public ConvTransposeImpl<D, ConvTranspose##D##dImpl> { \
   public: \
    using ConvTransposeImpl::ConvTransposeImpl; \
    ConvTranspose##D##dImpl(int64_t in_channels, int64_t out_channels, \
                            ExpandingArray<D> kernel_size) \
        : ConvTransposeImpl(ConvTransposeOptions<D>(in_channels, out_channels, \
                                                    kernel_size)) {} \
  }; \
  HOTARU_TORCH_MODULE(ConvTranspose##D##d);
HOTARU_TORCH_CONVOLUTION(1)
HOTARU_TORCH_CONVOLUTION(2)
HOTARU_TORCH_CONVOLUTION(3)
#undef HOTARU_TORCH_CONVOLUTION

}  // namespace torch::nn
