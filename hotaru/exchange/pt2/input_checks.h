// What a program asks of its inputs.
#pragma once

#include <string>
#include <vector>

#include "hotaru/exchange/pt2/pt2_file.h"
#include "hotaru/exchange/pt2/tree_text.h"

namespace hotaru::exchange::pt2 {

/// Statements that raise RuntimeError, with PyTorch's text, for a tensor of
/// another number of dimensions, another fixed size, sizes that should be equal
/// and are not or that lie out of their ranges, and for other constants than
/// the program was exported with. Indented by two.
std::string input_checks(const File& file, const std::vector<Leaf>& leaves);

}  // namespace hotaru::exchange::pt2
