// All ranks of a world, each connected to each other one, and what they are
// doing together.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "hotaru/comm/mesh/link.h"
#include "hotaru/comm/mesh/operation.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/platform/wake_event.h"

namespace hotaru::comm {

/// Whoever waits for an operation moves the bytes of all; a thread of the
/// mesh's own does while none waits, and sleeps otherwise. Thread-safe.
///
/// A rank that goes away fails the operations of its groups on every other
/// rank, as does one that takes too long and one whose peers do something
/// else; each is told who it was. The group is of no use afterwards.
class Mesh final : public RefCounted, private LinkReader {
 public:
  /// Connections by rank; the own one is empty.
  Mesh(std::vector<Socket> sockets, int rank);
  ~Mesh() override;

  int rank() const { return rank_; }
  int size() const { return int(peers_.size()); }
  /// `ranks` of the world, in the group's order; `rank` is this process's
  /// place among them. Every rank names the same group by the same name.
  Ref<Channel> open(std::string name, std::vector<int> ranks, int rank);

  /// Returns when it has ended; throws DistBackendError.
  void run(Operation& operation);
  /// Returns when it has begun; `late` is told of its end.
  void start(const Ref<Operation>& operation, Ref<LateCall> late);
  /// For an operation that runs elsewhere, on a device: its number.
  uint64_t note(Channel& channel, const std::string& what);
  /// Has the group told that such an operation takes long, and hears why it
  /// will not end, until unwatch(); `number` is what note() gave, and
  /// `deadline` the caller's.
  void watch(const Ref<Operation>& operation);
  void unwatch(Operation& operation);
  /// Why the group is over, or null; of an operation that is watched, in its
  /// words.
  std::exception_ptr failure(const Channel& channel,
                             const Operation* operation = nullptr) const;
  /// Ends the group, and says so to the others.
  void give_up(Channel& channel, const std::string& why);
  /// The name is free again, and no operation of the group is begun.
  void shut(Channel& channel);
  /// Says goodbye. Operations under way fail.
  void close();

  /// A transfer's beginning and, where its operation is given up, its end.
  void post(Transfer& transfer);
  void forget(Transfer& transfer) noexcept;

 private:
  using Lock = std::unique_lock<std::mutex>;
  // Who says that a group is over: another rank; this one, and then the others
  // are told; or, where there is nothing to tell them, nobody.
  static constexpr int kThis = -1, kNobody = -2;

  struct Early {
    Frame frame;
    std::string payload;
  };
  struct Peer {
    std::unique_ptr<Link> link;       // null: this process
    std::vector<Transfer*> receives;  // that nobody has sent yet
    std::vector<Transfer*> held;      // long ones, until the other side asks
    std::vector<Frame> asked;         // by the other side, too early
    std::deque<Early> early;          // messages that nobody asked for yet
    size_t early_bytes = 0;
    std::vector<Frame> offers;  // long messages between two ranks
    bool left = false;          // it said goodbye
    std::string lost;           // why there is no connection
  };

  Transfer* receiver(int rank, const Frame& frame) override;
  void arrived(Transfer& transfer) override;
  void gone_out(Transfer& transfer) override { arrived(transfer); }
  void message(int rank, const Frame& frame, std::string payload) override;
  void offered(int rank, const Frame& frame);
  void asked(int rank, const Frame& frame);
  void waits(int rank, const Frame& frame, std::string text);

  void check_not_forked() const;
  void check_open(const Channel& channel, const std::string& what) const;
  void make_thread();
  void begin(Operation& operation);
  /// One round: waits for bytes, moves them, goes on with who waited for them.
  void lead(Lock& lock);
  void wait_for_events(Lock& lock);
  void move_bytes();
  void go_on();
  void look_at_clock();
  /// Who has not come.
  std::string too_late(const Operation& operation) const;
  void say_waiting(Operation& operation);
  /// Who sent, and was not asked for it, something else for this operation: a
  /// rank of the world; -1 for nobody.
  int stranger(const Operation& operation) const;
  void settle(Operation& operation);
  /// Tells those who wait in other ways than in run().
  void tell(Lock& lock);
  void in_background(const std::shared_ptr<bool>& alive);
  void poke() const;

  bool take_early(Transfer& transfer);
  void post_receive(Transfer& transfer);
  void post_from_any(Transfer& transfer);
  static bool matches(const Transfer& transfer, const Frame& frame);
  /// False, and the channel is to fail, where the two sides disagree.
  bool fits(const Transfer& transfer, int rank, const Frame& frame);
  void compare(const Channel& channel, const Operation& mine, int rank,
               const Channel::Said& theirs);
  void suspect(Operation& operation, int rank);
  /// It has a little time to end after all.
  void doubt(Operation& operation, std::string why);
  void differ(const Channel& channel, int rank, const Channel::Said& theirs,
              const std::string& mine);
  void lose(int rank, const std::string& why);
  /// Ends the channel's operations; `origin` is who said so, or this rank.
  void fail(Channel& channel, const std::string& why, int origin);
  /// Notes a failure found while bytes were read, for when that is over.
  void fail_later(uint64_t channel, std::string why, int origin);
  void fail_found();

  const int rank_;
  std::vector<Peer> peers_;
  platform::WakeEvent wake_;

  mutable std::mutex mutex_;  // guards what follows, and peers_
  std::condition_variable changed_, background_;
  std::list<Ref<Operation>> operations_;
  std::map<uint64_t, Ref<Channel>> channels_;
  std::vector<Transfer*> from_any_;
  std::vector<std::pair<Operation*, std::coroutine_handle<>>> ready_;
  std::vector<Ref<Operation>> ended_;
  struct Fault {
    uint64_t channel;
    std::string why;
    int origin;
  };
  std::vector<Fault> found_;
  bool leading_ = false, polling_ = false, closed_ = false;
  int drivers_ = 0;  // threads in run()
  std::unique_ptr<std::thread> thread_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // thread_'s

  friend struct Meshes;
  std::atomic<bool> forked_{false};
};

}  // namespace hotaru::comm
