#include "hotaru/backend/cuda/launch.h"

#include <mutex>
#include <vector>

#include "hotaru/backend/cuda/allocator.h"
#include "hotaru/backend/cuda/graph/recorder.h"
#include "hotaru/backend/cuda/images.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/tensor.h"

namespace hotaru::cuda {
namespace {

/// The images that were loaded; each when a symbol was not found before it.
class Libraries {
 public:
  CUkernel find(const std::string& symbol) {
    const std::lock_guard lock(mutex_);
    for (const CUlibrary library : loaded_)
      if (CUkernel kernel = look(library, symbol)) return kernel;
    while (next_ < sources().size()) {
      CUlibrary library = nullptr;
      HOTARU_CUDA(cuLibraryLoadData, &library, sources()[next_++], nullptr,
                  nullptr, 0, nullptr, nullptr, 0);
      loaded_.push_back(library);
      if (CUkernel kernel = look(library, symbol)) return kernel;
    }
    fail<NotImplementedError>(
        "CUDA kernel ", symbol, " is not in this build of hotaru",
        sources().empty() ? ": it was built without a CUDA compiler, see "
                            "docs/gpu.md"
                          : "");
  }

 private:
  static CUkernel look(CUlibrary library, const std::string& symbol) {
    CUkernel kernel = nullptr;
    return driver().cuLibraryGetKernel(&kernel, library, symbol.c_str()) ==
                   CUDA_SUCCESS
               ? kernel
               : nullptr;
  }
  /// A GPU in software brings the kernels itself.
  static const std::vector<const void*>& sources() {
    static const std::vector<const void*> all = [] {
      std::vector<const void*> found;
      if (is_soft())
        found.push_back("soft");
      else
        for (const Image& image : images()) found.push_back(image.data);
      return found;
    }();
    return all;
  }

  std::mutex mutex_;
  std::vector<CUlibrary> loaded_;
  size_t next_ = 0;
};

}  // namespace

CUfunction Function::load(int device) const {
  static auto* libraries = new Libraries;
  const CUkernel kernel = libraries->find(symbol_);
  use(device);
  CUfunction function = nullptr;
  HOTARU_CUDA(cuKernelGetFunction, &function, kernel);
  loaded_[size_t(device)].store(function, std::memory_order_release);
  return function;
}

const Function& detail::make_function(std::atomic<const Function*>& place,
                                      std::string symbol) {
  const auto* made = new Function(std::move(symbol));
  const Function* before = nullptr;
  if (place.compare_exchange_strong(before, made, std::memory_order_acq_rel))
    return *made;
  delete made;
  return *before;
}

namespace {

/// The one place from which kernels go to the device, or into a graph.
inline void launch_on(const StreamTimeline& timeline, CUfunction f,
                      const char* name, Grid grid, Grid block,
                      unsigned shared_bytes, void** params, Begins begins) {
  CallRecorder* const recorder = timeline.recorder();
  const CUresult result =
      recorder ? recorder->launch(
                     {f, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                      shared_bytes, params, nullptr, nullptr, nullptr},
                     begins == Begins::kByWaiting)
               : driver().cuLaunchKernel(f, grid.x, grid.y, grid.z, block.x,
                                         block.y, block.z, shared_bytes,
                                         timeline.handle(), params, nullptr);
  if (result != CUDA_SUCCESS) [[unlikely]]
    check(result, name);
}

}  // namespace

void allow_shared(CUfunction function, unsigned bytes) {
  HOTARU_CUDA(cuFuncSetAttribute, function,
              CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, int(bytes));
}

void launch(const Function& function, Grid grid, unsigned block,
            unsigned shared_bytes, const void* params) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  const StreamTimeline& timeline = launching_timeline();
  const CUfunction f = function.on(timeline.device());
  if (shared_bytes > kSharedUnasked) [[unlikely]]
    allow_shared(f, shared_bytes);
  void* arguments[] = {const_cast<void*>(params)};
  launch_on(timeline, f, function.symbol().c_str(), grid, {block}, shared_bytes,
            arguments, Begins::kByWaiting);
}

void launch(CUfunction function, const char* name, Grid grid, Grid block,
            unsigned shared_bytes, void** params, Begins begins) {
  launch_on(launching_timeline(), function, name, grid, block, shared_bytes,
            params, begins);
}

Workspace::Workspace(size_t bytes)
    : device_(launching_timeline().device()),
      bytes_(bytes),
      recorder_(launching_timeline().recorder()),
      data_(recorder_ ? recorder_->allocate(bytes)
                      : allocator(device_).allocate(bytes)) {}

Workspace::~Workspace() {
  if (recorder_)
    recorder_->deallocate(data_);
  else
    allocator(device_).deallocate(data_, bytes_, nullptr);
}

void* device_address(const Tensor& t) {
  if (!t.device().is_cuda())
    refuse_devices({DeviceType::kCUDA, int8_t(launching_timeline().device())},
                   t.device());
  return t.address();
}

}  // namespace hotaru::cuda
