#include "hotaru/backend/cuda/libraries/cufft.h"

#include <algorithm>
#include <array>
#include <bit>
#include <list>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "hotaru/backend/cuda/graph/recorder.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/libraries/cufft_entries.h"
#include "hotaru/backend/cuda/libraries/library.h"
#include "hotaru/backend/cuda/params/fft_scale.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/runtime/threads/blocking.h"

namespace hotaru::cuda {
namespace {

using fft::Dim;
using fft::Lines;

constinit const Functions scale_function("FftScale");

// Plans kept for a device where nobody says how many: each has memory of its
// own for its factors.
constexpr int64_t kMostPlans = 64;
// Calls for the dimensions that the library's one batch does not take. Of more
// our own kernel's passes cost less than the launches; unmeasured.
constexpr int64_t kMostCalls = 8;

struct Cufft {
  static constexpr const char* kName = "cuFFT";
  OpenedLibrary library = open_library({"libcufft.so.12", "libcufft.so.11"});
#define HOTARU_MEMBER(name, symbol, params) int(*name) params = nullptr;
  HOTARU_CUFFT_ENTRIES(HOTARU_MEMBER)
#undef HOTARU_MEMBER

  Cufft() {
#define HOTARU_FIND(name, symbol, params) library.find(name, #symbol);
    HOTARU_CUFFT_ENTRIES(HOTARU_FIND)
#undef HOTARU_FIND
  }
  std::string version_text() const {
    int v = 0;
    return version(&v) == cufft::kSuccess ? version_text_of(v, 1000) : "";
  }
};

void check_fft(int status, const char* what) {
  check_library(Cufft::kName, status, what);
}

/// One side of lines, in elements.
struct Side {
  int type;
  long long step, line;
  bool operator==(const Side&) const = default;
};

struct Key {
  long long n, batch;
  Side in, out;
  bool operator==(const Key&) const = default;
};

/// A kind of transform that is ready to run, if the library has it.
class Plan {
 public:
  Plan(const Cufft& library, const Key& key) : key_(key), library_(library) {
    check_fft(library.create(&handle_), "cufftCreate");
    // The sizes around a line's count in more dimensions only, but without
    // them the steps do not count either.
    long long n = key.n, in = key.n, out = key.n;
    const bool wide =
        key.in.type == cufft::kR64F || key.in.type == cufft::kC64F;
    serves_ =
        library.set_automatic(handle_, 0) == cufft::kSuccess &&
        library.make(handle_, 1, &n, &in, key.in.step, key.in.line, key.in.type,
                     &out, key.out.step, key.out.line, key.out.type, key.batch,
                     &bytes_,
                     wide ? cufft::kC64F : cufft::kC32F) == cufft::kSuccess;
  }
  ~Plan() { library_.destroy(handle_); }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  const Key& key() const { return key_; }
  bool serves() const { return serves_; }
  size_t bytes() const { return bytes_; }
  void start(const Workspace& room) const {
    check_fft(library_.set_stream(handle_, launching_timeline().handle()),
              "cufftSetStream");
    check_fft(library_.set_room(handle_, room.data()), "cufftSetWorkArea");
  }
  void run(const void* in, void* out, bool forward) const {
    check_fft(library_.run(handle_, const_cast<void*>(in), out,
                           forward ? cufft::kForward : cufft::kBack),
              "cufftXtExec");
  }

 private:
  const Key key_;
  const Cufft& library_;
  cufft::Handle handle_ = 0;
  size_t bytes_ = 0;
  bool serves_ = false;
};

/// A device's plans, the last used first; for who holds the mutex. One that is
/// in use is kept, whatever the limit.
struct Plans {
  std::mutex mutex;
  std::list<std::shared_ptr<const Plan>> all;
  int64_t most = kMostPlans;

  const std::shared_ptr<const Plan>& of(const Cufft& library, const Key& key) {
    const auto at = std::find_if(all.begin(), all.end(), [&](const auto& plan) {
      return plan->key() == key;
    });
    if (at != all.end()) {
      all.splice(all.begin(), all, at);
    } else {
      use(launching_timeline().device());
      all.push_front(std::make_shared<const Plan>(library, key));
      trim(std::max<int64_t>(most, 1));
    }
    return all.front();
  }
  void trim(int64_t left) {
    while (int64_t(all.size()) > left) all.pop_back();
  }
  static Plans& on(int device) {
    static auto* const devices = new std::array<Plans, kMostDevices>;
    return (*devices)[size_t(device)];
  }
};

int64_t item_of(const FftSide& side, DType real) {
  const auto item = int64_t(itemsize(real));
  return side.numbers == FftNumbers::kReal ? item : 2 * item;
}
int type_of(const FftSide& side, DType real) {
  const bool wide = real == DType::kFloat64;
  if (side.numbers == FftNumbers::kReal)
    return wide ? cufft::kR64F : cufft::kR32F;
  return wide ? cufft::kC64F : cufft::kC32F;
}

/// Lines as the library can be told them: a batch, and what is outside of it.
/// What it cannot: steps that are not positive or not whole elements.
class Told {
 public:
  Told(const Lines& l, DType real) {
    if (!l.batch.empty()) {
      outside_ = l.batch;
      const auto most = std::max_element(
          outside_.begin(), outside_.end(),
          [](const Dim& a, const Dim& b) { return a.size < b.size; });
      batch = *most;
      outside_.erase(most);
    }
    calls = fft::count_of(outside_);
    fits = calls <= kMostCalls;
    check(l.source, batch.from, real, [](const Dim& d) { return d.from; });
    check(l.target, batch.to, real, [](const Dim& d) { return d.to; });
  }
  /// Bytes from the beginning to those of a call.
  template <class F>
  int64_t offset(int64_t call, const F& step) const {
    int64_t bytes = 0;
    for (const Dim& d : outside_) {
      bytes += call % d.size * step(d);
      call /= d.size;
    }
    return bytes;
  }
  int64_t from(int64_t call) const {
    return offset(call, [](const Dim& d) { return d.from; });
  }
  int64_t to(int64_t call) const {
    return offset(call, [](const Dim& d) { return d.to; });
  }

  Dim batch;
  int64_t calls = 1;
  bool fits = false;

 private:
  template <class F>
  void check(const FftSide& side, int64_t line, DType real, const F& step) {
    const int64_t item = item_of(side, real);
    // Also real numbers begin where complex ones may.
    const auto whole = int64_t(2 * itemsize(real));
    fits = fits && side.step > 0 && side.step % item == 0 && line % item == 0 &&
           (batch.size == 1 || line > 0) &&
           int64_t(std::bit_cast<uintptr_t>(side.data) % uintptr_t(whole)) == 0;
    for (const Dim& d : outside_) fits = fits && step(d) % whole == 0;
  }
  std::vector<Dim> outside_;
};

void scale(const FftScaleParams& p, DType real) {
  launch(scale_function.of(real),
         {unsigned(ceil_divide(int64_t(p.total), int64_t(kBlock)))}, kBlock, p);
}

Side side_of(const FftSide& side, int64_t line, DType real) {
  const int64_t item = item_of(side, real);
  return {type_of(side, real), side.step / item,
          std::max<int64_t>(line / item, 1)};
}

/// Lines of `points` complex numbers.
FftScaleParams scaling(int64_t points, int64_t lines, double by) {
  FftScaleParams p;
  p.points = Divider(uint32_t(points));
  p.total = uint32_t(points * lines);
  p.scale = by;
  return p;
}

/// Points of lines of `points` after those that `written` is of: conjugates,
/// in reverse.
void conjugates(FftScaleParams written, int64_t points, DType real) {
  const auto half = int64_t(written.points.divisor);
  const auto lines = int64_t(written.total) / half;
  FftScaleParams p = scaling(points - half, lines, 1);
  p.from = static_cast<const char*>(written.from) + written.from_step;
  p.to = static_cast<char*>(written.to) + (points - 1) * written.to_step;
  p.from_step = written.from_step, p.to_step = -written.to_step;
  p.from_line = written.from_line, p.to_line = written.to_line;
  p.conjugate = true;
  scale(p, real);
}

}  // namespace

bool transform_by_cufft(const Lines& l, DType real) {
  const Told told(l, real);
  const Cufft* const library = told.fits ? usable<Cufft>() : nullptr;
  if (!library) return false;
  const int64_t batch = told.batch.size;
  Key key{l.n, batch, side_of(l.source, told.batch.from, real),
          side_of(l.target, told.batch.to, real)};
  // The library writes over lines that it makes real ones of, and imaginary
  // parts where there are none count: it gets a copy, scaled at once.
  const bool copied = l.source.numbers == FftNumbers::kHermitian;
  const int64_t half = l.n / 2 + 1, item = 2 * int64_t(itemsize(real));
  if (copied) key.in = {key.in.type, 1, half};
  // Lines of real numbers have only that half written of which the others are
  // conjugates.
  const bool from_real = l.source.numbers == FftNumbers::kReal;
  const int64_t written = from_real ? half : l.target.points;

  Plans& plans = Plans::on(launching_timeline().device());
  const auto lock = blocking_lock(plans.mutex);
  const std::shared_ptr<const Plan>& kept = plans.of(*library, key);
  const Plan& plan = *kept;
  if (!plan.serves()) return false;
  keep_for_recording(kept);
  const Workspace room(plan.bytes());
  const Workspace copy(copied ? size_t(half * batch * item) : 0);
  plan.start(room);
  for (int64_t call = 0; call < told.calls; ++call) {
    const void* in = static_cast<char*>(l.source.data) + told.from(call);
    char* const out = static_cast<char*>(l.target.data) + told.to(call);
    if (copied) {
      FftScaleParams p = scaling(half, batch, l.target.scale);
      p.from = std::exchange(in, copy.data());
      p.to = copy.data();
      p.from_step = l.source.step;
      p.from_line = told.batch.from;
      p.to_step = item;
      p.to_line = half * item;
      p.real_first = true;
      p.real_last = l.n % 2 == 0;
      scale(p, real);
    }
    plan.run(in, out, !l.source.swap_first);
    if (copied) continue;
    FftScaleParams p = scaling(written, batch, l.target.scale);
    p.from = p.to = out;
    p.from_step = p.to_step = l.target.step;
    p.from_line = p.to_line = told.batch.to;
    if (p.scale != 1) scale(p, real);
    if (written < l.target.points) conjugates(p, l.target.points, real);
  }
  return true;
}

FftPlans fft_plans(int device) {
  Plans& plans = Plans::on(device);
  const auto lock = blocking_lock(plans.mutex);
  return {int64_t(plans.all.size()), plans.most};
}

void limit_fft_plans(int device, int64_t most) {
  HOTARU_CHECK(most >= 0,
               "cuFFT plan cache size must be non-negative, but got ", most);
  Plans& plans = Plans::on(device);
  const auto lock = blocking_lock(plans.mutex);
  plans.most = most;
  if (!plans.all.empty()) use(device);
  plans.trim(most);
}

DeviceLibrary cufft_report() {
  return report_of<Cufft>();
}

}  // namespace hotaru::cuda
