// Which algorithms a call takes, and why not the earlier ones.
#pragma once

#include <string>
#include <vector>

namespace hotaru::cli {

struct WaysOptions {
  /// An operator's name, then shapes of its tensors ("1,64,56,56" or
  /// "8,512:bfloat16") and its other arguments ("stride=2") as a script spells
  /// them.
  std::vector<std::string> words;
  /// Set to ask about the calls that a graph's passes leave.
  bool graphed = false;
};

/// Prints what the CPU's kernels choose from for such a call, which is not run.
/// Throws ValueError for words that are no call.
void show_ways(const WaysOptions& options, bool as_json);

}  // namespace hotaru::cli
