// One message of an operation, on its way.
#pragma once

#include <coroutine>
#include <cstddef>

#include "hotaru/comm/mesh/frame.h"

namespace hotaru::comm {

class Operation;

enum class Way : uint8_t { kSend, kReceive };
/// In place of a rank, for messages between two: whoever sends first.
inline constexpr int kAnyRank = -1;

/// Lives on the frame of the coroutine that awaits it. Under way from its
/// construction on; `co_await transfer` goes on when all of it has come, or
/// gone out and its memory may be used again. Destroyed before, it is given up.
class Transfer {
 public:
  /// `rank` is the other side's in the group. Messages from one rank to another
  /// are matched in the order in which both begin them.
  Transfer(Operation& operation, Way way, int rank, const void* data,
           size_t bytes);
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  bool await_ready() const { return done; }
  void await_suspend(std::coroutine_handle<> waiter) { waits = waiter; }
  void await_resume() const {}

  Operation& operation;
  const Way way;
  int rank;  // the other side's, in the world; kAnyRank until it is known
  Frame frame;
  char* const data;
  bool done = false;
  std::coroutine_handle<> waits;
};

}  // namespace hotaru::comm
