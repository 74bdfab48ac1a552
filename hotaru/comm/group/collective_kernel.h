// The kernels of collectives: one call, from its tensors to messages.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hotaru/comm/group/process_group.h"

namespace hotaru::comm {

/// A kernel's attributes: the collective without its tensors.
struct IssuedCollective {
  Ref<ProcessGroup> group;
  CollectiveKind kind;
  size_t inputs;  // operands; outputs follow
  Reduction reduction;
  int root;
  Millis timeout;
  PointToPoint message;
  std::shared_ptr<int> source;
  std::vector<int> peers;
};

/// Describes what all ranks have to do alike with a call's tensors, in words.
std::string text_of(std::span<const Operand> tensors,
                    const IssuedCollective& issued);

/// "all_reduce".
const char* name_of(CollectiveKind kind);
/// "c10d::all_reduce".
Kernel& kernel_of(CollectiveKind kind);
/// True if the collective is a message, between two ranks.
bool is_message(CollectiveKind kind);
bool has_root(CollectiveKind kind);
bool reduces(CollectiveKind kind);

}  // namespace hotaru::comm
