// The algorithms of a kernel, and which of them a call takes: for people who
// ask why a call runs as it does.
#pragma once

#include <string_view>
#include <vector>

namespace hotaru {

/// One algorithm of a kernel beside one call.
struct WayAnswer {
  /// Its name, and what it does, in a line.
  std::string_view name, what;
  /// Set if the call takes it: the first that serves the call and pays.
  bool runs = false;
  /// For those before the one that runs, what the call lacks: what the
  /// algorithm needs, or from where on it is faster. Empty for the others.
  std::string_view why_not;
};
using WayAnswers = std::vector<WayAnswer>;

}  // namespace hotaru
