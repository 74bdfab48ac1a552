// Requests that can be made of a group.
#pragma once

#include "hotaru/comm/group/process_group.h"

namespace hotaru::comm {

/// Throws PyTorch's errors for ranks that are not in the group, and for tensors
/// of other devices, dtypes and lengths than the collective takes. Says nothing
/// about what the other ranks ask for.
void check_collective(const ProcessGroup& group, const Collective& collective);

}  // namespace hotaru::comm
