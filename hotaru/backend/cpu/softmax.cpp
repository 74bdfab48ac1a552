// Softmax along any dimension: rows that are contiguous already are worked on
// in place, others through a buffer.
#include <vector>

#include "hotaru/backend/common/line.h"
#include "hotaru/backend/cpu/lines.h"
#include "hotaru/backend/cpu/softmax_simd.h"
#include "hotaru/runtime/kernel.h"

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
    for (int64_t i = 0; i < n; ++i) buffer[size_t(i)] = Math(line[i * stride]);
    return buffer.data();
  }
  static void write(T* line, int64_t n, int64_t stride, const Math* values) {
    if constexpr (std::is_same_v<T, Math>)
      if (line == values) return;
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

/// Whether lines along the dimension lie side by side in both tensors, so that
/// vectors can go across them.
bool side_by_side(const Tensor& out, const Tensor& in, int64_t dim) {
  const int64_t last = in.dim() - 1;
  return in.dim() > 1 && dim != last && in.stride(last) == 1 &&
         out.stride(last) == 1 && in.size(last) >= 4;
}

/// Columns along `dim`, a stretch of the last dimension at a time.
template <class T, class F>
void forward_columns(const Tensor& out, const Tensor& in, int64_t dim,
                     const F& columns) {
  constexpr int64_t kStretch = 64;
  const auto last = size_t(in.dim() - 1);
  const int64_t n = in.size(dim), width = in.sizes()[last];
  const int64_t in_stride = in.stride(dim), out_stride = out.stride(dim);
  const Dims sizes = without(in.sizes().first(last), dim);
  const Dims xs = without(in.strides().first(last), dim);
  const Dims ys = without(out.strides().first(last), dim);
  const int64_t stretches = (width + kStretch - 1) / kStretch;
  parallel_for(0, numel_of(sizes) * stretches, row_grain(4 * n * kStretch),
               [&](int64_t begin, int64_t end) {
                 Walk<2> walk(sizes, {xs, ys}, begin / stretches);
                 for (int64_t i = begin; i < end; ++i) {
                   if (i > begin && i % stretches == 0) walk.next();
                   const int64_t first = i % stretches * kStretch;
                   columns(in.data<T>() + walk.at[0] + first, in_stride,
                           out.data<T>() + walk.at[1] + first, out_stride, n,
                           std::min(kStretch, width - first));
                 }
               });
}

/// Operands: result, input.
template <class F, class G>
void forward(const KernelCall& call, const char* name, const F& row,
             const G& columns) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1);
  const int64_t dim = call.attributes<LineAttributes>().dim;
  const int64_t n = line_size(in, dim);
  if (in.numel() == 0) return;
  const int64_t in_stride = line_stride(in, dim);
  const int64_t out_stride = line_stride(out, dim);
  visit_dtype(FloatingTypes{}, in.dtype(), name, [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>) {
      if (side_by_side(out, in, dim))
        return forward_columns<T>(out, in, dim, columns);
    }
    using R = Row<T>;
    struct Buffers {
      std::vector<OpMath<T>> in, out;
    };
    const T* x = in.data<T>();
    T* y = out.data<T>();
    for_lines_with(
        dim, 4 * n, [] { return Buffers{}; },
        [&](const auto& at, Buffers& buffers) {
          const auto* source = R::read(x + at[1], n, in_stride, buffers.in);
          auto* target = R::target(y + at[0], n, out_stride, buffers.out);
          row(source, target, n);
          R::write(y + at[0], n, out_stride, target);
        },
        out, in);
  });
}

/// Operands: gradient of the input, gradient of the result, result.
template <class F>
void backward(const KernelCall& call, const char* name, const F& row) {
  const Tensor &out = call.tensor(0), &g = call.tensor(1), &y = call.tensor(2);
  const int64_t dim = call.attributes<LineAttributes>().dim;
  const int64_t n = line_size(y, dim);
  visit_dtype(FloatingTypes{}, y.dtype(), name, [&]<class T>() {
    using R = Row<T>;
    struct Buffers {
      std::vector<OpMath<T>> g, y, out;
    };
    T* dx = out.data<T>();
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

void softmax(const KernelCall& call) {
  forward(
      call, "softmax_kernel_impl",
      [](const auto* x, auto* y, int64_t n) { softmax_row(x, y, n); },
      [](const auto* x, int64_t xs, auto* y, int64_t ys, int64_t n,
         int64_t width) { softmax_columns(x, xs, y, ys, n, width); });
}
void log_softmax(const KernelCall& call) {
  forward(
      call, "log_softmax_kernel_impl",
      [](const auto* x, auto* y, int64_t n) { log_softmax_row(x, y, n); },
      [](const auto* x, int64_t xs, auto* y, int64_t ys, int64_t n,
         int64_t width) { log_softmax_columns(x, xs, y, ys, n, width); });
}
void softmax_backward(const KernelCall& call) {
  backward(call, "softmax_backward",
           [](const auto* g, const auto* y, auto* dx, int64_t n) {
             softmax_backward_row(g, y, dx, n);
           });
}
void log_softmax_backward(const KernelCall& call) {
  backward(call, "log_softmax_backward",
           [](const auto* g, const auto* y, auto* dx, int64_t n) {
             log_softmax_backward_row(g, y, dx, n);
           });
}

HOTARU_KERNEL(kCPU, "softmax", softmax);
HOTARU_KERNEL(kCPU, "log_softmax", log_softmax);
HOTARU_KERNEL(kCPU, "softmax_backward", softmax_backward);
HOTARU_KERNEL(kCPU, "log_softmax_backward", log_softmax_backward);

}  // namespace
}  // namespace hotaru::cpu
