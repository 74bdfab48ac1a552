#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/pool/pool.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

// Where the windows of one side begin: spread evenly, shifted by the sample;
// the last one ends with the side. Computed in the dtype, as PyTorch does. A
// sample outside of [0, 1) moves no window out of the side.
template <class T>
void begins(T sample, int64_t in, int64_t windows, int64_t kernel,
            std::vector<int64_t>& out) {
  out.assign(size_t(windows), in - kernel);
  if (windows < 2) return;
  const T step = T(in - kernel) / T(windows - 1);
  const T limit = T(std::numeric_limits<int32_t>::max());
  const auto whole = [&](T x) {
    return x > -limit && x < limit ? int64_t(x) : int64_t{0};
  };
  for (int64_t i = 0; i + 1 < windows; ++i)
    out[size_t(i)] = std::clamp<int64_t>(
        whole((T(i) + sample) * step) - whole(sample * step), 0, in - kernel);
}

struct Sides {
  std::array<int64_t, 3> in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1};

  Sides(const Tensor& x, const Tensor& y, const FractionalPoolAttributes& a) {
    const size_t dims = size_t(a.dims), lead = size_t(x.dim()) - dims;
    for (size_t d = 0; d < dims; ++d) {
      in[3 - dims + d] = x.sizes()[lead + d];
      out[3 - dims + d] = y.sizes()[lead + d];
      kernel[3 - dims + d] = a.kernel[d];
    }
  }
  static int64_t volume(const std::array<int64_t, 3>& n) {
    return n[0] * n[1] * n[2];
  }
};

// The largest element of a window and its position; NaN beats everything.
template <class T>
int64_t largest(const T* x, const Sides& s, int64_t z, int64_t y, int64_t w) {
  using M = OpMath<T>;
  int64_t best = (z * s.in[1] + y) * s.in[2] + w;
  M most = -std::numeric_limits<M>::infinity();
  for (int64_t i = z; i < z + s.kernel[0]; ++i)
    for (int64_t j = y; j < y + s.kernel[1]; ++j)
      for (int64_t k = w; k < w + s.kernel[2]; ++k) {
        const int64_t here = (i * s.in[1] + j) * s.in[2] + k;
        const M value = M(x[here]);
        if (value > most || value != value) {
          most = value;
          best = here;
        }
      }
  return best;
}

template <class T>
void pool_plane(const Sides& s, int64_t dims, const T* x, const T* samples,
                T* out, int64_t* indices) {
  using M = OpMath<T>;
  std::array<std::vector<int64_t>, 3> at;
  for (size_t d = 0; d < 3; ++d) {
    // Two dimensions have the width's sample first.
    const size_t sample = dims == 3 ? d : 2 - d;
    const bool given = dims == 3 || d > 0;
    begins<M>(given ? M(samples[sample]) : M(0), s.in[d], s.out[d], s.kernel[d],
              at[d]);
  }
  for (const int64_t z : at[0])
    for (const int64_t y : at[1])
      for (const int64_t w : at[2]) {
        const int64_t best = largest(x, s, z, y, w);
        *out++ = x[best];
        *indices++ = best;
      }
}

constexpr KernelTypes<FloatingTypes> kPoolTypes{2, "fractional_max_pool"};

void fractional_max_pool(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &indices = call.tensor(1);
  const Tensor &x = call.tensor(2), &samples = call.tensor(3);
  kPoolTypes.visit(call, [&]<class T>() {
    if (out.numel() == 0) return;
    const auto& a = call.attributes<FractionalPoolAttributes>();
    const Sides s(x, out, a);
    const int64_t n = Sides::volume(s.in), m = Sides::volume(s.out);
    const int64_t work = std::max(n, m * Sides::volume(s.kernel));
    parallel_for(0, x.numel() / n, kGrainSize / work + 1,
                 [&](int64_t begin, int64_t end) {
                   for (int64_t p = begin; p < end; ++p)
                     pool_plane(s, a.dims, x.data<T>() + p * n,
                                samples.data<T>() + p * a.dims,
                                out.data<T>() + p * m,
                                indices.data<int64_t>() + p * m);
                 });
  });
}

HOTARU_KERNEL(kCPU, "fractional_max_pool", fractional_max_pool,
              check_types<kPoolTypes>);

}  // namespace
}  // namespace hotaru::cpu
