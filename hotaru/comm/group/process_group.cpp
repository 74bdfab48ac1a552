#include "hotaru/comm/group/process_group.h"

#include <thread>

#include "hotaru/comm/group/collective_check.h"
#include "hotaru/comm/group/collective_kernel.h"
#include "hotaru/comm/group/device_group.h"
#include "hotaru/runtime/threads/blocking.h"

namespace hotaru::comm {

using Kind = CollectiveKind;

// --- Work --------------------------------------------------------------------

bool Work::done() const {
  return event_.query() || (communicator_ && communicator_->error());
}

void Work::wait() const {
  if (communicator_) {
    if (const std::exception_ptr error = communicator_->error())
      std::rethrow_exception(error);
    return current_stream(communicator_->device()).wait(event_);
  }
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
  // Values on a device are in order by themselves.
  if (communicator_) return f(communicator_->error());
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
  mesh_->shut(*channel_);
}

void ProcessGroup::shut(bool aborts) {
  std::shared_ptr<DeviceGroup> devices;
  {
    const std::lock_guard lock(mutex_);
    devices.swap(devices_);
  }
  if (devices && !aborts) devices->shut();
  devices.reset();
  mesh_->shut(*channel_);
}

std::shared_ptr<DeviceGroup> ProcessGroup::devices() {
  const std::lock_guard lock(mutex_);
  if (!devices_) devices_ = std::make_shared<DeviceGroup>(*this);
  return devices_;
}

Stream ProcessGroup::stream() {
  const std::lock_guard lock(mutex_);
  if (!stream_) stream_ = Stream::queued();
  return *stream_;
}

void ProcessGroup::synchronize() {
  stream().synchronize();
  synchronize_devices();
}

void ProcessGroup::synchronize_devices() {
  std::shared_ptr<DeviceGroup> devices;
  {
    const std::lock_guard lock(mutex_);
    devices = devices_;
  }
  if (devices) devices->synchronize();
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
  check_collective(*this, collective);
  IssuedCollective issued{
      Ref<ProcessGroup>(this),
      collective.kind,
      collective.inputs.size(),
      collective.reduction,
      collective.root,
      collective.timeout.count() < 0 ? timeout() : collective.timeout,
      {},
      nullptr,
      collective.peers};
  std::vector<Operand> operands;
  for (const Tensor& tensor : collective.inputs)
    operands.push_back(read(tensor));
  for (const Tensor& tensor : collective.outputs)
    operands.push_back(reduces(collective.kind) && collective.inputs.empty()
                           ? update(tensor)
                           : write(tensor));
  if (!operands.empty() && !operands[0].tensor->device().is_cpu())
    return devices()->issue(collective, std::move(issued), std::move(operands));
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
  // Nobody passes it before what was begun on devices is over.
  if (collective.kind == Kind::kBarrier) synchronize_devices();
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
