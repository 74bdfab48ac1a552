#include "hotaru/comm/group/device_watch.h"

#include <unistd.h>

#include "hotaru/comm/dist_error.h"
#include "hotaru/core/error.h"

namespace hotaru::comm {

using Clock = std::chrono::steady_clock;

namespace {

// How often a device is asked, and from when on others are.
constexpr Millis kRound{100}, kPatience{500};

bool has_ended(const WatchedCollective& collective) {
  try {
    return collective.event.query();
  } catch (const Error&) {
    return true;  // a lost device, which tells by itself
  }
}

}  // namespace

DeviceWatch::DeviceWatch(Ref<Mesh> mesh, Ref<Channel> channel)
    : mesh_(std::move(mesh)), channel_(std::move(channel)) {}

bool DeviceWatch::left_behind() const {
  return thread_ && process_ != ::getpid();
}

DeviceWatch::~DeviceWatch() {
  stop();
}

void DeviceWatch::stop() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }
  if (thread_) thread_->join();
  thread_ = nullptr;
  for (const WatchedCollective& collective : pending_)
    if (collective.operation) mesh_->unwatch(*collective.operation);
  pending_.clear();
}

void DeviceWatch::add(WatchedCollective collective) {
  const std::lock_guard lock(mutex_);
  if (!thread_) {
    thread_ = std::make_unique<std::thread>([this] { work(); });
    process_ = ::getpid();
  }
  collective.issued = Clock::now();
  pending_.push_back(std::move(collective));
  if (pending_.size() == 1) changed_.notify_all();
}

void DeviceWatch::work() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    if (pending_.empty()) {
      changed_.wait(lock);
    } else {
      // Nothing says that a device has ended without holding its stream up.
      changed_.wait_for(lock, kRound, [&] { return ended_; });
      look();
    }
  }
}

void DeviceWatch::look() {
  std::erase_if(pending_, [&](const WatchedCollective& c) {
    if (!has_ended(c)) return false;
    if (c.operation) mesh_->unwatch(*c.operation);
    return true;
  });
  const Clock::time_point now = Clock::now();
  for (WatchedCollective& c : pending_) {
    if (const std::string why = c.communicator->complaint(); !why.empty())
      mesh_->give_up(*channel_,
                     concat(c.what, " on rank ", mesh_->rank(), ": ", why));
    if (!c.operation && now - c.issued >= kPatience) announce(c);
    if (c.operation && mesh_->failure(*channel_, c.operation.get()))
      return abort(mesh_->failure(*channel_, c.operation.get()));
  }
  if (pending_.empty()) return;
  if (const std::exception_ptr error = mesh_->failure(*channel_)) abort(error);
}

void DeviceWatch::announce(WatchedCollective& c) const {
  if (c.peers.empty()) {
    c.operation = make_ref<Operation>(*mesh_, channel_, c.what, c.timeout);
    c.operation->number = c.number;
  } else {
    c.operation = make_ref<Operation>(*mesh_, channel_, c.what, c.timeout,
                                      PointToPoint{});
    c.operation->heard.assign(channel_->ranks.size(), true);
    for (const int peer : c.peers) c.operation->heard[size_t(peer)] = false;
  }
  c.operation->deadline = c.issued + c.timeout;
  mesh_->watch(c.operation);
}

void DeviceWatch::abort(const std::exception_ptr& error) {
  for (const WatchedCollective& c : pending_) c.communicator->abort(error);
  pending_.clear();
}

}  // namespace hotaru::comm
