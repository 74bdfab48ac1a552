#include "hotaru/backend/common/shape/pad.h"

#include <vector>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cpu/prepared.h"
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

// For each row (last dimension) of the padded tensor, the row of the other it
// comes from.
struct Rows {
  std::vector<std::vector<int64_t>> tables;  // one a dimension
  int64_t rows = 1, width = 1, inner = 1;
  /// The run of the last dimension that is copied as it is: padded elements
  /// [first, last) from element `from` on.
  int64_t first = 0, last = 0, from = 0;

  Rows(IntSpan padded, IntSpan sizes, const PadAttributes& a) {
    // Beside an empty dimension another may be of any size.
    if (numel_of(padded) == 0) return;
    const size_t dims = sizes.size();
    tables.resize(dims);
    for (size_t d = 0; d < dims; ++d)
      for (int64_t i = 0; i < padded[d]; ++i)
        tables[d].push_back(source(a.mode, i - a.before[d], sizes[d]));
    width = padded[dims - 1];
    inner = sizes[dims - 1];
    for (size_t d = 0; d + 1 < dims; ++d) rows *= padded[d];
    const int64_t before = a.before[dims - 1];
    first = std::clamp<int64_t>(before, 0, width);
    last = std::clamp<int64_t>(before + inner, first, width);
    from = first - before;
    sizes_ = Dims(sizes);
  }

  int64_t row(int64_t r) const {
    int64_t at = 0, scale = 1;
    for (size_t d = tables.size() - 1; d-- > 0;) {
      const int64_t n = int64_t(tables[d].size());
      const int64_t i = tables[d][size_t(r % n)];
      if (i < 0) return -1;
      at += i * scale;
      scale *= sizes_[d];
      r /= n;
    }
    return at;
  }

 private:
  Dims sizes_;
};

template <class T>
void pad_rows(const Rows& rows, T* out, const T* x, T value) {
  const std::vector<int64_t>& last = rows.tables.back();
  const int64_t grain =
      std::max<int64_t>(1, kGrainSize / std::max<int64_t>(1, rows.width));
  parallel_for(0, rows.rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      T* to = out + r * rows.width;
      const int64_t row = rows.row(r);
      if (row < 0) {
        std::fill_n(to, rows.width, value);
        continue;
      }
      const T* from = x + row * rows.inner;
      const auto edge = [&](int64_t i, int64_t stop) {
        for (; i < stop; ++i)
          to[i] = last[size_t(i)] < 0 ? value : from[last[size_t(i)]];
      };
      edge(0, rows.first);
      std::copy_n(from + rows.from, rows.last - rows.first, to + rows.first);
      edge(rows.last, rows.width);
    }
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

// Rows of the padded tensor may share a source, so this one is serial.
void pad_transposed(const KernelCall& call) {
  const auto& a = call.attributes<PadAttributes>();
  const Tensor &x = call.tensor(0), &out = call.tensor(1);
  kBackwardTypes.visit(call, [&]<class T>() {
    T* to = x.data<T>();
    std::fill_n(to, x.numel(), T(0));
    if (out.numel() == 0 || x.numel() == 0) return;
    const Rows rows(out.sizes(), x.sizes(), a);
    const std::vector<int64_t>& last = rows.tables.back();
    const T* from = out.data<T>();
    for (int64_t r = 0; r < rows.rows; ++r, from += rows.width) {
      const int64_t row = rows.row(r);
      if (row < 0) continue;
      for (int64_t i = 0; i < rows.width; ++i) {
        if (last[size_t(i)] < 0) continue;
        T& sum = to[row * rows.inner + last[size_t(i)]];
        sum = T(OpMath<T>(sum) + OpMath<T>(from[i]));
      }
    }
  });
}

const PreparedKernel<prepare_as<PreparedPad>> registered_pad("pad");
HOTARU_KERNEL(kCPU, "pad_transposed", pad_transposed,
              check_types<kBackwardTypes>);

}  // namespace
}  // namespace hotaru::cpu
