// Calls that a device is told once and runs as a whole, as often as one likes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hotaru/runtime/call_order.h"
#include "hotaru/runtime/kernel.h"

namespace hotaru {

class Storage;

/// When a call began, of any origin, and how long it took, in ns.
struct NodeTime {
  int64_t start, duration;
};

/// Memory that kernels need while they run; shared by graphs of which never two
/// run at a time. Grows, and nothing in it moves.
struct GraphScratch {
  std::vector<Tensor> pieces;
};

/// A graph as the device's interface knows it, and what launches it: handles
/// as numbers.
struct RawGraph {
  uint64_t graph, executable;
};

/// Made by Backend::make_graph. Not from two threads at once.
class DeviceGraph {
 public:
  virtual ~DeviceGraph() = default;
  /// Puts all calls on the stream whose call runs in this thread.
  virtual void launch() = 0;
  /// True if a storage may move for the price of new parameters: no call that
  /// touches it has to be made anew.
  virtual bool follows(const Storage& storage) const = 0;
  /// Storages lie elsewhere than when it was made or last heard so.
  virtual void follow_moves(std::span<const Storage* const> moved) = 0;
  /// launch(), call by call, and when each ran. Waits for the last.
  virtual std::vector<NodeTime> timed_launch() = 0;

  /// Memory beside the operands' that a launch uses.
  virtual std::vector<Tensor> memory() const = 0;
  /// Number of kernels, copies and fills that a launch gives the device to do.
  virtual size_t nodes() const = 0;
  /// How often a launch has to call the device.
  virtual size_t launches() const = 0;
  /// How many pairs of kernels there are of which the second is set up while
  /// the first ends.
  virtual size_t dependent_pairs() const = 0;
  /// The device's own graphs: one, unless calls in between cannot be part of
  /// one. Whoever changes them says so by instantiate().
  virtual std::vector<RawGraph> raw() const = 0;
  virtual void instantiate() = 0;
};

/// The calls of a graph and their order. They outlive what is made of them.
struct GraphCalls {
  std::vector<const KernelCall*> calls;
  CallOrder order;
  /// Kernels may be set up while those before them end.
  bool dependent_launch = false;
};

}  // namespace hotaru
