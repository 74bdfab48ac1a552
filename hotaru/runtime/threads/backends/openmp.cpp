// OpenMP as back end of parallel loops.
//
// OpenMP gives each calling thread a team of its own, which is how programs
// come to run a hundred threads on four cores. Here one thread owns the only
// team; loops that begin in other threads meanwhile run in their callers. The
// ownership moves when the owner began no loop for a while, or ended.
#include <omp.h>

#include <atomic>
#include <chrono>
#include <mutex>

#include "hotaru/runtime/threads/parallel_backend.h"

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kOwnership{100};

std::mutex team_in_use;  // guards the two below
const void* owner = nullptr;
Clock::time_point last_loop;

/// Knowledge of a thread about its team; its address names the thread.
struct Member {
  bool had_team = false;
  ~Member() {
    std::lock_guard lock(team_in_use);
    if (owner == this) owner = nullptr;
  }
};

thread_local Member self;

bool take_team() {
  const Clock::time_point now = Clock::now();
  if (owner != &self) {
    if (owner != nullptr && now - last_loop < kOwnership) return false;
    owner = &self;
    self.had_team = true;
  }
  last_loop = now;
  return true;
}

void fork_join(int helpers, void (*body)(void*, bool), void* context) {
  std::unique_lock lock(team_in_use, std::defer_lock);
  if (omp_in_parallel() || !lock.try_lock()) return body(context, true);
  if (take_team()) {
#pragma omp parallel num_threads(helpers + 1)
    body(context, omp_get_thread_num() == 0);
    return;
  }
  lock.unlock();
  if (self.had_team) {  // another thread has it now: end this one's threads
    self.had_team = false;
    omp_pause_resource(omp_pause_soft, omp_get_initial_device());
  }
  body(context, true);
}

std::string describe() {
  return "OpenMP " + std::to_string(_OPENMP) +
         (_OPENMP == 201511 ? " (a.k.a. OpenMP 4.5)" : "") +
         "\n\tomp_get_max_threads() : " +
         std::to_string(omp_get_max_threads()) + "\n";
}

constexpr hotaru::ParallelBackend kBackend{"openmp", "OpenMP", &fork_join,
                                           &describe};

}  // namespace

extern "C" __attribute__((visibility("default"))) const hotaru::ParallelBackend*
hotaru_parallel_backend() {
  return &kBackend;
}
