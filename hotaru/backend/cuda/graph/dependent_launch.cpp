#include "hotaru/backend/cuda/graph/dependent_launch.h"

#include <vector>

#include "hotaru/backend/cuda/devices.h"

namespace hotaru::cuda {
namespace {

constexpr CUgraphEdgeData kFull{},
    kDependent{
        kKernelPortProgrammatic, 0, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC, {}};

bool same_kind(const CUgraphEdgeData& a, const CUgraphEdgeData& b) {
  return a.from_port == b.from_port && a.to_port == b.to_port &&
         a.type == b.type;
}

struct Edges {
  std::vector<CUgraphNode> from, to;

  size_t size() const { return from.size(); }
  /// As edges of a kind, to or from a graph.
  CUresult add(CUgraph graph, const CUgraphEdgeData& kind) const {
    const std::vector<CUgraphEdgeData> data(size(), kind);
    return driver().cuGraphAddDependencies(graph, from.data(), to.data(),
                                           data.data(), size());
  }
  CUresult remove(CUgraph graph, const CUgraphEdgeData& kind) const {
    const std::vector<CUgraphEdgeData> data(size(), kind);
    return driver().cuGraphRemoveDependencies(graph, from.data(), to.data(),
                                              data.data(), size());
  }
};

/// Edges of a kind for which wanted(from, to) holds.
template <class F>
Edges edges_of(CUgraph graph, const CUgraphEdgeData& kind, const F& wanted) {
  Edges all;
  if (!driver().has_edges) return all;
  std::vector<CUgraphEdgeData> data;
  // A question for their number alone may fail where edges have data.
  for (size_t room = 64, count = room; count == room; room *= 2) {
    count = room;
    all.from.resize(room);
    all.to.resize(room);
    data.resize(room);
    HOTARU_CUDA(cuGraphGetEdges, graph, all.from.data(), all.to.data(),
                data.data(), &count);
    if (count < room) data.resize(count);
  }
  Edges out;
  for (size_t i = 0; i < data.size(); ++i)
    if (same_kind(data[i], kind) && wanted(all.from[i], all.to[i])) {
      out.from.push_back(all.from[i]);
      out.to.push_back(all.to[i]);
    }
  return out;
}

Edges dependent(CUgraph graph) {
  return edges_of(graph, kDependent, [](auto...) { return true; });
}

}  // namespace

void make_dependent(CUgraph graph,
                    const std::unordered_set<CUgraphNode>& waiting) {
  const Edges edges =
      edges_of(graph, kFull, [&](CUgraphNode from, CUgraphNode to) {
        return waiting.contains(from) && waiting.contains(to);
      });
  if (edges.size() == 0 || edges.remove(graph, kFull) != CUDA_SUCCESS) return;
  if (edges.add(graph, kDependent) != CUDA_SUCCESS)
    check(edges.add(graph, kFull), "cuGraphAddDependencies");
}

bool make_full(CUgraph graph) {
  const Edges edges = dependent(graph);
  if (edges.size() == 0) return false;
  check(edges.remove(graph, kDependent), "cuGraphRemoveDependencies");
  check(edges.add(graph, kFull), "cuGraphAddDependencies");
  return true;
}

size_t dependent_edges(CUgraph graph) {
  return dependent(graph).size();
}

}  // namespace hotaru::cuda
