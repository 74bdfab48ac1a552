// Distances of all pairs of rows: in one pass, or through a product.
#include "hotaru/backend/common/distance/cdist.h"

#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/distance/distance.h"
#include "hotaru/ops/flat.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/operands.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/join.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

using autograd::Backward;

void check_operands(const Tensor& x1, const Tensor& x2, double p) {
  const Tensor* inputs[] = {&x1, &x2};
  for (int i = 0; i < 2; ++i)
    HOTARU_CHECK(is_floating_point(inputs[i]->dtype()),
                 "cdist only supports floating-point dtypes, X", i + 1,
                 " got: ", scalar_type_name(inputs[i]->dtype()));
  for (int i = 0; i < 2; ++i)
    HOTARU_CHECK(inputs[i]->dim() >= 2,
                 "cdist only supports at least 2D tensors, X", i + 1,
                 " got: ", inputs[i]->dim(), "D");
  HOTARU_CHECK(x1.size(-1) == x2.size(-1),
               "X1 and X2 must have the same number of columns. X1: ",
               x1.size(-1), " X2: ", x2.size(-1));
  // The first one says the dtype of distances between nothing.
  const bool none = x1.size(-1) == 0 || x1.size(-2) == 0 || x2.size(-2) == 0;
  if (!none) check_operand(x1.dtype(), x2.dtype());
  HOTARU_CHECK(p >= 0, "cdist only supports non-negative p values");
}

/// Distances of row-major [B, P, M] and [B, R, M]; `size` is [..., P, R].
Tensor direct(const Tensor& x1, const Tensor& x2, IntSpan size, double p) {
  static const Kernel& run = kernel("cdist");
  const CdistAttributes a{p};
  const Tensor out = allocate(size, x1.dtype(), x1.device());
  enqueue(run, {write(out), read(x1), read(x2)}, a);
  if (!autograd::needs_grad(x1, x2)) return out;
  autograd::record(
      "CdistBackward0", out, {x1, x2}, {x1, x2, autograd::saved_output(out)},
      [p](Backward& b, const Tensor& g) -> Tensors {
        const Tensor x1 = b.saved(0), x2 = b.saved(1), d = b.saved(2);
        return {b.needs(0) ? cdist_gradient(g, x1, x2, d, p) : Tensor(),
                b.needs(1) ? cdist_gradient(transpose(g, -1, -2), x2, x1,
                                            transpose(d, -1, -2), p)
                           : Tensor()};
      });
  return out;
}

/// sqrt(|x|^2 - 2 x y + |y|^2), all of it one product of longer rows. Less
/// exact for rows that are nearly equal, as PyTorch's is.
Tensor euclidean(const Tensor& x1, const Tensor& x2) {
  Tensor out;
  {
    autograd::NoGrad guard;
    const auto squares = [](const Tensor& x) {
      return sum(mul(x, x), Dims{-1}, true);
    };
    const Tensor a = squares(x1), b = squares(x2);
    const Tensor left = cat({mul(x1, Scalar(-2)), a, ones_like(a)}, -1);
    const Tensor right = cat({x2, ones_like(b), b}, -1);
    out = sqrt(clamp(matmul(left, transpose(right, 1, 2)), Scalar(0), {}));
  }
  if (!autograd::needs_grad(x1, x2)) return out;
  autograd::record(
      "EuclideanDistBackward0", out, {x1, x2},
      {x1, x2, autograd::saved_output(out)},
      [](Backward& b, const Tensor& g) -> Tensors {
        const Tensor x1 = b.saved(0), x2 = b.saved(1), d = b.saved(2);
        const Tensor none = eq(d, Scalar(0));
        const Tensor ratio = masked_fill(div(g, harmless(d, none)), none, 0);
        const auto flow = [](const Tensor& r, const Tensor& x,
                             const Tensor& y) {
          return sub(mul(x, sum(r, Dims{-1}, true)), matmul(r, y));
        };
        return {b.needs(0) ? flow(ratio, x1, x2) : Tensor(),
                b.needs(1) ? flow(transpose(ratio, 1, 2), x2, x1) : Tensor()};
      });
  return out;
}

/// x with its leading dimensions broadcast and joined: [B, rows, M].
Tensor batched(const Tensor& x, IntSpan leading, int64_t batches) {
  Dims size(leading);
  size.push_back(x.size(-2));
  size.push_back(x.size(-1));
  return contiguous(
      reshape(expand(x, size), Dims{batches, x.size(-2), x.size(-1)}));
}

/// Gradients of sum v out, where out is cdist_gradient(g, x1, x2, d, p): sums
/// over the pairs of g f(x1 - x2, d), f(u, d) = sign(u) (|u| / d)^(p - 1), and
/// 0 where either is. It makes the differences of all pairs, which the kernels
/// never do.
Tensors second_gradient(Backward& b, const Tensor& v, double p) {
  const Tensor g = b.saved(0), x1 = b.saved(1), x2 = b.saved(2);
  Tensors out{{}, zeros_like(x1), zeros_like(x2), zeros_like(b.saved(3))};
  if (p == 0) return {zeros_like(g), out[1], out[2], out[3]};
  const Tensor u = sub(unsqueeze(x1, 2), unsqueeze(x2, 1));
  // Tensors of the pairs may have more dimensions in front.
  const auto for_pairs = [&](const Tensor& t) {
    return reshape(t, Dims{x1.size(0), x1.size(1), x2.size(1), 1});
  };
  const Tensor d = for_pairs(b.saved(3)), weight = unsqueeze(v, 2);
  const auto by_pair = [&](const Tensor& t) {
    return reshape(sum(t, Dims{-1}), g.sizes());
  };
  if (p == 1 || std::isinf(p)) {  // constant but for its steps
    const Tensor f = p == 1 ? sign(u) : mul(sign(u), eq(abs(u), d));
    out[0] = by_pair(mul(weight, f));
    return out;
  }
  const Tensor none = p == 2 ? eq(d, Scalar(0))
                             : logical_or(eq(d, Scalar(0)), eq(u, Scalar(0)));
  // 1 in place of what must not be divided by.
  const Tensor far = masked_fill(expand(d, none.sizes()), none, 1);
  const Tensor slope = masked_fill(
      p == 2 ? reciprocal(far)
             : div(pow(div(masked_fill(abs(u), none, 1), far), Scalar(p - 2)),
                   far),
      none, 0);
  const Tensor f = mul(u, slope);
  out[0] = by_pair(mul(weight, f));
  const Tensor flow = mul(mul(for_pairs(g), weight), Scalar(p - 1));
  const Tensor by_u = mul(flow, slope);
  if (b.needs(1)) out[1] = sum(by_u, Dims{2});
  if (b.needs(2)) out[2] = neg(sum(by_u, Dims{1}));
  if (b.needs(3)) out[3] = neg(by_pair(div(mul(flow, f), far)));
  return out;
}

}  // namespace

Tensor cdist_gradient(const Tensor& g, const Tensor& x1, const Tensor& x2,
                      const Tensor& distances, double p) {
  static const Kernel& run = kernel("cdist_grad");
  const Tensor out = allocate(x1.sizes(), x1.dtype(), x1.device());
  Tensor dense, at;
  {
    autograd::NoGrad guard;
    dense = contiguous(g), at = contiguous(distances);
  }
  enqueue(run, {write(out), read(dense), read(x1), read(x2), read(at)},
          CdistAttributes{p});
  if (autograd::needs_grad(g, x1, x2, distances))
    autograd::record("CdistBackwardBackward0", out, {g, x1, x2, distances},
                     {g, x1, x2, distances},
                     [p](Backward& b, const Tensor& v) -> Tensors {
                       return second_gradient(b, v, p);
                     });
  return out;
}

Tensor cdist(const Tensor& x1, const Tensor& x2, double p,
             Optional<int64_t> compute_mode) {
  check_operands(x1, x2, p);
  const int64_t mode = compute_mode.value_or(0);
  HOTARU_CHECK(mode >= 0 && mode <= 2,
               "possible modes: 0, 1, 2, but was: ", mode);
  const IntSpan lead1 = x1.sizes().first(size_t(x1.dim() - 2)),
                lead2 = x2.sizes().first(size_t(x2.dim() - 2));
  const Dims leading = broadcast_shapes(lead1, lead2);
  int64_t batches = 1;
  for (const int64_t n : leading) batches *= n;
  const Tensor a = batched(x1, leading, batches),
               b = batched(to(x2, x1.dtype()), leading, batches);
  const bool large = a.size(1) > 25 || b.size(1) > 25;
  const bool product = p == 2 && (mode == 1 || (mode == 0 && large));
  Dims size = leading;
  size.push_back(a.size(1));
  size.push_back(b.size(1));
  return product ? reshape(euclidean(a, b), size) : direct(a, b, size, p);
}

HOTARU_OP(
    "cdist(Tensor x1, Tensor x2, float p=2.0, int? compute_mode=None) "
    "-> Tensor",
    cdist);

}  // namespace hotaru
