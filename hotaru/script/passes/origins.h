// Whose memory a variable may be.
#pragma once

#include <set>

#include "hotaru/script/ir/ir.h"

namespace hotaru::script {

/// The variables whose memory `var` may share, itself included: what it is a
/// view of, what it was taken out of, what was put into it. May name too many,
/// never too few.
std::set<const Var*> origins(const Var* var);

/// Adds the origins of what running the node may write to: marked arguments
/// of operators, all arguments of functions that are called.
void add_written(const Node& node, std::set<const Var*>& found);

}  // namespace hotaru::script
