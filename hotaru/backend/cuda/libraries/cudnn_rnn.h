// Recurrent layers by cuDNN: what it is told of a stack of them, and where it
// wants their weights.
#pragma once

#include <memory>
#include <vector>

#include "hotaru/backend/common/rnn/rnn_stack.h"
#include "hotaru/backend/cuda/libraries/cudnn_graph.h"

namespace hotaru::cuda::dnn {

/// A descriptor that is set by one call.
class Described {
 public:
  using Create = int (*)(Descriptor*);
  using Destroy = int (*)(Descriptor);
  Described(Create create, Destroy destroy) : destroy_(destroy) {
    check_dnn(create(&handle_), "a descriptor");
  }
  ~Described() { destroy_(handle_); }
  Described(const Described&) = delete;
  Described& operator=(const Described&) = delete;
  operator Descriptor() const { return handle_; }

 private:
  Descriptor handle_ = nullptr;
  Destroy destroy_;
};

/// Bytes of a parameter, from the `from`-th of it on, and where they are in the
/// library's weights.
struct WeightPlace {
  size_t param;
  size_t from, at, bytes;
};

/// Descriptors of a stack; of a device.
class RnnPlan {
 public:
  RnnPlan(const Cudnn& dnn, Handle handle, const RnnStack& stack);
  /// True if the library takes it.
  bool serves() const { return serves_; }

  /// In runs as long as they can be. `weights`: where such weights lie. Hold
  /// the handle's lock.
  const std::vector<WeightPlace>& places(Handle handle, void* weights) const;

  const Described rnn, x, y, h, c;
  size_t weight_bytes = 0, workspace_bytes = 0, reserve_bytes = 0;

 private:
  bool set(Handle handle);
  std::vector<WeightPlace> find_places(Handle handle, void* weights) const;

  const Cudnn& dnn_;
  const RnnStack stack_;
  const Described dropout_;
  mutable std::vector<WeightPlace> places_;
  bool serves_;
};

/// The plan of a stack on a device; null where the library is not to be had,
/// is switched off or does not take such a stack.
std::shared_ptr<const RnnPlan> find_plan(const RnnStack& stack, int device);

}  // namespace hotaru::cuda::dnn
