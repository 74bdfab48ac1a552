// A program's calls as CUDA graphs: recorded call by call on a private stream,
// each behind those it comes after, launched as a whole.
#pragma once

#include <optional>
#include <unordered_set>

#include "hotaru/backend/cuda/graph/recorder.h"
#include "hotaru/core/tensor.h"

namespace hotaru::cuda {

/// Calls that cannot be recorded (copies to and from the host, what waits for
/// the device) are launched between two graphs. Numbers in the host's memory
/// that somebody may write are read before each launch, as eager calls read
/// them; of those, and of operands that moved, the kernels get new parameters.
class CudaGraph final : public DeviceGraph {
 public:
  CudaGraph(int device, const GraphCalls& calls, GraphScratch& scratch);

  void launch() override;
  bool follows(const Storage& storage) const override;
  void follow_moves(std::span<const Storage* const> moved) override;
  std::vector<NodeTime> timed_launch() override;
  std::vector<Tensor> memory() const override;
  size_t nodes() const override;
  size_t launches() const override { return pieces_.size(); }
  size_t dependent_pairs() const override;
  std::vector<RawGraph> raw() const override;
  void instantiate() override;

 private:
  /// A CUgraph and what is made of it.
  struct Handles {
    CUgraph graph = nullptr;
    CUgraphExec executable = nullptr;
    Handles() = default;
    ~Handles();
    Handles(Handles&& other) noexcept;
    Handles& operator=(Handles&&) = delete;
  };
  /// Where the draws of a graph begin, and the kernel that says so.
  struct Seed {
    PhiloxGenerator* generator;
    PhiloxStart* start;
    RecordedKernel kernel{};
    uint64_t draws = 0;
  };
  /// Calls first .. end - 1: one graph, or a call that is launched.
  struct Piece {
    size_t first, end = 0;
    std::optional<Handles> handles;
    std::vector<Seed> seeds;
  };
  /// Bytes on the host that a call reads while it is launched.
  struct HostValue {
    size_t call;
    const Tensor* tensor;
    std::vector<std::byte> bytes;
  };

  void build();
  void add(size_t call);
  void begin_piece(size_t first);
  void end_piece();
  /// Kernels that wait by themselves for what is before them.
  std::unordered_set<CUgraphNode> waiting_kernels(const Piece& piece) const;
  /// Makes a piece's graph ready to be launched.
  CUgraphExec executable_of(const Piece& piece) const;
  /// The node that a call's draws of a generator come after.
  CUgraphNode place_seed(Piece& piece, PhiloxGenerator& generator, size_t call);
  void set_seed(Piece& piece, Seed& seed, uint64_t first);
  std::vector<CUgraphNode> nodes_before(size_t call) const;
  /// Records what f launches behind some nodes; returns its last ones.
  template <class F>
  std::vector<CUgraphNode> record(const std::vector<CUgraphNode>& before,
                                  const F& f);
  void run(size_t call);
  /// Gives a call's kernels new parameters. False if it became another call.
  bool repeat(size_t call);
  void find_host_values();
  /// Repeats the calls whose values on the host changed.
  void refresh();

  const int device_;
  const GraphCalls& calls_;
  CallRecorder recorder_;
  std::vector<RecordedCall> recorded_;
  std::vector<std::vector<CUgraphNode>> last_;  // of each call
  std::vector<bool> apart_;                     // calls that cannot be recorded
  std::vector<Piece> pieces_;
  /// Where draws begin. Made once, so memory() stays the same.
  std::map<PhiloxGenerator*, Tensor> starts_;
  std::vector<HostValue> host_values_;
};

}  // namespace hotaru::cuda
