// Which queued calls an object still waits for: what makes work on different
// streams follow each other without being told to.
#pragma once

#include <exception>
#include <mutex>
#include <vector>

#include "hotaru/core/ordered.h"
#include "hotaru/runtime/queue.h"

namespace hotaru {

/// The last write of an object and the reads since, by queue; and the error of
/// the call that should have given it its value. Guarded by ordering_mutex().
class Uses final : public PendingUses {
 public:
  /// The object's, made at first need.
  static Uses& of(const Ordered& object);

  ~Uses() override;

  /// Adds an operand of the call that has this ticket, and to `after` the
  /// calls of other queues that it has to follow.
  void add(const Ticket& mine, const Operand& operand,
           std::vector<Ticket>& after);
  /// The calls that the host has to wait for.
  void collect(bool writes, std::vector<Ticket>& after) const;

  /// The error that reading the object gives, or null.
  const std::exception_ptr& error() const { return error_; }
  void set_error(std::exception_ptr error);

  /// Takes the lock itself.
  void wait() override;

 private:
  Ticket write_;
  std::vector<Ticket> reads_;
  std::exception_ptr error_;
};

/// Held while a call gets its ticket and its operands their uses, so that no
/// two queues ever wait for each other.
std::mutex& ordering_mutex();

/// The error of an operand that the call reads, or null.
std::exception_ptr input_error(const KernelCall& call);
/// Marks what the call writes as lacking its value, or, without an error, as
/// having it.
void set_output_error(const KernelCall& call, const std::exception_ptr& error);

}  // namespace hotaru
