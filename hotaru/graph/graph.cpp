#include "hotaru/graph/graph.h"

#include <algorithm>

#include "hotaru/core/checks/check.h"
#include "hotaru/graph/passes/passes.h"
#include "hotaru/runtime/operand.h"

namespace hotaru::graph {

namespace {

const Kernel& kReplay = kernel("graph_replay");
constexpr const char* kNoReplay =
    "Called CUDAGraph::replay without a preceding successful capture.";

}  // namespace

struct Graph::Kernels {
  static void replay(const KernelCall& call) {
    const auto& replay = call.attributes<Replay>();
    if (replay.times)
      *replay.times = replay.program->timed_run();
    else
      replay.program->run();
  }
  static inline const KernelRegistration registered[] = {
      {DeviceType::kCPU, "graph_replay", &Kernels::replay},
      {DeviceType::kCUDA, "graph_replay", &Kernels::replay}};
};

void Graph::capture_begin(const Stream& stream, Ref<Pool> pool) {
  HOTARU_CHECK(!captured(),
               "This CUDAGraph instance already owns a captured "
               "graph. To capture a new graph, create a new instance.");
  capture_.emplace(stream);
  pool_ = pool ? std::move(pool) : make_ref<Pool>();
}

void Graph::capture_end(std::span<const Tensor> inputs,
                        std::span<const Tensor> renewed) {
  HOTARU_CHECK(capture_, "capture_end() called before capture_begin().");
  Capture capture = std::move(*capture_);
  capture_.reset();
  Region region;
  region.device = capture.device();
  region.nodes = capture.end();
  region.values = intermediates(region.nodes);
  for (const Tensor& t : inputs) region.inputs.insert(t.storage().get());
  for (const Tensor& t : renewed) region.renewed.insert(t.storage().get());
  recorded_ = describe(region.nodes, region.values);
  for (const Storage* value : region.values) region.kept.emplace_back(value);
  for (const Pass& pass : passes()) {
    const auto& without = options_.without;
    if (std::find(without.begin(), without.end(), pass.name) != without.end())
      continue;
    if (!pass.knows(region.device)) continue;
    if (pass.exact || !options_.bitwise) pass.run(region);
  }
  replay_.program = std::make_shared<Program>(std::move(region), pool_);
}

bool Graph::touches(const Tensor& t) const {
  const Storage* const storage = t.storage().get();
  if (capture_) return capture_->touches(storage);
  const auto operands = program().operands();
  return std::any_of(
      operands.begin(), operands.end(),
      [&](const Operand& operand) { return ordered_of(operand) == storage; });
}

void Graph::abandon() {
  capture_.reset();
}

void Graph::replay(std::span<const Operand> reads) {
  HOTARU_CHECK(captured(), kNoReplay);
  const std::span<const Operand> known = replay_.program->operands();
  if (known.empty()) return;
  const Stream& stream = current_stream(replay_.program->device());
  if (reads.empty()) return stream.enqueue({kReplay, known, replay_});
  std::vector<Operand> all(known.begin(), known.end());
  all.insert(all.end(), reads.begin(), reads.end());
  stream.enqueue({kReplay, all, replay_});
}

std::vector<NodeTime> Graph::timed_replay() {
  std::vector<NodeTime> times;
  HOTARU_CHECK(captured(), kNoReplay);
  const Replay replay{replay_.program, &times};
  const Device device = replay.program->device();
  if (!replay.program->operands().empty())
    (device.is_cpu() ? Stream(device) : current_stream(device))
        .enqueue({kReplay, replay.program->operands(), replay});
  return times;
}

void Graph::reset() {
  capture_.reset();
  replay_.program.reset();
  pool_ = nullptr;
  recorded_ = {};
}

const Ref<Pool>& Graph::pool() const {
  HOTARU_CHECK(captured() || capture_,
               "Called CUDAGraph::pool() without a "
               "preceding successful capture.");
  return pool_;
}

const Program& Graph::program() const {
  HOTARU_CHECK(captured(), "the graph was not captured");
  return *replay_.program;
}

Description Graph::description() const {
  std::unordered_set<const Storage*> values;
  for (const Placement& value : program().plan().placements)
    if (!value.renewed) values.insert(value.storage);
  return describe(program().nodes(), values);
}

}  // namespace hotaru::graph
