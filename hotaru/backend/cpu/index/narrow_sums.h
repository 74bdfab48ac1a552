// Sums and products of 16-bit numbers at indices: they are made in floats and
// rounded once, as 2,048 ones more would else leave 2,048 in a Half.
#pragma once

#include "hotaru/backend/cpu/indexing.h"
#include "hotaru/backend/cpu/wide.h"
#include "hotaru/core/tensor.h"

namespace hotaru::cpu {

/// Type that a sum or a product of elements of type T is made in.
template <class T>
using Combined = std::conditional_t<kIsReduced<T>, float, T>;

/// visit(target, f) calls f(an element of target, what comes to it) for all
/// that an index says, of which there are `writes`. What visit does with out
/// of 16-bit numbers and `combine` is done with floats in out's geometry; few
/// writes touch no more of a large target than they name.
template <class T, class Visit, class F>
void combine_in_floats(const Tensor& out, int64_t writes, const Visit& visit,
                       const F& combine) {
  const int64_t extent = storage_extent(out.sizes(), out.strides());
  const Tensor memory = floats(extent);
  const Tensor target = make_tensor(memory.storage(), DType::kFloat32,
                                    out.sizes(), out.strides(), 0);
  float* const sums = memory.data<float>();
  T* const own = out.data<T>();
  // Memory between the elements may be written by another thread.
  if (extent == out.numel() && writes >= extent / 4) {
    parallel_for(0, extent, kGrainSize, [&](int64_t begin, int64_t end) {
      widen(own + begin, sums + begin, end - begin);
    });
    visit(target, combine);
    return narrowed(sums, own, extent);
  }
  visit(target, [=](float& y, T) { y = float(own[&y - sums]); });
  visit(target, combine);
  visit(target, [=](float& y, T) { own[&y - sums] = T(y); });
}

/// The same for any dtype: those that are no 16-bit numbers are combined where
/// they are.
template <class T, class Visit, class F>
void combine_at(const Tensor& out, int64_t writes, const Visit& visit,
                const F& combine) {
  if constexpr (kIsReduced<T>)
    combine_in_floats<T>(out, writes, visit, combine);
  else
    visit(out, combine);
}

/// y *= x.
struct MultiplyOne {
  template <class A, class B>
  void operator()(A& y, const B& x) const {
    y = times(y, A(x));
  }
};

}  // namespace hotaru::cpu
