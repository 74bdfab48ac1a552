// Which branches can be printed as elif: flat, however many there are.
#pragma once

#include <unordered_map>
#include <vector>

#include "hotaru/script/ir/ir.h"

namespace hotaru::script {

/// The if that is all an else does, apart from its condition, if that is one
/// expression: `if a: ... else: if f(x): ...` is `if a: ... elif f(x): ...`.
/// Null if there is none.
const Node* elif_of(const Block& otherwise);

/// Tells whether the nodes before `end` are one expression of moderate length:
/// every value is used once, in the order in which they are made, the last as
/// `result`.
bool is_one_expression(const Block& block, const Node* end, const Var* result);

/// Returns the block that computes b of an if that is `a and b` or `a or b`;
/// else null.
const Block* evaluated_side(const Node& node);

/// Where the values go that a branch ends with.
class BranchTargets {
 public:
  explicit BranchTargets(const std::vector<Var*>& targets)
      : targets_(&targets) {}

  const std::vector<Var*>& targets() const { return *targets_; }
  /// Values that the targets become where `yield` ends the branch.
  std::vector<Var*> values(const Node& yield) const;
  /// From now on the branches of `inner`, which elif_of() gave.
  void enter(const Node& inner);

 private:
  /// An output of the inner if, or what is known outside of it.
  struct Source {
    size_t output;
    Var* known;
  };
  const std::vector<Var*>* targets_;
  std::vector<Source> sources_;
  bool inner_ = false;
};

}  // namespace hotaru::script
