// Checks of values by kernels.
#pragma once

#include <string>

namespace hotaru {

/// Operands of "require": read one bool. Throws Error with the text if it is
/// false.
struct RequireAttributes {
  std::string text;
};

}  // namespace hotaru
