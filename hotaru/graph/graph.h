// A graph: calls that were captured once and are replayed as often as one
// likes, without Python, dispatch or allocation.
#pragma once

#include <optional>
#include <span>

#include "hotaru/core/tensor.h"
#include "hotaru/graph/drawing/description.h"
#include "hotaru/graph/program/program.h"

namespace hotaru::graph {

/// Choice of what instantiate() may do to the captured calls.
struct Options {
  /// Names of passes to leave out, see passes().
  std::vector<std::string> without;
  /// Leaves out all passes that change the rounding of results.
  bool bitwise = false;
};

/// As PyTorch's CUDAGraph, for the CPU. One thread captures; replay() is
/// thread-safe, and replays of one graph or pool follow one another.
///
/// Tensors that the captured code read keep their memory and may be given new
/// values between replays; so do results that somebody held when the capture
/// ended, which every replay overwrites.
class Graph final : public RefCounted {
 public:
  explicit Graph(Options options = {}) : options_(std::move(options)) {}

  /// From now on calls on the stream are recorded and not run. Shares the
  /// pool's memory if there is one. Throws if the graph was captured already;
  /// see Capture for the rest.
  void capture_begin(const Stream& stream, Ref<Pool> pool = nullptr);
  /// Ends it and makes the graph ready to run. Throws without capture_begin,
  /// or see Capture::end; then the graph may begin anew. `inputs`: what gets
  /// other values before most replays (Region::inputs), so that a replay does
  /// not pack it as it does a weight that was changed. `renewed`: results whose
  /// former values nobody wants while a replay runs (Region::renewed).
  void capture_end(std::span<const Tensor> inputs = {},
                   std::span<const Tensor> renewed = {});
  /// Tells whether calls that were recorded so far, or are left of them, read
  /// or write its memory. Throws without a capture.
  bool touches(const Tensor& t) const;
  /// Forgets the capture that goes on, if there is one.
  void abandon();

  /// Runs it on the calling thread's current stream. `reads`: what else it
  /// reads this time, as storages that it knows were placed there. Throws
  /// unless captured.
  void replay(std::span<const Operand> reads = {});
  /// The same at once, in the calling thread, and when each node ran.
  std::vector<NodeTime> timed_replay();

  /// Back to how it was made; results keep their memory and values.
  void reset();

  /// For graphs that share its memory. Throws unless captured.
  const Ref<Pool>& pool() const;

  /// As captured, and what became of it.
  bool captured() const { return replay_.program != nullptr; }
  const Program& program() const;
  /// The calls before the passes, and what is left of them.
  const Description& recorded() const { return recorded_; }
  Description description() const;

 private:
  struct Kernels;
  struct Replay {
    std::shared_ptr<Program> program;
    std::vector<NodeTime>* times = nullptr;  // wanted if not null
  };

  const Options options_;
  std::optional<Capture> capture_;
  Ref<Pool> pool_;
  Replay replay_;
  Description recorded_;
};

}  // namespace hotaru::graph
