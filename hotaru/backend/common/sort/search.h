// Attributes of the search kernel.
#pragma once

namespace hotaru {

/// Kernel "searchsorted": right asks for the position behind equal boundaries;
/// nan_last says that the boundaries end with NaN, as sort() leaves them.
struct SearchAttributes {
  bool right = false;
  bool nan_last = false;
};

}  // namespace hotaru
