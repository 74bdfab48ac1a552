#include "hotaru/graph/drawing/description.h"

#include <algorithm>
#include <unordered_map>

#include "hotaru/core/dtype.h"
#include "hotaru/core/printing/concat.h"
#include "hotaru/core/tensor.h"
#include "hotaru/graph/program/fused_call.h"

namespace hotaru::graph {
namespace {

/// Whom a value's next user has to follow.
struct LastUses {
  size_t writer = SIZE_MAX;
  std::vector<size_t> readers;
};

void add(std::vector<size_t>& to, size_t node) {
  if (node != SIZE_MAX) to.push_back(node);
}

void sort_unique(std::vector<size_t>& nodes) {
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
}

}  // namespace

Description describe(const Nodes& nodes,
                     const std::unordered_set<const Storage*>& values) {
  Description out;
  std::unordered_map<const Storage*, size_t> index;
  std::vector<LastUses> last;
  for (size_t n = 0; n < nodes.size(); ++n) {
    NodeInfo info{title(*nodes[n]), {}, {}, {}, {}};
    for (const Operand& operand : nodes[n]->call().operands()) {
      if (operand.object || !operand.tensor->defined()) continue;
      const Tensor& t = *operand.tensor;
      const Storage* storage = t.storage().get();
      const auto [at, fresh] = index.try_emplace(storage, out.values.size());
      if (fresh) {
        out.values.push_back({storage->nbytes(), !values.contains(storage)});
        last.emplace_back();
      }
      LastUses& uses = last[at->second];
      add(info.after, uses.writer);
      if (operand.reads()) info.reads.push_back(at->second);
      if (!operand.writes()) continue;
      info.writes.push_back(at->second);
      info.after.insert(info.after.end(), uses.readers.begin(),
                        uses.readers.end());
      if (info.result.empty())
        info.result = concat(dtype_name(t.dtype()), " ", shape_text(t.sizes()));
    }
    for (const size_t v : info.reads) last[v].readers.push_back(n);
    for (const size_t v : info.writes) last[v] = {n, {}};
    std::erase(info.after, n);
    sort_unique(info.after);
    out.nodes.push_back(std::move(info));
  }
  return out;
}

}  // namespace hotaru::graph
