// Repetitions in a picture.
#pragma once

#include <vector>

#include "hotaru/graph/drawing/boxes.h"

namespace hotaru::exchange {

/// Boxes or rows of boxes that come several times in a row, alike but for
/// digits in their names and each following the one before it in the same way
/// (or none following another), become one that says how often.
std::vector<graph::Box> folded(std::vector<graph::Box> boxes);

}  // namespace hotaru::exchange
