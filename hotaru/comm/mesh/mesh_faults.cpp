// Failures among ranks, and who is told of them.
#include <algorithm>

#include "hotaru/comm/dist_error.h"
#include "hotaru/comm/mesh/mesh.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::comm {

namespace {

// How long a rank has to say what it does.
constexpr Millis kAnswer{1000};

}  // namespace

void Mesh::waits(int rank, const Frame& frame, std::string text) {
  const auto found = channels_.find(frame.channel);
  if (found == channels_.end()) return;
  Channel& channel = *found->second;
  const Channel::Said said{frame.number, frame.fingerprint, std::move(text)};
  channel.waiting[rank] = said;
  for (const Ref<Operation>& operation : operations_)
    if (operation->channel.get() == &channel)
      compare(channel, *operation, rank, said);
  const Channel::Said& mine = channel.past[said.number % channel.past.size()];
  if (mine.number == said.number && mine.fingerprint != said.fingerprint)
    differ(channel, rank, said, mine.what);
}

void Mesh::compare(const Channel& channel, const Operation& mine, int rank,
                   const Channel::Said& theirs) {
  if (mine.collective && mine.number == theirs.number &&
      mine.fingerprint != theirs.fingerprint)
    differ(channel, rank, theirs, mine.what);
}

void Mesh::differ(const Channel& channel, int rank, const Channel::Said& theirs,
                  const std::string& mine) {
  fail_later(
      channel.id,
      concat("Detected mismatch between collectives on ranks: "
             "collective ",
             theirs.number, " of group '", channel.name, "' is ", theirs.what,
             " on rank ", rank, " and ", mine, " on rank ", rank_),
      kThis);
}

/// The other rank knows what it does itself: it is told what this one does, and
/// says then what both do, if it listens soon enough.
void Mesh::suspect(Operation& operation, int rank) {
  doubt(operation, concat("rank ", rank, " does something else than ",
                          operation.text(), " on rank ", rank_));
  say_waiting(operation);
}

void Mesh::doubt(Operation& operation, std::string why) {
  if (!operation.suspicion.empty()) return;
  operation.suspicion = std::move(why);
  operation.deadline =
      std::min(operation.deadline, std::chrono::steady_clock::now() + kAnswer);
}

int Mesh::stranger(const Operation& operation) const {
  for (size_t i = 0; i < peers_.size(); ++i)
    for (const Early& early : peers_[i].early)
      if (early.frame.channel == operation.channel->id &&
          early.frame.step > 0 && early.frame.number == operation.number &&
          early.frame.fingerprint != operation.fingerprint)
        return int(i);
  return -1;
}

void Mesh::lose(int rank, const std::string& why) {
  Peer& peer = peers_[size_t(rank)];
  std::vector<Transfer*> hurt = peer.link->under_way();
  hurt.insert(hurt.end(), peer.receives.begin(), peer.receives.end());
  hurt.insert(hurt.end(), peer.held.begin(), peer.held.end());
  peer.link->close();
  peer.lost = peer.left ? "it has left the group" : why;
  for (const Transfer* transfer : hurt)
    fail_later(transfer->frame.channel,
               concat("rank ", rank, " is gone: ", peer.lost), kThis);
  // Operations of a device may be over already, though nobody has looked yet.
  for (const Ref<Operation>& operation : operations_)
    if (operation->watched && operation->waits_for(rank))
      doubt(*operation, concat("rank ", rank, " is gone: ", peer.lost));
  fail_found();
}

void Mesh::fail_later(uint64_t channel, std::string why, int origin) {
  found_.push_back({channel, std::move(why), origin});
}

void Mesh::fail_found() {
  while (!found_.empty()) {
    const std::vector<Fault> found = std::exchange(found_, {});
    // Faults that others report come first: they saw them first.
    for (const bool theirs : {true, false})
      for (const Fault& fault : found)
        if ((fault.origin >= 0) == theirs)
          if (const auto at = channels_.find(fault.channel);
              at != channels_.end())
            fail(*at->second, fault.why, fault.origin);
  }
}

void Mesh::fail(Channel& channel, const std::string& why, int origin) {
  if (channel.error) return;
  channel.error = std::make_exception_ptr(DistBackendError(
      origin < 0 ? why : concat(why, " (said rank ", origin, ")")));
  // Also what another rank said: who hears that this one has gone, as it may in
  // a moment, has heard before why.
  if (origin != kNobody) {
    Frame frame;
    frame.kind = FrameKind::kFault;
    frame.channel = channel.id;
    for (const int rank : channel.ranks)
      if (Link* link = peers_[size_t(rank)].link.get(); link && link->open())
        link->send_text(*this, frame, why.substr(0, Frame::kMostText));
  }
  for (auto at = operations_.begin(); at != operations_.end();) {
    const Ref<Operation> operation = *at;
    if (operation->channel.get() != &channel) {
      ++at;
      continue;
    }
    at = operations_.erase(at);
    std::erase_if(ready_,
                  [&](const auto& r) { return r.first == operation.get(); });
    operation->steps = Steps();
    operation->done = true;
    operation->error = std::make_exception_ptr(DistBackendError(
        concat(operation->text(), " on rank ", rank_, ": ", why,
               origin < 0 ? "" : concat(" (said rank ", origin, ")"))));
    if (operation->late) ended_.push_back(operation);
  }
  changed_.notify_all();
}

}  // namespace hotaru::comm
