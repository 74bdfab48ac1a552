// oneTBB as back end of parallel loops. All calling threads share TBB's one set
// of workers, which has a thread less than the machine has processors.
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <tbb/version.h>

#include "hotaru/runtime/threads/parallel_backend.h"

namespace {

void fork_join(int helpers, void (*body)(void*, bool), void* context) {
  // Isolated: while this thread waits it must not start a chunk of another
  // loop, whose caller may hold what that chunk needs.
  tbb::this_task_arena::isolate([&] {
    tbb::task_group group;
    for (int i = 0; i < helpers; ++i) {
      group.run([=] { body(context, false); });
    }
    body(context, true);
    group.wait();
  });
}

std::string describe() {
  return std::string("oneTBB ") + TBB_runtime_version() +
         "\n\ttbb::this_task_arena::max_concurrency() : " +
         std::to_string(tbb::this_task_arena::max_concurrency()) + "\n";
}

constexpr hotaru::ParallelBackend kBackend{"tbb", "native thread pool and TBB",
                                           &fork_join, &describe};

}  // namespace

extern "C" __attribute__((visibility("default"))) const hotaru::ParallelBackend*
hotaru_parallel_backend() {
  return &kBackend;
}
