// The courses of collectives: who sends what to whom.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "hotaru/comm/group/reduction.h"
#include "hotaru/comm/mesh/operation.h"
#include "hotaru/core/dtype.h"

namespace hotaru::comm {

/// Elements of one type, one after the other.
struct Elements {
  DType dtype = DType::kUInt8;
  char* data = nullptr;
  int64_t count = 0;

  size_t bytes() const { return size_t(count) * itemsize(dtype); }
  Elements part(int64_t begin, int64_t end) const {
    return {dtype, data + size_t(begin) * itemsize(dtype), end - begin};
  }
};

/// Reduces several tensors of one type, as if they lay behind each other; at
/// least one. Every rank gets the same bits. Up to 32 KiB and eight ranks
/// everybody sends to everybody and adds up in the order of ranks; short ones
/// of more ranks go up and down a tree; longer ones are cut into a part for
/// each rank to reduce (Rabenseifner, "Optimization of Collective Reduction
/// Operations", 2004).
Steps all_reduce(Operation& operation, std::vector<Elements> tensors,
                 Reduction reduction);
/// In `data`; the other ranks' are left as something between.
Steps reduce(Operation& operation, Elements data, Reduction reduction,
             int root);
Steps broadcast(Operation& operation, Elements data, int root);
/// As many outputs as ranks, each of the input's length.
Steps all_gather(Operation& operation, Elements input,
                 std::vector<Elements> outputs);
/// Outputs at the root only.
Steps gather(Operation& operation, Elements input,
             std::vector<Elements> outputs, int root);
Steps scatter(Operation& operation, std::vector<Elements> inputs,
              Elements output, int root);
/// Each rank's input of this rank's number, reduced into the output.
Steps reduce_scatter(Operation& operation, std::vector<Elements> inputs,
                     Elements output, Reduction reduction);
/// Lengths may differ; each must be what the other side expects.
Steps all_to_all(Operation& operation, std::vector<Elements> inputs,
                 std::vector<Elements> outputs);
Steps barrier(Operation& operation);
/// Messages between two ranks; `from` may be kAnyRank. `came` is told who sent.
Steps send(Operation& operation, Elements data, int to);
Steps receive(Operation& operation, Elements data, int from,
              std::function<void(int)> came);

}  // namespace hotaru::comm
