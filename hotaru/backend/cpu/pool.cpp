#include "hotaru/backend/common/pool.h"

#include <array>
#include <limits>
#include <vector>

#include "hotaru/runtime/kernel.h"
#include "hotaru/runtime/parallel.h"

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

template <class T>
void pool_plane(const Plan& plan, const T* x, T* out, int64_t* indices) {
  const auto& [z, y, w] = plan.axes;
  for (const Window& d : z.windows)
    for (const Window& h : y.windows)
      for (const Window& v : w.windows) {
        // A window may hold nothing but padding.
        const auto first = [](const Window& window, const Axis& axis) {
          return std::min(window.begin, axis.in - 1);
        };
        int64_t at = (first(d, z) * y.in + first(h, y)) * w.in + first(v, w);
        T best = lowest<T>();
        for (int64_t i = d.begin; i < d.end; i += z.step)
          for (int64_t j = h.begin; j < h.end; j += y.step)
            for (int64_t k = v.begin; k < v.end; k += w.step) {
              const int64_t here = (i * y.in + j) * w.in + k;
              const T value = x[here];
              if (value > best || is_nan(value)) {
                best = value;
                at = here;
              }
            }
        *out++ = best;
        if (indices) *indices++ = at;
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

void max_pool(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &indices = call.tensor(1);
  const Tensor& x = call.tensor(2);
  if (out.numel() == 0) return;
  const Plan plan(x.sizes(), out.sizes(), call.attributes<MaxPoolAttributes>());
  const int64_t n = plan.in(), m = plan.out();
  visit_dtype(RealTypes{}, x.dtype(), "max_pool2d", [&]<class T>() {
    int64_t* index = indices.defined() ? indices.data<int64_t>() : nullptr;
    for_planes(plan.planes, std::max(n, m), [&](int64_t p) {
      pool_plane(plan, x.data<T>() + p * n, out.data<T>() + p * m,
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

void check_index(int64_t i, int64_t size) {
  HOTARU_CHECK_AS(IndexError, i >= 0 && i < size, "pooling index ", i,
                  " is out of bounds for a plane of ", size, " elements");
}

void plane_gather(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &x = call.tensor(1);
  const Tensor& index = call.tensor(2);
  const auto s = plane_sizes(x, index, call.attributes<PlaneAttributes>().dims);
  visit_dtype(AllTypes{}, x.dtype(), "plane_gather", [&]<class T>() {
    for_planes(s.planes, s.index, [&](int64_t p) {
      const int64_t* at = index.data<int64_t>() + p * s.index;
      for (int64_t i = 0; i < s.index; ++i) {
        check_index(at[i], s.x);
        out.data<T>()[p * s.index + i] = x.data<T>()[p * s.x + at[i]];
      }
    });
  });
}

void plane_scatter(const KernelCall& call) {
  const Tensor &x = call.tensor(0), &out = call.tensor(1);
  const Tensor& index = call.tensor(2);
  const auto s = plane_sizes(x, index, call.attributes<PlaneAttributes>().dims);
  visit_dtype(NumberTypes{}, x.dtype(), "plane_scatter", [&]<class T>() {
    for_planes(s.planes, std::max(s.x, s.index), [&](int64_t p) {
      const int64_t* at = index.data<int64_t>() + p * s.index;
      const T* from = out.data<T>() + p * s.index;
      T* to = x.data<T>() + p * s.x;
      std::fill_n(to, s.x, T(0));
      for (int64_t i = 0; i < s.index; ++i) {
        check_index(at[i], s.x);
        to[at[i]] = T(OpMath<T>(to[at[i]]) + OpMath<T>(from[i]));
      }
    });
  });
}

HOTARU_KERNEL(kCPU, "max_pool", max_pool);
HOTARU_KERNEL(kCPU, "plane_gather", plane_gather);
HOTARU_KERNEL(kCPU, "plane_scatter", plane_scatter);

}  // namespace
}  // namespace hotaru::cpu
