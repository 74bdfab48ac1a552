#include "hotaru/backend/common/resample/grid_sample.h"

#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/resample/grid_taps.h"
#include "hotaru/backend/cpu/matmul/gemm_kernel.h"
#include "hotaru/backend/cpu/resample/grid_simd.h"
#include "hotaru/backend/cpu/wide.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

// In three spatial dimensions; a missing depth has size 1.
template <class T>
struct Sampler {
  using A = OpMath<T>;
  const GridSampleAttributes& a;
  int64_t n, channels, dims, points;
  std::array<int64_t, 3> in;
  const T *x, *grid;

  Sampler(const GridSampleAttributes& a, const Tensor& x, const Tensor& grid)
      : a(a),
        n(x.size(0)),
        channels(x.size(1)),
        dims(x.dim() - 2),
        points(grid.numel() / std::max<int64_t>(1, n * dims)),
        in{dims == 3 ? x.size(2) : 1, x.size(-2), x.size(-1)},
        x(x.data<T>()),
        grid(grid.data<T>()) {}
  int64_t plane() const { return in[0] * in[1] * in[2]; }

  std::array<GridTaps<A>, 3> at(int64_t sample, int64_t point) const {
    std::array<GridTaps<A>, 3> out;
    const T* coordinates = grid + (sample * points + point) * dims;
    for (int64_t d = 0; d < 3; ++d)
      if (d < 3 - dims)
        out[d].add(0, A(1), A(0));
      else
        out[d] = grid_taps(A(coordinates[2 - d]), in[d], a, dims == 3);
    // In two dimensions, as PyTorch: everything about a lost point is NaN.
    const bool lost = out[1].lost() || out[2].lost();
    if (dims == 2 && lost)
      for (int64_t d = 1; d < 3; ++d) {
        constexpr A kNan = std::numeric_limits<A>::quiet_NaN();
        out[d] = {};
        out[d].add(0, kNan, kNan);
      }
    return out;
  }
  // f(offset in a plane, taps' positions i, j, k) for those inside.
  template <class F>
  void each(const std::array<GridTaps<A>, 3>& t, const F& f) const {
    for (int i = 0; i < t[0].count; ++i)
      for (int j = 0; j < t[1].count; ++j)
        for (int k = 0; k < t[2].count; ++k)
          if (t[0].index[i] >= 0 && t[1].index[j] >= 0 && t[2].index[k] >= 0)
            f((t[0].index[i] * in[1] + t[1].index[j]) * in[2] + t[2].index[k],
              i, j, k);
  }

  /// Taps of a run of points in a plane, the same in all channels: up to four
  /// by four positions, or two by two by two.
  struct Run {
    static constexpr int64_t kSlots = 16;
    int64_t slots = 0;
    std::array<int32_t, kSlots * kGatherRun> offsets;
    std::array<A, kSlots * kGatherRun> weights;

    void sums(const T* from, A* out) const {
      if constexpr (std::is_same_v<T, float>)
        return gather_sums(from, offsets.data(), weights.data(), slots, out);
      std::fill_n(out, kGatherRun, A(0));
      for (int64_t k = 0; k < slots * kGatherRun; ++k)
        if (offsets[size_t(k)] >= 0)
          out[k % kGatherRun] +=
              weights[size_t(k)] * A(from[offsets[size_t(k)]]);
    }
  };

  void fill(Run& run, int64_t sample, int64_t point, int64_t count) const {
    if constexpr (std::is_same_v<T, float>) {
      const bool plain =
          dims == 2 && count == kGatherRun && a.padding == GridPadding::kZeros;
      if (plain && a.mode == GridMode::kNearest) {
        nearest_taps(grid + (sample * points + point) * dims, in[1], in[2],
                     a.align_corners, run.offsets.data());
        std::fill_n(run.weights.data(), kGatherRun, A(1));
        run.slots = 1;
        return;
      }
      if (plain && a.mode == GridMode::kLinear &&
          linear_taps(grid + (sample * points + point) * dims, in[1], in[2],
                      a.align_corners, run.offsets.data(),
                      run.weights.data())) {
        run.slots = 4;
        return;
      }
    }
    run.slots = 0;
    run.offsets.fill(-1);
    run.weights.fill(A(0));  // what is outside is multiplied, too
    for (int64_t p = 0; p < count; ++p) {
      const auto t = at(sample, point + p);
      int64_t slot = p;
      each(t, [&](int64_t offset, int i, int j, int k) {
        run.offsets[size_t(slot)] = int32_t(offset);
        run.weights[size_t(slot)] =
            t[0].weight[i] * t[1].weight[j] * t[2].weight[k];
        slot += kGatherRun;
      });
      run.slots = std::max(run.slots, slot / kGatherRun);
    }
  }

  void forward(T* out) const {
    HOTARU_CHECK(plane() <= std::numeric_limits<int32_t>::max(),
                 "grid_sampler: a channel of ", plane(),
                 " elements is too large");
    const int64_t runs = detail::divide_up(points, kGatherRun);
    if constexpr (std::is_same_v<T, float>)
      if (a.mode != GridMode::kNearest && pays_to_turn())
        return forward_pixels(out);
    parallel_for(0, n * runs, 4, [&](int64_t begin, int64_t end) {
      Run run{};
      std::array<A, kGatherRun> sums;
      for (int64_t r = begin; r < end; ++r) {
        const int64_t sample = r / runs, point = r % runs * kGatherRun;
        const int64_t count = std::min(kGatherRun, points - point);
        fill(run, sample, point, count);
        for (int64_t c = sample * channels; c < (sample + 1) * channels; ++c) {
          run.sums(x + c * plane(), sums.data());
          for (int64_t p = 0; p < count; ++p)
            out[c * points + point + p] = T(sums[size_t(p)]);
        }
      }
    });
  }

  /// True if it pays to bring a pixel's channels side by side: an element is
  /// then moved once more, but taps are read as vectors.
  bool pays_to_turn() const { return channels >= 8 && 2 * points >= plane(); }

  void forward_pixels(float* out) const {
    const int64_t runs = detail::divide_up(points, kGatherRun);
    const int64_t size = channels * plane();
    // Sample by sample where there are enough: what is turned stays in cache.
    const int64_t together = n >= get_num_threads() ? 1 : n;
    const auto of_samples = [&](int64_t begin, int64_t end) {
      const std::unique_ptr<float[]> turned(new float[size_t(together * size)]);
      for (; begin < end; begin += together) {
        parallel_for(0, together, 1, [&](int64_t i, int64_t stop) {
          for (; i < stop; ++i)
            turn(x + (begin + i) * size, plane(), plane(),
                 turned.get() + i * size);
        });
        parallel_for(0, together * runs, 4, [&](int64_t first, int64_t last) {
          forward_runs(begin, first, last, turned.get(), out);
        });
      }
    };
    if (together == 1) return parallel_for(0, n, 1, of_samples);
    of_samples(0, n);
  }

  /// to[p * channels + c] = from[c * stride + p], p < count.
  void turn(const float* from, int64_t stride, int64_t count, float* to) const {
    gemm_kernels<float>().pack(to, channels, count, {from, stride, 1});
  }

  /// Runs [first, last) of the samples from `begin` on, whose pixels are
  /// turned.
  void forward_runs(int64_t begin, int64_t first, int64_t last,
                    const float* turned, float* out) const {
    const int64_t runs = detail::divide_up(points, kGatherRun);
    Run run{};
    std::vector<float> sums(size_t(kGatherRun * channels)), lines(sums.size());
    for (int64_t r = first; r < last; ++r) {
      const int64_t sample = begin + r / runs, point = r % runs * kGatherRun;
      const int64_t count = std::min(kGatherRun, points - point);
      fill(run, sample, point, count);
      pixel_sums(turned + (sample - begin) * channels * plane(), channels,
                 run.offsets.data(), run.weights.data(), run.slots, count,
                 sums.data());
      float* to = out + sample * channels * points + point;
      gemm_kernels<float>().pack(lines.data(), count, channels,
                                 {sums.data(), channels, 1});
      for (int64_t c = 0; c < channels; ++c, to += points)
        std::copy_n(lines.data() + c * count, count, to);
    }
  }

  // gx and ggrid may be null. Samples are independent.
  void backward(T* gx, T* ggrid, const T* g) const {
    if constexpr (std::is_same_v<T, float>)
      if (pays_to_turn()) return backward_pixels(gx, ggrid, g);
    if (!gx) return backward_samples(nullptr, ggrid, g);
    const int64_t size = n * channels * plane();
    rounded_once(gx, size, [&](A* sums) {
      std::fill_n(sums, size, A(0));
      backward_samples(sums, ggrid, g);
    });
  }

  /// Adds to gx.
  void backward_samples(A* gx, T* ggrid, const T* g) const {
    parallel_for(0, n, 1, [&](int64_t begin, int64_t end) {
      const auto taps = std::make_unique<Slopes[]>(size_t(kGatherRun));
      for (int64_t sample = begin; sample < end; ++sample)
        for (int64_t point = 0; point < points; point += kGatherRun)
          backward_run(sample, point, std::min(kGatherRun, points - point),
                       taps.get(), gx, ggrid, g);
    });
  }

 private:
  /// Taps of a point in a plane, the same in all channels, with the weights'
  /// derivatives by the grid's coordinates.
  struct Slopes {
    int64_t count = 0;
    bool lost = false;
    std::array<int64_t, Run::kSlots> offset;
    std::array<A, Run::kSlots> weight;
    std::array<std::array<A, 3>, Run::kSlots> slope;
    std::array<A, 3> sums;
  };

  void fill(Slopes& to, int64_t sample, int64_t point) const {
    const auto t = at(sample, point);
    to.count = 0;
    to.lost = t[2].lost();
    to.sums = {};
    each(t, [&](int64_t offset, int i, int j, int k) {
      const A wi = t[0].weight[i], wj = t[1].weight[j], wk = t[2].weight[k];
      const auto tap = size_t(to.count++);
      to.offset[tap] = offset;
      to.weight[tap] = wi * wj * wk;
      to.slope[tap] = {t[0].slope[i] * wj * wk, wi * t[1].slope[j] * wk,
                       wi * wj * t[2].slope[k]};
    });
  }

  void backward_run(int64_t sample, int64_t first, int64_t count, Slopes* taps,
                    A* gx, T* ggrid, const T* g) const {
    for (int64_t p = 0; p < count; ++p) fill(taps[p], sample, first + p);
    for (int64_t c = sample * channels; c < (sample + 1) * channels; ++c) {
      const T *from = x + c * plane(), *grads = g + c * points + first;
      A* to = gx ? gx + c * plane() : nullptr;
      for (int64_t p = 0; p < count; ++p) {
        Slopes& t = taps[p];
        const A grad = A(grads[p]);
        if (to && !t.lost)
          for (size_t k = 0; k < size_t(t.count); ++k)
            to[t.offset[k]] += grad * t.weight[k];
        if (!ggrid) continue;
        for (size_t k = 0; k < size_t(t.count); ++k) {
          const A value = grad * A(from[t.offset[k]]);
          for (size_t d = 0; d < 3; ++d) t.sums[d] += value * t.slope[k][d];
        }
      }
    }
    if (!ggrid) return;
    for (int64_t p = 0; p < count; ++p)
      write(taps[p].sums, ggrid + (sample * points + first + p) * dims);
  }

  void write(const std::array<A, 3>& sums, T* to) const {
    for (int64_t d = 0; d < dims; ++d) to[d] = T(sums[size_t(2 - d)]);
  }

  void backward_pixels(float* gx, float* ggrid, const float* g) const {
    const int64_t size = channels * plane();
    // The nearest pixel stays the same around a point.
    const bool reads = ggrid && a.mode != GridMode::kNearest;
    parallel_for(0, n, 1, [&](int64_t begin, int64_t end) {
      const auto room = [](bool wanted, int64_t count) {
        return std::unique_ptr<float[]>(wanted ? new float[size_t(count)]
                                               : nullptr);
      };
      const auto pixels = room(reads, size), sums = room(gx, size),
                 grads = room(true, kGatherRun * channels);
      for (int64_t i = begin; i < end; ++i) {
        if (reads) turn(x + i * size, plane(), plane(), pixels.get());
        if (gx) std::fill_n(sums.get(), size, 0.0f);
        for (int64_t p = 0; p < points; p += kGatherRun) {
          const int64_t count = std::min(kGatherRun, points - p);
          turn(g + i * channels * points + p, points, count, grads.get());
          if (a.mode == GridMode::kNearest) {
            if (gx) add_nearest(i, p, count, grads.get(), sums.get());
            if (ggrid)
              std::fill_n(ggrid + (i * points + p) * dims, count * dims, 0.0f);
            continue;
          }
          for (int64_t k = 0; k < count; ++k)
            backward_point(i, p + k, grads.get() + k * channels, sums.get(),
                           pixels.get(), ggrid);
        }
        if (gx)
          gemm_kernels<float>().pack(gx + i * size, plane(), channels,
                                     {sums.get(), channels, 1});
      }
    });
  }

  void add_nearest(int64_t sample, int64_t point, int64_t count, const float* g,
                   float* to) const {
    Run run;
    fill(run, sample, point, count);
    for (int64_t k = 0; k < count; ++k, g += channels) {
      const int64_t at = run.offsets[size_t(k)];
      const float one = 1;
      if (at >= 0) pixel_gradients(channels, &at, &one, 1, g, to, nullptr, {});
    }
  }

  void backward_point(int64_t sample, int64_t point, const float* g, float* to,
                      const float* from, float* ggrid) const {
    Slopes t;
    fill(t, sample, point);
    float dots[Run::kSlots];
    pixel_gradients(channels, t.offset.data(), t.weight.data(), t.count, g,
                    t.lost ? nullptr : to, from, dots);
    for (size_t k = 0; from && k < size_t(t.count); ++k)
      for (size_t d = 0; d < 3; ++d) t.sums[d] += dots[k] * t.slope[k][d];
    if (ggrid) write(t.sums, ggrid + (sample * points + point) * dims);
  }
};

constexpr KernelTypes<FloatingTypes> kForwardTypes{1, "grid_sampler"};
constexpr KernelTypes<FloatingTypes> kBackwardTypes{3, "grid_sampler"};

void grid_sample(const KernelCall& call) {
  const auto& a = call.attributes<GridSampleAttributes>();
  const Tensor &out = call.tensor(0), &x = call.tensor(1);
  kForwardTypes.visit(call, [&]<class T>() {
    Sampler<T>(a, x, call.tensor(2)).forward(out.data<T>());
  });
}

void grid_sample_grad(const KernelCall& call) {
  const auto& a = call.attributes<GridSampleAttributes>();
  const Tensor &gx = call.tensor(0), &ggrid = call.tensor(1);
  const Tensor &g = call.tensor(2), &x = call.tensor(3);
  kBackwardTypes.visit(call, [&]<class T>() {
    Sampler<T>(a, x, call.tensor(4))
        .backward(gx.defined() ? gx.data<T>() : nullptr,
                  ggrid.defined() ? ggrid.data<T>() : nullptr, g.data<T>());
  });
}

HOTARU_KERNEL(kCPU, "grid_sample", grid_sample, check_types<kForwardTypes>);
HOTARU_KERNEL(kCPU, "grid_sample_grad", grid_sample_grad,
              check_types<kBackwardTypes>);

}  // namespace
}  // namespace hotaru::cpu
