// Running sums, products and extremes along a dimension. The result may be the
// input itself.
#include <algorithm>
#include <type_traits>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/reduce/formulas.h"
#include "hotaru/backend/common/reduce/line.h"
#include "hotaru/backend/common/ways.h"
#include "hotaru/backend/cpu/independent.h"
#include "hotaru/backend/cpu/lines.h"
#include "hotaru/backend/cpu/number.h"
#include "hotaru/backend/cpu/reduce/extreme_lines.h"

namespace hotaru::cpu {
namespace {

/// One line, whose elements lie x_step and y_step apart.
template <class S, class T>
void scan_line(const T* x, int64_t x_step, T* y, int64_t y_step, int64_t n) {
  typename S::Acc acc = S::kFirst;
  for (int64_t i = 0; i < n; ++i) {
    acc = S::step(acc, typename S::Acc(x[i * x_step]));
    y[i * y_step] = static_cast<T>(acc);
  }
}

/// Lines of neighbouring elements, four at a time: each step of one waits for
/// the step before it, but not for those of the others.
template <class S, class T>
class FourLines {
 public:
  explicit FourLines(int64_t n) : n_(n) {}
  FourLines(const FourLines&) = delete;
  FourLines& operator=(const FourLines&) = delete;
  ~FourLines() {
    for (size_t k = 0; k < count_; ++k) scan_line<S>(x_[k], 1, y_[k], 1, n_);
  }

  void add(const T* x, T* y) {
    x_[count_] = x;
    y_[count_++] = y;
    if (count_ < kLines) return;
    count_ = 0;
    typename S::Acc acc[kLines];
    std::fill(acc, acc + kLines, S::kFirst);
    for (int64_t i = 0; i < n_; ++i)
      for (size_t k = 0; k < kLines; ++k) {
        acc[k] = S::step(acc[k], typename S::Acc(x_[k][i]));
        y_[k][i] = static_cast<T>(acc[k]);
      }
  }

 private:
  static constexpr size_t kLines = 4;
  int64_t n_;
  size_t count_ = 0;
  const T* x_[kLines];
  T* y_[kLines];
};

/// Neighbouring lines, an element of each at a time.
template <class S, class T>
void scan_columns(const T* x, int64_t x_step, T* y, int64_t y_step, int64_t n,
                  int64_t width) {
  typename S::Acc acc[kColumns];
  std::fill(acc, acc + width, S::kFirst);
  for (int64_t i = 0; i < n; ++i, x += x_step, y += y_step) {
    HOTARU_INDEPENDENT
    for (int64_t j = 0; j < width; ++j) {
      acc[j] = S::step(acc[j], typename S::Acc(x[j]));
      y[j] = static_cast<T>(acc[j]);
    }
  }
}

/// How the lines of a call lie, which is all that its table asks.
struct ScanLines {
  explicit ScanLines(const KernelCall& call)
      : out(call.tensor(0)),
        in(call.tensor(1)),
        dim(call.attributes<LineAttributes>().dim),
        n(line_size(in, dim)),
        in_stride(line_stride(in, dim)),
        out_stride(line_stride(out, dim)) {}

  bool lies_across() const {
    return in.numel() > 0 && side_by_side(dim, out, in);
  }
  bool is_contiguous() const { return in_stride == 1 && out_stride == 1; }

  const Tensor &out, &in;
  int64_t dim, n, in_stride, out_stride;
};

/// Operands: result, input, of one dtype.
template <class S, class T>
struct Scan : ScanLines {
  explicit Scan(const KernelCall& call)
      : ScanLines(call), x(in.data<T>()), y(out.data<T>()) {}

  void columns() const {
    for_columns(
        dim, n,
        [x = x, y = y, x_step = in_stride, y_step = out_stride, n = n](
            const auto& at, int64_t width) {
          scan_columns<S>(x + at[1], x_step, y + at[0], y_step, n, width);
        },
        out, in);
  }
  void four_lines() const {
    for_lines_with(
        dim, n, [n = n] { return FourLines<S, T>(n); },
        [x = x, y = y](const auto& at, auto& lines) {
          lines.add(x + at[1], y + at[0]);
        },
        out, in);
  }
  void lines() const {
    for_lines(
        dim, n,
        [x = x, y = y, x_step = in_stride, y_step = out_stride,
         n = n](const auto& at) {
          // Steps of 1 are constants of a loop of their own.
          if (x_step == 1 && y_step == 1)
            scan_line<S>(x + at[1], 1, y + at[0], 1, n);
          else
            scan_line<S>(x + at[1], x_step, y + at[0], y_step, n);
        },
        out, in);
  }

  const T* x;
  T* y;
};

/// C: Scan, or what answers in its place; of float and double.
template <class C>
constexpr auto kScanWays = std::to_array<Way<C>>({
    {"columns", "neighbouring lines at once, an element of each at a time",
     "4 lines side by side", [](const C& c) { return c.lies_across(); }, "",
     nullptr, [](const C& c) { c.columns(); }},
    {"four_lines", "contiguous lines, four at a time", "contiguous lines",
     [](const C& c) { return c.is_contiguous(); }, "", nullptr,
     [](const C& c) { c.four_lines(); }},
    {"lines", "line by line", "", nullptr, "", nullptr,
     [](const C& c) { c.lines(); }},
});

template <class S, class T>
void scan(const KernelCall& call) {
  const Scan<S, T> lines(call);
  if constexpr (std::is_floating_point_v<T>)
    run_first<kScanWays<Scan<S, T>>>(lines);
  else
    lines.lines();
}

/// A call that is only asked about.
struct Asked : ScanLines {
  using ScanLines::ScanLines;
  void columns() const {}
  void four_lines() const {}
  void lines() const {}
};

[[gnu::cold]] WayAnswers explain_scan(const KernelCall& call) {
  const DType dtype = call.tensor(0).dtype();
  // For other dtypes there is one way.
  if (dtype != DType::kFloat32 && dtype != DType::kFloat64) return {};
  return explain<kScanWays<Asked>>(Asked(call));
}

template <bool kLargest>
constexpr KernelTypes<RealAndBoolTypes> kExtremeTypes{
    2, kLargest ? "cummax_cpu" : "cummin_cpu"};

/// A later equal one wins, and so does NaN: nothing wins against that but NaN.
template <bool kLargest, class T>
void extreme_line(const T* x, int64_t x_step, T* value, int64_t value_step,
                  int64_t* index, int64_t index_step, int64_t n) {
  T best = clean(x[0]);
  int64_t where = 0;
  for (int64_t i = 0; i < n; ++i) {
    const T v = clean(x[i * x_step]);
    // Most elements lose by the first test.
    if (!(kLargest ? v < best : v > best)) [[unlikely]] {
      if (is_nan(v) || !is_nan(best)) {
        best = v;
        where = i;
      }
    }
    value[i * value_step] = best;
    index[i * index_step] = where;
  }
}

/// Operands: values, indices, input.
template <bool kLargest>
void extremes(const KernelCall& call) {
  const int64_t dim = call.attributes<LineAttributes>().dim;
  const int64_t n = line_size(call.tensor(2), dim);
  const int64_t value_stride = line_stride(call.tensor(0), dim);
  const int64_t index_stride = line_stride(call.tensor(1), dim);
  const int64_t in_stride = line_stride(call.tensor(2), dim);
  for_extreme_lines(
      call, kExtremeTypes<kLargest>,
      [&]<class T>(const T* line, T* value, int64_t* index) {
        if (n == 0) return;
        if (value_stride == 1 && index_stride == 1 && in_stride == 1)
          extreme_line<kLargest>(line, 1, value, 1, index, 1, n);
        else
          extreme_line<kLargest>(line, in_stride, value, value_stride, index,
                                 index_stride, n);
      });
}

#define HOTARU_REGISTER(kernel, name, Types, Formula) \
  constexpr KernelTypes<Types> k##Formula##Types{0, name}; \
  HOTARU_KERNEL( \
      kCPU, kernel, \
      +[](const KernelCall& call) { \
        k##Formula##Types.visit( \
            call, [&]<class T>() { scan<formulas::Formula<T>, T>(call); }); \
      }, \
      check_types<k##Formula##Types>); \
  const KernelWays ways_of_##Formula(DeviceType::kCPU, kernel, explain_scan);
HOTARU_SCANS(HOTARU_REGISTER)
#undef HOTARU_REGISTER
HOTARU_KERNEL(kCPU, "cummax", extremes<true>, check_types<kExtremeTypes<true>>);
HOTARU_KERNEL(kCPU, "cummin", extremes<false>,
              check_types<kExtremeTypes<false>>);

}  // namespace
}  // namespace hotaru::cpu
