#include "hotaru/comm/mesh/operation.h"

#include <algorithm>

#include "hotaru/comm/mesh/mesh.h"
#include "hotaru/core/error.h"

namespace hotaru::comm {

namespace {

// FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv: the same in every process.
uint32_t hash_of(const std::string& text) {
  uint32_t hash = 0x811c9dc5;
  for (const char c : text) hash = (hash ^ uint8_t(c)) * 0x01000193;
  return hash;
}

}  // namespace

bool Channel::has(int world_rank) const {
  return std::find(ranks.begin(), ranks.end(), world_rank) != ranks.end();
}

Operation::Operation(Mesh& mesh, Ref<Channel> channel, std::string what,
                     Millis timeout)
    : mesh(mesh),
      channel(std::move(channel)),
      what(std::move(what)),
      fingerprint(hash_of(this->what)),
      collective(true),
      timeout(timeout),
      heard(this->channel->ranks.size()),
      sent_(heard.size()),
      received_(heard.size()) {}

Operation::Operation(Mesh& mesh, Ref<Channel> channel, std::string what,
                     Millis timeout, PointToPoint message)
    : mesh(mesh),
      channel(std::move(channel)),
      what(std::move(what)),
      fingerprint(0),
      collective(false),
      timeout(timeout),
      message(message),
      number(message.number),
      heard(this->channel->ranks.size()),
      sent_(heard.size()),
      received_(heard.size()) {}

Operation::~Operation() = default;

Frame Operation::next_frame(Way way, int rank, size_t bytes) {
  Frame frame;
  frame.channel = channel->id;
  frame.number = number;
  frame.fingerprint = fingerprint;
  frame.bytes = bytes;
  // Collectives count from 1, so that no message between two is one of them.
  if (collective)
    frame.step = ++(way == Way::kSend ? sent_ : received_)[size_t(rank)];
  else
    frame.tag = message.tag;
  return frame;
}

std::string Operation::text() const {
  if (!collective) return concat(what, " in group '", channel->name, "'");
  return concat(what, ", collective ", number, " of group '", channel->name,
                "'");
}

}  // namespace hotaru::comm
