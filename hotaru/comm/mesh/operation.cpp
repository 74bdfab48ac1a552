#include "hotaru/comm/mesh/operation.h"

#include <algorithm>

#include "hotaru/comm/mesh/mesh.h"
#include "hotaru/core/printing/concat.h"

namespace hotaru::comm {

// FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv.
uint32_t fingerprint_of(const std::string& what) {
  uint32_t hash = 0x811c9dc5;
  for (const char c : what) hash = (hash ^ uint8_t(c)) * 0x01000193;
  return hash;
}

bool Channel::has(int world_rank) const {
  return std::find(ranks.begin(), ranks.end(), world_rank) != ranks.end();
}

Operation::Operation(Mesh& mesh, Ref<Channel> channel, std::string what,
                     Millis timeout)
    : mesh(mesh),
      channel(std::move(channel)),
      what(std::move(what)),
      fingerprint(fingerprint_of(this->what)),
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

bool Operation::waits_for(int world_rank) const {
  for (size_t i = 0; i < heard.size(); ++i)
    if (channel->ranks[i] == world_rank) return !heard[i];
  return false;
}

std::string Operation::text() const {
  if (!collective) return concat(what, " in group '", channel->name, "'");
  return concat(what, ", collective ", number, " of group '", channel->name,
                "'");
}

}  // namespace hotaru::comm
