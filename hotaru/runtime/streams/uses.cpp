#include "hotaru/runtime/streams/uses.h"

#include "hotaru/core/checks/check.h"
#include "hotaru/runtime/operand.h"
#include "hotaru/runtime/profiler.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru {
namespace {

constinit std::mutex ordering;
// Objects with an error; none, nearly always.
constinit std::atomic<int> failed_objects{0};
// Kernels that run in this thread, one inside the other.
constinit thread_local int kernels_here = 0;

Uses* uses_of(const Operand& operand) {
  const Ordered* object = ordered_of(operand);
  return object ? static_cast<Uses*>(object->uses()) : nullptr;
}

/// True if writing the operand leaves nothing of what was there before.
bool covers(const Operand& operand) {
  if (operand.access != Access::kWrite || operand.object) return false;
  const Tensor& t = *operand.tensor;
  return t.is_contiguous() &&
         size_t(t.numel()) * itemsize(t.dtype()) == t.storage()->nbytes();
}

void wait_for(const std::vector<Ticket>& tickets) {
  for (const Ticket& ticket : tickets) ticket.timeline->wait_for(ticket.number);
}

}  // namespace

std::mutex& ordering_mutex() {
  return ordering;
}

Uses& Uses::of(const Ordered& object) {
  if (PendingUses* uses = object.uses()) return *static_cast<Uses*>(uses);
  auto* uses = new Uses;
  object.set_uses(uses);
  return *uses;
}

Uses::~Uses() {
  if (error_) failed_objects.fetch_sub(1);
}

void Uses::check_captured() const {
  HOTARU_CHECK(!writer_, "operation not permitted when stream is capturing: ",
               "the value that ", writer_->name(), " computes does not exist ",
               "before the graph is replayed");
}

void Uses::add(const Ticket& mine, const Operand& operand,
               std::vector<Ticket>& after) {
  check_captured();
  const auto follow = [&](const Ticket& other) {
    if (other.timeline && other.timeline != mine.timeline && !other.done())
      after.push_back(other);
  };
  follow(write_);
  if (operand.writes()) {
    for (const Ticket& read : reads_) follow(read);
    reads_.clear();
    write_ = mine;
    written_ = true;
    return;
  }
  for (Ticket& read : reads_)
    if (read.timeline == mine.timeline) return void(read.number = mine.number);
  std::erase_if(reads_, [](const Ticket& read) { return read.done(); });
  reads_.push_back(mine);
}

void Uses::collect(bool writes, std::vector<Ticket>& after) const {
  check_captured();
  if (write_.timeline && !write_.done()) after.push_back(write_);
  if (!writes) return;
  for (const Ticket& read : reads_)
    if (!read.done()) after.push_back(read);
}

std::vector<Ticket> Uses::pending(const Timeline* but) const {
  std::vector<Ticket> out;
  const auto add = [&](const Ticket& ticket) {
    if (ticket.timeline && ticket.timeline.get() != but && !ticket.done())
      out.push_back(ticket);
  };
  add(write_);
  for (const Ticket& read : reads_) add(read);
  return out;
}

void Uses::set_error(std::exception_ptr error) {
  failed_objects.fetch_add(int(bool(error)) - int(bool(error_)));
  error_ = std::move(error);
}

void Uses::add_watch(Watch& watch) {
  watches_.push_back(&watch);
  watched_ = true;
}

void Uses::remove_watch(Watch& watch) {
  std::erase(watches_, &watch);
  watched_ = !watches_.empty();
}

void Uses::wait() {
  std::vector<Ticket> pending;
  {
    const std::lock_guard lock(ordering);
    collect(true, pending);
    if (kernels_here == 0) tell_watches();
  }
  wait_for(pending);
  if (failed_objects.load() == 0) return;
  const std::unique_lock lock(ordering);
  if (error_) std::rethrow_exception(error_);
}

void Uses::tell_watches() const {
  for (Watch* watch : watches_) watch->set();
}

Watch::Watch(std::vector<Ref<Ordered>> objects) : objects_(std::move(objects)) {
  const std::lock_guard lock(ordering);
  for (const Ref<Ordered>& object : objects_)
    Uses::of(*object).add_watch(*this);
  detail::watchers.fetch_add(detail::kOneWatch);
}

Watch::~Watch() {
  const std::lock_guard lock(ordering);
  for (const Ref<Ordered>& object : objects_)
    Uses::of(*object).remove_watch(*this);
  detail::watchers.fetch_sub(detail::kOneWatch);
}

namespace {

/// Tells the watches of what the call writes that it may have changed, when the
/// scope ends; and, while it runs in this thread, that it is no host code.
class WriteScope {
 public:
  explicit WriteScope(const KernelCall& call);
  ~WriteScope();
  WriteScope(const WriteScope&) = delete;
  WriteScope& operator=(const WriteScope&) = delete;

 private:
  const KernelCall& call_;
};

WriteScope::WriteScope(const KernelCall& call) : call_(call) {
  ++kernels_here;
}

WriteScope::~WriteScope() {
  --kernels_here;
  for (const Operand& operand : call_.operands()) {
    if (!operand.writes()) continue;
    const Uses* uses = uses_of(operand);
    if (!uses || !uses->watched()) continue;
    const std::lock_guard lock(ordering);
    uses->tell_watches();
  }
}

}  // namespace

void collect_pending(const KernelCall& call, std::vector<Ticket>& after) {
  bool used = false;
  for (const Operand& operand : call.operands()) used |= bool(uses_of(operand));
  if (!used) return;
  const std::lock_guard lock(ordering);
  for (const Operand& operand : call.operands())
    if (const Uses* uses = uses_of(operand))
      uses->collect(operand.writes(), after);
}

std::exception_ptr input_error(const KernelCall& call) {
  if (failed_objects.load() == 0) return nullptr;
  const std::lock_guard lock(ordering);
  for (const Operand& operand : call.operands()) {
    Uses* uses = uses_of(operand);
    if (uses && uses->error() && !covers(operand)) return uses->error();
  }
  return nullptr;
}

void set_output_error(const KernelCall& call, const std::exception_ptr& error) {
  if (!error && failed_objects.load() == 0) return;
  const std::lock_guard lock(ordering);
  for (const Operand& operand : call.operands()) {
    // A generator that a failed call drew from still works.
    if (!operand.writes() || operand.object || !ordered_of(operand)) continue;
    if (error)
      Uses::of(*ordered_of(operand)).set_error(error);
    else if (Uses* uses = uses_of(operand); uses && covers(operand))
      uses->set_error(nullptr);
  }
}

namespace {

/// The host is about to run the call itself.
void settle(const KernelCall& call) {
  std::vector<Ticket> pending;
  collect_pending(call, pending);
  wait_for(pending);
  if (const std::exception_ptr error = input_error(call))
    std::rethrow_exception(error);
}

}  // namespace

void detail::run_told(const KernelCall& call, DeviceType type, int64_t stream) {
  if (!objects_watched(watchers.load(std::memory_order_relaxed)))
    return run_recorded(call, type, stream);
  const WriteScope scope(call);
  run_recorded(call, type, stream);
}

void detail::tell_written(const KernelCall& call) {
  if (objects_watched(watchers.load(std::memory_order_relaxed)))
    const WriteScope scope(call);
}

void detail::run_watched(const KernelCall& call) {
  const int64_t watching = watchers.load(std::memory_order_relaxed);
  if (watching >= kOneDevice) check_same_device(call);
  if (streams_queue(watching)) {
    settle(call);
    // Before it runs: a kernel of an immediate call looks at its operands'
    // uses.
    set_output_error(call, nullptr);
  }
  run_told(call, DeviceType::kCPU, 0);
}

}  // namespace hotaru
