// Elements that are only moved, never computed with: what counts is their
// size.
#pragma once

#include "hotaru/core/dtype.h"

namespace hotaru::cpu {

struct Word16 {
  uint64_t low, high;
};

/// Calls f.template operator()<Word>() for the trivial type of dtype's size.
template <class F>
void visit_word(DType dtype, F&& f) {
  switch (itemsize(dtype)) {
    case 1:
      return f.template operator()<uint8_t>();
    case 2:
      return f.template operator()<uint16_t>();
    case 4:
      return f.template operator()<uint32_t>();
    case 8:
      return f.template operator()<uint64_t>();
    default:
      return f.template operator()<Word16>();
  }
}

}  // namespace hotaru::cpu
