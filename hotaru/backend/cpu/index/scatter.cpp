// Writes at single indices along a dimension.
#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cpu/index/scatter_into.h"
#include "hotaru/backend/cpu/number.h"
#include "hotaru/backend/cpu/words.h"

namespace hotaru::cpu {
namespace {

template <class T, class F>
void scatter_with(const KernelCall& call, const F& f) {
  scatter_into<T, T>(call.tensor(0), call, f);
}

constexpr KernelTypes<RealAndBoolTypes> kExtremumTypes{0, "scatter_reduce"};

/// Operands: target, index, source.
void scatter(const KernelCall& call) {
  const WriteMode mode = call.attributes<ScatterAttributes>().mode;
  const DType dtype = call.tensor(0).dtype();
  if (mode == WriteMode::kAssign)
    return visit_word(dtype, [&]<class Word>() {
      scatter_with<Word>(call, [](Word& a, Word x) { a = x; });
    });
  if (mode == WriteMode::kAdd || mode == WriteMode::kMultiply)
    return scatter_sums(call);
  kExtremumTypes.visit(call, [&]<class T>() {
    if (mode == WriteMode::kMax)
      scatter_with<T>(call, [](T& a, T x) { a = greater(x, a) ? x : a; });
    else
      scatter_with<T>(call, [](T& a, T x) {
        a = is_nan(a) || (!is_nan(x) && x >= a) ? a : x;
      });
  });
}

void check_scatter(const KernelCall& call) {
  const WriteMode mode = call.attributes<ScatterAttributes>().mode;
  if (mode == WriteMode::kMax || mode == WriteMode::kMin)
    check_types<kExtremumTypes>(call);
}

HOTARU_KERNEL(kCPU, "scatter", scatter, check_scatter);

}  // namespace
}  // namespace hotaru::cpu
