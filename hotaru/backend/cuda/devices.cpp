#include "hotaru/backend/cuda/devices.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "hotaru/core/checks/check.h"
#include "hotaru/platform/fork.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru::cuda {
namespace {

constinit std::atomic<bool> lost_by_fork{false};
constinit std::atomic<bool> began{false};  // a context was made
constinit thread_local int chosen_device = 0;
constinit thread_local int device_in_use = -1;

struct OneDevice {
  CUdevice handle = 0;
  DeviceProperties properties;
  std::once_flag once;
  CUcontext context = nullptr;
  /// Bit p: the memory of device p has been opened to this one.
  std::atomic<uint64_t> peers{0};
};

/// Findings about the machine, made once.
struct Machine {
  const Driver* driver = nullptr;
  std::string why_not;
  CUresult began_with = CUDA_SUCCESS;
  std::vector<std::unique_ptr<OneDevice>> devices;
};

DeviceProperties read_properties(const Driver& d, CUdevice device) {
  const auto attribute = [&](CUdevice_attribute which) {
    int value = 0;
    d.cuDeviceGetAttribute(&value, which, device);
    return value;
  };
  DeviceProperties p;
  char name[256] = "";
  d.cuDeviceGetName(name, sizeof(name), device);
  p.name = name;
  d.cuDeviceTotalMem(&p.total_memory, device);
  p.major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  p.minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  p.l2_cache = size_t(attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
  p.processors = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  p.threads_per_processor =
      attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  p.registers_per_processor =
      attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  p.shared_per_block =
      size_t(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK));
  p.shared_per_block_optin =
      size_t(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  p.shared_per_processor = size_t(
      attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR));
  p.integrated = attribute(CU_DEVICE_ATTRIBUTE_INTEGRATED);
  p.pci_bus = attribute(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
  p.pci_device = attribute(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID);
  p.pci_domain = attribute(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID);
  CUuuid uuid{};
  d.cuDeviceGetUuid(&uuid, device);
  constexpr char kDigits[] = "0123456789abcdef";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) p.uuid += '-';
    p.uuid += kDigits[uint8_t(uuid.bytes[i]) >> 4];
    p.uuid += kDigits[uint8_t(uuid.bytes[i]) & 15];
  }
  return p;
}

const Machine& machine() {
  static const Machine* const found = [] {
    auto* m = new Machine;
    m->driver = load_driver(m->why_not);
    if (!m->driver) return m;
    m->began_with = m->driver->cuInit(0);
    int count = 0;
    if (m->began_with == CUDA_SUCCESS) m->driver->cuDeviceGetCount(&count);
    for (int i = 0; i < std::min(count, kMostDevices); ++i) {
      auto one = std::make_unique<OneDevice>();
      m->driver->cuDeviceGet(&one->handle, i);
      one->properties = read_properties(*m->driver, one->handle);
      m->devices.push_back(std::move(one));
    }
    platform::at_fork(nullptr, nullptr, [] {
      if (began) lost_by_fork = true;
    });
    return m;
  }();
  return *found;
}

OneDevice& one(int device) {
  check_device(device);
  return *machine().devices[size_t(device)];
}

}  // namespace

bool forked() {
  return lost_by_fork.load(std::memory_order_relaxed);
}

int device_count() {
  return forked() ? 0 : int(machine().devices.size());
}

bool is_soft() {
  return machine().driver && machine().driver->soft();
}

int driver_version() {
  return machine().driver ? machine().driver->version : 0;
}

bool is_initialized() {
  return began.load() && !forked();
}

void check_available() {
  HOTARU_CHECK(!forked(),
               "Cannot re-initialize CUDA in forked subprocess. To use CUDA "
               "with multiprocessing, you must use the 'spawn' start method");
  const Machine& m = machine();
  if (!m.devices.empty()) return;
  HOTARU_CHECK(m.driver && m.began_with != CUDA_ERROR_NO_DEVICE,
               m.driver ? "No CUDA GPUs are available"
                        : "Found no NVIDIA driver on your system. Please check "
                          "that you have an NVIDIA GPU and installed a driver "
                          "from http://www.nvidia.com/Download/index.aspx",
               m.driver ? "" : concat(" (", m.why_not, ")"));
  check(m.began_with, "cuInit");
  fail("No CUDA GPUs are available");
}

const Driver& driver() {
  if (forked() || machine().devices.empty()) [[unlikely]]
    check_available();
  return *machine().driver;
}

void check_device(int device) {
  check_available();
  HOTARU_CHECK(device >= 0 && device < device_count(),
               "CUDA error: invalid device ordinal\nGPU device may be out of "
               "range, do you have enough GPUs?");
}

const DeviceProperties& properties(int device) {
  return one(device).properties;
}

bool can_access_peer(int device, int peer) {
  if (device == peer) return false;
  int can = 0;
  HOTARU_CUDA(cuDeviceCanAccessPeer, &can, one(device).handle,
              one(peer).handle);
  return can;
}

int current_device() {
  check_available();
  return chosen_device;
}

void set_current_device(int device) {
  check_device(device);
  chosen_device = device;
}

CUcontext context(int device) {
  OneDevice& d = one(device);
  std::call_once(d.once, [&] {
    HOTARU_CUDA(cuDevicePrimaryCtxRetain, &d.context, d.handle);
    began = true;
  });
  return d.context;
}

void use(int device) {
  if (device == device_in_use && !forked()) [[likely]]
    return;
  HOTARU_CUDA(cuCtxSetCurrent, context(device));
  device_in_use = device;
}

DeviceScope::DeviceScope(int device) : before_(device_in_use) {
  use(device);
}

DeviceScope::~DeviceScope() {
  if (before_ < 0 || before_ == device_in_use || forked()) return;
  // Where this fails, the next use() tries again and says so.
  const CUresult result = driver().cuCtxSetCurrent(context(before_));
  device_in_use = result == CUDA_SUCCESS ? before_ : -1;
}

void memory_info(int device, size_t& free, size_t& total) {
  use(device);
  HOTARU_CUDA(cuMemGetInfo, &free, &total);
}

}  // namespace hotaru::cuda
