#include "hotaru/backend/cuda/kernel_errors.h"

#include <atomic>

#include "hotaru/backend/cuda/stream.h"
#include "hotaru/core/error.h"

namespace hotaru::cuda {
namespace {

/// All that were ever made for a device, as a stream may go before somebody
/// asks for its errors. They are used again and never freed.
struct Made {
  std::mutex mutex;
  std::vector<KernelErrors*> all, unused;
  std::atomic<bool> any{false};
};
Made& made(int device) {
  static auto* devices = new std::array<Made, kMostDevices>;
  return (*devices)[size_t(device)];
}

}  // namespace

KernelErrors::KernelErrors(int device) {
  use(device);
  void* memory = nullptr;
  HOTARU_CUDA(cuMemHostAlloc, &memory, sizeof(ErrorReport),
              CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
  report_ = new (memory) ErrorReport;
  CUdeviceptr address = 0;
  HOTARU_CUDA(cuMemHostGetDevicePointer, &address, memory, 0);
  device_report_ = reinterpret_cast<ErrorReport*>(address);
}

ErrorSink KernelErrors::watch(const KernelCall& call, const FailureText& text) {
  const std::lock_guard lock(mutex_);
  Call& kept = recent_[++calls_ % kRemembered];
  kept.number = calls_;
  kept.kernel = &call.kernel();
  kept.text = text;
  kept.shapes.clear();
  for (const Operand& operand : call.operands()) {
    if (!operand.tensor || !operand.tensor->defined()) continue;
    const IntSpan sizes = operand.tensor->sizes();
    kept.shapes.push_back(int64_t(sizes.size()));
    kept.shapes.insert(kept.shapes.end(), sizes.begin(), sizes.end());
  }
  return {device_report_, calls_};
}

void KernelErrors::raise() {
  const std::lock_guard lock(mutex_);
  const ErrorReport found = *report_;
  if (found.ready == 0) return;  // another thread has raised it
  __atomic_store_n(&report_->ready, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&report_->claimed, 0, __ATOMIC_RELEASE);
  const Call& call = recent_[found.ready % kRemembered];
  HOTARU_CHECK(call.number == found.ready,
               "a CUDA kernel found an index out of range: ", found.numbers[0],
               " (of a call too long ago to be known)");
  std::vector<IntSpan> shapes;
  for (size_t i = 0; i < call.shapes.size();) {
    const auto dims = size_t(call.shapes[i]);
    shapes.emplace_back(call.shapes.data() + i + 1, dims);
    i += 1 + dims;
  }
  try {
    call.text.raise(call.text, found.code, found.numbers);
  } catch (...) {
    std::rethrow_exception(
        with_call("a queued call", call.kernel->name(), shapes));
  }
}

KernelErrors& take_errors(int device) {
  Made& here = made(device);
  const std::lock_guard lock(here.mutex);
  if (here.unused.empty()) {
    here.all.push_back(new KernelErrors(device));
    here.any = true;
    return *here.all.back();
  }
  KernelErrors& errors = *here.unused.back();
  here.unused.pop_back();
  return errors;
}

void give_errors_back(int device, KernelErrors& errors) noexcept {
  Made& here = made(device);
  const std::lock_guard lock(here.mutex);
  here.unused.push_back(&errors);
}

void check_errors(int device) {
  Made& here = made(device);
  if (!here.any.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(here.mutex);
  for (KernelErrors* errors : here.all) errors->check();
}

ErrorSink watch_errors(const KernelCall& call, const FailureText& text) {
  return launching_timeline().errors().watch(call, text);
}

}  // namespace hotaru::cuda
