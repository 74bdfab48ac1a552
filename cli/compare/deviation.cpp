#include "compare/deviation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/host.h"
#include "hotaru/core/shape.h"
#include "hotaru/ops/create/copy.h"

namespace hotaru::cli {
namespace {

Tensor as_doubles(const Tensor& tensor) {
  HOTARU_CHECK_AS(NotImplementedError, !tensor.is_complex(),
                  "differences of complex tensors are not computed");
  return contiguous(to(to(detach(tensor), Device{}), DType::kFloat64));
}

void collect(const Value& value, std::vector<Tensor>* tensors) {
  if (value.is_tensor() && value.tensor_ref().defined())
    tensors->push_back(value.tensor_ref());
  if (value.is_list())
    for (const Value& item : value.as_list().items) collect(item, tensors);
  if (value.is_tuple())
    for (const Value& item : value.as_tuple().items) collect(item, tensors);
  if (value.is_dict())
    for (const auto& [key, item] : value.as_dict().items)
      collect(item, tensors);
}

}  // namespace

Deviation deviation(const Tensor& made, const Tensor& wanted) {
  HOTARU_CHECK(same(made.sizes(), wanted.sizes()), "results of shapes ",
               shape_text(made.sizes()), " and ", shape_text(wanted.sizes()),
               " can't be compared");
  const Tensor a = as_doubles(made), b = as_doubles(wanted);
  const double* x = host_data<double>(a, "deviation");
  const double* y = host_data<double>(b, "deviation");
  Deviation out;
  out.elements = a.numel();
  double sum = 0;
  for (int64_t i = 0; i < out.elements; ++i) {
    if (std::isfinite(y[i]))
      out.magnitude = std::max(out.magnitude, std::abs(y[i]));
    if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
    ++out.differing;
    const double difference = std::abs(x[i] - y[i]);
    sum += difference;
    if (!(difference <= out.largest)) out.largest = difference;
  }
  if (!std::isfinite(sum))
    out.largest = out.mean = std::numeric_limits<double>::quiet_NaN();
  else if (out.elements > 0)
    out.mean = sum / double(out.elements);
  return out;
}

std::vector<Tensor> tensors_of(const Value& result) {
  std::vector<Tensor> out;
  collect(result, &out);
  return out;
}

}  // namespace hotaru::cli
