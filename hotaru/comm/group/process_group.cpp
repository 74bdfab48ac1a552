#include "hotaru/comm/group/process_group.h"

#include <thread>

#include "hotaru/comm/group/collective_kernel.h"
#include "hotaru/core/error.h"
#include "hotaru/runtime/threads/blocking.h"

namespace hotaru::comm {

namespace {

using Kind = CollectiveKind;

// --- what can be asked for ---------------------------------------------------

class Check {
 public:
  Check(const ProcessGroup& group, const Collective& collective)
      : group_(group), c_(collective), name_(name_of(collective.kind)) {}

  void all() const {
    const bool any_source = c_.kind == Kind::kReceive && c_.root == kAnyRank;
    if (has_root(c_.kind) || is_message(c_.kind))
      HOTARU_CHECK_AS(ValueError,
                      any_source || (0 <= c_.root && c_.root < group_.size()),
                      name_, ": invalid root rank: ", c_.root,
                      " (the group has ", group_.size(), " ranks)");
    if (is_message(c_.kind))
      HOTARU_CHECK_AS(ValueError, c_.root != group_.rank(), name_, ": rank ",
                      c_.root, " is this process");
    const Tensor* first = nullptr;
    for (const std::vector<Tensor>* tensors : {&c_.inputs, &c_.outputs})
      for (const Tensor& tensor : *tensors) {
        if (!first) first = &tensor;
        tensor_fits(tensor, *first);
      }
    if (first && reduces(c_.kind)) c_.reduction.check(first->dtype(), name_);
    counts_fit();
  }

 private:
  void tensor_fits(const Tensor& tensor, const Tensor& first) const {
    HOTARU_CHECK_AS(ValueError, tensor.device().is_cpu(), name_,
                    ": takes tensors of the CPU, not of ",
                    tensor.device().str());
    HOTARU_CHECK_AS(ValueError, tensor.is_contiguous(), name_,
                    ": Tensors must be contiguous");
    HOTARU_CHECK_AS(ValueError, tensor.dtype() == first.dtype(), name_,
                    ": Invalid usage of tensors with different dtypes. Found ",
                    dtype_name(first.dtype()), " and ",
                    dtype_name(tensor.dtype()));
  }

  void lengths_fit(const std::vector<Tensor>& many, const Tensor& one) const {
    HOTARU_CHECK_AS(ValueError, int(many.size()) == group_.size(), name_,
                    ": a list of ", many.size(), " tensors for ", group_.size(),
                    " ranks");
    for (size_t i = 0; i < many.size(); ++i)
      HOTARU_CHECK_AS(ValueError, many[i].numel() == one.numel(), name_,
                      ": invalid tensor size at index ", i, " (expected ",
                      one.numel(), " elements, got ", many[i].numel(), ")");
  }

  void counts_fit() const {
    const bool at_root = c_.root == group_.rank();
    switch (c_.kind) {
      case Kind::kAllGather:
        return lengths_fit(c_.outputs, c_.inputs.at(0));
      case Kind::kGather:
        if (at_root) lengths_fit(c_.outputs, c_.inputs.at(0));
        return;
      case Kind::kReduceScatter:
        return lengths_fit(c_.inputs, c_.outputs.at(0));
      case Kind::kScatter:
        if (at_root) lengths_fit(c_.inputs, c_.outputs.at(0));
        return;
      case Kind::kAllToAll:
        HOTARU_CHECK_AS(ValueError,
                        int(c_.inputs.size()) == group_.size() &&
                            int(c_.outputs.size()) == group_.size(),
                        name_, ": lists of ", c_.inputs.size(), " and ",
                        c_.outputs.size(), " tensors for ", group_.size(),
                        " ranks");
        return;
      default:
        return;
    }
  }

  const ProcessGroup& group_;
  const Collective& c_;
  const char* const name_;
};

}  // namespace

// --- Work --------------------------------------------------------------------

void Work::wait() const {
  try {
    event_.synchronize();
  } catch (...) {
    // It is told here, and so no longer the stream's to tell.
    try {
      stream_->synchronize();
    } catch (...) {
    }
    throw;
  }
}

namespace {

struct Told {
  std::function<void(std::exception_ptr)> told;
  Event event;

  void tell() const {
    std::exception_ptr error;
    try {
      event.synchronize();
    } catch (...) {
      error = std::current_exception();
    }
    told(error);
  }
};

const KernelRegistration kTell(DeviceType::kCPU, "c10d::work_ended",
                               [](const KernelCall& call) {
                                 call.attributes<Told>().tell();
                               });

}  // namespace

void Work::then(std::function<void(std::exception_ptr)> f) const {
  const Told told{std::move(f), event_};
  if (done() || !stream_) return told.tell();
  stream_->enqueue(KernelCall(kernel("c10d::work_ended"), {}, told));
}

bool Work::wait_for(Millis timeout) const {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  if (!done()) {
    const BlockingRegion region;
    while (!done()) {
      if (std::chrono::steady_clock::now() >= deadline) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }
  wait();
  return true;
}

// --- ProcessGroup ------------------------------------------------------------

ProcessGroup::ProcessGroup(Ref<Mesh> mesh, Ref<Channel> channel, Millis timeout)
    : mesh_(std::move(mesh)), channel_(std::move(channel)), timeout_(timeout) {}

ProcessGroup::~ProcessGroup() {
  shut();
}

void ProcessGroup::shut() {
  mesh_->shut(*channel_);
}

Stream ProcessGroup::stream() {
  const std::lock_guard lock(mutex_);
  if (!stream_) stream_ = Stream::queued();
  return *stream_;
}

void ProcessGroup::synchronize() {
  stream().synchronize();
}

bool ProcessGroup::idle() {
  const std::lock_guard lock(mutex_);
  return !stream_ || stream_->query();
}

PointToPoint ProcessGroup::next_message(const Collective& collective) {
  const bool sends = collective.kind == Kind::kSend;
  if (!sends && collective.root == kAnyRank) return {collective.tag, 0};
  const std::lock_guard lock(mutex_);
  return {collective.tag,
          ++messages_[{sends, collective.root, collective.tag}]};
}

void ProcessGroup::note_message(int rank, uint32_t tag) {
  const std::lock_guard lock(mutex_);
  ++messages_[{false, rank, tag}];
}

Work ProcessGroup::issue(const Collective& collective) {
  Check(*this, collective).all();
  IssuedCollective issued{
      Ref<ProcessGroup>(this),
      collective.kind,
      collective.inputs.size(),
      collective.reduction,
      collective.root,
      collective.timeout.count() < 0 ? timeout() : collective.timeout,
      {},
      nullptr};
  std::vector<Operand> operands;
  for (const Tensor& tensor : collective.inputs)
    operands.push_back(read(tensor));
  for (const Tensor& tensor : collective.outputs)
    operands.push_back(reduces(collective.kind) && collective.inputs.empty()
                           ? update(tensor)
                           : write(tensor));
  const bool message = is_message(collective.kind);
  if (message) {
    issued.message = next_message(collective);
    if (collective.kind == Kind::kReceive)
      issued.source = std::make_shared<int>(-1);
  }
  const KernelCall call(kernel_of(collective.kind), operands, issued);
  const Stream& here = current_stream({});
  if (here.diverted()) {
    here.enqueue(call);
    return {};
  }
  if (message) return issue_message(call, collective.async, issued.source);
  if (!collective.async && here.immediate() && idle()) {
    here.enqueue(call);
    return {};
  }
  const Stream own = stream();
  own.enqueue(call);
  Event event;
  own.record(event);
  Work work(own, std::move(event), nullptr);
  if (!collective.async && here.immediate()) work.wait();
  return work;
}

Work ProcessGroup::issue_message(const KernelCall& call, bool async,
                                 std::shared_ptr<const int> source) {
  const Stream& here = current_stream({});
  if (!async && here.immediate()) {
    here.enqueue(call);
    return {here, Event(), std::move(source)};
  }
  // A queue of its own: a message may have to wait for one that is sent later.
  const Stream own = Stream::queued();
  own.enqueue(call);
  Event event;
  own.record(event);
  return {own, std::move(event), std::move(source)};
}

}  // namespace hotaru::comm
