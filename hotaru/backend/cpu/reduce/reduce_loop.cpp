#include "hotaru/backend/cpu/reduce/reduce_loop.h"

namespace hotaru::cpu {
namespace {

/// A call that is only asked about: loops ask the same for all formulas.
struct Asked : reduce::Sizes {
  void one_line() const {}
  void columns() const {}
  void lines() const {}
};

}  // namespace

[[gnu::cold]] WayAnswers explain_reduction(const KernelCall& call) {
  const ReduceShape shape(call);
  return explain<reduce::kWays<Asked>>(Asked{{shape, shape.reduced.numel()}});
}

void ReduceShape::Part::add(int64_t size, int64_t in_stride,
                            int64_t out_stride) {
  if (!sizes.empty() && in.back() == in_stride * size &&
      out.back() == out_stride * size) {
    sizes.back() *= size;
    in.back() = in_stride;
    out.back() = out_stride;
    return;
  }
  sizes.push_back(size);
  in.push_back(in_stride);
  out.push_back(out_stride);
}

ReduceShape::ReduceShape(const Tensor& output, const Tensor& input) {
  const IntSpan sizes = input.sizes(), strides = input.strides();
  Dims order;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] != 1) order.push_back(int64_t(d));
  // Insertion sort: stable, and there are few dimensions.
  for (size_t i = 1; i < order.size(); ++i)
    for (size_t j = i;
         j > 0 && strides[size_t(order[j])] > strides[size_t(order[j - 1])];
         --j)
      std::swap(order[j], order[j - 1]);
  for (const int64_t index : order) {
    const auto d = size_t(index);
    if (output.sizes()[d] == sizes[d])
      kept.add(sizes[d], strides[d], output.strides()[d]);
    else
      reduced.add(sizes[d], strides[d], 0);
  }
}

}  // namespace hotaru::cpu
