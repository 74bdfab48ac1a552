// Independent parts of a graph, side by side.
#pragma once

#include "hotaru/graph/passes/passes.h"

namespace hotaru::graph {

/// Finds stretches of calls that fall apart into branches which need nothing of
/// each other, such as the two directions of a recurrent layer, and that are
/// done earlier on several threads than with each call on all of them, going by
/// cost_of(). Puts the calls of a branch together (Region::stretches). Not
/// exact: a call in a branch runs in one thread, and a sum over a whole large
/// tensor is added up by threads.
void find_branches(Region& region);
/// The same with another guess, in nanoseconds, of what going apart and coming
/// together again takes.
void find_branches(Region& region, double fork_join);

}  // namespace hotaru::graph
