#include "hotaru/backend/cuda/fused/background.h"

#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string_view>

#include "hotaru/backend/cuda/fused/element_text.h"
#include "hotaru/backend/cuda/graph/recorder.h"
#include "hotaru/backend/cuda/params/index.h"
#include "hotaru/core/printing/concat.h"
#include "hotaru/runtime/threads/blocking.h"
#include "hotaru/runtime/threads/scheduler.h"

namespace hotaru::cuda::fused {
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

/// Tells whether graphs wait for their kernels instead.
bool waits() {
  static const bool wait = [] {
    const char* const choice = std::getenv("HOTARU_CUDA_COMPILE");
    return choice && std::string_view(choice) == "wait";
  }();
  return wait;
}

}  // namespace

void BackgroundKernel::compile(const std::string& text, int device) {
  State state = kRefused;
  try {
    KernelSource source;
    source.text = text;
    source.name = concat("hotaru::cuda::", kFusedName);
    source.uses_headers = true;
    // As the kernels were compiled whose place it takes: an asm statement stops
    // nvcc at the border of two calls, not the assembler, which multiplies and
    // adds at once across it. Those of attention are for speed.
    if (text.find("device/attention/") == std::string::npos)
      source.options.emplace_back("--fmad=false");
    program_ = jit::compiled(source, device);
    state = kReady;
  } catch (const std::exception&) {
    // The precompiled kernels serve.
  }
  state_.store(state, std::memory_order_release);
}

void BackgroundKernel::begin(const std::shared_ptr<BackgroundKernel>& self,
                             const std::string& text, int device) {
  int before = kNew;
  if (!self->state_.compare_exchange_strong(before, kCompiling)) return;
  if (waits()) return self->compile(text, device);
  {
    const std::lock_guard lock(background().mutex);
    ++background().running;
  }
  hotaru::launch([self, text, device] {
    self->compile(text, device);
    const std::lock_guard lock(background().mutex);
    --background().running;
    background().done.notify_all();
  });
}

const jit::Program* BackgroundKernel::ready(
    const std::shared_ptr<BackgroundKernel>& self, const std::string& text,
    int device) {
  begin(self, text, device);
  if (const jit::Program* const program = self->get()) return program;
  CallRecorder* const recorder = launching_timeline().recorder();
  if (recorder && !self->settled()) recorder->await(self);
  return nullptr;
}

void launch_fused(const jit::Program& program, int device, Grid grid,
                  void* params, unsigned shared_bytes) {
  if (shared_bytes > 0) program.allow_shared(device, shared_bytes);
  void* all[] = {params};
  launch(program.on(device), kFusedName, grid, {kBlock}, shared_bytes, all,
         Begins::kByWaiting);
}

void finish_compiling() {
  const BlockingRegion region;
  std::unique_lock lock(background().mutex);
  background().done.wait(lock, [] { return background().running == 0; });
}

}  // namespace hotaru::cuda::fused
