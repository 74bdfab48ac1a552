// Orders in which the elements of pictures lie.
#pragma once

#include <ostream>

#include "c10/util/ArrayRef.h"
#include "hotaru/core/memory_format.h"

namespace c10 {

/// The numbers are hotaru::MemoryFormat's.
enum class MemoryFormat : int8_t {
  Contiguous,
  Preserve,
  ChannelsLast,
  ChannelsLast3d,
};

inline MemoryFormat get_contiguous_memory_format() {
  return MemoryFormat::Contiguous;
}
std::ostream& operator<<(std::ostream& out, MemoryFormat format);

}  // namespace c10
