#include "hotaru/graph/passes/fuse_attention.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "hotaru/backend/common/attention/softmax_product.h"
#include "hotaru/backend/common/matmul/linear.h"
#include "hotaru/backend/common/pointwise/pointwise.h"
#include "hotaru/backend/common/reduce/line.h"
#include "hotaru/graph/capture/touch.h"
#include "hotaru/runtime/backend.h"

namespace hotaru::graph {
namespace {

// Of fewer rows, keys and values are not read again.
constexpr int64_t kRows = 16;

/// Tensors of calls live as long as these, aliases longer.
Tensor own(const Tensor& t) {
  return t.defined() ? make_alias(t) : Tensor();
}

/// A product with no activation.
struct Product {
  LinearAttributes g;
  const Tensor *out, *a, *b;
  Tensor scale;
  /// What is added to each of its matrices, whose rows are so far apart.
  Tensor added;
  int64_t added_row = 0;
};

std::optional<Product> product_of(const KernelCall& call) {
  const std::string& name = call.kernel().name();
  if (call.operands().size() < 4 || call.tensor(0).dtype() != DType::kFloat32)
    return std::nullopt;
  Product p{{}, &call.tensor(0), &call.tensor(1), &call.tensor(2), {}, {}};
  if (name == "matmul") {
    const auto& m = call.attributes<MatmulAttributes>();
    if (call.tensor(3).defined() && !(m.beta == Scalar(0))) return std::nullopt;
    p.g = {m.batch, m.m, m.n, m.k, m.a, m.b, m.alpha};
    p.g.bf16 = m.bf16;
  } else if (name == "linear") {
    p.g = call.attributes<LinearAttributes>();
    const Tensor &bias = call.tensor(3), &residual = call.tensor(5);
    if (p.g.packed || p.g.activation != Activation::kNone ||
        (bias.defined() && residual.defined()))
      return std::nullopt;
    p.scale = own(call.tensor(4));
    p.added = own(bias.defined() ? bias : residual);
    p.added_row = bias.defined() ? 0 : p.g.residual_stride;
  } else {
    return std::nullopt;
  }
  if (p.g.out_row == 0) {
    p.g.out_row = p.g.n;
    p.g.out_batch = p.g.m * p.g.n;
  }
  const bool some = p.g.batch > 0 && p.g.m > 0 && p.g.n > 0 && p.g.k > 0;
  return some ? std::optional(p) : std::nullopt;
}

class Finder {
 public:
  explicit Finder(Region& region) : region_(region) {
    for (size_t n = 0; n < region.nodes.size(); ++n)
      for (const Operand& operand : call(n).operands()) {
        if (!operand.ordered()) continue;
        std::vector<size_t>& users = users_[operand.ordered()];
        if (users.empty() || users.back() != n) users.push_back(n);
      }
  }

  void run() {
    for (size_t n = 0; n < region_.nodes.size(); ++n)
      if (region_.nodes[n] && region_.nodes[n]->name() == "softmax") try_at(n);
    std::erase(region_.nodes, nullptr);
  }

 private:
  const KernelCall& call(size_t n) const { return region_.nodes[n]->call(); }

  /// The other one of the two calls that touch a value: the one that writes it
  /// if n reads it, and the other way round.
  std::optional<size_t> other_user(const Tensor& value, size_t n) const {
    const Storage* storage = value.storage().get();
    if (!whole(value) || !region_.values.contains(storage)) return {};
    const std::vector<size_t>& users = users_.at(storage);
    if (users.size() != 2) return {};
    const size_t other = users[0] == n ? users[1] : users[0];
    return region_.nodes[other] ? std::optional(other) : std::nullopt;
  }

  /// The kernel reads rows of masks as they lie: whether they do side by side.
  static bool has_rows(const Tensor& mask) {
    return mask.dim() == 0 || mask.size(-1) == 1 || mask.strides().back() == 1;
  }

  /// What is added to scores [..., m, n], if that is a mask as the kernel takes
  /// it, once it lies by these strides.
  static bool set_mask(const Tensor& mask, IntSpan strides,
                       const Tensor& scores, int64_t m, int64_t n,
                       SoftmaxProductAttributes& g) {
    const auto dims = size_t(scores.dim());
    if (mask.dtype() != DType::kFloat32 || dims < 2 ||
        size_t(mask.dim()) > dims || scores.size(-2) != m ||
        scores.size(-1) != n)
      return false;
    Dims steps(dims, 0);
    const size_t missing = dims - size_t(mask.dim());
    for (size_t d = missing; d < dims; ++d) {
      const int64_t size = mask.sizes()[d - missing];
      if (size == 1) continue;
      if (size != scores.sizes()[d]) return false;
      steps[d] = strides[d - missing];
    }
    if (n > 1 && steps[dims - 1] != 1) return false;
    g.mask_row = steps[dims - 2];
    g.lead = Dims(scores.sizes().first(dims - 2));
    g.mask_lead = Dims(IntSpan(steps).first(dims - 2));
    return true;
  }

  void try_at(size_t s) {
    const Tensor &weights = call(s).tensor(0), &scores = call(s).tensor(1);
    if (weights.dtype() != DType::kFloat32 ||
        scores.dtype() != DType::kFloat32 || weights.dim() < 2 ||
        call(s).attributes<LineAttributes>().dim != weights.dim() - 1)
      return;
    const auto before = other_user(scores, s), after = other_user(weights, s);
    if (!before || !after || *before > s || *after < s) return;

    size_t first = *before;
    std::optional<size_t> sum;
    Tensor mask;
    if (call(first).kernel().name() == "add") {
      sum = first;
      const KernelCall& add = call(first);
      if (!(add.attributes<PointwiseNumbers>().a == Scalar(1.0))) return;
      const auto from = [&](size_t i) {
        return other_user(add.tensor(i), *sum);
      };
      const bool left = from(1) && product_of(call(*from(1))).has_value();
      const size_t mine = left ? 1 : 2;
      if (!from(mine) || !same(add.tensor(mine).sizes(), scores.sizes()))
        return;
      first = *from(mine);
      mask = own(add.tensor(3 - mine));
    }
    const auto p = product_of(call(first)), v = product_of(call(*after));
    if (!p || !v || first > s || p->g.out_row != p->g.n ||
        p->out->storage() != (sum ? own_input(*sum, mask) : scores).storage())
      return;
    if (v->a->storage() != weights.storage() || v->scale.defined() ||
        v->added.defined() || (mask.defined() && p->added.defined()) ||
        v->b->storage() == weights.storage() || !(v->g.alpha == Scalar(1)))
      return;
    replace(first, sum, s, *after, *p, *v, mask);
  }

  /// The operand of a sum that is no mask.
  const Tensor& own_input(size_t sum, const Tensor& mask) const {
    const KernelCall& add = call(sum);
    return add.tensor(1).storage() == mask.storage() ? add.tensor(2)
                                                     : add.tensor(1);
  }

  void replace(size_t first, std::optional<size_t> sum, size_t s, size_t last,
               const Product& p, const Product& v, const Tensor& mask) {
    const LinearAttributes &x = p.g, &y = v.g;
    const bool rows = (y.batch == 1 || y.a.batch == x.m * x.n) &&
                      y.a.row == x.n && (x.n == 1 || y.a.column == 1);
    if (x.batch != y.batch || x.m != y.m || x.n != y.k || x.m < kRows || !rows)
      return;
    SoftmaxProductAttributes g;
    g.batch = x.batch;
    g.m = x.m;
    g.n = x.n;
    g.k = x.k;
    g.width = y.n;
    g.a = x.a;
    g.b = x.b;
    g.v = y.b;
    g.out_batch = y.out_batch;
    g.out_row = y.out_row;
    g.alpha = x.alpha;
    g.bf16_scores = x.bf16;
    g.bf16_values = y.bf16;
    const bool copies = sum && !has_rows(mask);
    const Dims strides = copies ? contiguous_strides(mask.sizes())
                         : sum  ? Dims(mask.strides())
                                : Dims();
    if (call(s).tensor(1).size(-1) != x.n ||
        (sum && !set_mask(mask, strides, call(s).tensor(1), x.m, x.n, g)))
      return;
    Tensor added = sum ? mask : p.added;
    if (!sum) g.mask_row = p.added_row;
    for (const auto& [input, since] : {std::pair(p.a, first),
                                       {p.b, first},
                                       {&p.scale, first},
                                       {&added, sum.value_or(first)},
                                       {v.b, last}})
      if (input->defined() && !stays(*input, since, last, *v.out)) return;
    std::unique_ptr<Node> copy;
    if (copies) added = by_rows(added, copy);
    static const Kernel& kernel = hotaru::kernel("softmax_product");
    const Operand operands[] = {write(*v.out), read(*p.a),  read(*p.b),
                                read(p.scale), read(added), read(*v.b)};
    auto made = std::make_unique<Node>(KernelCall(kernel, operands, g));
    region_.nodes[last] = std::move(made);
    region_.nodes[first].reset();
    region_.nodes[s] = std::move(copy);
    if (sum) region_.nodes[*sum].reset();
  }

  /// A copy that is row-major: made once of what lasts, by a node else.
  Tensor by_rows(const Tensor& t, std::unique_ptr<Node>& node) {
    static const Kernel& kernel = hotaru::kernel("copy_");
    const bool lasts = region_.lasts(t);
    const Tensor to = lasts ? allocate(t.sizes(), t.dtype(), t.device())
                            : region_.make_value(t.sizes(), t.dtype());
    const Operand operands[] = {write(to), read(t)};
    auto made = std::make_unique<Node>(KernelCall(kernel, operands));
    if (lasts)
      region_.once.push_back(std::move(made));
    else
      node = std::move(made);
    return to;
  }

  /// Whether what node `since` reads is the same where node `last` stands.
  bool stays(const Tensor& input, size_t since, size_t last,
             const Tensor& out) const {
    const Touch reads = touch_of(read(input));
    for (size_t n = since + 1; n < last; ++n)
      if (region_.nodes[n])
        for (const Touch& touch : touches_of(call(n)))
          if (touch.conflicts(reads)) return false;
    return !touch_of(write(out)).overlaps(reads);
  }

  Region& region_;
  std::unordered_map<const Ordered*, std::vector<size_t>> users_;
};

}  // namespace

void fuse_attention(Region& region) {
  Finder(region).run();
}

}  // namespace hotaru::graph
