// A graph that can run: nodes with addresses, prepared once.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "hotaru/core/mutex.h"
#include "hotaru/core/tensor.h"
#include "hotaru/graph/capture/capture.h"
#include "hotaru/graph/program/memory_plan.h"
#include "hotaru/runtime/device_graph.h"
#include "hotaru/runtime/streams/uses.h"

namespace hotaru::graph {

/// Memory of a device that values of graphs lie in.
class Arena final : public RefCounted {
 public:
  Arena(size_t nbytes, Device device);
  char* data() const { return data_; }
  size_t nbytes() const { return memory_.storage()->nbytes(); }
  /// All of it, for a call that uses values.
  const Tensor& memory() const { return memory_; }

 private:
  const Tensor memory_;
  char* const data_;
};

/// Shared by graphs of which never two run at the same time: they put their
/// intermediate values into the same memory. Thread-safe.
class Pool final : public RefCounted {
 public:
  /// Memory of at least that size; the same one to all of a device if it is
  /// large enough.
  Ref<Arena> arena(size_t nbytes, Device device);
  /// Scratch memory of a device; for who holds the turn.
  GraphScratch& scratch(Device device);
  /// Held while one of the pool's graphs runs, or is launched: devices order
  /// what they do with an arena by themselves.
  class Turn {
   public:
    explicit Turn(Pool& pool);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Pool& pool_;
  };

 private:
  Mutex mutex_;
  std::vector<Ref<Arena>> arenas_;  // one a device
  std::map<int, GraphScratch> scratch_;
  Mutex turn_;
};

/// Nodes, their memory, and what to do for each. run() allocates nothing and
/// looks nothing up.
class Program {
 public:
  /// Gives the region's values their places in the pool's memory.
  Program(Region region, Ref<Pool> pool);

  /// All nodes; branches side by side, the others in this thread. Waits while
  /// another graph of the pool runs. Throws the first error of a node, which it
  /// names, and stops there. On devices that have graphs it launches one.
  void run();
  /// One after the other, and when each node ran.
  std::vector<NodeTime> timed_run();

  /// True if a run takes long enough that others should be let run beside it:
  /// Python's other threads, and callers in order of arrival.
  bool is_long() const { return is_long_; }

  Device device() const { return device_; }
  const Nodes& nodes() const { return nodes_; }
  const Nodes& once() const { return once_; }
  std::span<const Stretch> stretches() const { return stretches_; }
  /// Bytes that the calls of `once` keep.
  size_t kept_bytes() const;
  const MemoryPlan& plan() const { return plan_; }
  /// Graph that the device made of the nodes; null if they run one by one.
  DeviceGraph* device_graph() const { return graph_.get(); }
  /// Operands that it touches besides its intermediate values, each storage
  /// once, with how: for the door.
  std::span<const Operand> operands() const { return operands_; }

 private:
  struct Step {
    KernelFunction function;
    const KernelCall* call;
    std::unique_ptr<PreparedCall> prepared;
  };
  /// Where a storage was when the steps were prepared.
  struct Place {
    const Storage* storage;
    const void* data;
    size_t nbytes;
  };
  using Steps = std::vector<Step>;

  void collect_operands();
  void watch();
  void prepare();
  Steps prepared(const Nodes& nodes) const;
  void make_graph(CallOrder order);
  size_t touched_bytes() const;
  /// Calls done() after each.
  template <class Done>
  static void run_all(std::span<const Step> steps, const Done& done);
  /// Runs `once` if what it read may have changed.
  void keep_up();
  /// Prepares anew if somebody resized a storage meanwhile.
  void follow_moves();
  /// The same with a graph of the device's.
  void tell_moves();
  /// Before nodes may run.
  void settle();
  void run_branches(const Stretch& stretch);

  const Device device_;
  const Ref<Pool> pool_;
  bool is_long_ = false;
  Nodes nodes_, once_;
  std::vector<Stretch> stretches_;
  MemoryPlan plan_;
  Ref<Arena> arena_;
  GraphCalls calls_;  // of graph_
  std::unique_ptr<DeviceGraph> graph_;
  std::vector<Tensor> memory_;  // of graph_
  Steps steps_, once_steps_;
  std::vector<Place> places_;
  std::vector<Operand> operands_;
  /// Watch of what `once` reads; none if there is nothing to run.
  std::optional<Watch> watch_;
  std::vector<const Storage*> sources_;
};

}  // namespace hotaru::graph
