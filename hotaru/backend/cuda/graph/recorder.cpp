#include "hotaru/backend/cuda/graph/recorder.h"

#include <algorithm>
#include <utility>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/tensor.h"

namespace hotaru::cuda {
namespace {

Ref<StreamTimeline> private_timeline(int device) {
  use(device);
  CUstream handle = nullptr;
  HOTARU_CUDA(cuStreamCreateWithPriority, &handle, CU_STREAM_NON_BLOCKING, 0);
  return make_ref<StreamTimeline>(device, handle,
                                  StreamTimeline::Handle::kOwned);
}

/// The next of what a call was given before.
template <class T>
T again(const std::vector<T>& given, size_t& next) {
  if (next == given.size()) throw NotTheSame();
  return given[next++];
}

/// Tells whether code was compiled for an architecture that has griddepcontrol:
/// an older one's, which a newer device may run, does not wait.
bool can_wait(CUfunction function) {
  int version = 0;
  HOTARU_CUDA(cuFuncGetAttribute, &version, CU_FUNC_ATTRIBUTE_PTX_VERSION,
              function);
  return version >= 90;
}

}  // namespace

CallRecorder::CallRecorder(int device, const CallOrder& order,
                           GraphScratch& scratch)
    : timeline_(private_timeline(device)), scratch_(device, order, scratch) {
  timeline_->set_recorder(this);
}

CallRecorder::~CallRecorder() {
  timeline_->set_recorder(nullptr);
}

void CallRecorder::record(RecordedCall& call, size_t number) {
  call = {};
  call_ = &call;
  for (const auto& [generator, draws] : draws_)
    call.draws[generator] = draws.taken;
  scratch_.set_call(number);
}

void CallRecorder::repeat(RecordedCall& call, CUgraphExec executable) {
  call_ = &call;
  executable_ = executable;
  repeated_draws_ = call.draws;
  next_kernel_ = next_scratch_ = next_watched_ = 0;
}

void CallRecorder::end() {
  const RecordedCall* const call = std::exchange(call_, nullptr);
  if (std::exchange(executable_, nullptr) &&
      next_kernel_ != call->kernels.size())
    throw NotTheSame();
}

void CallRecorder::abandon() {
  call_ = nullptr;
  executable_ = nullptr;
}

void CallRecorder::clear() {
  abandon();
  scratch_.clear();
  draws_.clear();
  errors_.reset();
  kept_.clear();
  awaited_.clear();
}

void CallRecorder::place(PhiloxGenerator& generator, PhiloxStart* start) {
  draws_[&generator] = {start, 0};
}

uint64_t CallRecorder::drawn(PhiloxGenerator& generator) const {
  return draws_.at(&generator).taken;
}

CUresult CallRecorder::launch(const CUDA_KERNEL_NODE_PARAMS& kernel,
                              bool waits) {
  if (executable_) {
    const RecordedKernel before = again(call_->kernels, next_kernel_);
    if (before.waits && !waits) throw NotTheSame();
    return driver().cuGraphExecKernelNodeSetParams(executable_, before.node,
                                                   &kernel);
  }
  const CUresult result = driver().cuLaunchKernel(
      kernel.func, kernel.gridDimX, kernel.gridDimY, kernel.gridDimZ,
      kernel.blockDimX, kernel.blockDimY, kernel.blockDimZ,
      kernel.sharedMemBytes, timeline_->handle(), kernel.kernelParams, nullptr);
  if (result != CUDA_SUCCESS) return result;
  call_->kernels.push_back(
      {last_nodes(timeline_->handle()).at(0), waits && can_wait(kernel.func)});
  return CUDA_SUCCESS;
}

void* CallRecorder::allocate(size_t bytes) {
  if (executable_) {
    const ScratchBlock block = again(call_->scratch, next_scratch_);
    if (block.bytes < bytes) throw NotTheSame();
    return block.data;
  }
  void* const data = scratch_.allocate(bytes);
  if (bytes && !data) throw NotRecordable("more memory than the graph has");
  call_->scratch.push_back({data, bytes});
  return data;
}

void CallRecorder::deallocate(void* memory) {
  if (!executable_) scratch_.deallocate(memory);
}

PhiloxState CallRecorder::take(PhiloxGenerator& generator, uint64_t draws) {
  const auto at = draws_.find(&generator);
  if (at == draws_.end()) throw NotRecordable("a generator that is no operand");
  uint64_t& taken =
      executable_ ? repeated_draws_.at(&generator) : at->second.taken;
  const uint64_t first = taken / 4;
  taken += (draws + 3) / 4 * 4;
  return {{0, first}, at->second.start};
}

ErrorSink CallRecorder::watch(const KernelCall& call, const FailureText& text) {
  if (executable_) return errors_->sink(again(call_->watched, next_watched_));
  if (!errors_) errors_ = make_graph_errors(timeline_->device());
  const ErrorSink sink = errors_->watch(call, text);
  call_->watched.push_back(sink.call);
  return sink;
}

void CallRecorder::await(std::shared_ptr<const fused::PendingKernel> kernel) {
  awaited_.push_back(std::move(kernel));
}

bool CallRecorder::arrived() const {
  return !awaited_.empty() &&
         std::all_of(awaited_.begin(), awaited_.end(),
                     [](const auto& kernel) { return kernel->settled(); });
}

std::vector<Tensor> CallRecorder::scratch() const {
  return scratch_.pieces();
}

void CallRecorder::keep(std::shared_ptr<const void> object) {
  kept_.push_back(std::move(object));
}

std::vector<CUgraphNode> last_nodes(CUstream stream) {
  CUstreamCaptureStatus status{};
  unsigned long long id = 0;
  CUgraph graph = nullptr;
  const CUgraphNode* nodes = nullptr;
  const CUgraphEdgeData* edges = nullptr;
  size_t count = 0;
  HOTARU_CUDA(cuStreamGetCaptureInfo, stream, &status, &id, &graph, &nodes,
              &edges, &count);
  HOTARU_CHECK(status == CU_STREAM_CAPTURE_STATUS_ACTIVE,
               "a CUDA graph's capture was ended by what it captured");
  return {nodes, nodes + count};
}

void refuse_recording(const char* why) {
  if (launching_timeline().recorder()) throw NotRecordable(why);
}

void keep_for_recording(std::shared_ptr<const void> object) {
  if (CallRecorder* recorder = launching_timeline().recorder())
    recorder->keep(std::move(object));
}

}  // namespace hotaru::cuda
