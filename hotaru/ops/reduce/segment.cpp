// Reductions of consecutive pieces of a dimension, of any lengths.
#include <limits>

#include "hotaru/autograd/record.h"
#include "hotaru/backend/common/index/embedding_bag.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/host_value.h"
#include "hotaru/ops/index/gather.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/reduce/scan.h"
#include "hotaru/ops/refuse.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/ops/sort/search.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

constexpr char kName[] = "segment_reduce(): ";

double start_of(const std::string& reduce) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  if (reduce == "max" || reduce == "amax") return -kInf;
  if (reduce == "min" || reduce == "amin") return kInf;
  return reduce == "prod" ? 1 : 0;
}

/// The name of scatter_reduce for it. Means are sums, divided later.
std::string scattered(const std::string& reduce) {
  if (reduce == "max" || reduce == "amax") return "amax";
  if (reduce == "min" || reduce == "amin") return "amin";
  HOTARU_CHECK(reduce == "sum" || reduce == "mean" || reduce == "prod",
               "reduce argument must be either sum, prod, mean, amax or amin, "
               "got ",
               reduce);
  return reduce == "mean" ? "sum" : reduce;
}

/// Each row's elements are shared out without rest, and no length is negative.
void check_lengths(const Tensor& lengths, int64_t size) {
  const int64_t pieces = lengths.size(-1);
  const auto values = host_integers(lengths, "the check of its lengths");
  int64_t sum = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    HOTARU_CHECK(values[i] >= 0, "lengths contains negative value!");
    sum += values[i];
    if (int64_t(i + 1) % pieces) continue;
    HOTARU_CHECK(sum == size, kName,
                 "Expected all rows of lengths along axis to sum to "
                 "data.size(lengths.dim()-1) when !unsafe.");
    sum = 0;
  }
}

/// Where pieces begin, and where the last one ends: [..., pieces + 1].
Tensor bounds_of(const Tensor& lengths) {
  Dims zero(lengths.sizes());
  zero.back() = 1;
  return cat({zeros(zero, TensorOptions(lengths)), cumsum(lengths, -1)}, -1);
}

/// For every element the number of its piece; of one outside all pieces their
/// number.
Tensor pieces_of(const Tensor& bounds, int64_t size) {
  const int64_t pieces = bounds.size(-1) - 1;
  Dims rows(bounds.sizes());
  rows.back() = size;
  const Tensor places = expand(arange(0, size, 1, TensorOptions(bounds)), rows);
  const Tensor found =
      sub(searchsorted(bounds, contiguous(places), false, true), 1);
  return where(lt(found, 0), full_like(found, pieces), found);
}

/// As many dimensions as the data, repeated over those behind the axis.
Tensor spread(const Tensor& rows, const Tensor& data, int64_t axis) {
  Tensor out = rows;
  while (out.dim() < data.dim()) out = unsqueeze(out, -1);
  Dims shape(data.sizes());
  shape[size_t(axis)] = rows.size(axis);
  return expand(out, shape);
}

struct Choice {
  int64_t axis;
  std::string kind;
};

/// An extreme's gradient is shared among the elements equal to it, or among
/// NaNs; `initial` never has a part.
Tensor extreme_gradient(const Tensor& g, const Tensor& data,
                        const Tensor& index, const Tensor& out,
                        const Choice& c) {
  const auto at = [&](const Tensor& t) { return gather(t, c.axis, index); };
  const Tensor wins =
      to(logical_or(eq(data, at(out)), isnan(data)), data.dtype());
  const Tensor count = scatter_add(zeros_like(out), c.axis, index, wins);
  return mul(wins, at(div(g, clamp(count, Scalar(1), {}))));
}

/// A factor's gradient is the product of the others: the result without it,
/// or, where that can't be divided by it, what is left of them.
Tensor product_gradient(const Tensor& g, const Tensor& data,
                        const Tensor& index, const Tensor& out,
                        const Tensor& start, const Choice& c) {
  const auto at = [&](const Tensor& t) { return gather(t, c.axis, index); };
  const auto others = [&](const Tensor& is) {
    const Tensor one = to(is, data.dtype());
    return sub(at(scatter_add(zeros_like(out), c.axis, index, one)), one);
  };
  const Tensor zero = eq(data, Scalar(0)), nan = isnan(data);
  const Tensor odd = logical_or(zero, nan);
  const Tensor plain = masked_fill(data, odd, 1);
  const Tensor rest =
      at(scatter_reduce(start, c.axis, index, plain, "prod", true));
  const Tensor alone = masked_fill(
      masked_fill(rest, gt(others(zero), Scalar(0)), 0),
      gt(others(nan), Scalar(0)), std::numeric_limits<double>::quiet_NaN());
  return mul(at(g), where(odd, alone, div(at(out), plain)));
}

/// `start` has a piece more than `out`, for elements outside of all; `counts`
/// is what means were divided by, or undefined.
void record_segments(const Tensor& out, const Tensor& data, const Tensor& index,
                     const Tensor& start, const Tensor& counts,
                     const Choice& choice) {
  autograd::record(
      "SegmentReduceBackward0", out, {data},
      {data, index, start, autograd::saved_output(out), counts},
      [choice](autograd::Backward& b, const Tensor& g) -> Tensors {
        const Tensor data = b.saved(0), index = b.saved(1), start = b.saved(2);
        const Tensor counts = b.saved(4);
        const auto padded = [&](const Tensor& t) {
          const Tensor last = zeros_like(narrow(start, choice.axis, 0, 1));
          return cat({t, last}, choice.axis);
        };
        const Tensor each = padded(counts.defined() ? div(g, counts) : g);
        if (choice.kind == "sum") return {gather(each, choice.axis, index)};
        const Tensor result = padded(b.saved(3));
        return {choice.kind == "prod"
                    ? product_gradient(each, data, index, result, start, choice)
                    : extreme_gradient(each, data, index, result, choice)};
      });
}

/// Sums of rows that non-negative lengths share out without rest: those of
/// bags of embeddings, a row for each length.
Tensor sum_bags(const Tensor& data, const Tensor& lengths) {
  static const Kernel& run = kernel("embedding_bag");
  const int64_t pieces = lengths.numel();
  const int64_t rows = numel_of(data.sizes().first(size_t(lengths.dim())));
  const Tensor each = to(reshape(lengths, Dims{-1}), DType::kInt64);
  const Tensor starts = sub(cumsum(each, 0), each);
  Dims shape(lengths.sizes());
  for (int64_t d = lengths.dim(); d < data.dim(); ++d)
    shape.push_back(data.size(d));
  const Tensor table = reshape(contiguous(data), Dims{rows, -1});
  const Tensor out = allocate(shape, data.dtype(), data.device());
  const TensorOptions options(starts);
  enqueue(
      run,
      {write(view(out, Dims{pieces, -1})), write(empty(Dims{rows}, options)),
       write(empty(Dims{pieces}, options)), read(table),
       read(arange(0, rows, 1, options)), read(starts)},
      BagAttributes{});
  return out;
}

Tensor segment_reduce(const Tensor& data, const std::string& reduce,
                      const Tensor& lengths, const Tensor& indices,
                      const Tensor& offsets, int64_t given_axis, bool unsafe,
                      const Optional<Scalar>& initial) {
  const std::string kind = scattered(reduce);
  const int64_t axis = wrap_dim(given_axis, data.dim());
  HOTARU_CHECK(!indices.defined(), kName,
               "indices based reduction is not supported yet.");
  const Tensor& shape = offsets.defined() ? offsets : lengths;
  HOTARU_CHECK(shape.defined(), kName,
               "Either lengths or offsets must be defined.");
  const char* name = offsets.defined() ? "offsets" : "lengths";
  HOTARU_CHECK(axis == shape.dim() - 1, kName,
               "Expected axis to be the last dimension of ", name, " but got ",
               axis, ".");
  for (int64_t d = 0; d < axis; ++d)
    HOTARU_CHECK(shape.size(d) == data.size(d), kName, "Expected ", name,
                 " to have the sizes of data before the axis, but got ",
                 shape_text(shape.sizes()), " and ", shape_text(data.sizes()),
                 ".");
  check_floating("_segment_reduce_cpu", data);
  if (shape.dtype() != DType::kInt64 && shape.dtype() != DType::kInt32)
    refuse_dtype("_segment_reduce_lengths_cpu_kernel1", shape.dtype());
  const int64_t size = data.size(axis);
  if (!offsets.defined() && !unsafe) check_lengths(contiguous(lengths), size);
  const Tensor bounds = offsets.defined() ? offsets : bounds_of(lengths);
  const int64_t pieces = bounds.size(-1) - 1;
  Dims out_shape(data.sizes());
  out_shape[size_t(axis)] = pieces + 1;
  const bool mean = reduce == "mean", grad = autograd::needs_grad(data);
  const bool bags = kind == "sum" && !initial && !offsets.defined() &&
                    !unsafe && data.numel() > 0 && pieces > 0;
  Tensor start, index, out, counts;
  if (!bags || grad) {
    start = full(out_shape, initial.value_or(start_of(reduce)),
                 TensorOptions(data));
    index = contiguous(spread(pieces_of(bounds, size), data, axis));
  }
  {
    autograd::NoGrad guard;
    out =
        bags ? sum_bags(data, lengths)
             : contiguous(narrow(scatter_reduce(start, axis, index, data, kind),
                                 axis, 0, pieces));
    if (mean) {
      const Tensor each = to(diff(bounds, 1, -1), data.dtype());
      counts = spread(initial ? clamp(each, Scalar(1), {}) : each, data, axis);
      out = div(out, counts);
    }
  }
  if (grad) record_segments(out, data, index, start, counts, {axis, kind});
  return out;
}

HOTARU_OP(
    "segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? "
    "indices=None, Tensor? offsets=None, int axis=0, bool unsafe=False, "
    "Scalar? initial=None) -> Tensor",
    segment_reduce);

}  // namespace
}  // namespace hotaru
