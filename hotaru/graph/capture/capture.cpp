#include "hotaru/graph/capture/capture.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "hotaru/core/error.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/operand.h"
#include "hotaru/runtime/streams/event.h"
#include "hotaru/runtime/streams/uses.h"

namespace hotaru::graph {
namespace {

constexpr const char* kNotPermitted =
    "operation not permitted when stream is capturing";

void check_host_access(const Ordered& object);

// Captures that go on, in all threads.
constinit std::atomic<int> running{0};

void count_running(int change) {
  detail::watchers.fetch_add(change);
  if (running.fetch_add(change) + change > 0)
    detail::host_watch = &check_host_access;
  else
    detail::host_watch = nullptr;
}

}  // namespace

class Branch;

/// State that the branches of a capture share.
class Recording final : public RefCounted {
 public:
  explicit Recording(Device device) : device_(device) {}
  /// Captures a stream.
  void add(CallSink& stream);
  void take(const KernelCall& call);
  /// The streams go back to their own queues. Returns whether the calls of all
  /// branches came together in the first one.
  bool close();
  bool touches(const Storage* storage) const;
  /// Tells whether host code gave the storage its memory in this capture, or is
  /// about to: a constant.
  bool constant(const Storage& storage);
  /// The calls, after close().
  Nodes finish();
  /// In its place: values that were captured are lost to whoever holds them.
  void spoil();

  bool open() const { return open_; }
  Device device() const { return device_; }

 private:
  /// Has each replay begin with the constant's bytes of now.
  void begin_with(const Ref<Storage>& constant);

  const Device device_;
  bool open_ = true;
  Nodes nodes_;
  Nodes begins_;                         // run before the others
  std::vector<Ref<Storage>> constants_;  // what host code has filled
  std::vector<Ref<Branch>> branches_;    // the first is the origin's
  std::vector<Ref<Storage>> computed_;   // exist only in the graph
};

/// One stream's part of a capture.
class Branch final : public CallSink {
 public:
  Branch(CallSink& stream, Recording& recording)
      : stream_(&stream), recording_(&recording) {}

  void take(const KernelCall& call) override {
    ++calls_;
    recording_->take(call);
  }

  void record(Event& event) override {
    auto mark = make_ref<Mark>();
    mark->branch = Ref<CallSink>(this);
    mark->number = calls_;
    event.set_mark(std::move(mark));
  }

  void wait(const Event& event) override {
    const Ref<Mark>& mark = event.mark();
    if (!mark || (!mark->branch && !mark->timeline)) return;
    auto* other = dynamic_cast<Branch*>(mark->branch.get());
    HOTARU_CHECK(other && other->recording_ == recording_, kNotPermitted,
                 ": dependency created on uncaptured work in another stream. ",
                 "Wait before the capture begins, or let the other stream ",
                 "wait for an event of the captured one first");
    // Calls are kept in the order in which they were made, so nothing else is
    // to do; but this one has to come together with the first again.
    other->joined_ = std::max(other->joined_, mark->number);
    ++calls_;
  }

  void synchronize() override { fail(kNotPermitted, ": synchronize"); }
  bool query() const override { fail(kNotPermitted, ": query"); }
  bool defers(size_t) const override { return true; }
  void divert(Ref<CallSink>) override { fail(kNotPermitted, ": capture"); }
  Recording& recording() const { return *recording_; }
  void follow(CallSink& stream) override {
    if (!recording_->open()) return;
    HOTARU_CHECK(stream.device() == recording_->device(), kNotPermitted,
                 ": a stream of ", stream.device(),
                 " cannot be part of a graph of ", recording_->device());
    recording_->add(stream);
  }

  bool joined() const { return joined_ >= calls_; }
  void leave() { std::exchange(stream_, nullptr)->divert(nullptr); }

 private:
  Ref<CallSink> stream_;
  const Ref<Recording> recording_;
  uint64_t calls_ = 0, joined_ = 0;
};

void Recording::add(CallSink& stream) {
  auto branch = make_ref<Branch>(stream, *this);
  stream.divert(branch);
  branches_.push_back(std::move(branch));
}

void Recording::take(const KernelCall& call) {
  // Copies alone go from device to device.
  static const Kernel& copy = kernel("copy_");
  if (&call.kernel() != &copy) check_same_device(call);
  call.kernel().check(device_.type, call);
  nodes_.push_back(std::make_unique<Node>(call));
  const std::lock_guard lock(ordering_mutex());
  for (const Operand& operand : call.operands()) {
    if (!operand.writes() || operand.object || !operand.tensor->defined())
      continue;
    const Ref<Storage>& storage = operand.tensor->storage();
    // The CPU sees no change of the host's memory beside a device's graph.
    const bool ours = storage->device() == device_;
    const bool filled = !storage->pending();
    if (ours && filled && !(device_.is_cpu() && constant(*storage))) continue;
    Uses& uses = Uses::of(*storage);
    if (ours && filled && !uses.captured()) begin_with(storage);
    if (!uses.captured()) computed_.push_back(storage);
    uses.set_captured(&call.kernel());
  }
}

bool Recording::constant(const Storage& storage) {
  const auto known = [&](const Ref<Storage>& s) { return s.get() == &storage; };
  if (std::any_of(constants_.begin(), constants_.end(), known)) return true;
  if (!storage.pending()) return false;
  constants_.emplace_back(const_cast<Storage*>(&storage));
  return true;
}

void Recording::begin_with(const Ref<Storage>& constant) {
  static const Kernel& copy = kernel("copy_");
  Allocator& allocator =
      DeviceTable::instance().backend(device_.type).allocator(0);
  const size_t nbytes = constant->nbytes();
  auto bytes = make_ref<Storage>(allocator, nbytes, device_);
  std::memcpy(bytes->data(), constant->data(), nbytes);
  const auto all_of = [&](const Ref<Storage>& storage) {
    return make_tensor(storage, DType::kUInt8, Dims{int64_t(nbytes)}, Dims{1},
                       0);
  };
  const Tensor to = all_of(constant), from = all_of(bytes);
  const Operand operands[] = {write(to), read(from)};
  begins_.push_back(std::make_unique<Node>(KernelCall(copy, operands)));
}

bool Recording::close() {
  open_ = false;
  bool joined = true;
  for (size_t i = 1; i < branches_.size(); ++i)
    joined &= branches_[i]->joined();
  for (const Ref<Branch>& branch : branches_) branch->leave();
  branches_.clear();
  const std::lock_guard lock(ordering_mutex());
  for (const Ref<Storage>& storage : computed_)
    Uses::of(*storage).set_captured(nullptr);
  return joined;
}

bool Recording::touches(const Storage* storage) const {
  return std::any_of(nodes_.begin(), nodes_.end(), [&](const auto& node) {
    const auto operands = node->call().operands();
    return std::any_of(
        operands.begin(), operands.end(),
        [&](const Operand& operand) { return ordered_of(operand) == storage; });
  });
}

Nodes Recording::finish() {
  computed_.clear();
  constants_.clear();
  nodes_.insert(nodes_.begin(), std::make_move_iterator(begins_.begin()),
                std::make_move_iterator(begins_.end()));
  return std::move(nodes_);
}

void Recording::spoil() {
  nodes_.clear();
  begins_.clear();
  constants_.clear();
  const auto error = std::make_exception_ptr(
      Error("the value was captured for a graph, but the capture failed; it "
            "was never computed"));
  const std::lock_guard lock(ordering_mutex());
  for (const Ref<Storage>& storage : computed_)
    if (storage->use_count() > 1) Uses::of(*storage).set_error(error);
  computed_.clear();
}

namespace {

/// For detail::host_watch.
void check_host_access(const Ordered& object) {
  if (!capturing()) return;
  const auto* storage = dynamic_cast<const Storage*>(&object);
  HOTARU_CHECK(storage, kNotPermitted,
               ": the state of a random generator was asked for or set");
  const auto* uses = static_cast<const Uses*>(object.uses());
  if (!(uses && uses->captured())) {
    if (storage->nbytes() == 0) return;
    const auto* branch = dynamic_cast<const Branch*>(
        current_stream(storage->device()).diverted());
    // Beside a device's graph the CPU goes on.
    if (!branch && storage->device().is_cpu()) return;
    if (branch && branch->recording().constant(*storage)) return;
    // A number of an earlier capture or queue, which history keeps.
    if (storage->deferred() && !(uses && uses->written())) return;
  }
  if (uses) uses->check_captured();
  fail(kNotPermitted,
       ": the values of a tensor were asked for on the host, "
       "which would be those of this moment in every replay");
}

}  // namespace

Capture::Capture(const Stream& stream)
    : recording_(make_ref<Recording>(stream.device())) {
  const Device device = stream.device();
  const Stream& usual = DeviceTable::instance()
                            .backend(device.type)
                            .default_stream(std::max<int>(device.index, 0));
  HOTARU_CHECK(!stream.immediate() && stream != usual,
               "graphs must be captured on a non-default stream. (However, "
               "after capture, it's ok to replay them on the default stream.)");
  HOTARU_CHECK(!stream.diverted() && !capturing(), kNotPermitted,
               ": another capture goes on here");
  recording_->add(*stream.sink());
  count_running(1);
}

Capture::Capture(Capture&&) noexcept = default;

Capture::~Capture() {
  if (!recording_ || !recording_->open()) return;
  recording_->close();
  count_running(-1);
  recording_->spoil();
}

Device Capture::device() const {
  return recording_->device();
}

bool Capture::touches(const Storage* storage) const {
  return recording_->touches(storage);
}

Nodes Capture::end() {
  const bool joined = recording_->close();
  count_running(-1);
  if (joined) return recording_->finish();
  recording_->spoil();
  fail(
      "capturing stream has unjoined work: a stream that was captured because "
      "it waited for the first one has calls that the first one does not wait "
      "for");
}

bool capturing() {
  return diverts_here();
}

}  // namespace hotaru::graph
