#include "hotaru/backend/cuda/kernel_errors.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <utility>

#include "hotaru/backend/cuda/graph/recorder.h"
#include "hotaru/backend/cuda/stream.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/tensor.h"

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

void KernelErrors::begin(bool of_graph) {
  const std::lock_guard lock(mutex_);
  of_graph_ = of_graph;
  recent_.clear();
  recent_.resize(of_graph ? 1 : kRemembered);
}

ErrorSink KernelErrors::watch(const KernelCall& call, const FailureText& text) {
  const std::lock_guard lock(mutex_);
  ++calls_;
  // A graph's stand in the order of their numbers, wherever these begin.
  if (of_graph_ && place_of(calls_).number != 0) {
    std::vector<Call> more(recent_.size() * 2);
    for (Call& call : recent_)
      more[size_t(call.number % more.size())] = std::move(call);
    recent_ = std::move(more);
  }
  Call& kept = place_of(calls_);
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

void KernelErrors::fail(const std::exception_ptr& error) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = error;
  given_up_ = true;
}

void KernelErrors::raise() {
  const std::lock_guard lock(mutex_);
  if (given_up_.exchange(false))
    std::rethrow_exception(std::exchange(failure_, nullptr));
  // Kernels of other streams look at `claimed` meanwhile.
  ErrorReport found;
  found.ready = __atomic_load_n(&report_->ready, __ATOMIC_ACQUIRE);
  if (found.ready == 0) return;  // another thread has raised it
  found.code = report_->code;
  std::copy_n(report_->numbers, std::size(found.numbers), found.numbers);
  __atomic_store_n(&report_->ready, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&report_->claimed, 0, __ATOMIC_RELEASE);
  const Call& call = place_of(found.ready);
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
        with_call(of_graph_ ? "a graph's call" : "a queued call",
                  call.kernel->name(), shapes));
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

std::shared_ptr<KernelErrors> make_graph_errors(int device) {
  std::shared_ptr<KernelErrors> out(&take_errors(device),
                                    [device](KernelErrors* errors) {
                                      errors->begin(false);
                                      give_errors_back(device, *errors);
                                    });
  out->begin(true);
  return out;
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
  StreamTimeline& timeline = launching_timeline();
  if (CallRecorder* recorder = timeline.recorder())
    return recorder->watch(call, text);
  return timeline.errors().watch(call, text);
}

}  // namespace hotaru::cuda
