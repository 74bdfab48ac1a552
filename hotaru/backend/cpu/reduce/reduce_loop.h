// The loop around every reduction: sum, product, extremes, norms. A reduction
// R<T> says what it accumulates in, its identity and how it loads and combines
// (see formulas.h). reduce::Fast<R> may speed up contiguous blocks of at most
// kBlock elements with
//   static Acc block(const T* x, int64_t n);
// and neighbouring outputs, each reduced over at most kRows rows, with
//   static void rows(Acc* acc, const T* x, int64_t count, int64_t stride,
//                    int64_t width);         acc starts as kIdentity
#pragma once

#include <array>
#include <type_traits>

#include "hotaru/backend/common/reduce/row_reduction.h"
#include "hotaru/backend/common/ways.h"
#include "hotaru/backend/cpu/lines.h"
#include "hotaru/backend/cpu/reduce/reduce_fast.h"
#include "hotaru/runtime/kernel.h"

namespace hotaru::cpu {

/// A reduction's geometry: dimensions that remain and dimensions that go,
/// each outermost first by the input's strides and merged where possible.
struct ReduceShape {
  struct Part {
    Dims sizes, in, out;
    void add(int64_t size, int64_t in_stride, int64_t out_stride);
    int64_t numel() const { return numel_of(sizes); }
    int64_t inner_size() const { return sizes.empty() ? 1 : sizes.back(); }
    int64_t inner_stride() const { return in.empty() ? 1 : in.back(); }
  };
  ReduceShape(const Tensor& out, const Tensor& in);
  /// Shape of its first and last operand.
  explicit ReduceShape(const KernelCall& call)
      : ReduceShape(call.tensor(0), *call.operands().back().tensor) {}
  Part kept, reduced;
};

namespace reduce {

inline constexpr int64_t kTile = 64;
/// Few where sums are rounded.
template <class Acc>
inline constexpr int64_t kRows = std::is_integral_v<Acc> ? 64 : 16;
inline constexpr int64_t kLanes = 8;

/// One block with independent partial results; stride in elements.
template <class R, class T, class Stride>
typename R::Acc lanes(const T* x, int64_t n, Stride stride) {
  using Acc = typename R::Acc;
  // Few, or a Half, whose conversion takes so long, and so much code, that
  // nothing is won by several at a time.
  if (std::is_same_v<T, Half> || n < kLanes / 2) {
    Acc acc = R::kIdentity;
#pragma GCC unroll 1
    for (int64_t i = 0; i < n; ++i)
      acc = R::combine(acc, R::load(x[i * stride]));
    return acc;
  }
  if constexpr (!std::is_same_v<T, Half>) {
    Acc part[kLanes];
    std::fill(part, part + kLanes, R::kIdentity);
    const auto add = [&](int64_t i, int64_t j) {
      part[j] = R::combine(part[j], R::load(x[i * stride]));
    };
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes)
      for (int64_t j = 0; j < kLanes; ++j) add(i + j, j);
#pragma GCC unroll 1
    for (int64_t j = 0; i < n; ++i, ++j) add(i, j);
    for (int64_t width = kLanes / 2; width > 0; width /= 2)
      for (int64_t j = 0; j < width; ++j)
        part[j] = R::combine(part[j], part[j + width]);
    return part[0];
  }
}

template <class R, class T>
typename R::Acc block(const T* x, int64_t n, int64_t stride) {
  // A stride known to be one lets the compiler use vectors.
  constexpr std::integral_constant<int64_t, 1> kDense;
  if (stride != 1) return lanes<R>(x, n, stride);
  if constexpr (requires { Fast<R>::block(x, n); })
    if (n >= kLanes) return Fast<R>::block(x, n);
  return lanes<R>(x, n, kDense);
}

/// A line, halved down to blocks: pairwise summation, whose error grows with
/// log n (Higham 1993, "The accuracy of floating point summation").
template <class R, class T>
typename R::Acc line(const T* x, int64_t n, int64_t stride) {
  if (n <= kBlock) return block<R>(x, n, stride);
  const int64_t half = (n / 2 + kBlock - 1) / kBlock * kBlock;
  // In the order of memory, which the processor fetches ahead.
  const auto first = line<R>(x, half, stride);
  return R::combine(first, line<R>(x + half * stride, n - half, stride));
}

/// Partial results of `width` neighbouring outputs, combined in the order in
/// which they come, but kFan at a time, kFan of what those give at a time and
/// so on: errors grow with the logarithm of their number, as those of line()
/// do.
template <class R, int64_t kWidth>
class Cascade {
 public:
  using Acc = typename R::Acc;
  explicit Cascade(int64_t width) : width_(width) {}

  void add(const Acc* part) {
    take(0, part);
    for (int i = 0; counts_[i] == kFan && i + 1 < kLevels; ++i) {
      take(i + 1, sums_[i]);
      counts_[i] = 0;
    }
  }
  bool is_empty() const { return levels_ == 0; }
  /// Total of all that was added; it may be called once.
  const Acc* total() {
    if (levels_ == 0) std::fill_n(sums_[0], width_, R::kIdentity);
    int last = 0;
    for (int i = 1; i < levels_; ++i) {
      if (counts_[last] > 0) take(i, sums_[last]);
      last = i;
    }
    return sums_[last];
  }

 private:
  static constexpr int kLevels = 8, kFan = 16;

  void take(int level, const Acc* part) {
    Acc* sum = sums_[level];
    if (counts_[level]++ == 0)
      std::copy_n(part, width_, sum);
    else
      for (int64_t j = 0; j < width_; ++j) sum[j] = R::combine(sum[j], part[j]);
    levels_ = std::max(levels_, level + 1);
  }

  const int64_t width_;
  int levels_ = 0;
  int64_t counts_[kLevels] = {};
  Acc sums_[kLevels][kWidth];
};

/// Everything that one output needs: lines under each other.
template <class R, class T>
typename R::Acc lines(const T* x, const ReduceShape::Part& reduced) {
  const int64_t n = reduced.inner_size(), stride = reduced.inner_stride();
  if (reduced.sizes.size() <= 1) return line<R>(x, n, stride);
  const size_t outer = reduced.sizes.size() - 1;
  const IntSpan sizes(reduced.sizes.data(), outer);
  Walk<1> walk(sizes, {IntSpan(reduced.in.data(), outer)});
  Cascade<R, 1> sums(1);
  for (int64_t left = numel_of(sizes);;) {
    const int64_t some = std::min(left, kRows<typename R::Acc>);
    auto part = R::kIdentity;
    for (int64_t i = 0; i < some; ++i, walk.next())
      part = R::combine(part, line<R>(x + walk.at[0], n, stride));
    if (some == left && sums.is_empty()) return part;
    sums.add(&part);
    left -= some;
    if (left == 0) return *sums.total();
  }
}

/// `width` neighbouring outputs from `count` rows. Not inlined: the same code
/// serves every kind of result.
template <class R, class T>
[[gnu::noinline]] void rows(Cascade<R, kTile>& sums, const T* x, int64_t count,
                            int64_t stride, int64_t width) {
  constexpr int64_t kMost = kRows<typename R::Acc>;
  for (int64_t i = 0; i < count; i += kMost) {
    const int64_t some = std::min(kMost, count - i);
    typename R::Acc part[kTile];
    std::fill(part, part + width, R::kIdentity);
    if constexpr (requires { Fast<R>::rows(part, x, some, stride, width); }) {
      Fast<R>::rows(part, x + i * stride, some, stride, width);
    } else {
      for (int64_t r = i; r < i + some; ++r)
        for (int64_t j = 0; j < width; ++j)
          part[j] = R::combine(part[j], R::load(x[r * stride + j]));
    }
    sums.add(part);
  }
}

/// The kept dimension is the contiguous one: tiles of neighbouring outputs.
template <class R, class T, class F>
void by_columns(const ReduceShape& shape, const T* x, const F& store) {
  const auto& kept = shape.kept;
  const auto& reduced = shape.reduced;
  const size_t kept_outer = kept.sizes.size() - 1;
  const size_t reduced_outer = reduced.sizes.size() - 1;
  const IntSpan above(reduced.sizes.data(), reduced_outer);
  const int64_t width = kept.inner_size();
  const int64_t tiles = (width + kTile - 1) / kTile;
  const IntSpan outer(kept.sizes.data(), kept_outer);
  const int64_t length = reduced.numel();
  parallel_for(
      0, numel_of(outer) * tiles, row_grain(length * std::min(width, kTile)),
      [&](int64_t begin, int64_t end) {
        Walk<2> at(outer,
                   {IntSpan(kept.in.data(), kept_outer),
                    IntSpan(kept.out.data(), kept_outer)},
                   begin / tiles);
        for (int64_t t = begin; t < end; ++t) {
          if (t > begin && t % tiles == 0) at.next();
          const int64_t first = t % tiles * kTile;
          const int64_t some = std::min(kTile, width - first);
          Cascade<R, kTile> sums(some);
          Walk<1> walk(above, {IntSpan(reduced.in.data(), reduced_outer)});
          for (int64_t i = numel_of(above); i > 0; --i, walk.next())
            rows<R>(sums, x + at.at[0] + first + walk.at[0],
                    reduced.inner_size(), reduced.inner_stride(), some);
          const typename R::Acc* acc = sums.total();
          for (int64_t j = 0; j < some; ++j)
            store(at.at[1] + (first + j) * kept.out.back(), acc[j]);
        }
      });
}

// Results side by side from which they pay for loops over them.
inline constexpr int64_t kSideBySide = 4;

/// Facts that the table asks of a call: how its elements lie, and how many make
/// one result.
struct Sizes {
  const ReduceShape& shape;
  int64_t length;

  bool is_one_line() const {
    return shape.kept.sizes.empty() && shape.reduced.sizes.size() <= 1;
  }
  bool lies_across() const {
    const auto &kept = shape.kept, &reduced = shape.reduced;
    return !reduced.sizes.empty() && !kept.sizes.empty() && length > 0 &&
           kept.inner_stride() == 1 && reduced.inner_stride() != 1;
  }
};

/// A call as reduce_loop() is asked for it.
template <class R, class T, class F>
struct Call : Sizes {
  const T* x;
  const F& store;

  void one_line() const {
    const T* const from = x;
    const int64_t stride = shape.reduced.inner_stride();
    store(0, parallel_reduce(
                 0, length, kGrainSize, R::kIdentity,
                 [&](int64_t begin, int64_t end, auto) {
                   return line<R>(from + begin * stride, end - begin, stride);
                 },
                 [](auto a, auto b) { return R::combine(a, b); }));
  }
  void columns() const { by_columns<R>(shape, x, store); }
  void lines() const {
    const auto &kept = shape.kept, &reduced = shape.reduced;
    const T* const from = x;
    const F& put = store;
    const bool nothing = length == 0;
    parallel_for(
        0, kept.numel(), row_grain(length), [&](int64_t begin, int64_t end) {
          Walk<2> walk(kept.sizes, {kept.in, kept.out}, begin);
          for (int64_t i = begin; i < end; ++i, walk.next())
            put(walk.at[1], nothing
                                ? R::kIdentity
                                : reduce::lines<R>(from + walk.at[0], reduced));
        });
  }
};

/// C: Call, or what answers in its place.
template <class C>
constexpr auto kWays = std::to_array<Way<C>>({
    {"one_line", "all to one number, of which threads take parts",
     "one result, from elements that are the same step apart",
     [](const C& c) { return c.is_one_line(); }, "", nullptr,
     [](const C& c) { c.one_line(); }},
    {"columns", "results side by side at once, row by row of what they are of",
     "elements side by side that belong to different results",
     [](const C& c) { return c.lies_across(); }, "4 results side by side",
     [](const C& c) { return c.shape.kept.inner_size() >= kSideBySide; },
     [](const C& c) { c.columns(); }},
    {"lines", "result by result, each along its lines", "", nullptr, "",
     nullptr, [](const C& c) { c.lines(); }},
});

}  // namespace reduce

/// Reduces `in` over the dimensions in which out has size 1 and calls
/// store(offset, acc) with the offset in `out` of each result; shape is that of
/// out and in.
template <class R, class T, class F>
void reduce_loop(const ReduceShape& shape, const Tensor& in, const F& store) {
  using Call = reduce::Call<R, T, F>;
  run_first<reduce::kWays<Call>>(
      Call{{shape, shape.reduced.numel()}, in.data<T>(), store});
}
/// Answers of the loops to a reduction of a call's last operand to its first.
WayAnswers explain_reduction(const KernelCall& call);

/// out = finish(reduction of in); finish maps R::Acc to O.
template <class R, class T, class O, class F>
void reduce_into(const ReduceShape& shape, const Tensor& out, const Tensor& in,
                 const F& finish) {
  O* y = out.data<O>();
  reduce_loop<R, T>(
      shape, in, [&](int64_t at, typename R::Acc acc) { y[at] = finish(acc); });
}

/// The same for a row: only what to do with it is kept. finish is copied.
template <class R, class T, class O, class F>
void reduce_into(RowReduction& row, const Tensor&, const Tensor&,
                 const F& finish) {
  row = RowReduction(
      [](const void* context, const char* x, int64_t n, char* out) {
        *reinterpret_cast<O*>(out) = (*static_cast<const F*>(context))(
            reduce::line<R>(reinterpret_cast<const T*>(x), n, 1));
      },
      finish);
}

/// A reduction of a call's last operand to its first one, with their shape.
using ReduceFunction = void (*)(const KernelCall&, const ReduceShape&);

template <ReduceFunction f>
class PreparedReduction final : public PreparedCall {
 public:
  explicit PreparedReduction(const KernelCall& call)
      : call_(call), shape_(call) {}
  void run() override { f(call_, shape_); }

 private:
  const KernelCall& call_;
  const ReduceShape shape_;
};

/// At namespace scope: implements a kernel by a reduction; see HOTARU_KERNEL.
template <ReduceFunction f, RowReductionFunction row = nullptr>
struct ReduceRegistration {
  explicit ReduceRegistration(std::string_view name,
                              KernelFunction check = nullptr) {
    Kernel& k = kernel(name);
    k.set(
        DeviceType::kCPU,
        [](const KernelCall& call) { f(call, ReduceShape(call)); }, check);
    k.set_prepare(DeviceType::kCPU,
                  [](const KernelCall& call) -> std::unique_ptr<PreparedCall> {
                    return std::make_unique<PreparedReduction<f>>(call);
                  });
    k.set_explain(DeviceType::kCPU, &explain_reduction);
    if constexpr (row != nullptr) set_row_reduction(k, row);
  }
};

}  // namespace hotaru::cpu
