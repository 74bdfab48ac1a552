#include "hotaru/backend/cuda/graph/cuda_graph.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "hotaru/backend/cuda/graph/dependent_launch.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/index.h"
#include "hotaru/core/special_errors.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/operand.h"

namespace hotaru::cuda {
namespace {

const Function& seed_function() {
  static const auto* function = new Function("SetPhilox");
  return *function;
}

PhiloxGenerator* generator_of(const Operand& operand) {
  return dynamic_cast<PhiloxGenerator*>(operand.object);
}

bool touches(const KernelCall& call, const Storage& storage) {
  const auto operands = call.operands();
  return std::any_of(operands.begin(), operands.end(), [&](const Operand& o) {
    return ordered_of(o) == &storage;
  });
}

void add_new(std::vector<CUgraphNode>& to, std::span<const CUgraphNode> nodes) {
  for (const CUgraphNode node : nodes)
    if (std::find(to.begin(), to.end(), node) == to.end()) to.push_back(node);
}

}  // namespace

CudaGraph::Handles::Handles(Handles&& other) noexcept
    : graph(std::exchange(other.graph, nullptr)),
      executable(std::exchange(other.executable, nullptr)) {}

CudaGraph::Handles::~Handles() {
  if (forked()) return;
  // A launch that is under way goes on.
  if (executable) driver().cuGraphExecDestroy(executable);
  if (graph) driver().cuGraphDestroy(graph);
}

CudaGraph::CudaGraph(int device, const GraphCalls& calls, GraphScratch& scratch)
    : device_(device),
      calls_(calls),
      recorder_(device, calls.order, scratch),
      apart_(calls.calls.size()) {
  find_host_values();
  build();
  recorder_.fix_scratch();
}

// --- recording ---------------------------------------------------------------

void CudaGraph::build() {
  const DeviceScope scope(device_);
  const LaunchScope launching(recorder_.timeline());
  for (bool whole = false; !whole;) {
    whole = true;
    pieces_.clear();
    recorder_.clear();
    recorded_.assign(calls_.calls.size(), {});
    last_.assign(calls_.calls.size(), {});
    for (size_t call = 0; call < calls_.calls.size() && whole; ++call) {
      try {
        add(call);
      } catch (const NotRecordable&) {
        apart_[call] = true;
        whole = false;
      } catch (...) {
        std::rethrow_exception(
            with_call("a graph's call", *calls_.calls[call]));
      }
    }
  }
  end_piece();
}

void CudaGraph::add(size_t call) {
  if (apart_[call]) {
    end_piece();
    pieces_.push_back({call, call + 1, {}, {}});
    return;
  }
  if (pieces_.empty() || pieces_.back().end != 0) begin_piece(call);
  Piece& piece = pieces_.back();
  std::vector<CUgraphNode> before = nodes_before(call);
  for (const Operand& operand : calls_.calls[call]->operands())
    if (PhiloxGenerator* const generator = generator_of(operand))
      add_new(before, std::array{place_seed(piece, *generator, call)});
  size_t nodes_then = 0, nodes_now = 0;
  HOTARU_CUDA(cuGraphGetNodes, piece.handles->graph, nullptr, &nodes_then);
  recorder_.record(recorded_[call], call);
  last_[call] = record(before, [&] { run(call); });
  recorder_.end();
  HOTARU_CUDA(cuGraphGetNodes, piece.handles->graph, nullptr, &nodes_now);
  recorded_[call].only_own =
      nodes_now - nodes_then == recorded_[call].kernels.size();
}

void CudaGraph::begin_piece(size_t first) {
  Piece& piece = pieces_.emplace_back(Piece{first, 0, Handles(), {}});
  HOTARU_CUDA(cuGraphCreate, &piece.handles->graph, 0);
}

void CudaGraph::end_piece() {
  if (pieces_.empty() || pieces_.back().end != 0) return;
  Piece& piece = pieces_.back();
  piece.end = piece.first;
  while (piece.end < last_.size() && !apart_[piece.end]) ++piece.end;
  for (Seed& seed : piece.seeds) seed.draws = recorder_.drawn(*seed.generator);
  if (calls_.dependent_launch)
    make_dependent(piece.handles->graph, waiting_kernels(piece));
  piece.handles->executable = executable_of(piece);
}

std::unordered_set<CUgraphNode> CudaGraph::waiting_kernels(
    const Piece& piece) const {
  std::unordered_set<CUgraphNode> out;
  const auto add = [&](const RecordedKernel& kernel) {
    if (kernel.waits) out.insert(kernel.node);
  };
  for (const Seed& seed : piece.seeds) add(seed.kernel);
  for (size_t call = piece.first; call < piece.end; ++call)
    for (const RecordedKernel& kernel : recorded_[call].kernels) add(kernel);
  return out;
}

CUgraphExec CudaGraph::executable_of(const Piece& piece) const {
  const CUgraph graph = piece.handles->graph;
  CUgraphExec made = nullptr;
  CUresult result = driver().cuGraphInstantiate(&made, graph, 0);
  // A driver that knows such edges need not take all graphs of them.
  if (result != CUDA_SUCCESS && make_full(graph))
    result = driver().cuGraphInstantiate(&made, graph, 0);
  check(result, "cuGraphInstantiate");
  return made;
}

CUgraphNode CudaGraph::place_seed(Piece& piece, PhiloxGenerator& generator,
                                  size_t call) {
  for (const Seed& seed : piece.seeds)
    if (seed.generator == &generator) return seed.kernel.node;
  Tensor& start = starts_[&generator];
  if (!start.defined())
    start = hotaru::allocate(Dims{2}, DType::kInt64,
                             {DeviceType::kCUDA, int8_t(device_)});
  Seed seed{&generator, static_cast<PhiloxStart*>(start.address())};
  RecordedCall setting;
  recorder_.record(setting, call);
  record({}, [&] { set_seed(piece, seed, 0); });
  recorder_.end();
  seed.kernel = setting.kernels.front();
  recorder_.place(generator, seed.start);
  piece.seeds.push_back(seed);
  return seed.kernel.node;
}

std::vector<CUgraphNode> CudaGraph::nodes_before(size_t call) const {
  std::vector<CUgraphNode> out;
  for (const uint32_t before : calls_.order.after(call))
    if (before >= pieces_.back().first) add_new(out, last_[before]);
  return out;
}

template <class F>
std::vector<CUgraphNode> CudaGraph::record(
    const std::vector<CUgraphNode>& before, const F& f) {
  const CUstream stream = recorder_.timeline().handle();
  CUgraph graph = pieces_.back().handles->graph;
  HOTARU_CUDA(cuStreamBeginCaptureToGraph, stream, graph, before.data(),
              nullptr, before.size(), CU_STREAM_CAPTURE_MODE_RELAXED);
  std::vector<CUgraphNode> last;
  try {
    f();
    last = last_nodes(stream);
  } catch (...) {
    driver().cuStreamEndCapture(stream, &graph);
    throw;
  }
  HOTARU_CUDA(cuStreamEndCapture, stream, &graph);
  return last;
}

void CudaGraph::run(size_t call) {
  calls_.calls[call]->run(DeviceType::kCUDA);
}

void CudaGraph::set_seed(Piece& piece, Seed& seed, uint64_t first) {
  SetPhiloxParams p{seed.start, {seed.generator->initial_seed(), first}};
  if (!seed.kernel.node) return cuda::launch(seed_function(), {1}, kBlock, p);
  void* arguments[] = {&p};
  const CUDA_KERNEL_NODE_PARAMS kernel{seed_function().on(device_),
                                       1,
                                       1,
                                       1,
                                       kBlock,
                                       1,
                                       1,
                                       0,
                                       arguments,
                                       nullptr,
                                       nullptr,
                                       nullptr};
  HOTARU_CUDA(cuGraphExecKernelNodeSetParams, piece.handles->executable,
              seed.kernel.node, &kernel);
}

// --- what changes ------------------------------------------------------------

bool CudaGraph::repeat(size_t call) {
  if (apart_[call]) return true;
  if (!recorded_[call].only_own) return false;
  const auto piece = std::find_if(pieces_.begin(), pieces_.end(),
                                  [&](const Piece& p) { return call < p.end; });
  const LaunchScope launching(recorder_.timeline());
  recorder_.repeat(recorded_[call], piece->handles->executable);
  try {
    run(call);
    recorder_.end();
    return true;
  } catch (const NotTheSame&) {
  } catch (const NotRecordable&) {
  } catch (const AcceleratorError&) {  // another kernel than a node may become
  }
  recorder_.abandon();
  return false;
}

bool CudaGraph::follows(const Storage& storage) const {
  for (size_t call = 0; call < calls_.calls.size(); ++call)
    if (!apart_[call] && !recorded_[call].only_own &&
        touches(*calls_.calls[call], storage))
      return false;
  return true;
}

void CudaGraph::follow_moves(std::span<const Storage* const> moved) {
  const DeviceScope scope(device_);
  for (size_t call = 0; call < calls_.calls.size(); ++call) {
    const bool concerned =
        std::any_of(moved.begin(), moved.end(), [&](const Storage* storage) {
          return touches(*calls_.calls[call], *storage);
        });
    if (concerned && !repeat(call)) return build();
  }
}

void CudaGraph::find_host_values() {
  // A storage that the calls alone hold is a number that nobody can change.
  std::unordered_map<const Storage*, int64_t> held;
  for (const KernelCall* call : calls_.calls)
    for (const Operand& operand : call->operands())
      if (on_cpu(operand)) ++held[operand.tensor->storage().get()];
  for (size_t i = 0; i < calls_.calls.size(); ++i)
    for (const Operand& operand : calls_.calls[i]->operands()) {
      if (!on_cpu(operand) || operand.tensor->dim() != 0) continue;
      const Storage& storage = *operand.tensor->storage();
      if (held.at(&storage) == storage.use_count()) continue;
      const auto* bytes =
          static_cast<const std::byte*>(operand.tensor->address());
      host_values_.push_back(
          {i,
           operand.tensor,
           {bytes, bytes + itemsize(operand.tensor->dtype())}});
    }
}

void CudaGraph::refresh() {
  for (HostValue& value : host_values_) {
    const void* now = value.tensor->address();
    if (std::memcmp(now, value.bytes.data(), value.bytes.size()) == 0) continue;
    std::memcpy(value.bytes.data(), now, value.bytes.size());
    if (!repeat(value.call)) build();
  }
}

// --- launching ---------------------------------------------------------------

void CudaGraph::launch() {
  refuse_recording("a graph's replay");
  StreamTimeline& timeline = launching_timeline();
  if (recorder_.arrived()) build();
  refresh();
  for (Piece& piece : pieces_) {
    if (!piece.handles) {
      try {
        run(piece.first);
      } catch (...) {
        std::rethrow_exception(
            with_call("a graph's call", *calls_.calls[piece.first]));
      }
      continue;
    }
    for (Seed& seed : piece.seeds) {
      std::lock_guard lock(seed.generator->mutex());
      set_seed(piece, seed, seed.generator->take(seed.draws) / 4);
    }
    HOTARU_CUDA(cuGraphLaunch, piece.handles->executable, timeline.handle());
  }
  if (recorder_.errors()) timeline.watch(recorder_.errors());
}

std::vector<NodeTime> CudaGraph::timed_launch() {
  StreamTimeline& timeline = launching_timeline();
  std::vector<Ref<DeviceEvent>> events;
  const auto mark = [&] {
    events.push_back(make_ref<DeviceEvent>(device_, true));
    HOTARU_CUDA(cuEventRecord, events.back()->handle(), timeline.handle());
  };
  mark();
  for (size_t call = 0; call < calls_.calls.size(); ++call) {
    run(call);
    mark();
  }
  timeline.synchronize();
  std::vector<NodeTime> times;
  int64_t start = 0;
  for (size_t i = 0; i + 1 < events.size(); ++i) {
    float milliseconds = 0;
    HOTARU_CUDA(cuEventElapsedTime, &milliseconds, events[i]->handle(),
                events[i + 1]->handle());
    times.push_back({start, int64_t(double(milliseconds) * 1e6)});
    start += times.back().duration;
  }
  return times;
}

// --- what it is --------------------------------------------------------------

std::vector<Tensor> CudaGraph::memory() const {
  std::vector<Tensor> out = recorder_.scratch();
  for (const auto& [generator, start] : starts_) out.push_back(start);
  return out;
}

size_t CudaGraph::nodes() const {
  size_t total = 0;
  for (const Piece& piece : pieces_) {
    size_t count = 1;
    if (piece.handles)
      HOTARU_CUDA(cuGraphGetNodes, piece.handles->graph, nullptr, &count);
    total += count;
  }
  return total;
}

size_t CudaGraph::dependent_pairs() const {
  size_t total = 0;
  for (const Piece& piece : pieces_)
    if (piece.handles) total += dependent_edges(piece.handles->graph);
  return total;
}

std::vector<RawGraph> CudaGraph::raw() const {
  std::vector<RawGraph> out;
  for (const Piece& piece : pieces_)
    if (piece.handles)
      out.push_back({reinterpret_cast<uintptr_t>(piece.handles->graph),
                     reinterpret_cast<uintptr_t>(piece.handles->executable)});
  return out;
}

void CudaGraph::instantiate() {
  const DeviceScope scope(device_);
  for (Piece& piece : pieces_) {
    if (!piece.handles) continue;
    CUgraphExec made = executable_of(piece);
    driver().cuGraphExecDestroy(std::exchange(piece.handles->executable, made));
  }
}

}  // namespace hotaru::cuda
