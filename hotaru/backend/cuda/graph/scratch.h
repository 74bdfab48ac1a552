// Memory that a graph's kernels work in: calls that may run at the same time
// get different bytes, others share them, and so do graphs of one pool.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "hotaru/runtime/device_graph.h"

namespace hotaru::cuda {

struct ScratchBlock {
  void* data;
  size_t bytes;
};

/// One graph's view of a pool's pieces, which it begins to fill from their
/// first byte.
class Scratch {
 public:
  Scratch(int device, const CallOrder& order, GraphScratch& pool)
      : device_(device), order_(order), pool_(pool) {}

  /// Sets the call that what follows belongs to.
  void set_call(size_t call) { call_ = call; }
  /// At a multiple of 256 bytes; adds a piece to the pool if need be. Null if
  /// it may not, or for no bytes.
  void* allocate(size_t bytes);
  /// The call works there no more.
  void deallocate(void* data);
  void clear();
  /// The pieces that it has used since the latest clear(), or until fix().
  std::vector<Tensor> pieces() const;
  /// From now on it uses the same pieces and no others: whoever keeps launches
  /// in order by them knows of no more.
  void fix() { fixed_ = true; }

 private:
  struct Used {
    size_t piece, begin, end;
    size_t call;
    bool open;  // until deallocate()
  };

  /// True if the call at hand may run while somebody else is at it.
  bool blocks(const Used& used) const {
    return used.open ||
           (used.call != call_ && !order_.precedes(used.call, call_));
  }
  /// The lowest offset in a piece where so many bytes are free.
  size_t lowest(size_t piece, size_t bytes) const;

  const int device_;
  const CallOrder& order_;
  GraphScratch& pool_;
  size_t call_ = 0;
  std::vector<Used> used_;
  std::set<size_t> pieces_;  // of the pool
  bool fixed_ = false;
};

}  // namespace hotaru::cuda
