#include "hotaru/core/memory_format.h"

#include <algorithm>

#include "hotaru/core/checks/check.h"

namespace hotaru {
namespace {

/// Dimensions from the innermost outwards; empty where none is channels last.
IntSpan channels_last_order(size_t dims) {
  static constexpr int64_t kImages[] = {1, 3, 2, 0};
  static constexpr int64_t kVolumes[] = {1, 4, 3, 2, 0};
  if (dims == 4) return kImages;
  if (dims == 5) return kVolumes;
  return {};
}

size_t rank_of(MemoryFormat format) {
  return format == MemoryFormat::kChannelsLast ? 4 : 5;
}

}  // namespace

Dims format_strides(IntSpan sizes, MemoryFormat format) {
  HOTARU_CHECK(format != MemoryFormat::kPreserve,
               "unsupported memory format Preserve");
  if (format == MemoryFormat::kContiguous) return contiguous_strides(sizes);
  const bool images = format == MemoryFormat::kChannelsLast;
  HOTARU_CHECK(sizes.size() == rank_of(format), "required rank ",
               rank_of(format), " tensor to use channels_last",
               images ? "" : "_3d", " format");
  Dims strides(sizes.size(), 0);
  int64_t stride = 1;
  for (const int64_t d : channels_last_order(sizes.size())) {
    strides[size_t(d)] = stride;
    HOTARU_CHECK(!__builtin_mul_overflow(
                     stride, std::max<int64_t>(sizes[size_t(d)], 1), &stride),
                 "Stride calculation overflowed for shape ", shape_text(sizes));
  }
  return strides;
}

bool has_format(IntSpan sizes, IntSpan strides, MemoryFormat format) {
  if (format == MemoryFormat::kContiguous || format == MemoryFormat::kPreserve)
    return is_contiguous(sizes, strides);
  if (sizes.size() != rank_of(format)) return false;
  // Unsigned: sizes next to an empty dimension may be of any product.
  uint64_t expected = 1;
  for (const int64_t d : channels_last_order(sizes.size())) {
    const int64_t size = sizes[size_t(d)];
    if (size == 1) continue;
    if (uint64_t(strides[size_t(d)]) != expected) return false;
    expected *= uint64_t(size);
  }
  return true;
}

MemoryFormat suggested_format(IntSpan sizes, IntSpan strides) {
  const IntSpan order = channels_last_order(sizes.size());
  if (order.empty() || strides[1] == 0) return MemoryFormat::kContiguous;
  int64_t least = 0;
  for (const int64_t d : order) {
    const int64_t size = sizes[size_t(d)], stride = strides[size_t(d)];
    // Both orders are the same for one channel and one row.
    if (size == 0 || stride < least || (d == 0 && least == strides[1]))
      return MemoryFormat::kContiguous;
    least = scaled_stride(stride, size);
  }
  return sizes.size() == 4 ? MemoryFormat::kChannelsLast
                           : MemoryFormat::kChannelsLast3d;
}

}  // namespace hotaru
