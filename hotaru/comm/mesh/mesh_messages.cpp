// Which message belongs to which transfer.
#include <algorithm>
#include <cstring>

#include "hotaru/comm/mesh/mesh.h"
#include "hotaru/core/printing/concat.h"

namespace hotaru::comm {

namespace {

// Bytes of messages that nobody asked for, of one rank.
constexpr size_t kMostEarly = 256 << 20;

/// Frame that announces a message before it travels.
Frame without_payload(const Transfer& transfer, FrameKind kind) {
  Frame out = transfer.frame;
  out.kind = kind;
  out.wanted = out.bytes;
  out.bytes = 0;
  return out;
}

}  // namespace

Transfer::Transfer(Operation& operation, Way way, int rank, const void* data,
                   size_t bytes)
    : operation(operation),
      way(way),
      rank(rank < 0 ? kAnyRank : operation.channel->ranks[size_t(rank)]),
      frame(operation.next_frame(way, rank, bytes)),
      data(const_cast<char*>(static_cast<const char*>(data))) {
  operation.mesh.post(*this);
}

Transfer::~Transfer() {
  if (!done) operation.mesh.forget(*this);
}

void Mesh::post(Transfer& transfer) {
  if (transfer.rank < 0) return post_from_any(transfer);
  Peer& peer = peers_[size_t(transfer.rank)];
  const bool is_long = transfer.frame.bytes > Frame::kShort;
  if (!peer.link->open()) {
    if (transfer.way == Way::kReceive && take_early(transfer)) return;
    return fail_later(transfer.frame.channel,
                      concat("rank ", transfer.rank, " is gone: ",
                             peer.lost.empty() ? peer.link->why() : peer.lost),
                      kThis);
  }
  if (transfer.way == Way::kReceive) {
    if (is_long || !take_early(transfer)) post_receive(transfer);
    return;
  }
  if (is_long) {
    const auto at = std::find_if(
        peer.asked.begin(), peer.asked.end(),
        [&](const Frame& f) { return f.key() == transfer.frame.key(); });
    if (at == peer.asked.end()) {
      peer.held.push_back(&transfer);
      if (!transfer.operation.collective)
        peer.link->send(*this, without_payload(transfer, FrameKind::kOffer),
                        nullptr);
      return;
    }
    const Frame go = *at;
    peer.asked.erase(at);
    peer.held.push_back(&transfer);
    return asked(transfer.rank, go);
  }
  peer.link->send(*this, transfer.frame, &transfer);
}

void Mesh::post_receive(Transfer& transfer) {
  Peer& peer = peers_[size_t(transfer.rank)];
  peer.receives.push_back(&transfer);
  if (transfer.frame.bytes > Frame::kShort)
    peer.link->send(*this, without_payload(transfer, FrameKind::kGo), nullptr);
}

/// Messages of one rank are taken in their order, short and long ones.
void Mesh::post_from_any(Transfer& transfer) {
  for (Peer& peer : peers_) {
    const auto offer =
        std::find_if(peer.offers.begin(), peer.offers.end(),
                     [&](const Frame& f) { return matches(transfer, f); });
    if (offer == peer.offers.end()) continue;
    const bool later = std::any_of(peer.early.begin(), peer.early.end(),
                                   [&](const Early& early) {
                                     return matches(transfer, early.frame) &&
                                            early.frame.number < offer->number;
                                   });
    if (later) continue;
    transfer.rank = peer.link->rank();
    transfer.frame.number = offer->number;
    peer.offers.erase(offer);
    return post_receive(transfer);
  }
  if (!take_early(transfer)) from_any_.push_back(&transfer);
}

void Mesh::offered(int rank, const Frame& frame) {
  Peer& peer = peers_[size_t(rank)];
  const auto at =
      std::find_if(from_any_.begin(), from_any_.end(),
                   [&](const Transfer* t) { return matches(*t, frame); });
  if (at == from_any_.end()) return peer.offers.push_back(frame);
  Transfer& transfer = **at;
  from_any_.erase(at);
  transfer.rank = rank;
  transfer.frame.number = frame.number;
  post_receive(transfer);
}

void Mesh::forget(Transfer& transfer) noexcept {
  std::erase(from_any_, &transfer);
  for (Peer& peer : peers_) {
    std::erase(peer.receives, &transfer);
    std::erase(peer.held, &transfer);
    if (peer.link) peer.link->forget(transfer);
  }
}

bool Mesh::take_early(Transfer& transfer) {
  const size_t begin = transfer.rank < 0 ? 0 : size_t(transfer.rank);
  const size_t end = transfer.rank < 0 ? peers_.size() : begin + 1;
  for (size_t i = begin; i < end; ++i) {
    Peer& peer = peers_[i];
    const auto at = std::find_if(
        peer.early.begin(), peer.early.end(),
        [&](const Early& early) { return matches(transfer, early.frame); });
    if (at == peer.early.end()) continue;
    const Early early = std::move(*at);
    peer.early.erase(at);
    peer.early_bytes -= early.payload.size();
    if (!fits(transfer, int(i), early.frame)) return true;
    if (!early.payload.empty())  // of nothing there may be no address
      std::memcpy(transfer.data, early.payload.data(), early.payload.size());
    transfer.rank = int(i);
    arrived(transfer);
    return true;
  }
  return false;
}

bool Mesh::matches(const Transfer& transfer, const Frame& frame) {
  if (transfer.rank >= 0) return transfer.frame.key() == frame.key();
  return frame.channel == transfer.frame.channel && frame.step == 0 &&
         frame.tag == transfer.frame.tag;
}

bool Mesh::fits(const Transfer& transfer, int rank, const Frame& frame) {
  Operation& operation = transfer.operation;
  if (frame.fingerprint != operation.fingerprint) {
    suspect(operation, rank);
    return false;
  }
  if (frame.bytes == transfer.frame.bytes) return true;
  fail_later(frame.channel,
             concat("rank ", rank, " sent ", frame.bytes, " bytes where ",
                    operation.text(), " on rank ", rank_, " takes ",
                    transfer.frame.bytes),
             kThis);
  return false;
}

Transfer* Mesh::receiver(int rank, const Frame& frame) {
  Peer& peer = peers_[size_t(rank)];
  for (std::vector<Transfer*>* posted : {&peer.receives, &from_any_}) {
    const auto at =
        std::find_if(posted->begin(), posted->end(),
                     [&](const Transfer* t) { return matches(*t, frame); });
    if (at == posted->end()) continue;
    Transfer* transfer = *at;
    if (!fits(*transfer, rank, frame)) return nullptr;
    posted->erase(at);
    transfer->rank = rank;
    std::erase_if(peer.offers, [&](const Frame& offer) {
      return offer.key() == frame.key();
    });
    return transfer;
  }
  return nullptr;
}

void Mesh::arrived(Transfer& transfer) {
  transfer.done = true;
  Operation& operation = transfer.operation;
  if (transfer.way == Way::kReceive) {
    const auto& ranks = operation.channel->ranks;
    const auto at = std::find(ranks.begin(), ranks.end(), transfer.rank);
    if (at != ranks.end()) operation.heard[size_t(at - ranks.begin())] = true;
  }
  if (transfer.waits) ready_.emplace_back(&operation, transfer.waits);
}

void Mesh::message(int rank, const Frame& frame, std::string payload) {
  Peer& peer = peers_[size_t(rank)];
  switch (frame.kind) {
    case FrameKind::kData:
      if (const auto at = channels_.find(frame.channel);
          at != channels_.end() && at->second->error)
        break;
      peer.early_bytes += payload.size();
      peer.early.push_back({frame, std::move(payload)});
      if (peer.early_bytes > kMostEarly)
        fail_later(frame.channel,
                   concat("rank ", rank, " sent ", peer.early_bytes,
                          " bytes that rank ", rank_, " does not receive"),
                   kThis);
      break;
    case FrameKind::kOffer:
      offered(rank, frame);
      break;
    case FrameKind::kGo:
      asked(rank, frame);
      break;
    case FrameKind::kWaiting:
      waits(rank, frame, std::move(payload));
      break;
    case FrameKind::kFault:
      fail_later(frame.channel, std::move(payload), rank);
      break;
    case FrameKind::kBye:
      peer.left = true;
      break;
  }
}

void Mesh::asked(int rank, const Frame& go) {
  Peer& peer = peers_[size_t(rank)];
  const auto at =
      std::find_if(peer.held.begin(), peer.held.end(),
                   [&](const Transfer* t) { return matches(*t, go); });
  if (at == peer.held.end()) return peer.asked.push_back(go);
  Transfer* transfer = *at;
  peer.held.erase(at);
  Frame theirs = go;
  theirs.bytes = go.wanted;
  if (fits(*transfer, rank, theirs))
    peer.link->send(*this, transfer->frame, transfer);
}

}  // namespace hotaru::comm
