// Elements chosen by value: nonzero, masks, triangles.
#include "hotaru/backend/common/index.h"
#include "hotaru/backend/cpu/lines.h"
#include "hotaru/backend/cpu/words.h"
#include "hotaru/runtime/kernel.h"

namespace hotaru::cpu {
namespace {

/// Operands: positions [n, dims], input with n nonzero elements.
void nonzero(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1);
  const int64_t total = out.size(0);
  const size_t dims = in.sizes().size();
  int64_t* row = out.data<int64_t>();
  const int64_t column_stride = dims ? out.strides()[1] : 1;
  visit_dtype(AllTypes{}, in.dtype(), "nonzero", [&]<class T>() {
    const T* x = in.data<T>();
    Walk<1> walk(in.sizes(), {in.strides()});
    Dims index(dims, 0);
    int64_t found = 0;
    for (int64_t i = in.numel(); i > 0 && found < total; --i) {
      if (x[walk.at[0]] != T(0)) {
        for (size_t d = 0; d < dims; ++d)
          row[int64_t(d) * column_stride] = index[d];
        row += out.strides()[0];
        ++found;
      }
      walk.next();
      for (size_t d = dims; d-- > 0;) {
        if (++index[d] < in.sizes()[d]) break;
        index[d] = 0;
      }
    }
  });
}

/// Operands: result [n], input, mask of the input's shape with n ones.
void masked_select(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1),
               &mask = call.tensor(2);
  visit_word(in.dtype(), [&]<class Word>() {
    Word* y = out.data<Word>();
    const Word* end = y + out.numel();
    const Word* x = in.data<Word>();
    const bool* chosen = mask.data<bool>();
    Walk<2> walk(in.sizes(), {in.strides(), mask.strides()});
    for (int64_t i = in.numel(); i > 0 && y < end; --i, walk.next())
      if (chosen[walk.at[1]]) *y++ = x[walk.at[0]];
  });
}

/// Operands: target, mask of its shape, row-major source.
void masked_scatter(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &mask = call.tensor(1),
               &source = call.tensor(2);
  visit_word(out.dtype(), [&]<class Word>() {
    Word* y = out.data<Word>();
    const Word* x = source.data<Word>();
    const Word* end = x + source.numel();
    const bool* chosen = mask.data<bool>();
    Walk<2> walk(out.sizes(), {out.strides(), mask.strides()});
    for (int64_t i = out.numel(); i > 0; --i, walk.next()) {
      if (!chosen[walk.at[1]]) continue;
      HOTARU_CHECK(x < end,
                   "Number of elements of source < number of ones in mask");
      y[walk.at[0]] = *x++;
    }
  });
}

/// Operands: result, input, which may be the same.
void triangle(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1);
  const auto& attributes = call.attributes<TriangleAttributes>();
  const size_t batch = in.sizes().size() - 2;
  const int64_t rows = in.size(-2), columns = in.size(-1);
  const int64_t x_row = in.stride(-2), x_step = in.stride(-1);
  const int64_t y_row = out.stride(-2), y_step = out.stride(-1);
  const IntSpan sizes = in.sizes().first(batch);
  visit_word(in.dtype(), [&]<class Word>() {
    parallel_for(
        0, numel_of(sizes), row_grain(rows * columns),
        [&](int64_t begin, int64_t end) {
          Walk<2> walk(sizes,
                       {out.strides().first(batch), in.strides().first(batch)},
                       begin);
          for (int64_t b = begin; b < end; ++b, walk.next()) {
            for (int64_t r = 0; r < rows; ++r) {
              Word* y = out.data<Word>() + walk.at[0] + r * y_row;
              const Word* x = in.data<Word>() + walk.at[1] + r * x_row;
              // Columns [first, last) stay.
              const int64_t edge = std::clamp<int64_t>(
                  r + attributes.diagonal + (attributes.upper ? 0 : 1), 0,
                  columns);
              const int64_t first = attributes.upper ? edge : 0;
              const int64_t last = attributes.upper ? columns : edge;
              for (int64_t c = 0; c < first; ++c) y[c * y_step] = Word{};
              for (int64_t c = first; c < last; ++c)
                y[c * y_step] = x[c * x_step];
              for (int64_t c = last; c < columns; ++c) y[c * y_step] = Word{};
            }
          }
        });
  });
}

HOTARU_KERNEL(kCPU, "nonzero", nonzero);
HOTARU_KERNEL(kCPU, "masked_select", masked_select);
HOTARU_KERNEL(kCPU, "masked_scatter", masked_scatter);
HOTARU_KERNEL(kCPU, "triangle", triangle);

}  // namespace
}  // namespace hotaru::cpu
