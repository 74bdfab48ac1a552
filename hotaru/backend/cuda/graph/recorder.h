// Recorder that launchers meet while their calls become part of a graph: they
// run as ever, and what they launch, and the memory that they work in, stays.
#pragma once

#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

#include "hotaru/backend/cuda/fused/pending.h"
#include "hotaru/backend/cuda/graph/scratch.h"
#include "hotaru/backend/cuda/params/random/philox.h"
#include "hotaru/backend/cuda/philox.h"
#include "hotaru/backend/cuda/stream.h"

namespace hotaru::cuda {

/// A call cannot be part of a graph: it is launched between two.
struct NotRecordable : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// A call that is recorded once more wants other nodes than before.
struct NotTheSame : std::runtime_error {
  NotTheSame() : std::runtime_error("a call's nodes changed") {}
};

struct RecordedKernel {
  CUgraphNode node;
  /// Set if it waits by itself for those before it (begin_kernel()).
  bool waits;
};

/// Recorded form of a call.
struct RecordedCall {
  /// Kernels of its own, in the order of their launches.
  std::vector<RecordedKernel> kernels;
  /// Set if there is nothing else, such as a library's kernels.
  bool only_own = false;
  std::vector<ScratchBlock> scratch;
  std::vector<unsigned long long> watched;
  /// How far each generator's draws had come within the graph.
  std::map<PhiloxGenerator*, uint64_t> draws;
};

/// Recorder of one graph, whose calls are recorded one after the other.
class CallRecorder {
 public:
  CallRecorder(int device, const CallOrder& order, GraphScratch& scratch);
  ~CallRecorder();

  // For the graph.

  /// The stream on which calls are recorded.
  StreamTimeline& timeline() const { return *timeline_; }
  /// From now on launchers' doings are call `number`'s.
  void record(RecordedCall& call, size_t number);
  /// The same of a call that is recorded: kernels in `executable` get new
  /// parameters, and nothing else may happen.
  void repeat(RecordedCall& call, CUgraphExec executable);
  /// Throws NotTheSame if a call was repeated only in part.
  void end();
  void abandon();
  /// Forgets all that was recorded.
  void clear();
  /// Draws of a generator from its place in the device's memory on; how many
  /// there were. A generator without a place cannot be drawn from.
  void place(PhiloxGenerator& generator, PhiloxStart* start);
  uint64_t drawn(PhiloxGenerator& generator) const;
  /// True if kernels that were not there are: the graph is worth making anew.
  bool arrived() const;
  /// Memory in which kernels work. After fix_scratch() it stays the same, and
  /// calls that want more cannot be recorded.
  std::vector<Tensor> scratch() const;
  void fix_scratch() { scratch_.fix(); }
  /// Null if no call can fail.
  const std::shared_ptr<KernelErrors>& errors() const { return errors_; }

  // For launchers.

  /// True if the call at hand was recorded before: it may launch kernels by
  /// launch() and nothing else.
  bool repeats() const { return executable_ != nullptr; }
  /// `waits`: whether the kernel's source begins with begin_kernel().
  CUresult launch(const CUDA_KERNEL_NODE_PARAMS& kernel, bool waits);
  void* allocate(size_t bytes);
  void deallocate(void* memory);
  PhiloxState take(PhiloxGenerator& generator, uint64_t draws);
  ErrorSink watch(const KernelCall& call, const FailureText& text);
  /// A kernel that would take the place of what the call launches now.
  void await(std::shared_ptr<const fused::PendingKernel> kernel);
  /// Lives as long as the graph.
  void keep(std::shared_ptr<const void> object);

 private:
  struct Draws {
    PhiloxStart* start = nullptr;
    uint64_t taken = 0;
  };

  const Ref<StreamTimeline> timeline_;
  Scratch scratch_;
  std::map<PhiloxGenerator*, Draws> draws_;
  std::shared_ptr<KernelErrors> errors_;
  std::vector<std::shared_ptr<const void>> kept_;
  std::vector<std::shared_ptr<const fused::PendingKernel>> awaited_;
  // State of the call at hand.
  RecordedCall* call_ = nullptr;
  CUgraphExec executable_ = nullptr;  // repeats in it
  std::map<PhiloxGenerator*, uint64_t> repeated_draws_;
  size_t next_kernel_ = 0, next_scratch_ = 0, next_watched_ = 0;
};

/// Nodes after which comes what is next on a stream that is captured.
std::vector<CUgraphNode> last_nodes(CUstream stream);

/// For launchers that have to wait for the device or look at its memory.
/// Throws NotRecordable while their call is recorded.
void refuse_recording(const char* why);
/// For what must outlive a graph that holds its kernels.
void keep_for_recording(std::shared_ptr<const void> object);

}  // namespace hotaru::cuda
