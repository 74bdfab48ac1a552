// Sums and products at single indices along a dimension.
#include "hotaru/backend/cpu/index/narrow_sums.h"
#include "hotaru/backend/cpu/index/scatter_into.h"
#include "hotaru/backend/cpu/number.h"

namespace hotaru::cpu {
namespace {

template <class T, class F>
void scatter_combined(const KernelCall& call, const F& combine) {
  const auto visit = [&](const Tensor& target, const auto& f) {
    scatter_into<Combined<T>, T>(target, call, f);
  };
  combine_at<T>(call.tensor(0), call.tensor(1).numel(), visit, combine);
}

}  // namespace

void scatter_sums(const KernelCall& call) {
  const bool adds =
      call.attributes<ScatterAttributes>().mode == WriteMode::kAdd;
  visit_dtype(AllTypes{}, call.tensor(0).dtype(), "scatter_add",
              [&]<class T>() {
                if (adds)
                  scatter_combined<T>(call, AddOne());
                else
                  scatter_combined<T>(call, MultiplyOne());
              });
}

}  // namespace hotaru::cpu
