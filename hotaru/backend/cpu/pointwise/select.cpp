// Kernels whose operands differ in type: where, and the scatter of a view.
#include "hotaru/backend/common/elementwise.h"
#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/loop_nest.h"
#include "hotaru/backend/cpu/independent.h"
#include "hotaru/backend/cpu/words.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

/// x where the mask is not 0, else y: by bits, as masks are hard to foresee.
template <class Word>
Word chosen(uint8_t mask, Word x, Word y) {
  if constexpr (std::is_integral_v<Word>)
    return Word(y ^ ((x ^ y) & Word(0 - Word(mask != 0))));
  else
    return mask ? x : y;
}

/// x and y: functions of the position.
template <class Word, class X, class Y>
void choose(char* const* p, int64_t n, const X& x, const Y& y) {
  auto* out = reinterpret_cast<Word*>(p[0]);
  const auto* mask = reinterpret_cast<const uint8_t*>(p[1]);
  HOTARU_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) out[i] = chosen<Word>(mask[i], x(i), y(i));
}

template <class T>
void where_loop(const void*, char* const* p, const int64_t* s, int64_t n) {
  constexpr int64_t kItem = sizeof(T);
  const auto fits = [](int64_t step) { return step == kItem || step == 0; };
  if (s[0] == kItem && s[1] == 1 && fits(s[2]) && fits(s[3])) {
    const auto* x = reinterpret_cast<const T*>(p[2]);
    const auto* y = reinterpret_cast<const T*>(p[3]);
    const auto each_x = [x](int64_t i) { return x[i]; };
    const auto each_y = [y](int64_t i) { return y[i]; };
    const auto one_x = [value = *x](int64_t) { return value; };
    const auto one_y = [value = *y](int64_t) { return value; };
    if (s[2] == 0)
      return s[3] == 0 ? choose<T>(p, n, one_x, one_y)
                       : choose<T>(p, n, one_x, each_y);
    return s[3] == 0 ? choose<T>(p, n, each_x, one_y)
                     : choose<T>(p, n, each_x, each_y);
  }
  for (int64_t i = 0; i < n; ++i) {
    const bool yes = p[1][i * s[1]];
    *reinterpret_cast<T*>(p[0] + i * s[0]) =
        *reinterpret_cast<const T*>(yes ? p[2] + i * s[2] : p[3] + i * s[3]);
  }
}

/// Operands: out, mask (bool or uint8), and two of out's dtype; they
/// broadcast to out.
std::optional<Elementwise> where(const KernelCall& call) {
  LoopNest::Inner inner = nullptr;
  visit_word(call.tensor(0).dtype(),
             [&]<class Word>() { inner = &where_loop<Word>; });
  return Elementwise(inner);
}

template <class T>
void add_to(const void*, char* const* p, const int64_t* s, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    T& out = *reinterpret_cast<T*>(p[0] + i * s[0]);
    out = T(out + *reinterpret_cast<const T*>(p[1] + i * s[1]));
  }
}

constexpr KernelTypes<FloatingAndComplexTypes> kStridedTypes{0, "as_strided"};

/// Operands: a view, whose elements may overlap, and what is added to it. In
/// one thread, as two elements may share an address.
void scatter_strided(const KernelCall& call) {
  const Tensor* operands[] = {&call.tensor(0), &call.tensor(1)};
  const LoopNest nest(operands);
  kStridedTypes.visit(call, [&]<class T>() {
    nest.run_range(0, nest.numel(), &add_to<T>, nullptr);
  });
}

const ElementwiseRegistration<where> registered_where("where");
HOTARU_KERNEL(kCPU, "scatter_strided", scatter_strided,
              check_types<kStridedTypes>);

}  // namespace
}  // namespace hotaru::cpu
