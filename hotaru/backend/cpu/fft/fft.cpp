// Fourier transforms of the lines of a tensor.
#include "hotaru/backend/common/fft/fft.h"

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cpu/fft/lines.h"
#include "hotaru/backend/cpu/fft/room.h"
#include "hotaru/backend/cpu/lines.h"

namespace hotaru::cpu {
namespace {

using fft::Folding;
using fft::kLanes;
using fft::Lines;
using fft::Plan;
using fft::Room;

/// Longest lines that are transformed side by side; those of which the points
/// of neighbours are neighbours in memory pay longer.
constexpr int64_t kLongestTile = 2048, kLongestNeighbours = 8192;
/// Fewest lines that are not split: each of fewer is, where it can be.
constexpr int64_t kFewest = 5;

/// One call, by the type of real numbers.
template <class T>
struct Transform {
  explicit Transform(const KernelCall& call)
      : a(call.attributes<FftAttributes>()),
        out(call.tensor(0)),
        in(call.tensor(call.operands().size() - 1)),
        halves(a.kind != FftKind::kComplex && a.n % 2 == 0),
        points(halves ? a.n / 2 : a.n),
        written(out.size(a.dim)),
        plan(fft::plan_for<T>(points, halves)),
        from(start<const T>(in)),
        to(start<T>(out)) {}

  static bool complex(const Tensor& t) { return is_complex(t.dtype()); }
  template <class U>
  static U* start(const Tensor& t) {
    return static_cast<U*>(t.raw_data());
  }
  /// Elements of T between points.
  int64_t step(const Tensor& t) const {
    return line_stride(t, a.dim) * (complex(t) ? 2 : 1);
  }
  /// Real lines count as complex ones of half the length.
  template <class U>
  Lines<U> lines(const Tensor& t) const {
    const bool pairs = halves && !complex(t);
    const int64_t s = step(t);
    const int64_t imag = complex(t) ? 1 : pairs ? s : Lines<U>::kReal;
    return {{}, 0, pairs ? 2 * s : s, imag, 0};
  }
  bool dense(const Tensor& t) const {
    return step(t) == (complex(t) ? 2 : 1) && (complex(t) || halves);
  }
  Folding folding() const {
    if (!halves)
      return a.kind == FftKind::kToReal ? Folding::kMirrored : Folding::kNone;
    return complex(out) ? Folding::kFromHalves : Folding::kToHalves;
  }
  bool back() const { return !a.forward; }
  /// True if all n points of real lines are written, of which half are folded.
  bool mirrored() const {
    return a.kind == FftKind::kFromReal && halves && written > a.n / 2 + 1;
  }
  void mirror(T* line) const {
    if (mirrored()) fft::mirror_line(line, a.n, step(out));
  }

  int64_t line_size() const { return (2 * points + 2 + 15) / 16 * 16; }
  /// Elements of working memory that line() needs.
  int64_t line_room() const {
    return 2 * line_size() + (plan->near ? fft::near_room(*plan) : 0);
  }
  void transform(const T* x, T* y, T scale, T* room) const {
    if (plan->near)
      fft::transform_near(*plan, x, y, back(), scale, room);
    else
      fft::transform_line(*plan, x, y, back(), scale);
  }

  /// One line, through working memory where it is not as transform_line wants.
  void line(int64_t in_at, int64_t out_at, T* room) const {
    const T* x = from + in_at;
    T* y = to + out_at;
    const bool to_real = a.kind == FftKind::kToReal;
    const bool from_real = a.kind == FftKind::kFromReal;
    T *source = room, *result = room + line_size();
    T* more = result + line_size();
    const bool odd = a.kind != FftKind::kComplex && !halves;
    if (odd || !dense(in)) {
      gather(x, source);
      x = source;
    }
    if (to_real && halves) {
      fft::to_halves(*plan, x, result);
      x = result;
    }
    const bool direct = dense(out) && (!odd || (from_real && written == a.n));
    const T scale = T(a.scale);
    if (from_real && halves) {
      transform(x, result, T(1), more);
      T* folded = direct ? y : source;
      fft::from_halves(*plan, result, folded, scale);
      if (!direct) scatter(folded, y);
      return mirror(y);
    }
    T* goal = direct ? y : result;
    transform(x, goal, scale, more);
    if (!direct) scatter(goal, y);
  }

  /// A line as complex numbers side by side; of kToReal all that it stands for.
  void gather(const T* x, T* to_line) const {
    const Lines<const T> l = lines<const T>(in);
    int64_t n = points;
    if (a.kind == FftKind::kToReal) n = a.n / 2 + 1;
    for (int64_t j = 0; j < n; ++j) {
      to_line[2 * j] = x[j * l.step];
      to_line[2 * j + 1] = l.imag >= 0 ? x[j * l.step + l.imag] : T(0);
    }
    if (a.kind != FftKind::kToReal || halves) return;
    // The second half of a line of odd length: conjugates of the first.
    to_line[1] = T(0);
    for (int64_t j = n; j < a.n; ++j) {
      to_line[2 * j] = to_line[2 * (a.n - j)];
      to_line[2 * j + 1] = -to_line[2 * (a.n - j) + 1];
    }
  }

  void scatter(const T* line, T* y) const {
    const Lines<T> l = lines<T>(out);
    int64_t n = points;
    if (a.kind == FftKind::kFromReal) n = halves ? n + 1 : written;
    for (int64_t j = 0; j < n; ++j) {
      y[j * l.step] = line[2 * j];
      if (l.imag >= 0) y[j * l.step + l.imag] = line[2 * j + 1];
    }
  }

  const FftAttributes& a;
  const Tensor &out, &in;
  bool halves;
  /// Points of a transform, and of a line of `out`.
  int64_t points, written;
  std::shared_ptr<const Plan<T>> plan;
  const T* from;
  T* to;
};

template <class T>
void run(const KernelCall& call) {
  const Transform<T> t(call);
  const Dims sizes = without(t.out.sizes(), t.a.dim);
  const Dims to = without(t.out.strides(), t.a.dim);
  const Dims from = without(t.in.strides(), t.a.dim);
  const int64_t count = numel_of(sizes), points = t.points;
  const int64_t wide_in = Transform<T>::complex(t.in) ? 2 : 1;
  const int64_t wide_out = Transform<T>::complex(t.out) ? 2 : 1;
  const std::array<IntSpan, 2> strides{IntSpan(to), IntSpan(from)};
  const bool neighbours =
      !from.empty() && from.back() == 1 && sizes.back() >= kLanes<T>;
  const int64_t longest = neighbours ? kLongestNeighbours : kLongestTile;
  const bool near = t.plan->near && t.dense(t.in) && t.dense(t.out);
  const bool tiles = !near && !t.plan->passes.empty() && points <= longest &&
                     (count >= kFewest || !t.plan->first);
  if (!tiles) {
    // Few long lines are cut by transform_line.
    const auto some = [&](int64_t begin, int64_t end) {
      const Room<T> room(t.line_room());
      Walk<2> walk(sizes, strides, begin);
      for (int64_t i = begin; i < end; ++i, walk.next())
        t.line(walk.at[1] * wide_in, walk.at[0] * wide_out, room.data());
    };
    if (count < get_num_threads()) return some(0, count);
    return parallel_for(0, count, row_grain(4 * points), some);
  }
  const int64_t grain = row_grain(4 * points * kLanes<T>);
  const int64_t blocks = (count + kLanes<T> - 1) / kLanes<T>;
  parallel_for(0, blocks, grain, [&](int64_t begin, int64_t end) {
    const Room<T> room(fft::tile_room<T>(points));
    Walk<2> walk(sizes, strides, begin * kLanes<T>);
    Lines<const T> in = t.template lines<const T>(t.in);
    Lines<T> out = t.template lines<T>(t.out);
    if (t.a.kind == FftKind::kFromReal && !t.halves) out.points = t.written;
    for (int64_t b = begin; b < end; ++b) {
      in.count = out.count = std::min(kLanes<T>, count - b * kLanes<T>);
      for (int64_t l = 0; l < in.count; ++l, walk.next()) {
        in.line[size_t(l)] = t.from + walk.at[1] * wide_in;
        out.line[size_t(l)] = t.to + walk.at[0] * wide_out;
      }
      fft::transform_tile(*t.plan, t.folding(), in, out, t.back(), T(t.a.scale),
                          room.data());
      for (int64_t l = 0; l < out.count; ++l) t.mirror(out.line[size_t(l)]);
    }
  });
}

void fft_lines(const KernelCall& call) {
  if (call.tensor(0).numel() == 0) return;
  const DType dtype = call.tensor(0).dtype();
  if (dtype == DType::kFloat32 || dtype == DType::kComplex64)
    run<float>(call);
  else
    run<double>(call);
}

HOTARU_KERNEL(kCPU, "fft", fft_lines);

}  // namespace
}  // namespace hotaru::cpu
