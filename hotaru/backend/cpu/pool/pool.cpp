#include "hotaru/backend/common/pool/pool.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cpu/pool/pool_simd.h"
#include "hotaru/backend/cpu/reduce/reduce_simd.h"
#include "hotaru/backend/cpu/wide.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

// Windows along one dimension: positions begin, begin + step, ... below end.
struct Window {
  int64_t begin, end;
};
struct Axis {
  int64_t in = 1, step = 1;
  std::vector<Window> windows{{0, 1}};
};

struct Plan {
  std::array<Axis, 3> axes;
  int64_t planes = 1;

  Plan(IntSpan in, IntSpan out, const MaxPoolAttributes& a) {
    const size_t dims = size_t(a.dims), lead = in.size() - dims;
    for (size_t i = 0; i < lead; ++i) planes *= in[i];
    for (size_t d = 0; d < dims; ++d) {
      Axis& axis = axes[3 - dims + d];
      const int64_t n = axis.in = in[lead + d], m = out[lead + d];
      axis.windows.clear();
      if (!a.adaptive) axis.step = a.dilation[d];
      for (int64_t o = 0; o < m; ++o) {
        if (a.adaptive) {
          const int64_t q = n / m, r = n % m;
          axis.windows.push_back(
              {o * q + o * r / m,
               (o + 1) * q + detail::divide_up((o + 1) * r, m)});
          continue;
        }
        int64_t begin = o * a.stride[d] - a.padding[d];
        const int64_t end =
            std::min(begin + (a.kernel[d] - 1) * axis.step + 1, n);
        if (begin < 0)
          begin += detail::divide_up(-begin, axis.step) * axis.step;
        axis.windows.push_back({begin, end});
      }
    }
  }
  int64_t in() const { return axes[0].in * axes[1].in * axes[2].in; }
  int64_t out() const {
    return int64_t(axes[0].windows.size() * axes[1].windows.size() *
                   axes[2].windows.size());
  }
};

template <class T>
bool is_nan(T x) {
  if constexpr (kIsFloating<T>)
    return x != x;
  else
    return false;
}

template <class T>
T lowest() {
  using Limits = std::numeric_limits<T>;
  if constexpr (kIsFloating<T>)
    return T(-Limits::infinity());
  else
    return Limits::lowest();
}

// One output row over the input rows [d, h): tap by tap, so that the loop over
// outputs vectorises where it can. Outputs of a tap that fall into the padding
// are skipped. kStride is the stride if it is small, else 0.
template <int64_t kStride, bool kIndices, class T, class Index>
void pool_row(const Plan& plan, const MaxPoolAttributes& a, const Window& d,
              const Window& h, const T* x, T* out, Index* indices) {
  const auto& [z, y, w] = plan.axes;
  const int64_t n = int64_t(w.windows.size());
  const size_t last = size_t(a.dims) - 1;
  const int64_t stride = kStride ? kStride : a.stride[last];
  const int64_t pad = a.padding[last];
  for (int64_t i = d.begin; i < d.end; i += z.step)
    for (int64_t j = h.begin; j < h.end; j += y.step) {
      const int64_t base = (i * y.in + j) * w.in;
      // Taps that lie in the padding for every output are not visited.
      const int64_t begin = std::max<int64_t>(
          0, detail::divide_up(pad - (n - 1) * stride, w.step));
      const int64_t stop =
          std::min(a.kernel[last], detail::divide_up(w.in + pad, w.step));
      for (int64_t k = begin; k < stop; ++k) {
        const int64_t shift = k * w.step - pad;
        const int64_t first =
            shift >= 0 ? 0 : detail::divide_up(-shift, stride);
        const int64_t end =
            shift >= w.in
                ? 0
                : std::min(n, detail::divide_up(w.in - shift, stride));
        const T* from = x + base + shift;
        // Unsigned: the step behind the last output may leave the type.
        using Position = std::make_unsigned_t<Index>;
        auto at = Position(base + shift + first * stride);
        for (int64_t o = first; o < end; ++o, at += Position(stride)) {
          const T value = from[o * stride], old = out[o];
          const bool better = value > old || is_nan(value);
          out[o] = better ? value : old;
          if constexpr (kIndices) {
            const Index where = indices[o];
            indices[o] = better ? Index(at) : where;
          }
        }
      }
    }
}

template <bool kIndices, class T, class Index>
void pool_row(const Plan& plan, const MaxPoolAttributes& a, const Window& d,
              const Window& h, const T* x, T* out, Index* indices) {
  switch (a.stride[size_t(a.dims) - 1]) {
    case 1:
      return pool_row<1, kIndices>(plan, a, d, h, x, out, indices);
    case 2:
      return pool_row<2, kIndices>(plan, a, d, h, x, out, indices);
    default:
      return pool_row<0, kIndices>(plan, a, d, h, x, out, indices);
  }
}

/// Updates the best of a window by n elements of a row, of which x[0] is number
/// `here` of the plane. The last NaN wins, else the first of the largest.
template <class T>
void pool_run(const T* x, int64_t n, int64_t here, T& best, int64_t& where) {
  constexpr int64_t kShort = 8;
  if constexpr (std::is_floating_point_v<T>) {
    if (n >= kShort) {
      const T most = max_block(x, n);
      if (!(most > best) && !is_nan(most)) return;
      best = most;
      int64_t at = n - 1;
      if (is_nan(most))
        while (!is_nan(x[at])) --at;
      else
        at = std::find(x, x + n, most) - x;
      where = here + at;
      return;
    }
  }
  for (int64_t k = 0; k < n; ++k)
    if (x[k] > best || is_nan(x[k])) {
      best = x[k];
      where = here + k;
    }
}

// Windows of any size, one after the other. Their elements lie side by side.
template <class T>
void pool_windows(const Plan& plan, const Window& d, const Window& h,
                  const T* x, T* out, int64_t* indices) {
  const auto& [z, y, w] = plan.axes;
  for (size_t o = 0; o < w.windows.size(); ++o) {
    T best = out[o];
    int64_t where = indices ? indices[o] : 0;
    for (int64_t i = d.begin; i < d.end; i += z.step)
      for (int64_t j = h.begin; j < h.end; j += y.step) {
        const int64_t here = (i * y.in + j) * w.in + w.windows[o].begin;
        pool_run(x + here, w.windows[o].end - w.windows[o].begin, here, best,
                 where);
      }
    out[o] = best;
    if (indices) indices[o] = where;
  }
}

// One output row. Positions are as wide as the elements where the plane allows
// it, so that values and positions fit the same vectors; `narrow` holds a row.
template <class T>
void pool_one_row(const Plan& plan, const MaxPoolAttributes& a, const Window& d,
                  const Window& h, const T* x, T* out, int64_t* indices,
                  std::vector<int32_t>& narrow) {
  if (a.adaptive) return pool_windows(plan, d, h, x, out, indices);
  if (!indices)
    return pool_row<false>(plan, a, d, h, x, out,
                           static_cast<int32_t*>(nullptr));
  const bool fits = plan.in() <= std::numeric_limits<int32_t>::max();
  if (sizeof(T) > sizeof(int32_t) || !fits)
    return pool_row<true>(plan, a, d, h, x, out, indices);
  narrow.assign(indices, indices + plan.axes[2].windows.size());
  pool_row<true>(plan, a, d, h, x, out, narrow.data());
  std::copy(narrow.begin(), narrow.end(), indices);
}

/// Tells whether rows of windows without gaps, whose positions nobody wants,
/// can be left to vectors: columns first, then along the row, which is padded
/// for it.
template <class T>
bool vectorises(const MaxPoolAttributes& a, const int64_t* indices) {
  constexpr int64_t kMaxPadding = 1 << 16;
  const auto one = [](int64_t step) { return step == 1; };
  return std::is_floating_point_v<T> && a.dims == 2 && !indices &&
         !a.adaptive && a.kernel[1] <= kMaxPadding &&
         a.stride[1] <= kMaxPadding &&
         std::all_of(a.dilation.begin(), a.dilation.end(), one);
}

template <class T>
void pool_plane_vectors(const Plan& plan, const MaxPoolAttributes& a,
                        const T* x, T* out) {
  const auto& [z, y, w] = plan.axes;
  const int64_t n = int64_t(w.windows.size());
  // Windows may reach a stride beyond the padding (ceil_mode).
  const int64_t reach = std::max(
      a.padding[1], (n - 1) * a.stride[1] + a.kernel[1] - a.padding[1] - w.in);
  thread_local std::vector<T> room;
  room.resize(size_t(w.in + 2 * reach + kPoolSlack));
  for (const Window& h : y.windows) {
    max_pool_row(x + h.begin * w.in, h.end - h.begin, w.in, w.in, a.kernel[1],
                 a.stride[1], a.padding[1], room.data(), out, n);
    out += n;
  }
}

template <class T>
void pool_plane(const Plan& plan, const MaxPoolAttributes& a, const T* x,
                T* out, int64_t* indices) {
  const auto& [z, y, w] = plan.axes;
  const int64_t n = int64_t(w.windows.size());
  std::vector<int32_t> narrow;
  // Where a window begins: the answer if it holds nothing but padding.
  const auto first = [](const Window& window, const Axis& axis) {
    return std::min(window.begin, axis.in - 1);
  };
  for (const Window& d : z.windows)
    for (const Window& h : y.windows) {
      std::fill_n(out, n, lowest<T>());
      if (indices)
        for (int64_t o = 0; o < n; ++o)
          indices[o] = (first(d, z) * y.in + first(h, y)) * w.in +
                       first(w.windows[size_t(o)], w);
      pool_one_row(plan, a, d, h, x, out, indices, narrow);
      out += n;
      if (indices) indices += n;
    }
}

template <class F>
void for_planes(int64_t planes, int64_t work, const F& f) {
  parallel_for(0, planes,
               std::max<int64_t>(1, kGrainSize / std::max<int64_t>(1, work)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t p = begin; p < end; ++p) f(p);
               });
}

struct MaxPoolTypes {
  template <class F>
  void visit(const KernelCall& call, F&& f) const {
    const bool deep = call.attributes<MaxPoolAttributes>().dims == 3;
    visit_dtype(RealTypes{}, call.tensor(2).dtype(),
                deep ? "max_pool3d" : "max_pool2d", f);
  }
};
constexpr MaxPoolTypes kMaxPoolTypes;

void max_pool(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &indices = call.tensor(1);
  const Tensor& x = call.tensor(2);
  kMaxPoolTypes.visit(call, [&]<class T>() {
    if (out.numel() == 0) return;
    const auto& a = call.attributes<MaxPoolAttributes>();
    const Plan plan(x.sizes(), out.sizes(), a);
    const int64_t n = plan.in(), m = plan.out();
    int64_t* index = indices.defined() ? indices.data<int64_t>() : nullptr;
    // Each takes as long as some elements of other kernels.
    constexpr int64_t kWork = 4;
    for_planes(plan.planes, kWork * std::max(n, m), [&](int64_t p) {
      if constexpr (std::is_floating_point_v<T>)
        if (vectorises<T>(a, index))
          return pool_plane_vectors(plan, a, x.data<T>() + p * n,
                                    out.data<T>() + p * m);
      pool_plane(plan, a, x.data<T>() + p * n, out.data<T>() + p * m,
                 index ? index + p * m : nullptr);
    });
  });
}

struct PlaneSizes {
  int64_t planes, x, index;
};

PlaneSizes plane_sizes(const Tensor& x, const Tensor& index, int64_t dims) {
  const size_t lead = size_t(x.dim() - dims);
  return {numel_of(x.sizes().first(lead)), numel_of(x.sizes().subspan(lead)),
          numel_of(index.sizes().subspan(lead))};
}

void check_index(int64_t i, const Tensor& plane, int64_t dims, int64_t size) {
  if (i >= 0 && i < size) return;
  std::string sides;
  for (const int64_t n : plane.sizes().last(size_t(dims))) {
    if (!sides.empty()) sides += 'x';
    sides += std::to_string(n);
  }
  fail("Found an invalid max index: ", i, " (output volumes are of size ",
       sides, ")");
}

void plane_gather(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &x = call.tensor(1);
  const Tensor& index = call.tensor(2);
  const int64_t dims = call.attributes<PlaneAttributes>().dims;
  const auto s = plane_sizes(x, index, dims);
  visit_dtype(AllTypes{}, x.dtype(), "plane_gather", [&]<class T>() {
    for_planes(s.planes, s.index, [&](int64_t p) {
      const int64_t* at = index.data<int64_t>() + p * s.index;
      for (int64_t i = 0; i < s.index; ++i) {
        check_index(at[i], x, dims, s.x);
        out.data<T>()[p * s.index + i] = x.data<T>()[p * s.x + at[i]];
      }
    });
  });
}

constexpr KernelTypes<NumberTypes> kToPlanesTypes{0, "max_unpool"};

// Writes each element to its index in a plane of zeros; adds up, or overwrites.
template <bool kAdd>
void to_planes(const KernelCall& call) {
  const Tensor &x = call.tensor(0), &out = call.tensor(1);
  const Tensor& index = call.tensor(2);
  const int64_t dims = call.attributes<PlaneAttributes>().dims;
  const auto s = plane_sizes(x, index, dims);
  kToPlanesTypes.visit(call, [&]<class T>() {
    for_planes(s.planes, std::max(s.x, s.index), [&](int64_t p) {
      const int64_t* at = index.data<int64_t>() + p * s.index;
      const T* from = out.data<T>() + p * s.index;
      const auto write = [&]<class A>(A* to) {
        std::fill_n(to, s.x, A(0));
        for (int64_t i = 0; i < s.index; ++i) {
          check_index(at[i], x, dims, s.x);
          if constexpr (kAdd)
            to[at[i]] += A(from[i]);
          else
            to[at[i]] = from[i];
        }
      };
      T* const plane = x.data<T>() + p * s.x;
      if constexpr (kAdd)
        rounded_once(plane, s.x, write);
      else
        write(plane);
    });
  });
}

HOTARU_KERNEL(kCPU, "max_pool", max_pool, check_types<kMaxPoolTypes>);
HOTARU_KERNEL(kCPU, "plane_gather", plane_gather);
HOTARU_KERNEL(kCPU, "plane_scatter", to_planes<true>,
              check_types<kToPlanesTypes>);
HOTARU_KERNEL(kCPU, "plane_place", to_planes<false>,
              check_types<kToPlanesTypes>);

}  // namespace
}  // namespace hotaru::cpu
