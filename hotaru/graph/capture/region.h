// Calls that are to become a program.
#pragma once

#include <unordered_set>

#include "hotaru/core/dtype.h"
#include "hotaru/core/storage.h"
#include "hotaru/graph/capture/capture.h"

namespace hotaru::graph {

/// Calls begins[0] .. end that fall into branches which may run side by side:
/// each from its begin to the next one's, or the end.
struct Stretch {
  std::vector<size_t> begins;
  size_t end = 0;
};

/// Captured calls, and which of the storages that they touch nobody else
/// knows: those a pass may rename, leave out or never fill.
struct Region {
  Nodes nodes;
  /// Whose streams the calls are of.
  Device device{};
  std::unordered_set<const Storage*> values;
  /// Keeps the values until all passes are done, so that what one makes is not
  /// taken for a value that another one left out.
  std::vector<Ref<const Storage>> kept;
  /// Calls that bring lasting values, such as weights, into the form in which
  /// nodes want them. They run before the first replay and again when what they
  /// read has changed; what they write has memory of its own.
  Nodes once;
  /// Memory that gets other values between replays as a rule: nothing is made
  /// of it once.
  std::unordered_set<const Storage*> inputs;
  /// Results without memory that every replay computes before anything reads
  /// them, and of which nobody wants the former values while it runs.
  std::unordered_set<const Storage*> renewed;
  /// Ascending; of the nodes as they are in the end.
  std::vector<Stretch> stretches;
  /// Set if the device may set up a call's kernels while those before it end.
  bool dependent_launch = false;

  /// True if calls of `once` may read a tensor: it is no input, nodes neither
  /// compute nor write it, and nobody changes it unseen (Storage::exposed).
  bool lasts(const Tensor& t) const;
  /// A new intermediate value, row-major.
  Tensor make_value(IntSpan sizes, DType dtype);
};

}  // namespace hotaru::graph
