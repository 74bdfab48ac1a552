// Demands of a program on its inputs.
#pragma once

#include <string>
#include <vector>

#include "hotaru/exchange/pt2/pt2_file.h"
#include "hotaru/exchange/pt2/tree_text.h"

namespace hotaru::exchange::pt2 {

struct InputChecks {
  /// Condition, in one expression, that some input is not as asked for; empty
  /// if nothing is asked.
  std::string fail;
  /// Statements, indented by two, that then raise RuntimeError with PyTorch's
  /// text.
  std::string raise;
};

/// Asked for are tensors' numbers of dimensions, sizes that are fixed, equal or
/// in a range, and the constants that the program was exported with.
InputChecks input_checks(const File& file, const std::vector<Leaf>& leaves);

}  // namespace hotaru::exchange::pt2
