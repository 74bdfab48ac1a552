// Automatic mixed precision: operators called by name (from Python, TorchScript
// or C++) take their floating-point tensors in the dtype that PyTorch's lists
// say. Operators that are on no list never learn of it: those on one are called
// by another way from the moment that a thread first turns autocast on.
#pragma once

#include <array>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "hotaru/core/value.h"

namespace hotaru {

class Operator;

namespace autocast {

/// Fate of an operator's floating-point tensors of the device. Float64 stays as
/// it is, always.
enum class Policy : uint8_t {
  kNone,
  kLower,        // to autocast's dtype
  kFloat,        // to float32
  kSetDType,     // as they are; dtype=float32, unless another is given
  kAppendDType,  // as they are; the overload with a dtype, float32
  kPromote,      // to the widest among them
  kBanned,       // an error
};

/// One line of the lists: name, with its overload if it has one.
struct Entry {
  std::string_view name;
  Policy cpu, cuda;
};
const std::vector<Entry>& entries();

struct OfDevice {
  bool enabled;
  DType dtype;
};
/// A thread's state.
struct State {
  std::array<OfDevice, 2> devices{
      {{false, DType::kBFloat16}, {false, DType::kFloat16}}};
  /// Set if casts of float32 leaves that require grad are kept.
  bool cache = true;
  /// The device that tensors of the meta device stand for.
  DeviceType meta = DeviceType::kMeta;
};

/// Tells whether a device can have autocast: the CPU and CUDA.
bool available(DeviceType type);
/// This thread's. Of a device that has none: off, and an error to change.
const State& state();
void set_state(const State& state);
OfDevice of(DeviceType type);
void set_enabled(DeviceType type, bool enabled);
void set_dtype(DeviceType type, DType dtype);
void set_cache_enabled(bool enabled);
/// Scopes that the thread is in; returns how many they are then.
int64_t add_nesting(int64_t scopes);
/// Lets the casts go that this thread keeps.
void clear_cache();

/// True if it is on for some device.
bool active();
/// Equal where the same calls give results of the same dtypes; 0 when off.
int64_t key();

/// Calls an operator by its name, where autocast stands before it; its first
/// result. For what C++ calls itself, where active().
Tensor by_name(std::string_view name, std::string_view overload,
               std::initializer_list<Value> arguments);
/// A tensor as an operator of policy kLower takes it: for operators that are
/// on no list and call, here in C++, one that is.
Tensor lowered(const Tensor& t);

/// Note of what autocast did to an argument of an operator: a tensor that was
/// cast, or a dtype that was filled in (`filled`, its place; -1 otherwise).
/// Without a name where an operator cast what it works with itself.
struct Note {
  std::string_view name;
  Tensor tensor;
  DType dtype;
  int filled = -1;
};
/// Where this thread's calls note that from now on (nowhere for null): a trace
/// writes the casts down. Returns where they did before.
std::vector<Note>* note_casts(std::vector<Note>* notes);

/// Off in a scope, on all devices.
class Off {
 public:
  Off() : saved_(state()) { set_state({}); }
  ~Off() { set_state(saved_); }
  Off(const Off&) = delete;
  Off& operator=(const Off&) = delete;

 private:
  State saved_;
};

}  // namespace autocast
}  // namespace hotaru
