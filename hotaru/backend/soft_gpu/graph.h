// Graphs of operations, and the capture of a stream into one.
#pragma once

#include <memory>
#include <vector>

#include "hotaru/backend/soft_gpu/call.h"

namespace hotaru::cuda {

struct CUgraphNode_st {
  /// Edge from a node that it comes after, and how.
  struct Edge {
    CUgraphNode from;
    CUgraphEdgeData data{};
  };
  soft_gpu::Operation operation;
  std::vector<Edge> after;
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
};

}  // namespace hotaru::cuda

namespace hotaru::soft_gpu {

struct Capture {
  cuda::CUgraph graph;
  /// Nodes that the next operation comes after.
  std::vector<cuda::CUgraphNode> last;
  bool valid = true;

  void add(Operation operation);
};

/// Makes what launches a kernel with a copy of its parameters, under the call's
/// lock.
cuda::CUresult make_launch(Call& call,
                           const cuda::CUDA_KERNEL_NODE_PARAMS& params,
                           Operation& operation);

}  // namespace hotaru::soft_gpu
