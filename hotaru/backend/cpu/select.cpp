// Kernels whose operands differ in type: where, and the scatter of a view.
#include "hotaru/backend/common/loop_nest.h"
#include "hotaru/runtime/kernel.h"
#include "hotaru/runtime/parallel.h"

namespace hotaru::cpu {
namespace {

template <class T>
void where_loop(const void*, char* const* p, const int64_t* s, int64_t n) {
  if (s[0] == sizeof(T) && s[1] == 1 && s[2] == sizeof(T) &&
      s[3] == sizeof(T)) {
    auto* out = reinterpret_cast<T*>(p[0]);
    const auto* mask = reinterpret_cast<const uint8_t*>(p[1]);
    const auto* x = reinterpret_cast<const T*>(p[2]);
    const auto* y = reinterpret_cast<const T*>(p[3]);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = mask[i] ? x[i] : y[i];
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    const bool yes = p[1][i * s[1]];
    *reinterpret_cast<T*>(p[0] + i * s[0]) =
        *reinterpret_cast<const T*>(yes ? p[2] + i * s[2] : p[3] + i * s[3]);
  }
}

/// Operands: out, mask (bool or uint8), and two of out's dtype; they
/// broadcast to out.
void where(const KernelCall& call) {
  const Tensor* operands[] = {&call.tensor(0), &call.tensor(1), &call.tensor(2),
                              &call.tensor(3)};
  const LoopNest nest(operands);
  visit_dtype(AllTypes{}, call.tensor(0).dtype(), "where", [&]<class T>() {
    nest.run(kGrainSize, &where_loop<T>, nullptr);
  });
}

template <class T>
void add_to(const void*, char* const* p, const int64_t* s, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    T& out = *reinterpret_cast<T*>(p[0] + i * s[0]);
    out = T(out + *reinterpret_cast<const T*>(p[1] + i * s[1]));
  }
}

/// Operands: a view, whose elements may overlap, and what is added to it. In
/// one thread, as two elements may share an address.
void scatter_strided(const KernelCall& call) {
  const Tensor* operands[] = {&call.tensor(0), &call.tensor(1)};
  const LoopNest nest(operands);
  visit_dtype(
      FloatingAndComplexTypes{}, call.tensor(0).dtype(), "as_strided",
      [&]<class T>() { nest.run_range(0, nest.numel(), &add_to<T>, nullptr); });
}

HOTARU_KERNEL(kCPU, "where", where);
HOTARU_KERNEL(kCPU, "scatter_strided", scatter_strided);

}  // namespace
}  // namespace hotaru::cpu
