// One gradient of a convolution, as the rows of the tables of its algorithms
// take it.
#pragma once

#include "hotaru/backend/cpu/conv/conv_kernel.h"

namespace hotaru {

namespace cpu {
struct Geometry;
}

/// Sizes and operands of a gradient of the input or of the weight. Operands may
/// be null where a table is only asked.
template <class T>
struct ConvGradient {
  ConvGeometry geometry;  // of the convolution
  const T* dy = nullptr;
  const T* other = nullptr;  // the weight, or the input
  const T* bias = nullptr;   // added to the input's gradient, or null
  T* out = nullptr;
  /// See ConvCall.
  bool fits = true;
  const cpu::Geometry* windows = nullptr;

  int64_t positions = geometry.out_positions();
};

// Algorithms of float and double. Which of them serves a call and pays says
// gradient_ways.cpp.

/// Gradient of the input, where each channel has a kernel of its own: a
/// convolution of dy, zeros between its elements where the stride was more than
/// 1, with the kernels turned.
template <class T>
void depthwise_data(const ConvGradient<T>& call);
/// Gradient of an input of few positions, whose weight is much larger than all
/// else: one product reads it once, as it lies.
template <class T>
void few_positions_data(const ConvGradient<T>& call);
/// Gradient of the input, for a kernel of one tap: the weight, turned, times
/// each image.
template <class T>
void pointwise_data(const ConvGradient<T>& call);
/// Gradient of the input, by products whose rows are added to the places of the
/// image where patches came from.
template <class T>
void patches_data(const ConvGradient<T>& call);

/// Gradient of a weight that is much larger than the few positions of all
/// images: one product writes it once.
template <class T>
void few_positions_weight(const ConvGradient<T>& call);
/// Gradient of the weight, for a kernel of one tap: products with the images.
template <class T>
void pointwise_weight(const ConvGradient<T>& call);
/// Gradient of the weight, by products with the matrix of patches.
template <class T>
void patches_weight(const ConvGradient<T>& call);

}  // namespace hotaru
