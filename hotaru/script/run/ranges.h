// Ranges that programs name: record_function(...), for a profile that runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hotaru::script {

/// A part of a program that has ended, in the thread that ran it.
struct NamedRange {
  std::string name;
  /// Arguments that the program gave beside the name.
  std::optional<std::string> arguments;
  /// Nanoseconds on the steady clock.
  int64_t start;
};

/// Is told of each range when it ends; null for nobody. Thread-safe.
using RangeListener = void (*)(const NamedRange& range);
void set_range_listener(RangeListener listener);

}  // namespace hotaru::script
