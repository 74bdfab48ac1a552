// PyTorch's memory formats: orders in which the elements of images lie.
#pragma once

#include "hotaru/core/shape.h"

namespace hotaru {

/// The numbers are PyTorch's, as archives hold them.
enum class MemoryFormat : int64_t {
  kContiguous,
  kPreserve,
  kChannelsLast,    // of 4 dimensions (N, C, H, W)
  kChannelsLast3d,  // of 5 dimensions (N, C, D, H, W)
};

/// Strides of a tensor without gaps in the format, which is not kPreserve.
/// Throws where the number of dimensions is another.
Dims format_strides(IntSpan sizes, MemoryFormat format);

/// True if a tensor has these strides, up to those of dimensions of size 1;
/// false for another number of dimensions. kPreserve counts as kContiguous.
bool has_format(IntSpan sizes, IntSpan strides, MemoryFormat format);

/// The format that results of this geometry's tensors take: channels last where
/// the strides order the dimensions so, gaps allowed, and are not those of a
/// row-major tensor as well; else kContiguous.
MemoryFormat suggested_format(IntSpan sizes, IntSpan strides);

}  // namespace hotaru
