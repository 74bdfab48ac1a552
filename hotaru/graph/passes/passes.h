// What is done to captured calls before they run.
#pragma once

#include <span>
#include <string_view>

#include "hotaru/graph/capture/region.h"

namespace hotaru::graph {

struct Pass {
  std::string_view name;
  /// What it does, for people.
  std::string_view summary;
  /// Whether results stay the same to the bit.
  bool exact;
  /// Whether it knows calls of all devices, not the CPU's alone.
  bool any_device;
  void (*run)(Region& region);
};

/// In the order in which they run.
std::span<const Pass> passes();

/// Leaves out calls of which nobody reads what they write.
void remove_dead(Region& region);
/// Leaves out elementwise calls that compute what another one computes.
void remove_duplicates(Region& region);

}  // namespace hotaru::graph
