// The device table's entry for CUDA.
#include <memory>
#include <mutex>
#include <sstream>
#include <vector>

#include "hotaru/backend/cuda/allocator.h"
#include "hotaru/backend/cuda/call_timer.h"
#include "hotaru/backend/cuda/collective/communicator.h"
#include "hotaru/backend/cuda/cupti/activity_timer.h"
#include "hotaru/backend/cuda/devices.h"
#include "hotaru/backend/cuda/fused/pending.h"
#include "hotaru/backend/cuda/fused/row_part.h"
#include "hotaru/backend/cuda/graph/cuda_graph.h"
#include "hotaru/backend/cuda/images.h"
#include "hotaru/backend/cuda/jit/compiler.h"
#include "hotaru/backend/cuda/jit/program.h"
#include "hotaru/backend/cuda/libraries/cudnn_conv.h"
#include "hotaru/backend/cuda/libraries/cufft.h"
#include "hotaru/backend/cuda/libraries/library.h"
#include "hotaru/backend/cuda/libraries/nvrtc.h"
#include "hotaru/backend/cuda/philox.h"
#include "hotaru/backend/cuda/pinned.h"
#include "hotaru/backend/cuda/stream.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::cuda {

namespace {

Generator& generator_of(int device) {
  check_device(device);
  static auto* mutex = new std::mutex;
  static auto* made = new std::vector<Ref<Generator>>;
  bool began = false;
  Generator* found = nullptr;
  {
    const std::lock_guard lock(*mutex);
    for (int i = int(made->size()); i < device_count(); ++i, began = true)
      made->push_back(make_ref<PhiloxGenerator>(i));
    found = (*made)[size_t(device)].get();
  }
  if (began) run_begin_hook();
  return *found;
}

class CudaBackend final : public Accelerator {
 public:
  int device_count() override {
    const int count = cuda::device_count();
    if (count > 0) watch_devices();
    return count;
  }
  int current_device() override {
    watch_devices();
    return cuda::current_device();
  }
  void check_device(int device) override {
    watch_devices();
    cuda::check_device(device);
  }
  Allocator& allocator(int device) override { return cuda::allocator(device); }
  Generator& default_generator(int device) override {
    return generator_of(device);
  }
  const Stream& default_stream(int device) override {
    return cuda::default_stream(device);
  }
  Stream make_stream(int device, int priority) override {
    return cuda::make_stream(device, priority);
  }
  bool convolves_channels_last(DType dtype) override {
    return is_floating_point(dtype) && dtype != DType::kFloat64;
  }
  std::unique_ptr<DeviceGraph> make_graph(int device, const GraphCalls& calls,
                                          GraphScratch& scratch) override {
    if (!driver().has_graphs) return nullptr;
    return std::make_unique<CudaGraph>(device, calls, scratch);
  }
  FusedRole fused_role(const KernelCall& call) override {
    return usable<Nvrtc>() ? fused::fused_role(call) : FusedRole();
  }
  Ref<Generator> make_generator(int device) override {
    return make_ref<PhiloxGenerator>(device);
  }

  bool initialized() override { return is_initialized(); }
  std::vector<DeviceLibrary> libraries(std::string_view name) override {
    return library_reports(name);
  }
  void add_library_root(std::string folder) override {
    cuda::add_library_root(std::move(folder));
  }
  FftPlans fft_plans(int device) override {
    cuda::check_device(device);
    return cuda::fft_plans(device);
  }
  void limit_fft_plans(int device, int64_t most) override {
    cuda::check_device(device);
    cuda::limit_fft_plans(device, most);
  }
  void initialize() override { use(current_device()); }
  bool in_software() override { return is_soft(); }
  int driver_version() override { return cuda::driver_version(); }
  std::vector<std::string> architectures() override {
    std::vector<std::string> out;
    if (images().empty()) return out;
    std::istringstream list(HOTARU_CUDA_ARCHS);
    for (std::string arch; std::getline(list, arch, ',');)
      out.push_back(arch.ends_with("-virtual")
                        ? "compute_" + arch.substr(0, arch.find('-'))
                        : "sm_" + arch);
    return out;
  }
  void set_current_device(int device) override {
    watch_devices();
    cuda::set_current_device(device);
  }
  void synchronize(int device) override { synchronize_device(device); }
  const DeviceProperties& properties(int device) override {
    return cuda::properties(device);
  }
  bool can_access_peer(int device, int peer) override {
    return cuda::can_access_peer(device, peer);
  }
  uint64_t stream_handle(const Stream& stream) override {
    return reinterpret_cast<uint64_t>(raw_stream(stream));
  }
  Stream external_stream(int device, uint64_t handle) override {
    return cuda::external_stream(device, reinterpret_cast<CUstream>(handle));
  }
  std::pair<int, int> priority_range() override {
    int least = 0, greatest = 0;
    cuda::priority_range(least, greatest);
    return {least, greatest};
  }
  std::shared_ptr<const OwnKernel> compile_kernel(const KernelSource& source,
                                                  int device) override {
    cuda::check_device(device);
    return jit::compiled(source, device);
  }
  std::string communicator_key() override {
    return NcclCommunicator::make_key();
  }
  Ref<Communicator> make_communicator(const std::string& key, int rank,
                                      int size, int device) override {
    cuda::check_device(device);
    return make_ref<NcclCommunicator>(key, rank, size, device);
  }
  CompileCounts compile_counts() override { return jit::counts(); }
  void finish_compiling() override { fused::finish_compiling(); }
  std::pair<std::string, std::string> compile_image(
      const KernelSource& source) override {
    jit::Image image = jit::compile(jit::input_of(source, ""));
    return {std::move(image.code), std::move(image.symbol)};
  }
  std::shared_ptr<DeviceTimer> make_timer() override {
    std::string complaint;
    if (auto timer = make_activity_timer(complaint)) return timer;
    return make_call_timer(std::move(complaint));
  }
  std::pair<size_t, size_t> memory_info(int device) override {
    size_t free = 0, total = 0;
    cuda::memory_info(device, free, total);
    return {free, total};
  }
  MemoryStats memory_stats(int device) override {
    return checked(device).stats();
  }
  void reset_peak_stats(int device) override { checked(device).reset_peaks(); }
  void reset_accumulated_stats(int device) override {
    checked(device).reset_accumulated();
  }
  std::vector<MemorySegment> memory_snapshot(int device) override {
    return checked(device).snapshot();
  }
  void set_memory_fraction(int device, double fraction) override {
    checked(device).set_limit(fraction);
  }
  void release_unused() override {
    if (!is_initialized()) return;
    release_unused_memory();
    cuda::pinned_allocator().release_unused();
  }
  Allocator& pinned_allocator() override { return cuda::pinned_allocator(); }
  bool is_pinned(const void* address) override {
    return cuda::pinned_allocator().holds(address);
  }
  int device_of(const void* address) override {
    unsigned type = 0;
    int device = -1;
    const auto pointer = reinterpret_cast<CUdeviceptr>(address);
    use(current_device());
    const bool found =
        driver().cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                       pointer) == CUDA_SUCCESS &&
        type == CU_MEMORYTYPE_DEVICE &&
        driver().cuPointerGetAttribute(&device,
                                       CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                       pointer) == CUDA_SUCCESS;
    HOTARU_CHECK_AS(ValueError, found,
                    "The specified pointer resides on host "
                    "memory and is not registered with any CUDA device.");
    return device;
  }

 private:
  static CudaAllocator& checked(int device) {
    cuda::check_device(device);
    return cuda::allocator(device);
  }
  /// From now on the door looks at operands' devices.
  static void watch_devices() {
    static const bool watched = [] {
      detail::watchers.fetch_add(detail::kOneDevice);
      return true;
    }();
    (void)watched;
  }
};

const bool registered = [] {
  DeviceTable::instance().set_backend(DeviceType::kCUDA, new CudaBackend);
  return true;
}();

}  // namespace
}  // namespace hotaru::cuda
