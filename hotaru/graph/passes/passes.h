// Passes over captured calls before they run.
#pragma once

#include <span>
#include <string_view>

#include "hotaru/graph/capture/region.h"

namespace hotaru::graph {

/// Whose calls a pass knows.
enum class PassDevices : uint8_t { kCPU, kAll, kNotCPU };

struct Pass {
  std::string_view name;
  /// Summary of what it does, for people.
  std::string_view summary;
  /// Set if results stay the same to the bit.
  bool exact;
  PassDevices devices;
  void (*run)(Region& region);

  bool knows(Device device) const {
    return devices == PassDevices::kAll ||
           device.is_cpu() == (devices == PassDevices::kCPU);
  }
};

/// In the order in which they run.
std::span<const Pass> passes();

/// Leaves out calls of which nobody reads what they write.
void remove_dead(Region& region);
/// Leaves out elementwise calls that compute what another one computes.
void remove_duplicates(Region& region);

}  // namespace hotaru::graph
