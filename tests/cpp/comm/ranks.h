// Several ranks in one process: a thread and a mesh each, over the loopback.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "hotaru/comm/group/process_group.h"
#include "hotaru/comm/mesh/meeting.h"
#include "hotaru/comm/store/hash_store.h"

namespace hotaru::comm {

inline Ref<ProcessGroup> world_of(Store& store, int rank, int size,
                                  Millis timeout) {
  Ref<Mesh> mesh = meet(store, rank, size, std::chrono::seconds(20));
  std::vector<int> ranks(size_t(size), 0);
  for (int i = 0; i < size; ++i) ranks[size_t(i)] = i;
  Ref<Channel> channel = mesh->open("world", std::move(ranks), rank);
  return make_ref<ProcessGroup>(std::move(mesh), std::move(channel), timeout);
}

/// Runs f(group) for every rank of a world; what each threw, "" if nothing.
/// No group goes before all have ended.
inline std::vector<std::string> run_ranks(
    int size, const std::function<void(ProcessGroup&)>& f,
    Millis timeout = std::chrono::seconds(20)) {
  auto store = make_ref<HashStore>();
  std::vector<std::string> errors(static_cast<size_t>(size));
  std::vector<Ref<ProcessGroup>> groups(static_cast<size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      try {
        groups[size_t(rank)] = world_of(*store, rank, size, timeout);
        f(*groups[size_t(rank)]);
      } catch (const std::exception& e) {
        errors[size_t(rank)] = e.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  return errors;
}

}  // namespace hotaru::comm
