// Collectives under way on devices, looked after: a device tells nobody that
// another rank never came.
#pragma once

#include <chrono>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "hotaru/comm/mesh/mesh.h"
#include "hotaru/runtime/communicator.h"
#include "hotaru/runtime/streams/event.h"

namespace hotaru::comm {

struct WatchedCollective {
  Ref<Communicator> communicator;
  Event event{};  // behind it
  std::string what;
  /// Ranks of the group that it is with; empty: all, and it has a number.
  std::vector<int> peers;
  uint64_t number = 0;  // in the channel
  Millis timeout{0};
  std::chrono::steady_clock::time_point issued{};
  Ref<Operation> operation = nullptr;  // once it takes long
};

/// A thread that asks now and then what has ended. What takes longer than half
/// a second is told to the group through the mesh, which knows who is gone, who
/// does something else and who never came; then the communicators are aborted
/// with that, as they are with what their library finds wrong. Thread-safe.
class DeviceWatch {
 public:
  DeviceWatch(Ref<Mesh> mesh, Ref<Channel> channel);
  ~DeviceWatch();
  void add(WatchedCollective collective);
  /// Forgets all; nothing is added any more.
  void stop();
  /// True if its thread stayed behind in the process that this one was forked
  /// from: then it can be used for nothing, nor be destroyed.
  bool left_behind() const;

 private:
  /// Has all communicators give up; mutex_ held.
  void abort(const std::exception_ptr& error);
  void work();
  void look();
  void announce(WatchedCollective& collective) const;

  const Ref<Mesh> mesh_;
  const Ref<Channel> channel_;
  std::mutex mutex_;  // guards the rest
  std::condition_variable changed_;
  std::list<WatchedCollective> pending_;
  bool ended_ = false;
  std::unique_ptr<std::thread> thread_;
  int process_ = 0;  // the thread's
};

}  // namespace hotaru::comm
