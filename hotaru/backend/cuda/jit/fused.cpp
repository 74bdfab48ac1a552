#include "hotaru/backend/cuda/jit/fused.h"

#include <array>
#include <atomic>
#include <condition_variable>

#include "hotaru/backend/cuda/geometry.h"
#include "hotaru/backend/cuda/graph/recorder.h"
#include "hotaru/backend/cuda/jit/fused_text.h"
#include "hotaru/backend/cuda/jit/program.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/pointwise/fused.h"
#include "hotaru/backend/cuda/pointwise/formula.h"
#include "hotaru/backend/cuda/pointwise/pointwise.h"
#include "hotaru/core/error.h"
#include "hotaru/runtime/blocking.h"
#include "hotaru/runtime/threads/scheduler.h"

namespace hotaru::cuda::jit {
namespace {

struct Background {
  std::mutex mutex;
  std::condition_variable done;
  int running = 0;
};
Background& background() {
  static auto* const one = new Background;
  return *one;
}

/// One of a group's two kernels.
class Variant final : public PendingKernel {
 public:
  enum State : int { kNew, kCompiling, kReady, kRefused };

  bool settled() const override {
    return state_ == kReady || state_ == kRefused;
  }
  /// Null while it is compiled, or if it cannot be.
  const Program* get() const {
    return state_.load(std::memory_order_acquire) == kReady ? program_.get()
                                                            : nullptr;
  }
  /// Begins to compile the text, at the first call.
  static void begin(const std::shared_ptr<Variant>& self,
                    const std::string& text, int device) {
    int before = kNew;
    if (!self->state_.compare_exchange_strong(before, kCompiling)) return;
    {
      const std::lock_guard lock(background().mutex);
      ++background().running;
    }
    hotaru::launch([self, text, device] {
      State state = kRefused;
      try {
        KernelSource source{text, concat("hotaru::cuda::", kFusedName)};
        source.uses_headers = true;
        self->program_ = compiled(source, device);
        state = kReady;
      } catch (const Error&) {
        // The precompiled kernels serve.
      }
      self->state_.store(state, std::memory_order_release);
      const std::lock_guard lock(background().mutex);
      --background().running;
      background().done.notify_all();
    });
  }

 private:
  std::atomic<int> state_{kNew};
  std::shared_ptr<const Program> program_;
};

/// What a group of calls has become.
struct Made {
  FusedText text;
  std::array<std::shared_ptr<Variant>, 2> variants{std::make_shared<Variant>(),
                                                   std::make_shared<Variant>()};
};

std::shared_ptr<Made> made_of(const FusedCalls& calls) {
  const std::lock_guard lock(calls.mutex);
  if (!calls.made) {
    auto made = std::make_shared<Made>();
    made->text = fused_text(calls);
    calls.made = std::move(made);
  }
  return std::static_pointer_cast<Made>(calls.made);
}

constexpr int kOperands = FusedParams::kMostOperands;

/// Numbers and formula objects, as of now.
void set_values(FusedParams& p, const FusedText& text) {
  for (size_t i = 0; i < text.formulas.size(); ++i)
    formula_of(text.formulas[i]->kernel())
        ->object(*text.formulas[i], p.formula[i]);
  for (size_t i = 0; i < text.numbers.size(); ++i)
    visit_dtype(
        RealAndBoolTypes{}, text.numbers[i].as, "fused", [&]<class T>() {
          const auto value = number_on_cpu<OpMath<T>>(*text.numbers[i].tensor);
          std::memcpy(p.number[i], &value, sizeof(value));
        });
}

void run_each(const FusedCalls& calls) {
  for (const KernelCall* call : calls.calls) call->run(DeviceType::kCUDA);
}

/// The kernel "fused_calls".
void run_fused(const KernelCall& call) {
  const FusedCalls& calls = *call.attributes<FusedAttributes>().calls;
  const std::shared_ptr<Made> made = made_of(calls);
  const FusedText& text = made->text;
  const Tensor& shape = calls.calls.front()->tensor(0);
  if (text.dense.empty() || shape.numel() >= most_elements())
    return run_each(calls);
  std::array<const Tensor*, kOperands> tensors{};
  for (size_t k = 0; k < text.operands.size(); ++k) {
    device_address(*text.operands[k]);
    tensors[k] = text.operands[k];
  }
  const auto all = Geometry<kOperands>::of(tensors, shape.sizes());
  const uint32_t length = fused_length(text.item);
  bool dense = true;
  for (size_t k = 0; k < text.operands.size(); ++k) {
    const Tensor& t = *text.operands[k];
    const size_t item = itemsize(t.dtype());
    const bool one = t.numel() == 1 && shape.numel() > 1;
    dense =
        dense &&
        (one ||
         (all.dense(k, item) &&
          reinterpret_cast<uintptr_t>(all.address[k]) % (item * length) == 0));
  }
  const auto& variant = made->variants[dense ? 0 : 1];
  const int device = launching_timeline().device();
  Variant::begin(variant, dense ? text.dense : text.strided, device);
  const Program* const program = variant->get();
  if (!program) {
    CallRecorder* const recorder = launching_timeline().recorder();
    if (recorder && !variant->settled()) recorder->await(variant);
    return run_each(calls);
  }
  FusedParams p;
  for (size_t k = 0; k < text.operands.size(); ++k)
    p.address[k] = all.address[k];
  p.numel = uint32_t(all.numel());
  if (!dense) p.index = all.index();
  set_values(p, text);
  void* params[] = {&p};
  const uint32_t items = dense ? kBlock * length : kBlock;
  launch(program->on(device), kFusedName,
         {blocks_for(int64_t(p.numel), int64_t(items))}, {kBlock}, 0, params);
}

HOTARU_KERNEL(kCUDA, "fused_calls", run_fused);

}  // namespace

void finish_compiling() {
  const BlockingRegion region;
  std::unique_lock lock(background().mutex);
  background().done.wait(lock, [] { return background().running == 0; });
}

}  // namespace hotaru::cuda::jit
