// Reductions of consecutive pieces of a dimension, of any lengths.
#include <limits>

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
  const Tensor start =
      full(out_shape, initial.value_or(start_of(reduce)), TensorOptions(data));
  const Tensor index = spread(pieces_of(bounds, size), data, axis);
  const Tensor all = scatter_reduce(start, axis, contiguous(index), data, kind);
  const Tensor out = contiguous(narrow(all, axis, 0, pieces));
  if (reduce != "mean") return out;
  const Tensor counts = to(diff(bounds, 1, -1), data.dtype());
  return div(
      out, spread(initial ? clamp(counts, Scalar(1), {}) : counts, data, axis));
}

HOTARU_OP(
    "segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? "
    "indices=None, Tensor? offsets=None, int axis=0, bool unsafe=False, "
    "Scalar? initial=None) -> Tensor",
    segment_reduce);

}  // namespace
}  // namespace hotaru
