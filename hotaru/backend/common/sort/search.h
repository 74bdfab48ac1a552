// Attributes of the search kernel.
#pragma once

namespace hotaru {

/// Kernel "searchsorted": right asks for the position behind equal boundaries.
struct SearchAttributes {
  bool right = false;
};

}  // namespace hotaru
