// Matrix products take along what follows them; their weights are packed once.
#pragma once

#include "hotaru/graph/passes/passes.h"

namespace hotaru::graph {

/// A product of float or double takes along lasting numbers by which its
/// factors are multiplied (attention's scaled queries and keys), and in this
/// order and while nobody else wants the value in between, a multiplication by
/// one number, additions (a bias of the columns, a tensor of the result's
/// shape) and an activation: done to each tile as it is stored. So is a copy
/// that reorders the rows. Sums are then rounded in another order, and
/// activations differ by a few units in the last place.
void fuse_linear(Region& region);

/// Weights that last are brought into the order in which products read them,
/// once; and again when they changed, which takes longer than it saves if they
/// do between any two replays.
void pack_weights(Region& region);

}  // namespace hotaru::graph
