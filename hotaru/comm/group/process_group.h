// Ranks that work together: PyTorch's process group over a mesh of sockets.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "hotaru/comm/group/reduction.h"
#include "hotaru/comm/mesh/mesh.h"
#include "hotaru/core/tensor.h"
#include "hotaru/runtime/communicator.h"
#include "hotaru/runtime/streams/event.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru::comm {

enum class CollectiveKind : uint8_t {
  kAllReduce,
  kReduce,
  kBroadcast,
  kAllGather,
  kGather,
  kScatter,
  kReduceScatter,
  kAllToAll,
  kBarrier,
  kSend,
  kReceive,
  kExchange,
};

/// Request that a rank makes. Tensors are contiguous and of one device, all of
/// one dtype (but for messages together). In place (reduce, broadcast;
/// receive): one output; all_reduce takes several, which are reduced together.
/// One a rank: outputs of all_gather and, at the root, gather, inputs of
/// reduce_scatter and, at the root, scatter, both of all_to_all.
struct Collective {
  CollectiveKind kind = CollectiveKind::kBarrier;
  std::vector<Tensor> inputs, outputs;
  Reduction reduction;
  int root = 0;  // or the other side of a message; kAnyRank to receive from any
  uint32_t tag = 0;
  /// Ranks, for messages together, which are for devices only: to whom each
  /// input goes, and then from whom each output comes.
  std::vector<int> peers = {};
  /// Negative: the group's.
  Millis timeout{-1};
  /// Set if issue() may return before it is done.
  bool async = false;
};

/// A collective that was issued. A value; copies share it. Thread-safe.
class Work {
 public:
  Work() = default;  // one that is done
  Work(Stream stream, Event event, std::shared_ptr<const int> source)
      : stream_(std::move(stream)),
        event_(std::move(event)),
        source_(std::move(source)) {}
  /// Makes the work of a device: its streams wait, not the host.
  Work(Stream stream, Event event, std::shared_ptr<const int> source,
       Ref<Communicator> communicator)
      : stream_(std::move(stream)),
        event_(std::move(event)),
        source_(std::move(source)),
        communicator_(std::move(communicator)) {}

  bool done() const;
  /// Calls f with the operation's error, or null, once it is done: in a worker,
  /// or here if it is done already.
  void then(std::function<void(std::exception_ptr)> f) const;
  /// Throws the operation's error, every time. Where it runs on a device, the
  /// thread's current stream there waits.
  void wait() const;
  /// False if it is not done in time, for which the host waits.
  bool wait_for(Millis timeout) const;
  /// The rank of the group that a message came from, once it is done.
  int source() const { return source_ ? *source_ : -1; }
  const Event& event() const { return event_; }

 private:
  std::optional<Stream> stream_;
  Event event_;
  std::shared_ptr<const int> source_;
  Ref<Communicator> communicator_;
};

class DeviceGroup;

/// Each collective is a kernel call on the group's own queued stream, so that
/// others on the same tensors follow it, or, where the caller waits for it and
/// nothing is before it, in the caller's thread. Messages between two ranks
/// hold up nothing but their tensors. Tensors on devices go by the library of
/// those (device_group.h). Thread-safe; all ranks must issue the group's
/// collectives in the same order.
class ProcessGroup final : public RefCounted {
 public:
  ProcessGroup(Ref<Mesh> mesh, Ref<Channel> channel, Millis timeout);
  ~ProcessGroup() override;

  int rank() const { return channel_->rank; }
  int size() const { return int(channel_->ranks.size()); }
  const std::string& name() const { return channel_->name; }
  /// In the world, by rank of the group.
  const std::vector<int>& ranks() const { return channel_->ranks; }
  const Ref<Mesh>& mesh() const { return mesh_; }
  const Ref<Channel>& channel() const { return channel_; }
  Millis timeout() const { return timeout_; }
  void set_timeout(Millis timeout) { timeout_ = timeout; }

  /// ValueError for what cannot be asked for. Throws the operation's error if
  /// it waits.
  Work issue(const Collective& collective);
  /// Where asynchronous collectives run.
  Stream stream();
  /// Waits for them.
  void synchronize();
  /// The side of tensors on devices.
  std::shared_ptr<DeviceGroup> devices();
  /// No collective is begun any more, and those under way fail; unless
  /// `aborts`, devices finish theirs first.
  void shut(bool aborts = false);
  /// One of a rank's messages went to who receives from any.
  void note_message(int rank, uint32_t tag);

 private:
  PointToPoint next_message(const Collective& collective);
  Work issue_message(const KernelCall& call, bool async,
                     std::shared_ptr<const int> source);
  bool idle();
  void synchronize_devices();

  const Ref<Mesh> mesh_;
  const Ref<Channel> channel_;
  std::atomic<Millis> timeout_;
  std::mutex mutex_;  // guards the rest
  std::shared_ptr<DeviceGroup> devices_;
  std::optional<Stream> stream_;
  std::map<std::tuple<bool, int, uint32_t>, uint64_t> messages_;
};

}  // namespace hotaru::comm
