#include "hotaru/ops/index/gather_grad.h"

#include "hotaru/autograd/node.h"
#include "hotaru/autograd/record.h"
#include "hotaru/core/sparse/sparse.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/index/gather.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru::grad {
namespace {

using autograd::Backward;
using autograd::record;
using autograd::saved_output;

struct Reduction {
  int64_t dim;
  std::string reduce;
  bool include_self;
};

/// Gradients of self and src, before positions that self takes no part in are
/// cleared.
std::pair<Tensor, Tensor> reduce_gradients(const Tensor& g, const Tensor& self,
                                           const Tensor& index,
                                           const Tensor& src,
                                           const Tensor& result,
                                           const Reduction& r) {
  const auto at = [&](const Tensor& t) {
    return hotaru::gather(t, r.dim, index);
  };
  const auto added = [&](const Tensor& start, const Tensor& values) {
    return hotaru::scatter_add(start, r.dim, index, values);
  };
  const Tensor start = r.include_self ? ones_like(self) : zeros_like(self);
  if (r.reduce == "sum") return {g, at(g)};
  if (r.reduce == "mean") {
    const Tensor count = added(start, ones_like(src));
    const Tensor shared = div(g, masked_fill(count, eq(count, Scalar(0)), 1));
    return {shared, at(shared)};
  }
  if (r.reduce == "prod") {
    // A single zero among the factors still has a gradient: the product of
    // the others. That of one of two zeros is the other times that product: 0,
    // whose own derivative is not.
    const Tensor self_zero = eq(self, Scalar(0)), src_zero = eq(src, Scalar(0));
    const Tensor zeros =
        added(mul(start, self_zero), to(src_zero, src.dtype()));
    const Tensor others = hotaru::scatter_reduce(
        masked_fill(self, self_zero, 1), r.dim, index,
        masked_fill(src, src_zero, 1), "prod", r.include_self);
    Tensor sum_of_zeros;
    if (autograd::grad_enabled())
      sum_of_zeros =
          added(mul(start, masked_fill(self, ne(self, Scalar(0)), 0)),
                masked_fill(src, ne(src, Scalar(0)), 0));
    const auto other_zero = [&](const Tensor& x, const Tensor& count,
                                const Tensor& total) {
      const Tensor one = to(eq(count, Scalar(1)), x.dtype());
      if (!total.defined()) return one;
      return add(one, masked_fill(sub(total, x), ne(count, Scalar(2)), 0));
    };
    const auto part = [&](const Tensor& x, const Tensor& is_zero,
                          const Tensor& grad, const Tensor& count,
                          const Tensor& product, const Tensor& rest,
                          const Tensor& total) {
      const Tensor divided =
          div(mul(grad, product), masked_fill(x, is_zero, 1));
      const Tensor alone = mul(mul(grad, rest), other_zero(x, count, total));
      return where(is_zero, alone, divided);
    };
    // Where self takes no part, it is the result of what got no factor.
    return {r.include_self
                ? part(self, self_zero, g, zeros, result, others, sum_of_zeros)
                : g,
            part(src, src_zero, at(g), at(zeros), at(result), at(others),
                 sum_of_zeros.defined() ? at(sum_of_zeros) : Tensor())};
  }
  // Extremes share among all that are equal to them, self too where it takes
  // no part: PyTorch's rule.
  const Tensor self_wins = eq(self, result), src_wins = eq(src, at(result));
  const Tensor count =
      added(to(self_wins, self.dtype()), to(src_wins, src.dtype()));
  const Tensor shared = div(g, masked_fill(count, eq(count, Scalar(0)), 1));
  return {mul(shared, self_wins), mul(at(shared), src_wins)};
}

}  // namespace

namespace {

/// The elements of `g` where they were gathered from, in coordinates.
Tensor in_coordinates(IntSpan sizes, int64_t dim, const Tensor& index,
                      const Tensor& g) {
  Tensors rows;
  for (int64_t d = 0; d < int64_t(sizes.size()); ++d) {
    Tensor row = index;
    if (d != dim) {
      Dims shape(sizes.size(), 1);
      shape[size_t(d)] = index.size(d);
      row = expand(
          view(arange(0, index.size(d), 1, {DType::kInt64, index.device()}),
               shape),
          index.sizes());
    }
    rows.push_back(reshape(row, Dims{-1}));
  }
  const Tensor at = rows.empty()
                        ? zeros(Dims{0, g.numel()}, {DType::kInt64, g.device()})
                        : stack(rows);
  return make_sparse({.layout = Layout::kSparseCoo,
                      .index = at,
                      .inner = {},
                      .values = reshape(clone(g), Dims{-1})},
                     sizes, false);
}

}  // namespace

void gather(const Tensor& out, const Tensor& self, int64_t dim,
            const Tensor& index, bool sparse_grad) {
  record("GatherBackward0", out, {self}, {index},
         [dim, sparse_grad, sizes = Dims(self.sizes())](
             Backward& b, const Tensor& g) -> Tensors {
           // Whoever derives this formula again, for a tangent or a second
           // gradient, needs one that is dense.
           if (sparse_grad && !autograd::requires_grad(g))
             return {in_coordinates(sizes, dim, b.saved(0), g)};
           return {hotaru::scatter_add(zeros(sizes, TensorOptions(g)), dim,
                                       b.saved(0), g)};
         });
}

namespace {

/// The elements of a source that an index with fewer takes.
Tensor taken(const Tensor& src, const Tensor& index) {
  Tensor out = src;
  if (!src.defined() || src.dim() != index.dim()) return out;
  for (int64_t d = 0; d < src.dim(); ++d)
    if (src.size(d) > index.size(d)) out = slice(out, d, 0, index.size(d));
  return out;
}

}  // namespace

void scatter(const Tensor& out, const Tensor& self, int64_t dim,
             const Tensor& index, const Tensor& given) {
  const Tensor src = taken(given, index);
  const char* name = src.defined() ? "ScatterBackward0" : "ScatterBackward1";
  record(name, out, {self, src}, {index},
         [dim](Backward& b, const Tensor& g) -> Tensors {
           const Tensor at = b.saved(0);
           return {
               b.needs(0) ? hotaru::scatter(g, dim, at, Scalar(0)) : Tensor(),
               b.needs(1) ? hotaru::gather(g, dim, at) : Tensor()};
         });
}

void scatter_add(const Tensor& out, const Tensor& self, int64_t dim,
                 const Tensor& index, const Tensor& src) {
  record(
      "ScatterAddBackward0", out, {self, taken(src, index)}, {index},
      [dim](Backward& b, const Tensor& g) -> Tensors {
        return {g, b.needs(1) ? hotaru::gather(g, dim, b.saved(0)) : Tensor()};
      });
}

void scatter_reduce(const Tensor& out, const Tensor& self, int64_t dim,
                    const Tensor& index, const Tensor& given,
                    const std::string& reduce, bool include_self) {
  const Tensor src = taken(given, index);
  record("ScatterReduceBackward0", out, {self, src},
         {self, index, src, saved_output(out)},
         [r = Reduction{dim, reduce, include_self}](
             Backward& b, const Tensor& g) -> Tensors {
           const Tensor index = b.saved(1);
           auto [self_grad, src_grad] = reduce_gradients(
               g, b.saved(0), index, b.saved(2), b.saved(3), r);
           if (!r.include_self)
             self_grad = hotaru::scatter(self_grad, r.dim, index, Scalar(0));
           return {self_grad, src_grad};
         });
}

}  // namespace hotaru::grad
