// Operations that run on devices: what the mesh tells and hears of them.
#include <algorithm>

#include "hotaru/comm/mesh/mesh.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::comm {

uint64_t Mesh::note(Channel& channel, const std::string& what) {
  check_not_forked();
  const Lock lock(mutex_);
  check_open(channel, what);
  const uint64_t number = ++channel.issued;
  channel.remember(number, fingerprint_of(what), what);
  return number;
}

void Mesh::watch(const Ref<Operation>& operation) {
  check_not_forked();
  Lock lock(mutex_);
  Channel& channel = *operation->channel;
  if (closed_ || channel.error) return;
  make_thread();
  operation->watched = true;
  operation->heard[size_t(channel.rank)] = true;
  operation->says_it_waits = std::chrono::steady_clock::now();
  operations_.push_back(operation);
  for (const auto& [rank, said] : channel.waiting)
    compare(channel, *operation, rank, said);
  for (const int rank : channel.ranks) {
    const Peer& peer = peers_[size_t(rank)];
    if (peer.link && !peer.link->open() && operation->waits_for(rank))
      doubt(*operation, concat("rank ", rank, " is gone: ", peer.lost));
  }
  fail_found();
  if (polling_)
    poke();
  else if (!drivers_)
    background_.notify_one();
  tell(lock);
}

void Mesh::unwatch(Operation& operation) {
  if (forked_) return;
  const Lock lock(mutex_);
  operations_.remove_if(
      [&](const Ref<Operation>& o) { return o.get() == &operation; });
}

std::exception_ptr Mesh::failure(const Channel& channel,
                                 const Operation* operation) const {
  if (forked_) return nullptr;
  const Lock lock(mutex_);
  return operation && operation->error ? operation->error : channel.error;
}

void Mesh::give_up(Channel& channel, const std::string& why) {
  if (forked_) return;
  Lock lock(mutex_);
  fail(channel, why, kThis);
  tell(lock);
}

}  // namespace hotaru::comm
