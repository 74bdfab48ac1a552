// Launching Fourier transforms; see params/fft.h. Lines that a block cannot
// hold are transformed in steps (D. Bailey, "FFTs in external or hierarchical
// memory", 1990), those of a length with a large prime factor as a convolution
// (L. Bluestein, "A linear filtering approach to the computation of the
// discrete Fourier transform", 1970).
#include "hotaru/backend/common/fft/fft.h"

#include <algorithm>
#include <cstdlib>

#include "hotaru/backend/cuda/fft/plan.h"
#include "hotaru/backend/cuda/geometry.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/libraries/cufft.h"
#include "hotaru/backend/cuda/params/fft.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::cuda {
namespace {

using fft::Dim;
using fft::Lines;

constinit const Functions function("Fft");

/// Points of all lines that are transformed at a time.
constexpr int64_t kMostPoints = int64_t{1} << 28;

/// The precision that a launch computes in.
struct Precision {
  DType real;
  uint32_t item;  // bytes of a complex number
};

Index<2> index_of(const std::vector<Dim>& dims) {
  Index<2> out;
  for (const Dim& d : dims)
    HOTARU_CHECK(out.add(d.size, {d.from, d.to}), "fft: more than ",
                 Index<2>::kMaxDims, " dimensions that cannot be merged");
  return out;
}

/// Tells whether the next line lies nearer than the next point.
bool is_across(int64_t column, int64_t batch, const FftSide& side,
               bool has_columns) {
  const int64_t next = has_columns ? column * side.step : batch;
  return next != 0 && std::abs(next) < std::abs(side.stride * side.step);
}

/// Lines of a length that a block holds.
void run_lines(const Lines& l, Precision precision, uint32_t twiddle = 0) {
  FftParams p;
  p.source = l.source;
  p.target = l.target;
  p.n = Divider(uint32_t(l.n));
  const int64_t columns = fft::count_of(l.columns);
  const int64_t total = columns * fft::count_of(l.batch);
  p.total = uint32_t(total);
  p.columns = Divider(uint32_t(columns));
  p.column = index_of(l.columns);
  p.batch = index_of(l.batch);
  p.inner = Divider(uint32_t(l.columns.empty() ? 1 : l.columns.front().size));
  p.twiddle = twiddle;
  const Dim column = l.columns.empty() ? Dim{} : l.columns.front();
  const Dim batch = l.batch.empty() ? Dim{} : l.batch.front();
  p.source.across = is_across(column.from, batch.from, p.source, columns > 1);
  p.target.across = is_across(column.to, batch.to, p.target, columns > 1);
  p.lines = Divider(fft::lines_of_block(l.n, total, precision.item));
  uint32_t before = 1;
  for (const uint32_t radix : fft::radices(l.n)) {
    p.pass[p.passes++] = {radix, Divider(before),
                          Divider(uint32_t(l.n) / radix), Divider(radix)};
    before *= radix;
  }
  launch(function.of(precision.real), {p.groups()}, kBlock, p,
         p.shared_bytes(precision.item));
}

/// A side of positions that lie one after another in working memory.
FftSide memory(const Workspace& room, uint32_t points, Precision precision) {
  FftSide side;
  side.data = room.data();
  side.step = precision.item;
  side.points = points;
  return side;
}

/// Lines of any length without large prime factors: point j1 n2 + j2 goes by
/// columns of n1 to (k1, j2), and by rows of n2 to k1 + n1 k2.
void run_smooth(const Lines& l, Precision precision) {
  const int64_t n1 = fft::split(l.n, precision.item);
  if (n1 == 0) return run_lines(l, precision);
  const int64_t n2 = l.n / n1;
  const int64_t whole = l.n * fft::count_of(l.columns);
  const int64_t all = whole * fft::count_of(l.batch);
  const Workspace room(size_t(all) * precision.item);
  const FftSide between = memory(room, uint32_t(whole), precision);
  Lines columns = l, rows = l;
  columns.n = n1;
  columns.source.stride = uint32_t(l.source.stride * n2);
  columns.target = between;
  columns.target.stride = uint32_t(n2);
  rows.n = n2;
  rows.source = between;
  rows.target.stride = uint32_t(l.target.stride * n1);
  int64_t at = l.n;
  for (size_t i = 0; i < l.columns.size(); ++i) {
    columns.columns[i].to = rows.columns[i].from = at;
    at *= l.columns[i].size;
  }
  columns.columns.insert(columns.columns.begin(), {n2, l.source.stride, 1});
  rows.columns.insert(rows.columns.begin(), {n1, n2, l.target.stride});
  at *= precision.item;
  for (size_t i = 0; i < l.batch.size(); ++i) {
    columns.batch[i].to = rows.batch[i].from = at;
    at *= l.batch[i].size;
  }
  run_lines(columns, precision, uint32_t(l.n));
  run_smooth(rows, precision);
}

/// As a convolution with a chirp: jk = (j^2 + k^2 - (j - k)^2) / 2.
void run_convolved(const Lines& l, Precision precision) {
  const int64_t around = fft::good_length(2 * l.n - 1);
  const int64_t lines = fft::count_of(l.batch);
  const auto length = uint32_t(around);
  const Workspace spectrum(size_t(around) * precision.item);
  const Workspace room(size_t(around * lines) * precision.item);

  Lines chirp;
  chirp.n = around;
  chirp.source.numbers = FftNumbers::kNone;
  chirp.source.points = length;
  chirp.source.chirp = uint32_t(l.n);
  chirp.source.mirrored_chirp = true;
  chirp.source.length = length;
  chirp.target = memory(spectrum, length, precision);
  run_smooth(chirp, precision);

  Lines there = l, back = l;
  there.n = back.n = around;
  there.target = memory(room, length, precision);
  there.source.chirp = uint32_t(l.n);
  back.source = there.target;
  back.source.spectrum = spectrum.data();
  back.source.swap_last = true;
  // Swapped, as it is a transform back, and if the whole is one once more.
  back.target.swap_first = true;
  back.target.chirp = uint32_t(l.n);
  back.target.scale /= double(around);
  int64_t at = around * precision.item;
  for (size_t i = 0; i < l.batch.size(); ++i) {
    there.batch[i].to = back.batch[i].from = at;
    at *= l.batch[i].size;
  }
  run_smooth(there, precision);
  run_smooth(back, precision);
}

FftSide side_of(const Tensor& t, const FftAttributes& a, bool source) {
  FftSide side;
  side.data = device_address(t);
  side.step = t.strides()[size_t(a.dim)] * int64_t(itemsize(t.dtype()));
  const bool complex = is_complex(t.dtype());
  side.numbers = complex ? FftNumbers::kComplex : FftNumbers::kReal;
  side.points = uint32_t(source ? a.n : t.size(a.dim));
  if (source && a.kind == FftKind::kToReal)
    side.numbers = FftNumbers::kHermitian;
  return side;
}

/// All dimensions but that of the lines, the innermost first.
std::vector<Dim> batch_of(const Tensor& in, const Tensor& out, size_t dim) {
  Geometry<2>::Steps steps{};
  Dims sizes;
  for (size_t d = 0; d < size_t(out.dim()); ++d) {
    if (d == dim) continue;
    steps[sizes.size()] = {in.strides()[d] * int64_t(itemsize(in.dtype())),
                           out.strides()[d] * int64_t(itemsize(out.dtype()))};
    sizes.push_back(out.sizes()[d]);
  }
  const auto g = Geometry<2>::over({}, sizes, steps);
  std::vector<Dim> dims;
  for (size_t d = 0; d < size_t(g.dims); ++d)
    dims.push_back({g.sizes[d], g.strides[d][0], g.strides[d][1]});
  return dims;
}

/// Calls f with all lines, or with parts of at most `most` points if each line
/// takes so many.
template <class F>
void for_parts(const Lines& l, int64_t points, int64_t most, const F& f) {
  if (l.batch.empty() || points * fft::count_of(l.batch) <= most) return f(l);
  Lines low = l, high = l;
  const auto cut = std::max_element(
      low.batch.begin(), low.batch.end(),
      [](const Dim& a, const Dim& b) { return a.size < b.size; });
  const Dim whole = *cut;
  if (whole.size == 1) return f(l);
  cut->size = whole.size / 2;
  high.batch[size_t(cut - low.batch.begin())].size -= cut->size;
  const auto moved = [&](void* data, int64_t bytes) {
    return static_cast<void*>(static_cast<char*>(data) + cut->size * bytes);
  };
  high.source.data = moved(l.source.data, whole.from);
  high.target.data = moved(l.target.data, whole.to);
  for_parts(low, points, most, f);
  for_parts(high, points, most, f);
}

void fft_lines(const KernelCall& call) {
  const auto& a = call.attributes<FftAttributes>();
  const Tensor& out = call.tensor(0);
  const Tensor& in = call.tensor(call.operands().size() - 1);
  if (out.numel() == 0) return;
  HOTARU_CHECK(a.n < kMostElements / 4,
               "fft: lines of 2^29 points and more are not implemented for "
               "CUDA");
  const bool single =
      out.dtype() == DType::kFloat32 || out.dtype() == DType::kComplex64;
  Lines l;
  l.n = a.n;
  l.source = side_of(in, a, true);
  l.target = side_of(out, a, false);
  l.source.swap_first = l.target.swap_last = !a.forward;
  l.target.scale = a.scale;
  l.batch = batch_of(in, out, size_t(a.dim));
  const Precision precision =
      single ? Precision{DType::kFloat32, 8} : Precision{DType::kFloat64, 16};
  const bool smooth = fft::is_smooth(a.n);
  // A block's lines are read and written once, with their scale: no library
  // does less.
  const bool several = !smooth || fft::split(a.n, precision.item) != 0;
  // Not only what a launch counts: these points lie in working memory.
  const int64_t most = std::min(most_elements() - 1, kMostPoints);
  for_parts(l, smooth ? a.n : fft::good_length(2 * a.n - 1), most,
            [&](const Lines& part) {
              if (several && transform_by_cufft(part, precision.real)) return;
              if (smooth) return run_smooth(part, precision);
              run_convolved(part, precision);
            });
}

HOTARU_KERNEL(kCUDA, "fft", fft_lines);

}  // namespace
}  // namespace hotaru::cuda
