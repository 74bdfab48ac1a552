// A collective, or a message between two ranks, under way.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "hotaru/comm/mesh/frame.h"
#include "hotaru/comm/mesh/steps.h"
#include "hotaru/comm/mesh/transfer.h"
#include "hotaru/comm/store/store.h"
#include "hotaru/runtime/streams/late_call.h"

namespace hotaru::comm {

class Mesh;

/// Agreement of the ranks of a group. Guarded by the mesh's mutex, but for what
/// never changes.
struct Channel : RefCounted {
  Channel(uint64_t id, std::string name, std::vector<int> ranks, int rank)
      : id(id), name(std::move(name)), ranks(std::move(ranks)), rank(rank) {}

  const uint64_t id;
  const std::string name;
  const std::vector<int> ranks;  // of the world
  const int rank;                // this process's among them
  uint64_t issued = 0;           // collectives so far

  /// An operation by what a rank said of it.
  struct Said {
    uint64_t number = 0;
    uint32_t fingerprint = 0;
    std::string what;
  };
  std::array<Said, 256> past;   // of this rank, by number
  std::map<int, Said> waiting;  // of others, by rank of the world
  std::exception_ptr error;     // no operation is begun after it
  bool has(int world_rank) const;
  /// As what this rank does.
  void remember(uint64_t number, uint32_t fingerprint, std::string what) {
    past[number % past.size()] = {number, fingerprint, std::move(what)};
  }
};

/// A number for what has to be alike, the same in every process.
uint32_t fingerprint_of(const std::string& what);

/// Between one rank and another: which of their messages of that tag it is.
struct PointToPoint {
  uint32_t tag = 0;
  uint64_t number = 0;
};

/// `what` says all that has to be the same on every rank. Used by one thread at
/// a time, under the mesh's mutex once it has begun.
class Operation : public RefCounted {
 public:
  Operation(Mesh& mesh, Ref<Channel> channel, std::string what, Millis timeout);
  Operation(Mesh& mesh, Ref<Channel> channel, std::string what, Millis timeout,
            PointToPoint message);
  ~Operation() override;

  /// This process's in the group, and how many there are.
  int rank() const { return channel->rank; }
  int size() const { return int(channel->ranks.size()); }
  /// For Transfer: the next message from or to a rank of the group.
  Frame next_frame(Way way, int rank, size_t bytes);

  /// True if nothing was heard yet from a rank of the world that belongs to it.
  bool waits_for(int world_rank) const;

  /// "all_reduce(SUM) of 4 float32, number 17 of group 'default'".
  std::string text() const;

  Mesh& mesh;  // outlives it
  const Ref<Channel> channel;
  const std::string what;
  const uint32_t fingerprint;
  const bool collective;
  const Millis timeout;
  PointToPoint message;
  uint64_t number = 0;
  Steps steps;

  // The mesh's.
  std::chrono::steady_clock::time_point deadline, says_it_waits;
  std::vector<bool> heard;  // from which ranks of the group
  std::string suspicion;    // that another rank does something else
  Ref<LateCall> late;       // who waits, where no thread does
  bool watched = false;     // it runs on a device
  bool done = false;
  std::exception_ptr error;

 private:
  std::vector<uint32_t> sent_, received_;  // messages, by rank of the group
};

}  // namespace hotaru::comm
