// A stand-in for cuFFT, for lines along one dimension. Like the real one it may
// write over what it makes real numbers of, and promises nothing where an
// imaginary part has no meaning there.
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <numbers>
#include <vector>

#include "hotaru/backend/cuda/libraries/cufft_entries.h"
#include "hotaru/backend/soft_gpu/libraries/queue.h"

#define HOTARU_DECLARE(name, symbol, params) \
  __attribute__((visibility("default"))) int symbol params;
extern "C" {
HOTARU_CUFFT_ENTRIES(HOTARU_DECLARE)
/// For tests: plans that were made and not destroyed.
__attribute__((visibility("default"))) int hotaru_softgpu_fft_plans();
}
#undef HOTARU_DECLARE

using namespace hotaru::cuda::cufft;
using namespace hotaru::soft_gpu;

namespace {

constexpr int kInvalidPlan = 1, kInvalidType = 3, kInvalidValue = 4,
              kExecFailed = 6, kUnaligned = 9, kNoWorkspace = 13;
constexpr size_t kBytes = 5000;

struct Side {
  int type = kC32F;
  int64_t step = 1, line = 1;

  bool real() const { return type == kR32F || type == kR64F; }
  bool wide() const { return type == kR64F || type == kC64F; }
};

using Wide = std::complex<long double>;

/// By the definition for each prime factor, in more than double: what it
/// returns is to be as good as rounded once.
struct Transform {
  int64_t n;
  std::vector<Wide> roots;

  Transform(int64_t points, int direction) : n(points) {
    constexpr long double kTurn = 2 * std::numbers::pi_v<long double>;
    for (int64_t k = 0; k < n; ++k)
      roots.push_back(std::polar(
          1.0L, direction * kTurn * (long double)(k) / (long double)(n)));
  }
  /// Transform of `points` of a line, each `apart` from the next.
  std::vector<Wide> of(const std::vector<Wide>& line, int64_t points,
                       int64_t apart, int64_t first = 0) const {
    if (points == 1) return {line[size_t(first)]};
    int64_t prime = 2;
    while (points % prime != 0) ++prime;
    const int64_t part = points / prime;
    std::vector<Wide> out(size_t(points), 0);
    for (int64_t r = 0; r < prime; ++r) {
      const auto x = of(line, part, apart * prime, first + r * apart);
      for (int64_t k = 0; k < points; ++k)
        out[size_t(k)] +=
            roots[size_t(r * k % points * apart)] * x[size_t(k % part)];
    }
    return out;
  }
};

struct Plan {
  bool automatic = true, made = false;
  int64_t n = 0, batch = 0;
  Side in, out;
  hotaru::cuda::CUstream stream = nullptr;
  bool has_stream = false;
  void* room = nullptr;

  template <class In, class Out>
  void run(void* in_data, void* out_data, int direction) const {
    const Transform transform(n, direction);
    std::vector<Number> line(size_t(n), 0);
    for (int64_t b = 0; b < batch; ++b) {
      read(static_cast<In*>(in_data) + b * in.line, line);
      const std::vector<Wide> all =
          transform.of({line.begin(), line.end()}, n, 1);
      Out* const to = static_cast<Out*>(out_data) + b * out.line;
      const int64_t points = in.real() ? n / 2 + 1 : n;
      for (int64_t k = 0; k < points; ++k)
        to[k * out.step] = element_of<Out>(Number(all[size_t(k)]));
    }
  }
  template <class In>
  void read(In* from, std::vector<Number>& line) const {
    const bool half = out.real();
    for (int64_t j = 0; j < (half ? n / 2 + 1 : n); ++j) {
      In& x = from[j * in.step];
      Number value = number_of(x);
      if (half) {
        if ((j == 0 || 2 * j == n) && value.imag() != 0)
          value = std::numeric_limits<double>::quiet_NaN();
        if (j > 0) line[size_t(n - j)] = std::conj(value);
        x = In(77);
      }
      line[size_t(j)] = value;
    }
  }
  void run(void* in_data, void* out_data, int direction) const {
    using F = std::complex<float>;
    using D = std::complex<double>;
    if (in.type == kR32F) return run<float, F>(in_data, out_data, direction);
    if (in.type == kR64F) return run<double, D>(in_data, out_data, direction);
    if (out.type == kR32F) return run<F, float>(in_data, out_data, direction);
    if (out.type == kR64F) return run<D, double>(in_data, out_data, direction);
    if (in.type == kC32F) return run<F, F>(in_data, out_data, direction);
    run<D, D>(in_data, out_data, direction);
  }
};

std::map<int, Plan> plans;
std::mutex plans_mutex;

Plan* find(int handle) {
  const std::lock_guard lock(plans_mutex);
  const auto at = plans.find(handle);
  return at == plans.end() ? nullptr : &at->second;
}

}  // namespace

int hotaru_softgpu_fft_plans() {
  const std::lock_guard lock(plans_mutex);
  return int(plans.size());
}
int cufftGetVersion(int* version) {
  *version = 12000;
  return kSuccess;
}
int cufftCreate(Handle* plan) {
  static int last = 0;
  const std::lock_guard lock(plans_mutex);
  plans[*plan = ++last];
  return kSuccess;
}
int cufftDestroy(Handle plan) {
  const std::lock_guard lock(plans_mutex);
  return plans.erase(plan) ? kSuccess : kInvalidPlan;
}
int cufftSetAutoAllocation(Handle plan, int automatic) {
  Plan* const p = find(plan);
  if (!p || p->made) return kInvalidPlan;
  p->automatic = automatic;
  return kSuccess;
}
int cufftXtMakePlanMany(Handle plan, int rank, long long* n,
                        long long* in_sizes, long long in_step,
                        long long in_line, int in_type, long long* out_sizes,
                        long long out_step, long long out_line, int out_type,
                        long long batch, size_t* bytes, int compute) {
  Plan* const p = find(plan);
  if (!p || p->made) return kInvalidPlan;
  // Without sizes the steps would not count: never asked for.
  if (rank != 1 || n[0] < 1 || batch < 1 || !in_sizes || !out_sizes ||
      in_step < 1 || out_step < 1 || in_line < 1 || out_line < 1)
    return kInvalidValue;
  const Side in{in_type, in_step, in_line}, out{out_type, out_step, out_line};
  if (in.wide() != out.wide() || (in.real() && out.real()) ||
      compute != (in.wide() ? kC64F : kC32F))
    return kInvalidType;
  p->n = n[0];
  p->batch = batch;
  p->in = in;
  p->out = out;
  p->made = true;
  *bytes = kBytes;
  return kSuccess;
}
int cufftSetStream(Handle plan, hotaru::cuda::CUstream stream) {
  Plan* const p = find(plan);
  if (!p) return kInvalidPlan;
  p->stream = stream;
  p->has_stream = true;
  return kSuccess;
}
int cufftSetWorkArea(Handle plan, void* room) {
  Plan* const p = find(plan);
  if (!p) return kInvalidPlan;
  p->room = room;
  return kSuccess;
}
int cufftXtExec(Handle plan, void* in, void* out, int direction) {
  Plan* const p = find(plan);
  if (!p || !p->made || !p->has_stream || p->automatic) return kInvalidPlan;
  if (!p->room) return kNoWorkspace;
  const size_t item = p->in.wide() ? 16 : 8;  // of complex numbers in any case
  if (reinterpret_cast<uintptr_t>(in) % item ||
      reinterpret_cast<uintptr_t>(out) % item)
    return kUnaligned;
  if ((p->in.real() && direction != kForward) ||
      (p->out.real() && direction != kBack) || (p->out.real() && in == out))
    return kInvalidValue;
  return enqueue_on(p->stream,
                    [copy = *p, in, out, direction] {
                      spoil(copy.room, kBytes);
                      copy.run(in, out, direction);
                    })
             ? kSuccess
             : kExecFailed;
}
