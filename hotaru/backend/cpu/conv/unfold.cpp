// im2col and its transpose, col2im, as kernels of their own.
#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cpu/conv/windows.h"
#include "hotaru/backend/cpu/wide.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

// f(sample) for each, in parallel.
template <class F>
void for_samples(int64_t n, int64_t work, const F& f) {
  parallel_for(0, n,
               std::max<int64_t>(1, kGrainSize / std::max<int64_t>(1, work)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) f(i);
               });
}

void im2col(const KernelCall& call) {
  const Tensor &columns = call.tensor(0), &x = call.tensor(1);
  const Geometry g(x.sizes(), call.attributes<UnfoldAttributes>());
  const int64_t rows = g.depth() * g.out_size();
  visit_dtype(AllTypes{}, x.dtype(), "im2col", [&]<class T>() {
    for_samples(g.n, rows, [&](int64_t n) {
      unroll(g, x.data<T>() + n * g.c * g.in_size(), 0, g.out_size(),
             columns.data<T>() + n * rows);
    });
  });
}

constexpr KernelTypes<NumberTypes> kFoldTypes{0, "col2im"};

void col2im(const KernelCall& call) {
  const Tensor &x = call.tensor(0), &columns = call.tensor(1);
  const Geometry g(x.sizes(), call.attributes<UnfoldAttributes>());
  const int64_t rows = g.depth() * g.out_size();
  kFoldTypes.visit(call, [&]<class T>() {
    for_samples(g.n, rows, [&](int64_t n) {
      const int64_t size = g.c * g.in_size();
      rounded_once(x.data<T>() + n * size, size, [&]<class A>(A* sums) {
        std::fill_n(sums, size, A(0));
        roll_up(g, columns.data<T>() + n * rows, 0, g.out_size(), sums);
      });
    });
  });
}

HOTARU_KERNEL(kCPU, "im2col", im2col);
HOTARU_KERNEL(kCPU, "col2im", col2im, check_types<kFoldTypes>);

}  // namespace
}  // namespace hotaru::cpu
