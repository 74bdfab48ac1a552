// Recording: while a stream is captured its calls become a list, and nothing
// runs. Streams that wait for an event of a captured one are captured with it,
// until one of the first stream waits for theirs.
#pragma once

#include <memory>
#include <vector>

#include "hotaru/runtime/streams/stream.h"

namespace hotaru {
class Storage;
}

namespace hotaru::graph {

/// One call of a graph.
struct Node {
  explicit Node(const KernelCall& call) : owned(call) {}

  const KernelCall& call() const { return owned.call(); }
  const std::string& name() const { return call().kernel().name(); }

  OwnedCall owned;
};
using Nodes = std::vector<std::unique_ptr<Node>>;

class Recording;

/// A capture that goes on. Tensors made meanwhile have no memory (Storage,
/// deferred); what host code writes into them is a constant of the graph.
///
/// Throws Error at once, and in the thread whose doing it is: where the thread
/// that captures looks at values, synchronises, asks a stream or event whether
/// it is done, begins another capture or waits for work that is not captured;
/// where another thread uses a value that only the graph will compute.
class Capture {
 public:
  /// Begins. Throws for an immediate stream, and for one that is captured.
  explicit Capture(const Stream& stream);
  Capture(Capture&&) noexcept;
  /// Ends it if nobody did; then whoever reads a value that was captured gets
  /// an error that says so.
  ~Capture();

  /// Whose streams are captured.
  Device device() const;
  /// True if a call so far reads or writes it.
  bool touches(const Storage* storage) const;
  /// The calls so far; the streams work as before. Throws, having ended, if a
  /// stream that was captured on the way has calls that the first one does not
  /// wait for.
  Nodes end();

 private:
  Ref<Recording> recording_;
};

/// True if one of the calling thread's current streams is captured.
bool capturing();

}  // namespace hotaru::graph
