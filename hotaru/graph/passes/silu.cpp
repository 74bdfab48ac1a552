#include "hotaru/graph/passes/silu.h"

#include "hotaru/backend/common/pointwise/pointwise.h"
#include "hotaru/graph/passes/known_kernels.h"
#include "hotaru/graph/passes/uses.h"

namespace hotaru::graph {
namespace {

class SiluFinder {
 public:
  explicit SiluFinder(Region& region) : region_(region), uses_(region) {}

  void run() {
    for (size_t n = 0; n < region_.nodes.size(); ++n)
      if (region_.nodes[n] && is(call(n), known::kSigmoid)) try_at(n);
    std::erase(region_.nodes, nullptr);
  }

 private:
  const KernelCall& call(size_t n) const { return uses_.call(n); }

  /// The call that multiplies what node n makes of x by x, alone.
  void try_at(size_t n) {
    const Tensor &y = call(n).tensor(0), &x = call(n).tensor(1);
    if ((x.dtype() != DType::kFloat32 && x.dtype() != DType::kFloat64) ||
        x.dtype() != y.dtype() || !whole(y) || x.storage() == y.storage())
      return;
    const auto next = uses_.other(y, n);
    if (!next || *next < n || !is(call(*next), known::kMul)) return;
    const KernelCall& user = call(*next);
    const Tensor& out = user.tensor(0);
    const bool first = same_view(user.tensor(1), y);
    if (!same_view(user.tensor(first ? 1 : 2), y) ||
        !same_view(user.tensor(first ? 2 : 1), x) || out.dtype() != x.dtype() ||
        out.storage() == y.storage() || !same(out.sizes(), x.sizes()))
      return;
    if (!uses_.unchanged(x, n, *next)) return;
    const Tensor from = make_alias(x), to = make_alias(out);
    const Operand operands[] = {write(to), read(from)};
    region_.nodes[n].reset();
    region_.nodes[*next] = std::make_unique<Node>(
        KernelCall(known::kSilu, operands, PointwiseNumbers{}));
  }

  Region& region_;
  Uses uses_;
};

}  // namespace

void find_silu(Region& region) {
  SiluFinder(region).run();
}

}  // namespace hotaru::graph
