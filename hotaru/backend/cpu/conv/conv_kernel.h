// Convolutions of one to three dimensions on raw memory, for float and double.
// The patches of the input are gathered straight into the panels that matrix
// multiplication reads; no im2col matrix is built going forward.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "hotaru/backend/cpu/matmul/gemm.h"

namespace hotaru {

/// Elements of three dimensions.
constexpr int64_t volume(const std::array<int64_t, 3>& sizes) {
  return sizes[0] * sizes[1] * sizes[2];
}

/// Sizes of a convolution. Missing leading dimensions have size 1. Tensors are
/// contiguous: input (batch, in_channels, in...), weight (out_channels,
/// in_channels / groups, kernel...), output (batch, out_channels, out()...).
struct ConvGeometry {
  using Sizes = std::array<int64_t, 3>;  // depth, height, width

  int64_t batch = 1;
  int64_t in_channels = 1;
  int64_t out_channels = 1;
  int64_t groups = 1;
  Sizes in{1, 1, 1};
  Sizes kernel{1, 1, 1};
  Sizes stride{1, 1, 1};
  Sizes padding{0, 0, 0};  // zeros before and after
  Sizes dilation{1, 1, 1};

  /// Output sizes; 0 or less where the kernel does not fit.
  Sizes out() const;
  int64_t out_positions() const;
  int64_t channels_per_group() const { return in_channels / groups; }
  int64_t outputs_per_group() const { return out_channels / groups; }
  /// Weights of one output channel.
  int64_t patch_size() const;

  bool operator==(const ConvGeometry&) const = default;
};

/// A weight in the order of the kernels that put channels into SIMD lanes,
/// which serve outputs of few positions (short audio, last stages).
template <class T>
class PackedConvWeight {
 public:
  PackedConvWeight() = default;
  PackedConvWeight(const ConvGeometry& geometry, const T* weight);

  bool empty() const { return groups_.empty(); }
  const PackedMatrix<T>& group(int64_t g) const { return groups_[size_t(g)]; }

 private:
  std::vector<PackedMatrix<T>> groups_;  // patch_size x outputs_per_group
};

/// Tail of a convolution, before its activation: y * scale + shift, by output
/// channel, both or neither; and a tensor like y that is added, or null.
template <class T>
struct ConvTail {
  const T* scale = nullptr;
  const T* shift = nullptr;
  const T* residual = nullptr;
  bool empty() const { return !scale && !residual; }
};

/// y = act(tail(conv(x, weight) + bias)); bias has out_channels values or is
/// null. packed, if given, was made from the same weight. Sizes are positive
/// and out() too; groups divide both channel counts: the operators check.
template <class T>
void conv_forward(const ConvGeometry& geometry, const T* x, const T* weight,
                  const T* bias, Activation activation, T* y,
                  const PackedConvWeight<T>* packed = nullptr,
                  const ConvTail<T>& tail = {});

/// dx, the gradient with respect to x; also the transposed convolution of dy,
/// whose bias has in_channels values or is null.
template <class T>
void conv_backward_data(const ConvGeometry& geometry, const T* dy,
                        const T* weight, const T* bias, T* dx);

/// dweight, the gradient with respect to the weight (overwritten).
template <class T>
void conv_backward_weight(const ConvGeometry& geometry, const T* dy, const T* x,
                          T* dweight);

}  // namespace hotaru
