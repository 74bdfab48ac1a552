#include "hotaru/backend/common/shape/pad.h"

#include <algorithm>
#include <vector>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cpu/create/move_simd.h"
#include "hotaru/backend/cpu/prepared.h"
#include "hotaru/backend/cpu/wide.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

// Where an element comes from along a dimension of `size`; -1: from nowhere.
int64_t source(PadMode mode, int64_t i, int64_t size) {
  if (i >= 0 && i < size) return i;
  switch (mode) {
    case PadMode::kConstant:
      return -1;
    case PadMode::kReflect:
      return i < 0 ? -i : 2 * (size - 1) - i;
    case PadMode::kReplicate:
      return i < 0 ? 0 : size - 1;
    case PadMode::kCircular:
      return i < 0 ? i + size : i - size;
  }
  return -1;
}

/// For each row (last dimension) of the padded tensor, the row of the other it
/// comes from, and where its elements lie there: padded elements [first, last)
/// are a run from element `from` on, the others are listed.
struct Rows {
  int64_t rows = 1, width = 1, inner = 1;
  int64_t first = 0, last = 0, from = 0;
  /// Sources of the elements before the run and of those behind it; -1:
  /// nowhere.
  std::vector<int64_t> before, behind;

  Rows(IntSpan padded, IntSpan sizes, const PadAttributes& a) {
    // Beside an empty dimension another may be of any size.
    if (numel_of(padded) == 0) return;
    const size_t inmost = sizes.size() - 1;
    width = padded[inmost];
    inner = sizes[inmost];
    const int64_t shift = a.before[inmost];
    first = std::clamp<int64_t>(shift, 0, width);
    last = std::clamp<int64_t>(shift + inner, first, width);
    from = first - shift;
    before = sources(a.mode, -shift, first, inner);
    behind = sources(a.mode, last - shift, width - last, inner);
    tables_.reserve(inmost);
    for (size_t d = 0; d < inmost; ++d) {
      tables_.push_back(sources(a.mode, -a.before[d], padded[d], sizes[d]));
      rows *= padded[d];
    }
    sizes_ = Dims(sizes);
  }

  /// f(r, where its row begins in the other tensor, or -1) for rows
  /// [begin, end).
  template <class F>
  void for_rows(int64_t begin, int64_t end, const F& f) const {
    for_runs(begin, end, [&](int64_t r, int64_t count, int64_t at) {
      for (int64_t i = 0; i < count; ++i)
        f(r + i, at < 0 ? -1 : at + i * inner);
    });
  }

  /// f(r, count, at) for rows [r, r + count) that come from one row after the
  /// other, or from nowhere.
  template <class F>
  void for_runs(int64_t begin, int64_t end, const F& f) const {
    const size_t dims = tables_.size();
    if (dims == 0) return f(0, 1, 0);
    const std::vector<int64_t>& lines = tables_.back();
    const auto count = int64_t(lines.size());
    while (begin < end) {
      const int64_t first_line = begin % count;
      const int64_t many = std::min(count - first_line, end - begin);
      const int64_t plane = plane_at(begin / count);
      const int64_t* const of = lines.data() + first_line;
      for (int64_t i = 0, run = 0; i < many; i += run) {
        const int64_t step = of[i] < 0 ? 0 : 1;
        for (run = 1; i + run < many && of[i + run] == of[i] + run * step;)
          ++run;
        f(begin + i, run,
          plane < 0 || of[i] < 0 ? -1
                                 : (plane * sizes_[dims - 1] + of[i]) * inner);
      }
      begin += many;
    }
  }

 private:
  /// Elements [begin, begin + count), counted from the other tensor's first.
  static std::vector<int64_t> sources(PadMode mode, int64_t begin,
                                      int64_t count, int64_t size) {
    std::vector<int64_t> out(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i)
      out[size_t(i)] = source(mode, begin + i, size);
    return out;
  }

  /// Which of the other tensor's planes (last two dimensions) is the r-th, or
  /// -1.
  int64_t plane_at(int64_t r) const {
    int64_t at = 0, scale = 1;
    for (size_t d = tables_.size() - 1; d-- > 0;) {
      const auto n = int64_t(tables_[d].size());
      const int64_t i = tables_[d][size_t(r % n)];
      if (i < 0) return -1;
      at += i * scale;
      scale *= sizes_[d];
      r /= n;
    }
    return at;
  }

  Dims sizes_;
  std::vector<std::vector<int64_t>> tables_;  // one a dimension but the last
};

template <class T>
void pad_rows(const Rows& rows, T* out, const T* x, T value) {
  const int64_t grain =
      std::max<int64_t>(1, kGrainSize / std::max<int64_t>(1, rows.width));
  const auto edge = [&](const std::vector<int64_t>& list, const T* from,
                        T* to) {
    for (const int64_t i : list) *to++ = i < 0 ? value : from[i];
  };
  constexpr auto kItem = int64_t{sizeof(T)};
  parallel_for(0, rows.rows, grain, [&](int64_t begin, int64_t end) {
    rows.for_runs(begin, end, [&](int64_t r, int64_t count, int64_t at) {
      T* to = out + r * rows.width;
      if (at < 0) {
        std::fill_n(to, count * rows.width, value);
        return;
      }
      const T* from = x + at;
      copy_lines(reinterpret_cast<const char*>(from + rows.from),
                 rows.inner * kItem, reinterpret_cast<char*>(to + rows.first),
                 rows.width * kItem, (rows.last - rows.first) * kItem, count);
      for (; count > 0; --count, from += rows.inner, to += rows.width) {
        edge(rows.before, from, to);
        edge(rows.behind, from, to + rows.last);
      }
    });
  });
}

/// Keeps where elements come from.
class PreparedPad final : public PreparedCall {
 public:
  explicit PreparedPad(const KernelCall& call)
      : call_(call),
        rows_(call.tensor(0).sizes(), call.tensor(1).sizes(),
              call.attributes<PadAttributes>()) {}

  void run() override {
    const Tensor &out = call_.tensor(0), &x = call_.tensor(1);
    if (out.numel() == 0) return;
    const Scalar& value = call_.attributes<PadAttributes>().value;
    visit_dtype(AllTypes{}, x.dtype(), "pad", [&]<class T>() {
      pad_rows(rows_, out.data<T>(), x.data<T>(), value.to<T>());
    });
  }

 private:
  const KernelCall& call_;
  const Rows rows_;
};

constexpr KernelTypes<NumberTypes> kBackwardTypes{0, "pad_backward"};

/// Adds the padded tensor's rows to those that they came from, whose elements
/// are of type A.
template <class A, class T>
void add_rows(const Rows& rows, A* to, const T* from) {
  const auto edge = [](const std::vector<int64_t>& list, A* line,
                       const T* part) {
    for (const int64_t i : list) {
      if (i >= 0) line[i] += A(*part);
      ++part;
    }
  };
  rows.for_rows(0, rows.rows, [&](int64_t r, int64_t at) {
    if (at < 0) return;
    A* line = to + at;
    const T* part = from + r * rows.width;
    edge(rows.before, line, part);
    for (int64_t i = rows.first; i < rows.last; ++i)
      line[rows.from + i - rows.first] += A(part[i]);
    edge(rows.behind, line, part + rows.last);
  });
}

// Rows of the padded tensor may share a source, so this one is serial.
void pad_transposed(const KernelCall& call) {
  const auto& a = call.attributes<PadAttributes>();
  const Tensor &x = call.tensor(0), &out = call.tensor(1);
  kBackwardTypes.visit(call, [&]<class T>() {
    rounded_once(x.data<T>(), x.numel(), [&]<class A>(A* to) {
      std::fill_n(to, x.numel(), A(0));
      if (out.numel() == 0 || x.numel() == 0) return;
      add_rows(Rows(out.sizes(), x.sizes(), a), to, out.data<T>());
    });
  });
}

const PreparedKernel<prepare_as<PreparedPad>> registered_pad("pad");
HOTARU_KERNEL(kCPU, "pad_transposed", pad_transposed,
              check_types<kBackwardTypes>);

}  // namespace
}  // namespace hotaru::cpu
