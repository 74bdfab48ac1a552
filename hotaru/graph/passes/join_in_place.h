// Networks that join pictures by their channels copy most of what they compute.
#pragma once

#include "hotaru/graph/capture/region.h"

namespace hotaru::graph {

/// Writes what is joined end to end, along the first dimension that isn't 1,
/// into the result at once; what one join made of the beginning of a later
/// one's inputs is a part of that result. Inputs that can't move, such as those
/// of two joins, are copied.
void join_in_place(Region& region);

}  // namespace hotaru::graph
