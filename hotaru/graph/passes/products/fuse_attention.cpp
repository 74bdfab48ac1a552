#include "hotaru/graph/passes/products/fuse_attention.h"

#include <algorithm>
#include <optional>

#include "hotaru/backend/common/attention/pays.h"
#include "hotaru/backend/common/attention/softmax_product.h"
#include "hotaru/backend/common/matmul/linear.h"
#include "hotaru/backend/common/pointwise/pointwise.h"
#include "hotaru/backend/common/reduce/line.h"
#include "hotaru/graph/passes/known_kernels.h"
#include "hotaru/graph/passes/uses.h"
#include "hotaru/runtime/backend.h"

namespace hotaru::graph {
namespace {

/// A product with no activation.
struct Product {
  LinearAttributes g;
  const Tensor *out, *a, *b;
  Tensor scale;
  /// Term added to each of its matrices, and how far apart its rows are.
  Tensor added;
  int64_t added_row = 0;
};

std::optional<Product> product_of(const KernelCall& call) {
  if (call.operands().size() < 4 || call.tensor(0).dtype() != DType::kFloat32)
    return std::nullopt;
  Product p{{}, &call.tensor(0), &call.tensor(1), &call.tensor(2), {}, {}};
  if (is(call, known::kMatmul)) {
    const auto& m = call.attributes<MatmulAttributes>();
    if (call.tensor(3).defined() && !(m.beta == Scalar(0))) return std::nullopt;
    p.g = {m.batch, m.m, m.n, m.k, m.a, m.b, m.alpha};
    p.g.bf16 = m.bf16;
  } else if (is(call, known::kLinear)) {
    p.g = call.attributes<LinearAttributes>();
    const Tensor &bias = call.tensor(3), &residual = call.tensor(5);
    if (p.g.packed || p.g.activation != Activation::kNone ||
        (bias.defined() && residual.defined()))
      return std::nullopt;
    p.scale = alias_of(call.tensor(4));
    p.added = alias_of(bias.defined() ? bias : residual);
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

/// Sums with masks that stand between a product and its softmax, the last one
/// first.
struct Sums {
  std::vector<size_t> nodes;
  std::vector<Tensor> masks;
};

class AttentionFinder {
 public:
  explicit AttentionFinder(Region& region) : region_(region), uses_(region) {}

  void run() {
    for (size_t n = 0; n < region_.nodes.size(); ++n)
      if (region_.nodes[n] && is(call(n), known::kSoftmax)) try_at(n);
    std::erase(region_.nodes, nullptr);
  }

 private:
  const KernelCall& call(size_t n) const { return uses_.call(n); }

  std::optional<size_t> other_user(const Tensor& value, size_t n) const {
    return whole(value) ? uses_.other(value, n) : std::nullopt;
  }

  /// The kernel reads rows of masks as they lie: whether they do side by side.
  static bool has_rows(const Tensor& mask) {
    return mask.dim() == 0 || mask.size(-1) == 1 || mask.strides().back() == 1;
  }

  /// Sets what is added to scores [..., m, n], if that is a mask as the kernel
  /// takes it, once it lies by these strides.
  static bool set_mask(IntSpan sizes, IntSpan strides, const Tensor& scores,
                       int64_t m, int64_t n, SoftmaxProductAttributes& g) {
    const auto dims = size_t(scores.dim());
    if (dims < 2 || sizes.size() > dims || scores.size(-2) != m ||
        scores.size(-1) != n)
      return false;
    Dims steps(dims, 0);
    const size_t missing = dims - sizes.size();
    for (size_t d = missing; d < dims; ++d) {
      const int64_t size = sizes[d - missing];
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

    const Tensor* from = &scores;
    Sums sums;
    size_t first = *before;
    while (!product_of(call(first))) {
      const Tensor* const next = add_sum(first, *from, sums);
      if (!next || sums.nodes.size() > 2) return;
      from = next;
      first = *other_user(*next, first);
    }
    const auto p = product_of(call(first)), v = product_of(call(*after));
    if (!v || first > s || p->g.out_row != p->g.n ||
        p->out->storage() != from->storage())
      return;
    if (v->a->storage() != weights.storage() || v->scale.defined() ||
        v->added.defined() || (!sums.nodes.empty() && p->added.defined()) ||
        v->b->storage() == weights.storage() || !(v->g.alpha == Scalar(1)))
      return;
    replace(first, sums, s, *after, *p, *v);
  }

  /// Adds the sum that node n is to the others, whose first one reads `value`;
  /// returns what a mask is added to, or null.
  const Tensor* add_sum(size_t n, const Tensor& value, Sums& sums) const {
    const KernelCall& add = call(n);
    if (!is(add, known::kAdd) ||
        !(add.attributes<PointwiseNumbers>().a == Scalar(1.0)))
      return nullptr;
    // Rather a product than a sum, which may be a mask's.
    const auto rank = [&](size_t i) {
      const auto from = other_user(add.tensor(i), n);
      if (!from || *from > n) return 0;
      return product_of(call(*from)) ? 2 : is(call(*from), known::kAdd) ? 1 : 0;
    };
    const size_t mine = rank(1) >= rank(2) ? 1 : 2;
    if (rank(mine) == 0) return nullptr;
    const Tensor &own_input = add.tensor(mine), &mask = add.tensor(3 - mine);
    if (mask.dtype() != DType::kFloat32 || own_input.numel() != value.numel() ||
        !value.is_contiguous() || !own_input.is_contiguous() ||
        !add.tensor(0).is_contiguous() ||
        !same(own_input.sizes(), add.tensor(0).sizes()))
      return nullptr;
    sums.nodes.push_back(n);
    sums.masks.push_back(alias_of(mask));
    return &own_input;
  }

  void replace(size_t first, const Sums& sums, size_t s, size_t last,
               const Product& p, const Product& v) {
    const LinearAttributes &x = p.g, &y = v.g;
    const bool rows = (y.batch == 1 || y.a.batch == x.m * x.n) &&
                      y.a.row == x.n && (x.n == 1 || y.a.column == 1);
    if (x.batch != y.batch || x.m != y.m || x.n != y.k ||
        x.m < kRowsOfSoftmaxProduct || !rows)
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
    const Tensor& scores = call(s).tensor(1);
    const Mask mask = mask_of(sums, scores);
    if (scores.size(-1) != x.n || (!sums.nodes.empty() && !mask.fits) ||
        (mask.fits && !set_mask(mask.sizes, mask.strides, scores, x.m, x.n, g)))
      return;
    if (sums.nodes.empty()) g.mask_row = p.added_row;
    for (size_t i = 0; i < sums.nodes.size(); ++i)
      if (!stays(sums.masks[i], sums.nodes[i], last, *v.out)) return;
    for (const auto& [input, from] : {std::pair(p.a, first),
                                      {p.b, first},
                                      {&p.scale, first},
                                      {&p.added, first},
                                      {v.b, last}})
      if (input->defined() && !stays(*input, from, last, *v.out)) return;
    std::unique_ptr<Node> made_mask;
    const Tensor added =
        sums.nodes.empty() ? p.added : make_mask(sums, mask, scores, made_mask);
    const Operand operands[] = {write(*v.out), read(*p.a),  read(*p.b),
                                read(p.scale), read(added), read(*v.b)};
    auto made =
        std::make_unique<Node>(KernelCall(known::kSoftmaxProduct, operands, g));
    region_.nodes[last] = std::move(made);
    region_.nodes[first].reset();
    region_.nodes[s] = std::move(made_mask);
    for (const size_t n : sums.nodes) region_.nodes[n].reset();
  }

  /// A mask as the kernel is to read it.
  struct Mask {
    bool fits = false, copied = false;
    Dims sizes, strides;
    Tensor inner;  // of two sums, the first one's mask in the other's shape
  };

  Mask mask_of(const Sums& sums, const Tensor& scores) const {
    Mask mask;
    if (sums.nodes.empty()) return mask;
    const Tensor& outer = sums.masks[0];
    const IntSpan shape = call(sums.nodes[0]).tensor(0).sizes();
    if (sums.nodes.size() == 2) {
      mask.inner =
          reshaped(sums.masks[1], call(sums.nodes[1]).tensor(0).sizes(), shape);
      mask.fits = mask.inner.defined();
      mask.sizes = Dims(scores.sizes());
      mask.strides = contiguous_strides(scores.sizes());
      return mask;
    }
    // In another shape its dimensions may be others of the scores'.
    mask.fits = same(shape, scores.sizes());
    mask.copied = !has_rows(outer);
    mask.sizes = Dims(outer.sizes());
    mask.strides =
        mask.copied ? contiguous_strides(outer.sizes()) : Dims(outer.strides());
    return mask;
  }

  /// A mask for values of `sizes` as one for the same values in `shape`, whose
  /// first dimensions are parts of one along which the mask does not change;
  /// undefined if that is not so.
  static Tensor reshaped(const Tensor& mask, IntSpan sizes, IntSpan shape) {
    const size_t same_dims = sizes.size() - 1;
    if (shape.size() < sizes.size() || size_t(mask.dim()) > sizes.size() ||
        !same(shape.last(same_dims), sizes.last(same_dims)) ||
        (size_t(mask.dim()) == sizes.size() && mask.size(0) != 1))
      return {};
    Dims strides(shape.size(), 0);
    for (size_t d = 1; d <= std::min(same_dims, size_t(mask.dim())); ++d) {
      const size_t at = size_t(mask.dim()) - d;
      if (mask.sizes()[at] == 1) continue;
      if (mask.sizes()[at] != shape[shape.size() - d]) return {};
      strides[shape.size() - d] = mask.strides()[at];
    }
    return make_tensor(mask.storage(), mask.dtype(), shape, strides,
                       mask.storage_offset());
  }

  /// The mask itself, or what a node makes of it: a row-major copy, or the sum
  /// of two. What lasts is copied once.
  Tensor make_mask(const Sums& sums, const Mask& mask, const Tensor& scores,
                   std::unique_ptr<Node>& node) {
    const Tensor& t = sums.masks[0];
    if (mask.inner.defined()) {
      const KernelCall& add = call(sums.nodes[0]);
      const Tensor to = region_.make_value(scores.sizes(), t.dtype());
      const IntSpan shape = add.tensor(0).sizes();
      const Tensor whole = make_tensor(to.storage(), t.dtype(), shape,
                                       contiguous_strides(shape), 0);
      const Operand operands[] = {write(whole), read(mask.inner), read(t)};
      node = std::make_unique<Node>(KernelCall(
          add.kernel(), operands, add.attributes<PointwiseNumbers>()));
      return to;
    }
    if (!mask.copied) return t;
    const bool lasts = region_.lasts(t);
    const Tensor to = lasts ? allocate(t.sizes(), t.dtype(), t.device())
                            : region_.make_value(t.sizes(), t.dtype());
    const Operand operands[] = {write(to), read(t)};
    auto made = std::make_unique<Node>(KernelCall(known::kCopy, operands));
    if (lasts)
      region_.once.push_back(std::move(made));
    else
      node = std::move(made);
    return to;
  }

  /// True if what node `since` reads is the same where node `last` stands.
  bool stays(const Tensor& input, size_t since, size_t last,
             const Tensor& out) const {
    return uses_.unchanged(input, since, last) &&
           !touch_of(write(out)).overlaps(touch_of(read(input)));
  }

  Region& region_;
  Uses uses_;
};

}  // namespace

void fuse_attention(Region& region) {
  AttentionFinder(region).run();
}

}  // namespace hotaru::graph
