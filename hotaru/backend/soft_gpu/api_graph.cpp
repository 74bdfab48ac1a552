// The driver's functions about graphs. A launch puts the nodes on the stream in
// an order that is drawn anew each time, among those that the edges permit: a
// missing edge shows sooner or later. A kernel that may be set up before those
// in front of it end has to wait for them itself.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>

#include "hotaru/backend/soft_gpu/graph.h"

namespace hotaru::cuda {

using namespace hotaru::soft_gpu;

/// A graph as it was when it was made ready; kernels' parameters may change.
struct CUgraphExec_st {
  struct Node {
    Operation operation;
    std::vector<size_t> before;  // which nodes come after it
    size_t after = 0;            // how many it comes after
  };
  int device;
  std::vector<Node> nodes;
  std::map<CUgraphNode, size_t> index;
};

namespace {

// Under the machine's lock. Never destroyed: somebody may launch until the
// process is gone.
auto& graphs = *new std::map<CUgraph, std::unique_ptr<CUgraph_st>>;
auto& executables = *new std::map<CUgraphExec, std::unique_ptr<CUgraphExec_st>>;

Random& order() {
  static Random random(20251);
  return random;
}

/// A call about one stream and perhaps a graph.
struct GraphCall : Call {
  GraphCall() : Call(kContext) {}
  explicit GraphCall(CUgraph graph) : Call(kContext) {
    if (error == CUDA_SUCCESS && !graphs.contains(graph))
      error = CUDA_ERROR_INVALID_HANDLE;
  }
  explicit GraphCall(CUgraphExec executable) : Call(kContext) {
    if (error == CUDA_SUCCESS && !executables.contains(executable))
      error = CUDA_ERROR_INVALID_HANDLE;
  }
};

bool has(const CUgraph_st& graph, CUgraphNode node) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [&](const auto& own) { return own.get() == node; });
}

bool is_programmatic(const CUgraphEdgeData& data) {
  return data.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
}

/// Tells whether an edge may be of that kind. Blocks that have begun (port 2)
/// are nothing that can be told here.
bool is_valid(CUgraphNode from, CUgraphNode to, const CUgraphEdgeData& data) {
  if (data.to_port != 0) return false;
  if (!is_programmatic(data)) return data.type == 0 && data.from_port == 0;
  return data.from_port == kKernelPortProgrammatic &&
         from->operation.launches && to->operation.launches;
}

auto find_edge(CUgraphNode from, CUgraphNode to) {
  return std::find_if(to->after.begin(), to->after.end(),
                      [&](const auto& edge) { return edge.from == from; });
}

bool comes_after(CUgraphNode node, CUgraphNode other) {
  std::vector<CUgraphNode> open{node};
  std::set<CUgraphNode> seen{node};
  while (!open.empty()) {
    const CUgraphNode at = open.back();
    open.pop_back();
    if (at == other) return true;
    for (const auto& edge : at->after)
      if (seen.insert(edge.from).second) open.push_back(edge.from);
  }
  return false;
}

/// Calls f(from, to, data) for edges that a caller names, until one is wrong.
template <class F>
CUresult for_edges(CUgraph graph, const CUgraphNode* from,
                   const CUgraphNode* to, const CUgraphEdgeData* edges,
                   size_t count, const F& f) {
  if (count != 0 && (!from || !to)) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i)
    if (!has(*graph, from[i]) || !has(*graph, to[i]) ||
        !f(from[i], to[i], edges ? edges[i] : CUgraphEdgeData{}))
      return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

/// All of a launch's nodes, each after those it comes after.
std::vector<size_t> some_order(const CUgraphExec_st& executable) {
  std::vector<size_t> waits, ready, out;
  for (size_t i = 0; i < executable.nodes.size(); ++i) {
    waits.push_back(executable.nodes[i].after);
    if (waits.back() == 0) ready.push_back(i);
  }
  while (!ready.empty()) {
    const size_t at = order().below(ready.size());
    const size_t node = ready[at];
    ready.erase(ready.begin() + ptrdiff_t(at));
    out.push_back(node);
    for (const size_t next : executable.nodes[node].before)
      if (--waits[next] == 0) ready.push_back(next);
  }
  return out;
}

}  // namespace
}  // namespace hotaru::cuda

void hotaru::soft_gpu::Capture::add(Operation operation) {
  // Events and host functions would need nodes of their own.
  if (operation.awaits || operation.records || operation.callback) {
    valid = false;
    return;
  }
  auto node = std::make_unique<cuda::CUgraphNode_st>();
  node->operation = std::move(operation);
  for (const cuda::CUgraphNode before : last) node->after.push_back({before});
  last = {node.get()};
  graph->nodes.push_back(std::move(node));
}

namespace hotaru::cuda {

CUresult cuGraphCreate(CUgraph* graph, unsigned flags) {
  GraphCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  if (!graph || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  auto made = std::make_unique<CUgraph_st>();
  *graph = made.get();
  graphs.emplace(*graph, std::move(made));
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph) {
  GraphCall call(graph);
  if (call.error != CUDA_SUCCESS) return call.error;
  graphs.erase(graph);
  return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  GraphCall call(graph);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  if (nodes) {
    *count = std::min(*count, graph->nodes.size());
    for (size_t i = 0; i < *count; ++i) nodes[i] = graph->nodes[i].get();
  } else {
    *count = graph->nodes.size();
  }
  return CUDA_SUCCESS;
}

CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode* from, CUgraphNode* to,
                            CUgraphEdgeData* edges, size_t* count) {
  GraphCall call(graph);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (!count || !from != !to || (edges && !from))
    return CUDA_ERROR_INVALID_VALUE;
  size_t found = 0;
  for (const auto& node : graph->nodes)
    for (const auto& edge : node->after) {
      if (from && found == *count) return CUDA_SUCCESS;
      if (from && !edges && is_programmatic(edge.data))
        return CUDA_ERROR_LOSSY_QUERY;
      if (from) from[found] = edge.from, to[found] = node.get();
      if (edges) edges[found] = edge.data;
      ++found;
    }
  *count = found;
  return CUDA_SUCCESS;
}

CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode* from,
                                   const CUgraphNode* to,
                                   const CUgraphEdgeData* edges, size_t count) {
  GraphCall call(graph);
  if (call.error != CUDA_SUCCESS) return call.error;
  return for_edges(graph, from, to, edges, count,
                   [](CUgraphNode a, CUgraphNode b, const auto& data) {
                     if (!is_valid(a, b, data) || comes_after(a, b) ||
                         find_edge(a, b) != b->after.end())
                       return false;
                     b->after.push_back({a, data});
                     return true;
                   });
}

CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode* from,
                                      const CUgraphNode* to,
                                      const CUgraphEdgeData* edges,
                                      size_t count) {
  GraphCall call(graph);
  if (call.error != CUDA_SUCCESS) return call.error;
  return for_edges(graph, from, to, edges, count,
                   [](CUgraphNode a, CUgraphNode b, const auto& data) {
                     const auto edge = find_edge(a, b);
                     if (edge == b->after.end() ||
                         std::memcmp(&edge->data, &data, sizeof(data)) != 0)
                       return false;
                     b->after.erase(edge);
                     return true;
                   });
}

CUresult cuStreamBeginCaptureToGraph(CUstream handle, CUgraph graph,
                                     const CUgraphNode* dependencies,
                                     const CUgraphEdgeData* edges, size_t count,
                                     CUstreamCaptureMode mode) {
  GraphCall call(graph);
  if (call.error != CUDA_SUCCESS) return call.error;
  const StreamPtr stream = call.find(handle);
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  if (edges || (count != 0 && !dependencies) ||
      mode > CU_STREAM_CAPTURE_MODE_RELAXED)
    return CUDA_ERROR_INVALID_VALUE;
  if (stream->legacy) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (stream->capture) return CUDA_ERROR_ILLEGAL_STATE;
  std::vector<CUgraphNode> last(dependencies, dependencies + count);
  for (const CUgraphNode node : last)
    if (!has(*graph, node)) return CUDA_ERROR_INVALID_VALUE;
  stream->capture = std::make_shared<Capture>(Capture{graph, std::move(last)});
  return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph* graph) {
  GraphCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  const StreamPtr stream = call.find(handle);
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  if (!graph) return CUDA_ERROR_INVALID_VALUE;
  if (!stream->capture) return CUDA_ERROR_ILLEGAL_STATE;
  const auto capture = std::move(stream->capture);
  *graph = capture->valid ? capture->graph : nullptr;
  return capture->valid ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
}

CUresult cuStreamGetCaptureInfo_v3(CUstream handle,
                                   CUstreamCaptureStatus* status,
                                   unsigned long long* id, CUgraph* graph,
                                   const CUgraphNode** dependencies,
                                   const CUgraphEdgeData** edges,
                                   size_t* count) {
  GraphCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  const StreamPtr stream = call.find(handle);
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  if (!status) return CUDA_ERROR_INVALID_VALUE;
  const auto& capture = stream->capture;
  *status = !capture         ? CU_STREAM_CAPTURE_STATUS_NONE
            : capture->valid ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                             : CU_STREAM_CAPTURE_STATUS_INVALIDATED;
  if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
  if (id) *id = reinterpret_cast<uintptr_t>(capture.get());
  if (graph) *graph = capture->graph;
  if (dependencies) *dependencies = capture->last.data();
  if (edges) *edges = nullptr;
  if (count) *count = capture->last.size();
  return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph,
                                     unsigned long long flags) {
  GraphCall call(graph);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (!executable || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  auto made = std::make_unique<CUgraphExec_st>();
  made->device = call.device();
  for (const auto& node : graph->nodes) {
    made->index.emplace(node.get(), made->nodes.size());
    made->nodes.push_back({node->operation, {}, node->after.size()});
  }
  for (const auto& node : graph->nodes) {
    const size_t at = made->index.at(node.get());
    for (const auto& edge : node->after) {
      made->nodes[made->index.at(edge.from)].before.push_back(at);
      if (is_programmatic(edge.data))
        made->nodes[at].operation.must_wait = true;
    }
  }
  *executable = made.get();
  executables.emplace(*executable, std::move(made));
  return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec executable) {
  GraphCall call(executable);
  if (call.error != CUDA_SUCCESS) return call.error;
  executables.erase(executable);
  return CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec executable, CUstream handle) {
  GraphCall call(executable);
  if (call.error != CUDA_SUCCESS) return call.error;
  const StreamPtr stream = call.find(handle);
  if (!stream || stream->device != executable->device)
    return CUDA_ERROR_INVALID_HANDLE;
  if (stream->capture) {
    stream->capture->valid = false;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  for (const size_t node : some_order(*executable))
    call.machine().enqueue(stream, executable->nodes[node].operation);
  return CUDA_SUCCESS;
}

CUresult cuGraphExecKernelNodeSetParams_v2(
    CUgraphExec executable, CUgraphNode node,
    const CUDA_KERNEL_NODE_PARAMS* params) {
  GraphCall call(executable);
  if (call.error != CUDA_SUCCESS) return call.error;
  const auto found = executable->index.find(node);
  if (!params || found == executable->index.end())
    return CUDA_ERROR_INVALID_VALUE;
  Operation& operation = executable->nodes[found->second].operation;
  if (!operation.launches) return CUDA_ERROR_INVALID_VALUE;
  return make_launch(call, *params, operation);
}

}  // namespace hotaru::cuda
