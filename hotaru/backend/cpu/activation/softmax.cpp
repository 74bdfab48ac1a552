// Softmax along any dimension: rows that are contiguous already are worked on
// in place, others through a buffer.
#include <vector>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/reduce/line.h"
#include "hotaru/backend/cpu/activation/softmax_simd.h"
#include "hotaru/backend/cpu/lines.h"
#include "hotaru/backend/cpu/simd/reduced_simd.h"

namespace hotaru::cpu {
namespace {

/// A line as contiguous numbers of the type that is computed in.
template <class T>
class Row {
 public:
  using Math = OpMath<T>;
  static const Math* read(const T* line, int64_t n, int64_t stride,
                          std::vector<Math>& buffer) {
    if constexpr (std::is_same_v<T, Math>)
      if (stride == 1) return line;
    buffer.resize(size_t(n));
    if constexpr (kIsReduced<T>)
      if (stride == 1) return widen(line, buffer.data(), n), buffer.data();
    for (int64_t i = 0; i < n; ++i) buffer[size_t(i)] = Math(line[i * stride]);
    return buffer.data();
  }
  static void write(T* line, int64_t n, int64_t stride, const Math* values) {
    if constexpr (std::is_same_v<T, Math>)
      if (line == values) return;
    if constexpr (kIsReduced<T>)
      if (stride == 1) return narrow(values, line, n);
    for (int64_t i = 0; i < n; ++i) line[i * stride] = T(values[i]);
  }
  static Math* target(T* line, int64_t n, int64_t stride,
                      std::vector<Math>& buffer) {
    if constexpr (std::is_same_v<T, Math>)
      if (stride == 1) return line;
    buffer.resize(size_t(n));
    return buffer.data();
  }
};

/// Operands: result, input. `lines`: of so many contiguous rows of n.
template <class F, class G>
void forward(const KernelCall& call, const KernelTypes<FloatingTypes>& types,
             const F& lines, const G& columns) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1);
  const int64_t dim = call.attributes<LineAttributes>().dim;
  const int64_t n = line_size(in, dim);
  if (in.numel() == 0) return;
  const int64_t in_stride = line_stride(in, dim);
  const int64_t out_stride = line_stride(out, dim);
  types.visit(call, [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>) {
      if (side_by_side(dim, out, in))
        return for_columns(
            dim, 4 * n,
            [&](const auto& at, int64_t width) {
              columns(in.data<T>() + at[1], in_stride, out.data<T>() + at[0],
                      out_stride, n, width);
            },
            out, in);
    }
    using R = Row<T>;
    struct Buffers {
      std::vector<OpMath<T>> in, out;
    };
    const T* x = in.data<T>();
    T* y = out.data<T>();
    if constexpr (std::is_floating_point_v<T>) {
      // Rows after one another, as mostly: nothing to set up.
      if (in_stride == 1 && in.is_contiguous() && out.is_contiguous() &&
          dim == std::max<int64_t>(0, in.dim() - 1))
        return parallel_for(0, in.numel() / n, row_grain(4 * n),
                            [&](int64_t begin, int64_t end) {
                              lines(x + begin * n, y + begin * n, end - begin,
                                    n);
                            });
    }
    for_lines_with(
        dim, 4 * n, [] { return Buffers{}; },
        [&](const auto& at, Buffers& buffers) {
          const auto* source = R::read(x + at[1], n, in_stride, buffers.in);
          auto* target = R::target(y + at[0], n, out_stride, buffers.out);
          lines(source, target, 1, n);
          R::write(y + at[0], n, out_stride, target);
        },
        out, in);
  });
}

/// Operands: gradient of the input, gradient of the result, result.
template <class F, class G>
void backward(const KernelCall& call, const KernelTypes<FloatingTypes>& types,
              const F& row, const G& columns) {
  const Tensor &out = call.tensor(0), &g = call.tensor(1), &y = call.tensor(2);
  const int64_t dim = call.attributes<LineAttributes>().dim;
  const int64_t n = line_size(y, dim);
  types.visit(call, [&]<class T>() {
    using R = Row<T>;
    struct Buffers {
      std::vector<OpMath<T>> g, y, out;
    };
    T* dx = out.data<T>();
    if constexpr (std::is_floating_point_v<T>) {
      if (y.numel() > 0 && side_by_side(dim, out, g, y))
        return for_columns(
            dim, 4 * n,
            [&](const auto& at, int64_t width) {
              columns(g.data<T>() + at[1], g.stride(dim), y.data<T>() + at[2],
                      y.stride(dim), dx + at[0], out.stride(dim), n, width);
            },
            out, g, y);
    }
    for_lines_with(
        dim, 4 * n, [] { return Buffers{}; },
        [&](const auto& at, Buffers& buffers) {
          if (n == 0) return;
          const auto* grad =
              R::read(g.data<T>() + at[1], n, line_stride(g, dim), buffers.g);
          const auto* result =
              R::read(y.data<T>() + at[2], n, line_stride(y, dim), buffers.y);
          auto* target =
              R::target(dx + at[0], n, line_stride(out, dim), buffers.out);
          row(grad, result, target, n);
          R::write(dx + at[0], n, line_stride(out, dim), target);
        },
        out, g, y);
  });
}

constexpr KernelTypes<FloatingTypes> kSoftmaxTypes{1, "softmax_kernel_impl"};
constexpr KernelTypes<FloatingTypes> kLogTypes{1, "log_softmax_kernel_impl"};
constexpr KernelTypes<FloatingTypes> kBackwardTypes{2, "softmax_backward"};
constexpr KernelTypes<FloatingTypes> kLogBackwardTypes{2,
                                                       "log_softmax_backward"};

void softmax(const KernelCall& call) {
  forward(
      call, kSoftmaxTypes,
      [](const auto* x, auto* y, int64_t rows, int64_t n) {
        softmax_rows(x, y, rows, n);
      },
      [](const auto* x, int64_t xs, auto* y, int64_t ys, int64_t n,
         int64_t width) { softmax_columns(x, xs, y, ys, n, width); });
}
void log_softmax(const KernelCall& call) {
  forward(
      call, kLogTypes,
      [](const auto* x, auto* y, int64_t rows, int64_t n) {
        for (int64_t r = 0; r < rows; ++r)
          log_softmax_row(x + r * n, y + r * n, n);
      },
      [](const auto* x, int64_t xs, auto* y, int64_t ys, int64_t n,
         int64_t width) { log_softmax_columns(x, xs, y, ys, n, width); });
}
void softmax_backward(const KernelCall& call) {
  backward(
      call, kBackwardTypes,
      [](const auto* g, const auto* y, auto* dx, int64_t n) {
        softmax_backward_row(g, y, dx, n);
      },
      [](auto... arguments) { softmax_backward_columns(arguments...); });
}
void log_softmax_backward(const KernelCall& call) {
  backward(
      call, kLogBackwardTypes,
      [](const auto* g, const auto* y, auto* dx, int64_t n) {
        log_softmax_backward_row(g, y, dx, n);
      },
      [](auto... arguments) { log_softmax_backward_columns(arguments...); });
}

HOTARU_KERNEL(kCPU, "softmax", softmax, check_types<kSoftmaxTypes>);
HOTARU_KERNEL(kCPU, "log_softmax", log_softmax, check_types<kLogTypes>);
HOTARU_KERNEL(kCPU, "softmax_backward", softmax_backward,
              check_types<kBackwardTypes>);
HOTARU_KERNEL(kCPU, "log_softmax_backward", log_softmax_backward,
              check_types<kLogBackwardTypes>);

}  // namespace
}  // namespace hotaru::cpu
