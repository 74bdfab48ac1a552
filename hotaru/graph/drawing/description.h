// A graph in words and numbers, for whoever wants to see it.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "hotaru/graph/capture/capture.h"

namespace hotaru::graph {

/// A storage that nodes touch.
struct ValueInfo {
  size_t nbytes;
  /// Set if it has a life of its own: an input, a weight, a result.
  bool lasting;
};

struct NodeInfo {
  std::string name;
  /// Value that it writes first: "float32 [1, 64]"; empty if nothing.
  std::string result;
  /// Values of its operands, as indices of Description::values.
  std::vector<size_t> reads, writes;
  /// The nodes whose results it reads or overwrites, each once, ascending.
  std::vector<size_t> after;
};

struct Description {
  std::vector<NodeInfo> nodes;
  std::vector<ValueInfo> values;
};

/// `values`: the storages that only the nodes know.
Description describe(const Nodes& nodes,
                     const std::unordered_set<const Storage*>& values);

}  // namespace hotaru::graph
