// The side of a process group that carries tensors on devices.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include "hotaru/comm/group/collective_kernel.h"
#include "hotaru/comm/group/device_watch.h"
#include "hotaru/comm/group/process_group.h"

namespace hotaru::comm {

/// Each collective is a kernel call on the device, in the caller's stream or,
/// where it is asynchronous, one of the communicator's own. A communicator is
/// made when it is first needed: one of all ranks, and one of each two for
/// their messages. Ranks exchange what it takes over the mesh, which also knows
/// them by number and by name (DeviceWatch). Thread-safe.
class DeviceGroup {
 public:
  explicit DeviceGroup(ProcessGroup& group);
  /// Gives up what is under way.
  ~DeviceGroup();

  Work issue(const Collective& collective, IssuedCollective issued,
             std::vector<Operand> operands);
  /// Connects all ranks already, which all of them do.
  void connect(Device device);
  /// Returns when all that was begun has ended.
  void synchronize();
  /// Ends after that; every rank does it.
  void shut();

 private:
  struct Link {
    Ref<Communicator> communicator;
    Stream stream;
  };
  /// A device and the other rank of messages, or -1.
  using Key = std::pair<int, int>;

  const Link& link(Device device, int peer);
  Link make_link(Device device, int peer);
  void check_library(Device device);
  std::string exchange_key(Device device, int peer);
  std::vector<Tensor> exchange(const Tensor& mine, int peer);

  ProcessGroup& group_;
  const Ref<Channel> channel_;  // of numbers and faults
  std::unique_ptr<DeviceWatch> watch_;
  std::mutex mutex_;  // guards the rest
  std::map<Key, Link> links_;
  std::set<Key> connecting_;  // by a thread, outside the lock
  std::condition_variable connected_;
};

}  // namespace hotaru::comm
