// An exported program as the methods of a module.
#pragma once

#include <string>
#include <vector>

#include "hotaru/exchange/pt2/pt2_file.h"

namespace hotaru::exchange::pt2 {

struct ProgramText {
  /// `forward`, and what it calls.
  std::string methods;
  /// The method that takes and gives leaves of the containers, in order: one
  /// result is itself, several are a tuple.
  std::string flat_method;
  /// Set if forward is the flat one for want of types for the containers.
  bool flat_only = false;
  /// The mode in which the program was exported.
  bool training = false;
  /// Set if the text names the classes of kModes and kAutocast.
  bool uses_modes = false;
};

/// Throws Error for nodes and values that have no form in TorchScript, and
/// NotImplementedError that lists all operators that are missing here.
ProgramText program_text(const File& file);

}  // namespace hotaru::exchange::pt2
