// One convolution, as the rows of the table of its algorithms take it.
#pragma once

#include <type_traits>

#include "hotaru/backend/cpu/conv/conv_kernel.h"
#include "hotaru/backend/cpu/conv/conv_patches.h"

namespace hotaru {

namespace cpu {
struct Geometry;
}

/// Sizes, operands and what follows from them. Operands may be null where a
/// table is only asked.
template <class T>
struct ConvCall {
  ConvGeometry geometry;
  const T* x = nullptr;
  const T* weight = nullptr;
  const T* bias = nullptr;
  T* y = nullptr;
  /// Set if its windows end where the outputs do: a transposed convolution may
  /// have padded its result by more than a stride. And if there is an input
  /// at all.
  bool fits = true;
  /// Set if floats may be rounded to bfloat16 before they are multiplied.
  bool rounds = false;
  Activation activation = Activation::kNone;
  const PackedConvWeight<T>* packed = nullptr;
  ConvTail<T> tail = {};
  /// For what does not fit.
  const cpu::Geometry* windows = nullptr;

  int64_t positions = geometry.out_positions();
  int64_t patch = geometry.patch_size();
  int64_t in_channels = geometry.channels_per_group();  // of a group
  int64_t out_channels = geometry.outputs_per_group();  // of a group
  /// Layout of float and double that fit; else null.
  const ConvLayout* layout = std::is_floating_point_v<T> && fits
                                 ? &ConvLayout::cached(geometry)
                                 : nullptr;
};

// Algorithms of float and double. Which of them serves a call and pays says
// ways.cpp.

/// Each channel by 3 x 3 taps, a plane's rows at a time.
template <class T>
void forward_depthwise3(const ConvCall<T>& call);
/// One weight row per channel: taps are added up without a matrix product.
template <class T>
void forward_depthwise(const ConvCall<T>& call);
/// Patches (positions of several images x patch) times weight (patch x
/// channels), then transposed: lanes hold channels.
template <class T>
void forward_channels(const ConvCall<T>& call);
/// Weight (channels x patch) times an image that is its own patches.
template <class T>
void forward_in_place(const ConvCall<T>& call);
/// Weight times the patches of positions that are spread as the input's rows
/// are: read where they lie, a plane at a time.
template <class T>
void forward_spread(const ConvCall<T>& call);
/// Weight times patches that are gathered into the product's panels.
template <class T>
void forward_patches(const ConvCall<T>& call);

}  // namespace hotaru
