#include "hotaru/graph/ways.h"

#include "hotaru/graph/program/fused_call.h"

namespace hotaru::graph {

std::vector<CallWays> ways_of(const Program& program) {
  std::vector<CallWays> out;
  for (const auto& node : program.nodes()) {
    const KernelCall& call = node->call();
    out.push_back(
        {title(*node), call.kernel().explain(program.device().type, call)});
  }
  return out;
}

}  // namespace hotaru::graph
