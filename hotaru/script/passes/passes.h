// Graph to better graph. Each pass keeps the program's meaning, side effects
// and errors included, and can run any number of times.
#pragma once

#include "hotaru/script/ir/ir.h"

namespace hotaru::script {

/// All of the below except inlining and widening, until nothing changes.
void simplify(Graph& graph);

/// Replaces calls by the called functions' bodies, except recursive calls and
/// those beyond a limit of nodes.
void inline_calls(Graph& graph);

/// Removes nodes without effect whose outputs nobody uses. Returns whether it
/// removed any, as the passes below return whether they changed anything.
bool remove_dead_code(Graph& graph);

/// Evaluates operators on constants, and branches on constant conditions.
bool fold_constants(Graph& graph);

/// Local rewrites: elements of tuples just made, casts that cannot fail.
bool simplify_locally(Graph& graph);

/// Evaluates conversions of constant matrices from 16 bits to float32 that only
/// products read, so that they happen once and not in each call;
/// the numbers then lie in memory twice.
bool widen_constants(Graph& graph);

/// True if running the node can be noticed other than through its outputs:
/// writes, exceptions raised on purpose, calls, draws of random numbers.
bool has_side_effects(const Node& node);

}  // namespace hotaru::script
