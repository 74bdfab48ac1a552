// The table of devices: what each device type offers at run time.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "hotaru/core/dtype.h"
#include "hotaru/core/mutex.h"
#include "hotaru/core/storage.h"
#include "hotaru/runtime/device_graph.h"
#include "hotaru/runtime/generator.h"
#include "hotaru/runtime/kernel.h"

namespace hotaru {

class Stream;

/// Role that a call can have in a kernel of several calls.
struct FusedRole {
  enum Kind : uint8_t {
    kNone,
    kElements,  // each element for itself
    kChannels,  // with tensors of one element a channel, dimension 1
    kRows,      // what it gives of an element depends on its row
    kReduces,   // a reduction, which can only be the last call
    kHead,      // a kernel of its own; elementwise calls go on with its first
                // operand before that is stored
  };
  Kind kind = kNone;
  /// Tensor that has the elements' shape.
  const Tensor* elements = nullptr;
  /// Elements of a row: the last dimensions.
  int64_t columns = 0;
};

/// Interface that a device type must bring besides kernels. Objects live for
/// the whole process; methods are thread-safe.
class Backend {
 public:
  virtual ~Backend() = default;
  /// 0 where there is none, whatever the reason.
  virtual int device_count() = 0;
  /// The index that the thread means where it names none; -1 for a type that
  /// has no indices. Throws if there is no device.
  virtual int current_device() = 0;
  /// Throws PyTorch's error unless there is a device of that index.
  virtual void check_device(int device) = 0;
  virtual Allocator& allocator(int device) = 0;
  virtual Generator& default_generator(int device) = 0;
  /// The stream that is current where nobody chose another.
  virtual const Stream& default_stream(int device) = 0;
  /// A further stream of the device; a priority below 0 comes first.
  virtual Stream make_stream(int device, int priority) = 0;
  /// True if convolutions of the dtype are best given operands that all have
  /// their channels last; kernels take them row by row in any case.
  virtual bool convolves_channels_last(DType) { return false; }
  /// The calls as one graph of the device; null if it has none, then they run
  /// one by one. Throws what launching them would.
  virtual std::unique_ptr<DeviceGraph> make_graph(int device,
                                                  const GraphCalls& calls,
                                                  GraphScratch& scratch) {
    (void)device, (void)calls, (void)scratch;
    return nullptr;
  }
  /// Role of a call among several that "fused_calls" runs as one kernel.
  virtual FusedRole fused_role(const KernelCall&) { return {}; }
  /// A new generator, seeded with kDefaultSeed.
  virtual Ref<Generator> make_generator(int device) = 0;
};

/// Back ends and kernels by device type; filled as libraries load.
class DeviceTable {
 public:
  static DeviceTable& instance();

  /// Loads the type's library at the first question. Throws, when the type has
  /// no back end here, AssertionError "Torch not compiled with CUDA enabled" or
  /// NotImplementedError.
  Backend& backend(DeviceType type) {
    if (size_t(type) < kDeviceTypes) [[likely]]
      if (Backend* b = backends_[size_t(type)].load(std::memory_order_acquire))
          [[likely]]
        return *b;
    return load(type);
  }
  /// True if somebody has asked for it and it is there.
  bool loaded(DeviceType type) const {
    return size_t(type) < kDeviceTypes &&
           backends_[size_t(type)].load(std::memory_order_acquire);
  }
  /// Once, while the type's library is loaded.
  void set_backend(DeviceType type, Backend* backend) {
    backends_[size_t(type)].store(backend, std::memory_order_release);
  }
  /// Finds or makes a kernel's row; references stay valid.
  Kernel& kernel(std::string_view name);
  /// Every kernel that somebody mentioned, by name.
  std::vector<const Kernel*> kernels();
  /// Loads the type's library where there is one, for its kernels: whether
  /// there is a device does not matter. False without one.
  bool load_kernels(DeviceType type);

 private:
  Backend& load(DeviceType type);

  std::atomic<Backend*> backends_[kDeviceTypes] = {};
  Mutex mutex_;
  std::unordered_map<std::string_view, std::unique_ptr<Kernel>> kernels_;
};

/// How many devices of the type there are to compute on, 0 if there is no back
/// end for it.
int device_count(DeviceType type);

/// Uninitialised memory for a tensor. Row-major unless strides are given.
Tensor allocate(IntSpan sizes, DType dtype, Device device);
Tensor allocate(IntSpan sizes, IntSpan strides, DType dtype, Device device);
/// The device with its index filled in, checked to exist here.
Device resolve(Device device);

}  // namespace hotaru
