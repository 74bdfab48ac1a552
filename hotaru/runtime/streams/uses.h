// Which queued calls an object still waits for: what makes work on different
// streams follow each other without being told to.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <vector>

#include "hotaru/core/memory/pool.h"
#include "hotaru/core/ordered.h"
#include "hotaru/runtime/kernel.h"
#include "hotaru/runtime/streams/timeline.h"

namespace hotaru {

class Watch;

/// The last write of an object and the reads since, by timeline; and the error
/// of the call that should have given it its value. Guarded by
/// ordering_mutex().
class Uses final : public PendingUses, public Pooled {
 public:
  /// The object's, made at first need.
  static Uses& of(const Ordered& object);

  ~Uses() override;

  /// Adds an operand of the call that has this ticket, and to `after` the
  /// calls of other queues that it has to follow.
  void add(const Ticket& mine, const Operand& operand,
           std::vector<Ticket>& after);
  /// The calls that whoever reads, or writes, has to wait for.
  void collect(bool writes, std::vector<Ticket>& after) const;
  /// For who frees the object's memory: what has not run yet, but for the work
  /// of one timeline, or null.
  std::vector<Ticket> pending(const Timeline* but = nullptr) const;

  /// True if calls are known that use it.
  bool used() const { return write_.timeline || !reads_.empty(); }
  /// True if a queued or captured call has written it, ever.
  bool written() const { return written_; }
  /// Says that the object's value exists only in a graph that is captured, in
  /// which the kernel computes it; null: no longer. Meanwhile every use of it
  /// outside throws Error.
  void set_captured(const Kernel* writer) {
    writer_ = writer;
    written_ |= writer != nullptr;
  }
  bool captured() const { return writer_ != nullptr; }
  void check_captured() const;

  /// The error that reading the object gives, or null.
  const std::exception_ptr& error() const { return error_; }
  void set_error(std::exception_ptr error);

  /// Who wants to know when the object may have changed.
  void add_watch(Watch& watch);
  void remove_watch(Watch& watch);
  bool watched() const { return watched_.load(std::memory_order_relaxed); }
  void tell_watches() const;

  /// Takes the lock itself. Host code that comes here may write: its watches
  /// are told.
  void wait() override;

 private:
  const Kernel* writer_ = nullptr;
  bool written_ = false;
  Ticket write_;
  std::vector<Ticket> reads_;
  std::exception_ptr error_;
  std::vector<Watch*> watches_;
  std::atomic<bool> watched_{false};  // whether there are some
};

/// Held while a call gets its ticket and its operands their uses, so that no
/// two queues ever wait for each other.
std::mutex& ordering_mutex();

/// Says whether any of some objects may have changed since it was last asked:
/// a kernel ran that writes one, or host code asked where one lies. For what is
/// computed from weights once and kept. Thread-safe.
class Watch {
 public:
  explicit Watch(std::vector<Ref<Ordered>> objects);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// At first they have.
  bool changed() const { return changed_.load(std::memory_order_relaxed); }
  /// Before the objects are looked at.
  void reset() { changed_.exchange(false); }
  void set() { changed_.store(true); }

 private:
  const std::vector<Ref<Ordered>> objects_;
  std::atomic<bool> changed_{true};
};

namespace detail {
/// Runs the call and tells the watches of what it writes.
void run_told(const KernelCall& call, DeviceType type, int64_t stream);
/// Tells them once more, of a call that wrote after its kernel had returned.
void tell_written(const KernelCall& call);
}  // namespace detail

/// The calls that the operands' uses have to be waited for, of all timelines.
void collect_pending(const KernelCall& call, std::vector<Ticket>& after);

/// The error of an operand that the call reads, or null.
std::exception_ptr input_error(const KernelCall& call);
/// Marks what the call writes as lacking its value, or, without an error, as
/// having it.
void set_output_error(const KernelCall& call, const std::exception_ptr& error);

}  // namespace hotaru
