#include "hotaru/graph/passes/silu.h"

#include <algorithm>
#include <unordered_map>

#include "hotaru/backend/common/pointwise/pointwise.h"
#include "hotaru/graph/capture/touch.h"

namespace hotaru::graph {
namespace {

bool same_view(const Tensor& a, const Tensor& b) {
  return a.storage() == b.storage() && a.dtype() == b.dtype() &&
         a.storage_offset() == b.storage_offset() &&
         same(a.sizes(), b.sizes()) && same(a.strides(), b.strides());
}

class SiluFinder {
 public:
  explicit SiluFinder(Region& region) : region_(region) {
    for (size_t n = 0; n < region.nodes.size(); ++n)
      for (const Operand& operand : region.nodes[n]->call().operands()) {
        if (operand.object || !operand.tensor->defined()) continue;
        std::vector<size_t>& users = users_[operand.tensor->storage().get()];
        if (users.empty() || users.back() != n) users.push_back(n);
      }
  }

  void run() {
    for (size_t n = 0; n < region_.nodes.size(); ++n)
      if (region_.nodes[n] && region_.nodes[n]->name() == "sigmoid") try_at(n);
    std::erase(region_.nodes, nullptr);
  }

 private:
  const KernelCall& call(size_t n) const { return region_.nodes[n]->call(); }

  /// The call that multiplies what node n makes of x by x, alone.
  void try_at(size_t n) {
    const Tensor &y = call(n).tensor(0), &x = call(n).tensor(1);
    const Storage* storage = y.storage().get();
    if ((x.dtype() != DType::kFloat32 && x.dtype() != DType::kFloat64) ||
        x.dtype() != y.dtype() || !whole(y) ||
        !region_.values.contains(storage) || x.storage() == y.storage())
      return;
    const std::vector<size_t>& users = users_.at(storage);
    if (users.size() != 2 || users[0] != n) return;
    const KernelCall& user = call(users[1]);
    if (user.kernel().name() != "mul") return;
    const Tensor& out = user.tensor(0);
    const bool first = same_view(user.tensor(1), y);
    if (!same_view(user.tensor(first ? 1 : 2), y) ||
        !same_view(user.tensor(first ? 2 : 1), x) || out.dtype() != x.dtype() ||
        out.storage().get() == storage || !same(out.sizes(), x.sizes()))
      return;
    const Touch reads = touch_of(read(x));
    for (size_t i = n + 1; i < users[1]; ++i)
      if (region_.nodes[i])
        for (const Touch& touch : touches_of(call(i)))
          if (touch.conflicts(reads)) return;
    static const Kernel& kernel = hotaru::kernel("silu");
    const Tensor from = make_alias(x), to = make_alias(out);
    const Operand operands[] = {write(to), read(from)};
    region_.nodes[n].reset();
    region_.nodes[users[1]] = std::make_unique<Node>(
        KernelCall(kernel, operands, PointwiseNumbers{}));
  }

  Region& region_;
  std::unordered_map<const Storage*, std::vector<size_t>> users_;
};

}  // namespace

void find_silu(Region& region) {
  SiluFinder(region).run();
}

}  // namespace hotaru::graph
