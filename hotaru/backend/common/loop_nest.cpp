#include "hotaru/backend/common/loop_nest.h"

#include <algorithm>
#include <numeric>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/tensor.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru {

LoopNest::LoopNest(std::span<const Tensor* const> operands)
    : operands_(int(operands.size())), numel_(operands[0]->numel()) {
  bool flat = true;
  for (int i = 0; i < operands_; ++i) {
    const Tensor& t = *operands[size_t(i)];
    data_[i] = static_cast<char*>(t.raw_data());
    flat &= t.is_contiguous() && t.numel() == numel_;
  }
  if (!flat) {
    build(operands);
    return;
  }
  sizes_[0] = numel_;
  for (int i = 0; i < operands_; ++i)
    strides_[0][i] = int64_t(itemsize(operands[size_t(i)]->dtype()));
}

LoopNest::LoopNest(int operands, const Pointers& data, IntSpan sizes,
                   std::span<const Strides> strides)
    : operands_(operands), dims_(0), numel_(numel_of(sizes)), data_(data) {
  for (size_t d = 0; d < sizes.size(); ++d) add_dim(sizes[d], strides[d]);
  if (dims_ > 0) return;
  dims_ = 1;
  sizes_[0] = numel_;
  strides_[0] = {};
}

void LoopNest::build(std::span<const Tensor* const> operands) {
  const IntSpan shape = operands[0]->sizes();
  const int n = int(shape.size());
  HOTARU_CHECK(n <= kMaxDims, "tensors of more than ", kMaxDims,
               " dimensions are not supported here, got ", n);
  std::array<Strides, kMaxDims> strides{};
  for (int i = 0; i < operands_; ++i) {
    const Tensor& t = *operands[size_t(i)];
    const int64_t item = int64_t(itemsize(t.dtype()));
    const int lead = n - int(t.dim());
    for (int d = lead; d < n; ++d) {
      const int64_t stride = t.strides()[size_t(d - lead)];
      strides[d][i] = t.sizes()[size_t(d - lead)] == 1 ? 0 : stride * item;
    }
  }
  std::array<int, kMaxDims> order;
  std::iota(order.begin(), order.begin() + n, 0);
  std::reverse(order.begin(), order.begin() + n);
  sort_dims(n, kMaxOperands, strides[0].data(), order.data());

  dims_ = 0;
  for (int k = 0; k < n; ++k)
    add_dim(shape[size_t(order[k])], strides[order[k]]);
  prefer_long_lines();
  if (dims_ > 0) return;
  dims_ = 1;
  sizes_[0] = numel_;
  for (int i = 0; i < operands_; ++i)
    strides_[0][i] = int64_t(itemsize(operands[size_t(i)]->dtype()));
}

void LoopNest::prefer_long_lines() {
  // A call of the inner loop costs more than a few elements do.
  constexpr int64_t kFew = 4;
  if (dims_ > 1 && sizes_[0] <= kFew && sizes_[1] > kFew) {
    std::swap(sizes_[0], sizes_[1]);
    std::swap(strides_[0], strides_[1]);
  }
}

LoopNest LoopNest::lines() const {
  LoopNest out = *this;
  --out.dims_;
  out.numel_ /= sizes_[0];
  std::copy_n(sizes_.begin() + 1, out.dims_, out.sizes_.begin());
  std::copy_n(strides_.begin() + 1, out.dims_, out.strides_.begin());
  out.prefer_long_lines();
  return out;
}

void LoopNest::add_dim(int64_t size, const Strides& strides) {
  if (size == 1) return;
  bool merge = dims_ > 0;
  for (int i = 0; merge && i < operands_; ++i)
    merge = strides[i] == strides_[dims_ - 1][i] * sizes_[dims_ - 1];
  if (merge) {
    sizes_[dims_ - 1] *= size;
    return;
  }
  sizes_[dims_] = size;
  strides_[dims_++] = strides;
}

void LoopNest::run(int64_t grain, Inner inner, const void* context) const {
  if (numel_ == 0) return;
  if (numel_ <= grain) {
    if (dims_ == 1)
      return inner(context, data_.data(), strides_[0].data(), numel_);
    return run_range(0, numel_, inner, context);
  }
  parallel_for(0, numel_, grain, [&](int64_t begin, int64_t end) {
    run_range(begin, end, inner, context);
  });
}

void LoopNest::run_range(const Pointers& data, int64_t begin, int64_t end,
                         Inner inner, const void* context) const {
  if (begin >= end) return;
  Pointers pointers = data;
  if (dims_ == 1) {
    for (int i = 0; i < operands_; ++i) pointers[i] += begin * strides_[0][i];
    return inner(context, pointers.data(), strides_[0].data(), end - begin);
  }
  std::array<int64_t, kMaxDims> index;
  int64_t rest = begin;
  for (int d = 0; d < dims_; ++d) {
    if (rest == 0) {
      index[d] = 0;
      continue;
    }
    index[d] = rest % sizes_[d];
    rest /= sizes_[d];
    for (int i = 0; i < operands_; ++i)
      pointers[i] += index[d] * strides_[d][i];
  }
  while (begin < end) {
    const int64_t n = std::min(sizes_[0] - index[0], end - begin);
    inner(context, pointers.data(), strides_[0].data(), n);
    begin += n;
    for (int i = 0; i < operands_; ++i)
      pointers[i] -= index[0] * strides_[0][i];
    index[0] = 0;
    for (int d = 1; d < dims_; ++d) {
      for (int i = 0; i < operands_; ++i) pointers[i] += strides_[d][i];
      if (++index[d] < sizes_[d]) break;
      for (int i = 0; i < operands_; ++i)
        pointers[i] -= sizes_[d] * strides_[d][i];
      index[d] = 0;
    }
  }
}

void sort_dims(int64_t dims, int64_t operands, const int64_t* strides,
               int* order) {
  const auto before = [&](int a, int b) {
    for (int64_t i = 0; i < operands; ++i) {
      const int64_t x = strides[a * operands + i];
      const int64_t y = strides[b * operands + i];
      if (x == 0 || y == 0 || x == y) continue;
      return x < y;
    }
    return false;
  };
  // Insertion sort: the comparison is not a strict weak order when strides
  // are 0, and there are few dimensions.
  for (int64_t i = 1; i < dims; ++i)
    for (int64_t j = i; j > 0 && before(order[j], order[j - 1]); --j)
      std::swap(order[j], order[j - 1]);
}

}  // namespace hotaru
