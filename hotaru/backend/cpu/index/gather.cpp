// Single elements at indices along a dimension.
#include "hotaru/backend/common/index/gather.h"

#include "hotaru/backend/cpu/index/index_row.h"
#include "hotaru/backend/cpu/lines.h"
#include "hotaru/backend/cpu/words.h"
#include "hotaru/runtime/kernel.h"

namespace hotaru::cpu {
namespace {

/// Strides of a tensor whose coordinate along `dim` the index gives.
Dims strides_beside(const Tensor& t, int64_t dim) {
  Dims out(t.strides());
  if (!out.empty()) out[size_t(dim)] = 0;
  return out;
}

/// Operands: result, input, index.
void gather(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1),
               &index = call.tensor(2);
  const int64_t dim = call.attributes<ScatterAttributes>().dim;
  const int64_t inner = innermost(index);
  const int64_t n = line_size(index, inner), stride = line_stride(out, inner);
  const Dims sizes = without(index.sizes(), inner);
  const std::array<Dims, 3> strides{without(index.strides(), inner),
                                    without(out.strides(), inner),
                                    without(strides_beside(in, dim), inner)};
  const std::array<IntSpan, 3> spans{strides[0], strides[1], strides[2]};
  visit_word(in.dtype(), [&]<class Word>() {
    visit_index(index, [&]<class I>() {
      Row<I> row{nullptr,
                 n,
                 line_stride(index, inner),
                 line_stride(in, dim),
                 inner == dim ? 0 : line_stride(in, inner),
                 dim,
                 line_size(in, dim)};
      // Positions in row-major order: a share may begin and end in a row.
      parallel_for(
          0, index.numel(), kGrainSize, [&, row](int64_t p, int64_t end) {
            Row<I> part = row;
            Walk<3> walk(sizes, spans, p / n);
            for (int64_t j = p % n; p < end; p += part.n, j = 0, walk.next()) {
              part.n = std::min(n - j, end - p);
              part.index = index.data<I>() + walk.at[0] + j * row.stride;
              Word* y = out.data<Word>() + walk.at[1] + j * stride;
              const Word* x = in.data<Word>() + walk.at[2] + j * row.slide;
              if (stride == 1)
                part.visit([=](int64_t k, int64_t at) { y[k] = x[at]; });
              else
                part.visit(
                    [=](int64_t k, int64_t at) { y[k * stride] = x[at]; });
            }
          });
    });
  });
}

HOTARU_KERNEL(kCPU, "gather", gather);

}  // namespace
}  // namespace hotaru::cpu
