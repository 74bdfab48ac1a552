// Kernels on the device: found by their symbol, launched on the stream whose
// call runs in this thread.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <string>
#include <string_view>

#include "hotaru/backend/cuda/params/types.h"
#include "hotaru/backend/cuda/stream.h"
#include "hotaru/core/printing/concat.h"

namespace hotaru::cuda {

/// A kernel of the library's images. Copies of one symbol share nothing; keep
/// it. Thread-safe.
class Function {
 public:
  explicit Function(std::string symbol) : symbol_(std::move(symbol)) {}
  const std::string& symbol() const { return symbol_; }
  /// Loads it at first need. Throws Error if no image holds it.
  CUfunction on(int device) const {
    const CUfunction f =
        loaded_[size_t(device)].load(std::memory_order_acquire);
    return f ? f : load(device);
  }

 private:
  CUfunction load(int device) const;

  std::string symbol_;
  mutable std::array<std::atomic<CUfunction>, kMostDevices> loaded_{};
};

namespace detail {
/// Fills a table's place, unless another thread was faster; lives for ever.
const Function& make_function(std::atomic<const Function*>& place,
                              std::string symbol);
}  // namespace detail

/// Functions by a small number. Each is made when it is first asked for, and
/// found without a lock from then on. Make tables static. Thread-safe.
template <size_t kCount>
class FunctionTable {
 public:
  /// symbol(): what the i-th one is called.
  template <class F>
  const Function& at(size_t i, const F& symbol) const {
    const Function* f = made_[i].load(std::memory_order_acquire);
    return f ? *f : detail::make_function(made_[i], symbol());
  }

 private:
  mutable std::array<std::atomic<const Function*>, kCount> made_{};
};

/// A kernel's functions for all elements: <name>_<suffix><pass>, where suffix
/// is the dtype's, or the number of an element's bytes.
class Functions {
 public:
  /// Keeps the texts as they are given: literals.
  constexpr explicit Functions(std::string_view name,
                               std::string_view pass = {})
      : name_(name), pass_(pass) {}
  std::string_view name() const { return name_; }
  /// Throws for dtypes that no kernel computes with.
  const Function& of(DType dtype) const {
    if (is_rare(dtype)) refuse_dtype(std::string(name_).c_str(), dtype);
    return table_.at(size_t(dtype), [&] {
      return concat(name_, "_", type_suffix(dtype), pass_);
    });
  }
  /// bytes: a power of two, at most 16.
  const Function& of_size(size_t bytes) const {
    return table_.at(kSizes + size_t(std::countr_zero(bytes)),
                     [&] { return concat(name_, "_", bytes, pass_); });
  }

 private:
  static constexpr size_t kSizes = 16;  // behind the dtypes

  std::string_view name_, pass_;
  FunctionTable<kSizes + 5> table_;
};

struct Grid {
  unsigned x = 1, y = 1, z = 1;
};

/// Launches on launching_timeline(). A grid without blocks is nothing to do. A
/// function that ever has more than 48 KiB of shared memory has always as much.
void launch(const Function& function, Grid grid, unsigned block,
            unsigned shared_bytes, const void* params);
template <class Params>
void launch(const Function& function, Grid grid, unsigned block,
            const Params& params, unsigned shared_bytes = 0) {
  launch(function, grid, block, shared_bytes,
         static_cast<const void*>(&params));
}

/// Bytes of shared memory that a launch may have as they are (CUDA's guide,
/// table of compute capabilities); a function has to be allowed more.
inline constexpr unsigned kSharedUnasked = 48 << 10;
void allow_shared(CUfunction function, unsigned bytes);
/// Says whether a kernel's threads begin with begin_kernel()
/// (device/platform.h), so that graphs may set it up early. Those of users and
/// libraries do not.
enum class Begins : bool { kAtOnce, kByWaiting };
/// The same of a kernel with any number of parameters, in blocks of any shape.
/// An empty grid is an error, as for CUDA; shared memory has to be allowed.
void launch(CUfunction function, const char* name, Grid grid, Grid block,
            unsigned shared_bytes, void** params,
            Begins begins = Begins::kAtOnce);

/// Memory for the time of a call: it is given back when the object goes, and
/// the stream runs what uses it before what gets it next. A graph keeps it.
class Workspace {
 public:
  explicit Workspace(size_t bytes);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  void* data() const { return data_; }

 private:
  int device_;
  size_t bytes_;
  CallRecorder* recorder_;
  void* data_;
};

/// Address of a tensor's first element for a kernel of the launching device.
/// Throws Error for memory that lies elsewhere.
void* device_address(const Tensor& t);

}  // namespace hotaru::cuda
