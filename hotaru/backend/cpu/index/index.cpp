// Reading and writing at tensors of indices: x[i, :, j] and x[i, :, j] = v.
#include "hotaru/backend/common/index/index.h"

#include <vector>

#include "hotaru/backend/cpu/index/narrow_sums.h"
#include "hotaru/backend/cpu/indexing.h"
#include "hotaru/backend/cpu/lines.h"
#include "hotaru/backend/cpu/words.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/runtime/kernel.h"

namespace hotaru::cpu {
namespace {

[[noreturn]] void outside(int64_t at, int64_t size, int64_t dim, bool flat) {
  if (flat)
    fail<IndexError>("out of range: tried to access index ", at,
                     " on a tensor of ", size, " elements.");
  index_out_of_bounds<IndexError>(at, dim, size);
}

/// The offset into the indexed tensor that each position of the indices
/// stands for; all of them checked before anything is written.
std::vector<int64_t> offsets(const KernelCall& call, const Tensor& x,
                             const IndexAttributes& attributes) {
  const size_t count = call.operands().size() - 2;
  std::vector<int64_t> out(size_t(call.tensor(2).numel()), 0);
  for (size_t k = 0; k < count; ++k) {
    const Tensor& index = call.tensor(2 + k);
    const size_t dim = size_t(attributes.before) + k;
    const int64_t size = x.sizes()[dim], stride = x.strides()[dim];
    const int64_t* values = index.data<int64_t>();
    Walk<1> walk(index.sizes(), {index.strides()});
    for (int64_t& offset : out) {
      int64_t at = values[walk.at[0]];
      if (at < -size || at >= size) [[unlikely]]
        outside(at, size, int64_t(k), attributes.flat);
      offset += (at < 0 ? at + size : at) * stride;
      walk.next();
    }
  }
  return out;
}

/// Tells whether one row-major index names single elements of a vector.
bool is_flat(const KernelCall& call, const Tensor& x, const Tensor& y) {
  return call.operands().size() == 3 && x.dim() == 1 && y.is_contiguous() &&
         call.tensor(2).is_contiguous() && call.tensor(2).numel() == y.numel();
}

/// f(a place of a vector of `size` elements, i) for each index; `outside`
/// throws.
template <class F>
void for_places(const int64_t* index, int64_t begin, int64_t end, int64_t size,
                bool flat, const F& f) {
// Four loads in flight: the check of each index would else wait its turn.
#pragma GCC unroll 4
  for (int64_t i = begin; i < end; ++i) {
    const int64_t at = index[i] + (index[i] < 0 ? size : 0);
    if (uint64_t(at) >= uint64_t(size)) [[unlikely]]
      outside(index[i], size, 0, flat);
    f(at, i);
  }
}

/// f(x + ..., y + ..., n, x_step, y_step) over runs of elements, in the order
/// of y: for the dimensions before the indices, the indices, those behind.
template <class A, class B, class F>
void for_runs(const KernelCall& call, const Tensor& x, const Tensor& y,
              bool parallel, const F& f) {
  const auto& attributes = call.attributes<IndexAttributes>();
  const std::vector<int64_t> at = offsets(call, x, attributes);
  const Tensor& index = call.tensor(2);
  const size_t indexed = call.operands().size() - 2;
  const auto before = size_t(attributes.before);
  const size_t behind = before + size_t(index.dim());
  // The dimensions behind: all but the last are walked, the last is the run;
  // dense trailing ones are merged into it.
  Dims sizes(y.sizes().subspan(behind)), ys(y.strides().subspan(behind));
  Dims xs(x.strides().subspan(before + indexed));
  if (sizes.empty()) {
    sizes.push_back(1);
    xs.push_back(1);
    ys.push_back(1);
  }
  while (sizes.size() > 1) {
    const size_t last = sizes.size() - 1;
    if (xs[last - 1] != xs[last] * sizes[last] ||
        ys[last - 1] != ys[last] * sizes[last])
      break;
    sizes[last - 1] *= sizes[last];
    xs[last - 1] = xs[last];
    ys[last - 1] = ys[last];
    for (Dims* dims : {&sizes, &xs, &ys}) dims->resize(last);
  }
  const int64_t n = sizes.back(), x_step = xs.back(), y_step = ys.back();
  const IntSpan outer = IntSpan(sizes).first(sizes.size() - 1);
  const int64_t runs = numel_of(outer);
  // Everything up to the indices as one walk in y's order.
  const IntSpan lead = y.sizes().first(behind);
  Dims x_lead(x.strides().first(before));
  x_lead.resize(behind);  // the indices move x by `at` alone
  const auto count = int64_t(at.size());
  A* px = x.data<A>();
  B* py = y.data<B>();
  if (n * runs == 1 && index.dim() == 1) {
    // Nothing behind one vector of indices: rows of single elements.
    const int64_t step = y.strides()[before];
    const auto rows = [&](int64_t begin, int64_t end) {
      Walk<2> walk(lead.first(before), {x_lead, y.strides().first(before)},
                   begin / count);
      for (int64_t i = begin, k = begin % count; i < end; walk.next(), k = 0)
        for (; k < count && i < end; ++k, ++i)
          f(px + walk.at[0] + at[size_t(k)], py + walk.at[1] + k * step, 1, 1,
            1);
    };
    const int64_t total = numel_of(lead);
    return parallel_for(0, total, parallel ? kGrainSize : total, rows);
  }
  const auto work = [&](int64_t begin, int64_t end) {
    Walk<2> walk(lead, {x_lead, y.strides().first(behind)}, begin);
    for (int64_t i = begin; i < end; ++i, walk.next()) {
      A* from = px + walk.at[0] + at[size_t(i % count)];
      B* to = py + walk.at[1];
      if (runs == 1) {
        f(from, to, n, x_step, y_step);
        continue;
      }
      Walk<2> inner(outer, {IntSpan(xs).first(outer.size()),
                            IntSpan(ys).first(outer.size())});
      for (int64_t r = runs; r > 0; --r, inner.next())
        f(from + inner.at[0], to + inner.at[1], n, x_step, y_step);
    }
  };
  const int64_t total = numel_of(lead);
  parallel_for(0, total, parallel ? row_grain(n * runs) : total, work);
}

/// Operands: result, input, index...
void index(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1);
  visit_word(in.dtype(), [&]<class Word>() {
    if (is_flat(call, in, out)) {
      const int64_t size = in.numel(), step = in.strides()[0];
      const bool flat = call.attributes<IndexAttributes>().flat;
      parallel_for(0, out.numel(), kGrainSize, [&](int64_t begin, int64_t end) {
        const Word* x = in.data<Word>();
        Word* y = out.data<Word>();
        for_places(call.tensor(2).data<int64_t>(), begin, end, size, flat,
                   [=](int64_t at, int64_t i) { y[i] = x[at * step]; });
      });
      return;
    }
    for_runs<const Word, Word>(call, in, out, true, ReadRun());
  });
}

/// index_put of a row-major index, all of which is checked before anything is
/// written.
void put_flat(const KernelCall& call, const Tensor& out, const Tensor& values) {
  const int64_t* index = call.tensor(2).data<int64_t>();
  const int64_t n = values.numel(), size = out.numel();
  const int64_t step = out.strides()[0];
  const bool flat = call.attributes<IndexAttributes>().flat;
  bool inside = true;
  for (int64_t i = 0; i < n; ++i)
    inside &= (index[i] >= -size) & (index[i] < size);
  if (!inside) for_places(index, 0, n, size, flat, [](int64_t, int64_t) {});
  visit_word(out.dtype(), [&]<class Word>() {
    Word* y = out.data<Word>();
    const Word* x = values.data<Word>();
    for (int64_t i = 0; i < n; ++i)
      y[(index[i] + (index[i] < 0 ? size : 0)) * step] = x[i];
  });
}

/// Operands: target, values, index... In one thread, so that of equal indices
/// the last one wins and sums have one order.
void index_put(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &values = call.tensor(1);
  if (is_flat(call, out, values) &&
      !call.attributes<IndexAttributes>().accumulate)
    return put_flat(call, out, values);
  if (!call.attributes<IndexAttributes>().accumulate)
    return visit_word(out.dtype(), [&]<class Word>() {
      for_runs<Word, const Word>(call, out, values, false, CopyRun());
    });
  visit_dtype(AllTypes{}, out.dtype(), "index_put", [&]<class T>() {
    const auto visit = [&](const Tensor& target, const auto& f) {
      for_runs<Combined<T>, const T>(call, target, values, false, EachRun{f});
    };
    combine_at<T>(out, values.numel(), visit, AddOne());
  });
}

HOTARU_KERNEL(kCPU, "index", index);
HOTARU_KERNEL(kCPU, "index_put", index_put);

}  // namespace
}  // namespace hotaru::cpu
