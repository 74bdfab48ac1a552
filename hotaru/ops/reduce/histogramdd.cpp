// Histograms over given or equal bins, of one dimension or several.
#include <cmath>
#include <limits>
#include <vector>

#include "hotaru/autograd/grad_mode.h"
#include "hotaru/backend/common/reduce/histogram.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/host_value.h"
#include "hotaru/ops/index/gather.h"
#include "hotaru/ops/index/mask.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/reduce/scan.h"
#include "hotaru/ops/refuse.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/ops/sort/search.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

void check(const Tensor& self, const Tensor& weight) {
  HOTARU_CHECK(self.dim() >= 2,
               "torch.histogramdd: input tensor should have at least 2 "
               "dimensions, but got ",
               self.dim());
  if (!self.is_floating_point() || itemsize(self.dtype()) < 4)
    refuse_dtype("histogramdd", self.dtype());
  if (!weight.defined()) return;
  HOTARU_CHECK(weight.dtype() == self.dtype(),
               "torch.histogramdd: if weight tensor is provided, input tensor "
               "and weight tensor should have the same dtype, but got input(",
               scalar_type_name(self.dtype()), "), and weight(",
               scalar_type_name(weight.dtype()), ")");
  HOTARU_CHECK(
      same(weight.sizes(), self.sizes().first(size_t(self.dim() - 1))),
      "torch.histogramdd: if weight tensor is provided it should have the same "
      "shape as the input tensor excluding its innermost dimension, but got "
      "input with shape ",
      shape_text(self.sizes()), " and weight with shape ",
      shape_text(weight.sizes()));
}

void check_edges(const Tensor& self, const Tensors& edges) {
  const int64_t n = self.size(-1);
  HOTARU_CHECK(int64_t(edges.size()) == n, "torch.histogramdd: expected ", n,
               " sequences of bin edges for a ", n,
               "-dimensional histogram "
               "but got ",
               edges.size());
  for (size_t i = 0; i < edges.size(); ++i) {
    HOTARU_CHECK(edges[i].dtype() == self.dtype(),
                 "torch.histogramdd: input tensor and bins tensors should have "
                 "the same dtype, but got input with dtype ",
                 scalar_type_name(self.dtype()), " and bins for dimension ", i,
                 " with dtype ", scalar_type_name(edges[i].dtype()));
    HOTARU_CHECK(edges[i].dim() == 1,
                 "torch.histogramdd: bins tensor should have one dimension, "
                 "but got ",
                 edges[i].dim(),
                 " dimensions in the bins tensor for dimension ", i);
    HOTARU_CHECK(edges[i].numel() > 0,
                 "torch.histogramdd: bins tensor should have at least 1 "
                 "element, but got ",
                 edges[i].numel(),
                 " elements in the bins tensor for dimension ", i);
  }
}

/// Outer edges of a column's bins.
std::pair<double, double> bounds(const Tensor& column,
                                 const std::vector<double>& range, size_t i) {
  double low = 0, high = 1;
  if (!range.empty()) {
    low = range[2 * i];
    high = range[2 * i + 1];
  } else if (column.numel() > 0) {
    const ValueRange found = host_range(column, "the range of bins");
    low = found.lowest.to_double();
    high = found.highest.to_double();
  }
  HOTARU_CHECK(std::isfinite(low) && std::isfinite(high),
               "torch.histogramdd: dimension ", i, "'s range [", low, ", ",
               high, "] is not finite");
  HOTARU_CHECK(low <= high,
               "torch.histogramdd: min should not exceed max, but got min ",
               low, " max ", high, " for dimension ", i);
  return low == high ? std::pair{low - 0.5, high + 0.5} : std::pair{low, high};
}

Tensors equal_edges(const Tensor& points, IntSpan bins,
                    const std::vector<double>& range) {
  const int64_t n = points.size(-1);
  HOTARU_CHECK(int64_t(bins.size()) == n,
               "histogramdd: The size of bins must be equal to the innermost "
               "dimension of the input.");
  HOTARU_CHECK(range.empty() || int64_t(range.size()) == 2 * n,
               "torch.histogramdd: for a ", n,
               "-dimensional histogram range should have ", 2 * n,
               " elements, but got ", range.size());
  Tensors out;
  for (size_t i = 0; i < bins.size(); ++i) {
    HOTARU_CHECK(bins[i] > 0, "torch.histogramdd(): bins must be > 0, but got ",
                 bins[i], " for dimension ", i);
    HOTARU_CHECK(bins[i] < std::numeric_limits<int64_t>::max(),
                 "torch.histogramdd(): too many bins for dimension ", i);
    const auto [low, high] = bounds(select(points, 1, int64_t(i)), range, i);
    out.push_back(linspace(Scalar(low), Scalar(high), bins[i] + 1,
                           TensorOptions(points)));
  }
  return out;
}

/// The histogram of one column, by a kernel.
Tensor column_counts(const Tensor& points, const Tensor& edges,
                     const Tensor& weight, bool equal) {
  static const Kernel& kHistogram = kernel("histogram");
  const Tensor out = empty(Dims{edges.numel() - 1}, TensorOptions(points));
  const Tensor x = contiguous(points), bounds = contiguous(edges);
  const Tensor amounts = weight.defined() ? contiguous(weight) : weight;
  if (out.numel() > 0)
    enqueue(kHistogram, {write(out), read(x), read(bounds), read(amounts)},
            HistogramAttributes{.equal = equal});
  return out;
}

/// The sums of points, [n, d], over d rows of edges.
Tensor sums(const Tensor& points, const Tensors& edges, const Tensor& weight,
            IntSpan shape) {
  Tensor place, inside;
  for (size_t i = 0; i < edges.size(); ++i) {
    const Tensor x = contiguous(select(points, 1, int64_t(i)));
    const Tensor& e = edges[i];
    const int64_t bins = e.numel() - 1;
    // The last bin holds its upper edge, too.
    const Tensor bin =
        where(eq(x, select(e, 0, -1)),
              full({}, Scalar(bins - 1), {DType::kInt64, x.device()}),
              searchsorted(contiguous(e), x, false, true) - Scalar(1));
    const Tensor there = logical_and(ge(bin, Scalar(0)), lt(bin, Scalar(bins)));
    place = place.defined() ? place * Scalar(bins) + bin : bin;
    inside = inside.defined() ? logical_and(inside, there) : there;
  }
  const Tensor flat = zeros(Dims{numel_of(shape)}, TensorOptions(points));
  const Tensor amount = weight.defined()
                            ? reshape(weight, Dims{-1})
                            : ones(inside.sizes(), TensorOptions(points));
  Tensor out = flat;
  if (flat.numel() > 0)
    out = scatter_add(flat, 0, masked_select(place, inside),
                      masked_select(amount, inside));
  return reshape(out, shape);
}

/// The histogram; edges may be known to be `equal` distances apart.
Tensor counts(const Tensor& points, const Tensors& edges, const Tensor& weight,
              bool density, bool equal) {
  Dims shape;
  for (const Tensor& e : edges) shape.push_back(e.numel() - 1);
  Tensor out = edges.size() == 1
                   ? column_counts(points, edges[0], weight, equal)
                   : sums(points, edges, weight, shape);
  if (!density) return out;
  out = out / sum(out);
  for (size_t i = 0; i < edges.size(); ++i) {
    Dims along(edges.size(), 1);
    along[i] = shape[i];
    out = out / reshape(diff(edges[i]), along);
  }
  return out;
}

std::tuple<Tensor, Tensors> histogramdd(const Tensor& self,
                                        const Tensors& edges,
                                        const Tensor& weight, bool density,
                                        bool equal = false) {
  const autograd::NoGrad no_grad;
  check(self, weight);
  check_edges(self, edges);
  const Tensor points = reshape(self, Dims{-1, self.size(-1)});
  return {counts(points, edges, weight, density, equal), edges};
}

std::tuple<Tensor, Tensors> histogramdd(const Tensor& self, IntSpan bins,
                                        const std::vector<double>& range,
                                        const Tensor& weight, bool density) {
  const autograd::NoGrad no_grad;
  check(self, weight);
  const Tensor points = reshape(self, Dims{-1, self.size(-1)});
  return histogramdd(self, equal_edges(points, bins, range), weight, density,
                     true);
}

std::vector<double> numbers(const Value& list) {
  std::vector<double> out;
  if (!list.is_none())
    for (const Value& item : list.as_list().items)
      out.push_back(item.to_double());
  return out;
}

Tensor one_column(const Tensor& self) {
  return reshape(self, Dims{self.numel(), 1});
}
Tensor one_row(const Tensor& weight) {
  return weight.defined() ? reshape(weight, Dims{-1}) : weight;
}

/// The same with a gradient that is refused, by the name of what counts.
template <class Result>
Result without_gradient(const char* op, const Result& result,
                        const Tensor& self, const Tensor& weight) {
  Tensors inputs = {self};
  if (weight.defined()) inputs.push_back(weight);
  refuse_gradient(op, std::get<0>(result), inputs);
  return result;
}
constexpr const char* kOfCounts = "_histogramdd_from_bin_cts";
constexpr const char* kOfEdges = "_histogramdd_from_bin_tensors";

HOTARU_OP(
    "histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, "
    "bool density=False) -> (Tensor hist, Tensor bin_edges)",
    +[](const Tensor& self, const Tensor& bins, const Tensor& weight,
        bool density) {
      const auto out = histogramdd(one_column(self), Tensors{bins},
                                   one_row(weight), density);
      return without_gradient("histogram",
                              std::tuple{std::get<0>(out), std::get<1>(out)[0]},
                              self, weight);
    });
HOTARU_OP(
    "histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, "
    "Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor "
    "bin_edges)",
    +[](const Tensor& self, int64_t bins, const Value& range,
        const Tensor& weight, bool density) {
      const auto out = histogramdd(one_column(self), Dims{bins}, numbers(range),
                                   one_row(weight), density);
      return without_gradient("histogram",
                              std::tuple{std::get<0>(out), std::get<1>(out)[0]},
                              self, weight);
    });
HOTARU_OP(
    "histogramdd(Tensor self, int[] bins, float[]? range=None, Tensor? "
    "weight=None, bool density=False) -> (Tensor hist, Tensor[] bin_edges)",
    +[](const Tensor& self, IntSpan bins, const Value& range,
        const Tensor& weight, bool density) {
      return without_gradient(
          kOfCounts, histogramdd(self, bins, numbers(range), weight, density),
          self, weight);
    });
HOTARU_OP(
    "histogramdd.int_bins(Tensor self, int bins, float[]? range=None, Tensor? "
    "weight=None, bool density=False) -> (Tensor hist, Tensor[] bin_edges)",
    +[](const Tensor& self, int64_t bins, const Value& range,
        const Tensor& weight, bool density) {
      HOTARU_CHECK(self.dim() > 0,
                   "torch.histogramdd: input tensor should have at least 2 "
                   "dimensions, but got 0");
      return without_gradient(
          kOfCounts,
          histogramdd(self, Dims(size_t(self.size(-1)), bins), numbers(range),
                      weight, density),
          self, weight);
    });
HOTARU_OP(
    "histogramdd.TensorList_bins(Tensor self, Tensor[] bins, float[]? "
    "range=None, Tensor? weight=None, bool density=False) -> (Tensor hist, "
    "Tensor[] bin_edges)",
    +[](const Tensor& self, const Tensors& bins, const Value&,
        const Tensor& weight, bool density) {
      return without_gradient(
          kOfEdges, histogramdd(self, bins, weight, density), self, weight);
    });

}  // namespace
}  // namespace hotaru
