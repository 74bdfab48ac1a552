#include "hotaru/comm/mesh/mesh.h"

#include <poll.h>

#include <algorithm>

#include "hotaru/comm/dist_error.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/platform/fork.h"
#include "hotaru/runtime/threads/blocking.h"

namespace hotaru::comm {

using Clock = std::chrono::steady_clock;

namespace {

// When an operation that has not ended tells its group that it waits.
constexpr Millis kPatience{500};

}  // namespace

/// All there are, for fork(): a child's copies of the connections would keep
/// others from seeing that this process has ended.
struct Meshes {
  std::mutex mutex;
  std::vector<Mesh*> all;

  static Meshes& instance() {
    static Meshes& meshes = *new Meshes;
    return meshes;
  }
  Meshes() {
    platform::at_fork([] { instance().mutex.lock(); },
                      [] { instance().mutex.unlock(); }, &in_child);
  }
  static void in_child() {
    for (Mesh* mesh : instance().all) {
      mesh->forked_ = true;
      for (Mesh::Peer& peer : mesh->peers_)
        if (peer.link) peer.link->abandon();
      (void)mesh->thread_.release();  // NOLINT: nobody runs it here
    }
    instance().mutex.unlock();
  }
};

Mesh::Mesh(std::vector<Socket> sockets, int rank)
    : rank_(rank), peers_(sockets.size()) {
  for (size_t i = 0; i < sockets.size(); ++i)
    if (int(i) != rank)
      peers_[i].link = std::make_unique<Link>(std::move(sockets[i]), int(i));
  if (!wake_) throw DistNetworkError("eventfd failed");
  const std::lock_guard lock(Meshes::instance().mutex);
  Meshes::instance().all.push_back(this);
}

Mesh::~Mesh() {
  close();
  {
    const std::lock_guard lock(Meshes::instance().mutex);
    std::erase(Meshes::instance().all, this);
  }
  // The last operation's end may be the mesh's, too.
  if (thread_ && thread_->get_id() == std::this_thread::get_id()) {
    *alive_ = false;
    thread_->detach();
  } else if (thread_) {
    thread_->join();
  }
}

Ref<Channel> Mesh::open(std::string name, std::vector<int> ranks, int rank) {
  uint64_t id = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : name) id = (id ^ uint8_t(c)) * 0x100000001b3;
  auto channel = make_ref<Channel>(id, std::move(name), std::move(ranks), rank);
  const Lock lock(mutex_);
  if (!channels_.emplace(id, channel).second)
    throw DistBackendError(
        concat("there is a group named '", channel->name, "' already"));
  return channel;
}

void Mesh::shut(Channel& channel) {
  if (forked_) return;
  Lock lock(mutex_);
  fail(channel, "the process group was destroyed", kNobody);
  channels_.erase(channel.id);
  tell(lock);
}

// --- whoever has something to do ---------------------------------------------

void Mesh::check_not_forked() const {
  if (forked_)
    throw DistBackendError(
        "a process group does not survive fork(): begin it in the child");
}

void Mesh::check_open(const Channel& channel, const std::string& what) const {
  if (closed_)
    throw DistBackendError(concat(what, ": the process group was destroyed"));
  if (channel.error) std::rethrow_exception(channel.error);
}

void Mesh::make_thread() {
  if (!thread_)
    thread_ = std::make_unique<std::thread>(
        [this, alive = alive_] { in_background(alive); });
}

void Mesh::begin(Operation& operation) {
  Channel& channel = *operation.channel;
  check_open(channel, operation.what);
  operation.deadline = Clock::now() + operation.timeout;
  operation.says_it_waits =
      Clock::now() + std::min(kPatience, operation.timeout / 4);
  operation.heard[size_t(channel.rank)] = true;
  if (operation.collective) {
    operation.number = ++channel.issued;
    channel.remember(operation.number, operation.fingerprint, operation.what);
  }
  operations_.emplace_back(&operation);
  for (const auto& [rank, said] : channel.waiting)
    compare(channel, operation, rank, said);
  fail_found();
  if (operation.done) return;
  operation.steps.start();
  go_on();
  settle(operation);
  fail_found();
}

void Mesh::run(Operation& operation) {
  check_not_forked();
  Lock lock(mutex_);
  begin(operation);
  if (!operation.done) {
    lock.unlock();
    const BlockingRegion region;
    lock.lock();
    if (polling_) poke();
    ++drivers_;
    while (!operation.done) {
      if (leading_)
        changed_.wait(lock);
      else
        lead(lock);
      tell(lock);
    }
    if (--drivers_)
      changed_.notify_all();
    else if (thread_ && !operations_.empty())
      background_.notify_one();
  }
  tell(lock);
  if (operation.error) std::rethrow_exception(operation.error);
}

void Mesh::start(const Ref<Operation>& operation, Ref<LateCall> late) {
  check_not_forked();
  Lock lock(mutex_);
  make_thread();
  operation->late = std::move(late);
  try {
    begin(*operation);
  } catch (...) {
    operation->late = nullptr;
    throw;
  }
  if (polling_)
    poke();
  else if (!operation->done && !drivers_)
    background_.notify_one();
  tell(lock);
}

void Mesh::in_background(const std::shared_ptr<bool>& alive) {
  while (*alive) {
    Lock lock(mutex_);
    background_.wait(lock, [&] {
      return closed_ || (!operations_.empty() && !drivers_ && !leading_);
    });
    if (closed_ || !try_retain()) return;
    const Ref<Mesh> self(this);
    release();
    lead(lock);
    if (drivers_) changed_.notify_all();
    tell(lock);
    lock.unlock();
  }
}

void Mesh::close() {
  if (forked_) return;
  Lock lock(mutex_);
  if (closed_) return;
  closed_ = true;
  for (const auto& [id, channel] : channels_)
    fail(*channel, "the process group was destroyed", kNobody);
  Frame bye;
  bye.kind = FrameKind::kBye;
  for (Peer& peer : peers_)
    if (peer.link && peer.link->open()) {
      peer.link->send(*this, bye, nullptr);
      peer.link->close();
    }
  if (polling_) poke();
  background_.notify_all();
  changed_.notify_all();
  tell(lock);
}

void Mesh::tell(Lock& lock) {
  if (ended_.empty()) return;
  const std::vector<Ref<Operation>> ended = std::exchange(ended_, {});
  lock.unlock();
  for (const Ref<Operation>& operation : ended)
    if (const Ref<LateCall> late = std::exchange(operation->late, nullptr))
      late->end(operation->error);
  lock.lock();
}

void Mesh::poke() const {
  wake_.set();
}

// --- a round -----------------------------------------------------------------

void Mesh::lead(Lock& lock) {
  leading_ = true;
  wait_for_events(lock);
  move_bytes();
  go_on();
  look_at_clock();
  fail_found();
  leading_ = false;
}

void Mesh::wait_for_events(Lock& lock) {
  Clock::time_point until = Clock::time_point::max();
  for (const Ref<Operation>& operation : operations_)
    until = std::min({until, operation->deadline, operation->says_it_waits});
  const auto left = std::chrono::ceil<Millis>(until - Clock::now()).count();
  std::vector<pollfd> polled{{wake_.descriptor(), POLLIN, 0}};
  for (const Peer& peer : peers_)
    if (peer.link && peer.link->open())
      polled.push_back({peer.link->descriptor(),
                        short(POLLIN | (peer.link->writes() ? POLLOUT : 0)),
                        0});
  polling_ = true;
  lock.unlock();
  ::poll(polled.data(), polled.size(),
         int(std::clamp<int64_t>(left, 0, 1 << 30)));
  lock.lock();
  polling_ = false;
  if (polled[0].revents) wake_.clear();
}

void Mesh::move_bytes() {
  std::vector<int> ended;
  for (Peer& peer : peers_) {
    Link* link = peer.link.get();
    if (!link || !link->open()) continue;
    link->write(*this);
    if (!link->read(*this)) ended.push_back(link->rank());
  }
  // A rank that gives up says why before it goes, so that of several that have
  // gone the first one is named.
  fail_found();
  for (const int rank : ended)
    lose(rank, std::string(peers_[size_t(rank)].link->why()));
}

void Mesh::go_on() {
  while (!ready_.empty()) {
    const auto ready = std::exchange(ready_, {});
    for (const auto& [operation, steps] : ready) steps.resume();
    for (const auto& [operation, steps] : ready)
      if (!operation->done) settle(*operation);
  }
}

void Mesh::settle(Operation& operation) {
  if (operation.done || !operation.steps.done()) return;
  operation.done = true;
  operation.error = operation.steps.error();
  const auto at = std::find_if(
      operations_.begin(), operations_.end(),
      [&](const Ref<Operation>& o) { return o.get() == &operation; });
  if (operation.late) ended_.push_back(*at);
  operations_.erase(at);
  changed_.notify_all();
}

void Mesh::look_at_clock() {
  const Clock::time_point now = Clock::now();
  for (const Ref<Operation>& operation : operations_)
    if (now >= operation->deadline)
      fail_later(operation->channel->id,
                 operation->suspicion.empty() ? too_late(*operation)
                                              : operation->suspicion,
                 kThis);
    else if (now >= operation->says_it_waits)
      say_waiting(*operation);
}

std::string Mesh::too_late(const Operation& operation) const {
  const Channel& channel = *operation.channel;
  std::string missing;
  for (size_t i = 0; i < channel.ranks.size(); ++i) {
    const auto said = channel.waiting.find(channel.ranks[i]);
    const bool came = operation.heard[i] ||
                      (operation.collective && said != channel.waiting.end() &&
                       said->second.number >= operation.number);
    if (!came) missing += concat(missing.empty() ? "" : ", ", channel.ranks[i]);
  }
  return concat("Timed out waiting ", operation.timeout.count(), "ms for ",
                operation.text(), " on rank ", rank_,
                missing.empty() ? std::string(": every rank has come")
                                : "; not heard of: rank " + missing);
}

void Mesh::say_waiting(Operation& operation) {
  operation.says_it_waits = Clock::time_point::max();
  if (!operation.collective) return;
  if (operation.suspicion.empty()) {
    // Who went on long ago may have sent what this one does not take.
    if (const int rank = stranger(operation); rank >= 0)
      return suspect(operation, rank);
  }
  Frame frame;
  frame.kind = FrameKind::kWaiting;
  frame.channel = operation.channel->id;
  frame.number = operation.number;
  frame.fingerprint = operation.fingerprint;
  for (const int rank : operation.channel->ranks)
    if (Link* link = peers_[size_t(rank)].link.get(); link && link->open())
      link->send_text(*this, frame, operation.what.substr(0, Frame::kMostText));
}

}  // namespace hotaru::comm
