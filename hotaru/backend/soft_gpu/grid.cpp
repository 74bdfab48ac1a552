#include "hotaru/backend/soft_gpu/grid.h"

#include <sys/mman.h>

#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "hotaru/backend/soft_gpu/device.h"
#include "hotaru/backend/soft_gpu/fault.h"
#include "hotaru/backend/soft_gpu/fiber.h"

uint3 threadIdx;
uint3 blockIdx;
dim3 blockDim;
dim3 gridDim;

namespace hotaru::soft_gpu {
namespace {

enum class Waits : uint8_t { kNot, kBlock, kVote, kShuffle };

/// One thread of the running block.
struct Thread {
  std::unique_ptr<Fiber> fiber;
  sigjmp_buf point;
  uint3 index;
  unsigned number;
  Waits waits;
  bool alive;
  bool waited;  // for earlier grids
  bool predicate;
  unsigned mask;
  int source;
  alignas(16) std::byte given[16];
  alignas(16) std::byte taken[16];
  unsigned ballot;
};

struct Block {
  const Launch* launch = nullptr;
  std::vector<std::unique_ptr<Thread>> threads;  // grows, and is used again
  unsigned size = 0;
  Thread* current = nullptr;
  std::vector<Thread*> ready;
  unsigned alive = 0;
  unsigned at_barrier = 0;
  BarrierVote vote;
  std::byte* shared = nullptr;
  bool as_fibers = false;
  bool* waited = nullptr;  // of the thread that runs
  bool all_waited = true;  // those that have ended
  std::function<void()> first_wait;
};

// One grid runs at a time; kept, since stacks are dear to make.
constinit Block* block = nullptr;

/// Dynamic shared memory ends at a page that nobody may touch.
std::byte* end_of_shared() {
  constexpr size_t kBytes = (kSharedBytesOptIn + 4096) & ~size_t{4095};
  static std::byte* const end = [] {
    void* memory = mmap(nullptr, kBytes + 4096, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    mprotect(static_cast<std::byte*>(memory) + kBytes, 4096, PROT_NONE);
    return static_cast<std::byte*>(memory) + kBytes;
  }();
  return end;
}

uint3 delinearised(uint64_t number, const dim3& size) {
  const auto x = unsigned(number % size.x);
  number /= size.x;
  return {x, unsigned(number % size.y), unsigned(number / size.y)};
}

unsigned lane_of(const Thread& thread) {
  return thread.number % 32;
}

/// The thread at a lane of the same warp, or null behind the block's end.
Thread* neighbour(const Thread& thread, unsigned lane) {
  const unsigned number = thread.number - lane_of(thread) + lane;
  return number < block->size ? block->threads[number].get() : nullptr;
}

void make_ready(Thread& thread) {
  thread.waits = Waits::kNot;
  block->ready.push_back(&thread);
}

/// Lets the block go on if all its living threads are at the barrier.
void try_barrier() {
  if (block->alive == 0 || block->at_barrier != block->alive) return;
  BarrierVote vote;
  for (unsigned i = 0; i < block->size; ++i) {
    Thread& thread = *block->threads[i];
    if (thread.waits != Waits::kBlock) continue;
    vote.count += thread.predicate;
    ++vote.threads;
    make_ready(thread);
  }
  block->vote = vote;
  block->at_barrier = 0;
}

/// Lets the lanes of the thread's mask go on if all that live are here, with
/// the same mask and for the same purpose.
void try_warp(const Thread& arrived) {
  unsigned ballot = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!(arrived.mask >> lane & 1)) continue;
    const Thread* other = neighbour(arrived, lane);
    if (!other || !other->alive) continue;
    if (other->waits != arrived.waits || other->mask != arrived.mask) return;
    ballot |= unsigned(other->predicate) << lane;
  }
  const unsigned mask = arrived.mask;
  const Waits purpose = arrived.waits;
  std::array<Thread*, 32> all;
  for (unsigned lane = 0; lane < 32; ++lane) {
    Thread* other = mask >> lane & 1 ? neighbour(arrived, lane) : nullptr;
    all[lane] = other && other->alive ? other : nullptr;
  }
  for (Thread* thread : all) {
    if (!thread) continue;
    thread->ballot = ballot;
    if (purpose == Waits::kShuffle) {
      const Thread* from = all[unsigned(thread->source) % 32];
      if (from)
        std::memcpy(thread->taken, from->given, sizeof(thread->taken));
      else
        std::memset(thread->taken, 0xFF, sizeof(thread->taken));
    }
    make_ready(*thread);
  }
}

/// Whoever waited for this thread need not any more.
void thread_ended(Thread& thread) {
  thread.alive = false;
  --block->alive;
  try_barrier();
  for (unsigned lane = 0; lane < 32; ++lane) {
    Thread* other = neighbour(thread, lane);
    if (other && other->alive && other->mask >> lane_of(thread) & 1 &&
        (other->waits == Waits::kVote || other->waits == Waits::kShuffle))
      try_warp(*other);
  }
}

/// Waits at a barrier or in a warp; arrive() may already end the wait.
template <class Arrive>
void wait(Waits purpose, const Arrive& arrive) {
  if (!block || !block->as_fibers) abandon(cuda::CUDA_ERROR_LAUNCH_FAILED);
  Thread& self = *block->current;
  self.waits = purpose;
  arrive(self);
  self.fiber->suspend();
}

void wait_in_warp(Waits purpose, unsigned mask) {
  wait(purpose, [&](Thread& self) {
    self.mask = mask;
    // A lane that isn't in its own mask would wait for nobody.
    if (!(mask >> lane_of(self) & 1)) abandon(cuda::CUDA_ERROR_LAUNCH_FAILED);
    try_warp(self);
  });
}

cuda::CUresult error_of_block = cuda::CUDA_SUCCESS;

void run_kernel() {
  bool threw = false;
  try {
    const KernelCode& kernel = *block->launch->kernel;
    if (kernel.waits) wait_for_grids();
    kernel.run(block->launch->params);
  } catch (...) {
    threw = true;
  }
  if (threw) abandon(cuda::CUDA_ERROR_LAUNCH_FAILED);
}

/// A fiber's life: thread after thread of the same number in its block.
void live(void* argument) {
  Thread& self = *static_cast<Thread*>(argument);
  for (;;) {
    if (sigsetjmp(self.point, 0) == 0)
      run_kernel();
    else
      error_of_block = fault_error();
    block->all_waited &= self.waited;
    thread_ended(self);
    self.fiber->suspend();
  }
}

void make_threads(unsigned count) {
  while (block->threads.size() < count) {
    auto thread = std::make_unique<Thread>();
    thread->number = unsigned(block->threads.size());
    thread->fiber = std::make_unique<Fiber>(live, thread.get());
    block->threads.push_back(std::move(thread));
  }
}

/// Runs one block as fibers; those that an error leaves in the middle of the
/// kernel forget it.
cuda::CUresult run_fibers(Random& random) {
  block->alive = block->size;
  block->at_barrier = 0;
  block->ready.clear();
  for (unsigned i = 0; i < block->size; ++i) {
    Thread& thread = *block->threads[i];
    thread.index = delinearised(i, blockDim);
    thread.alive = true;
    thread.waited = false;
    make_ready(thread);
  }
  error_of_block = cuda::CUDA_SUCCESS;
  while (!block->ready.empty() && error_of_block == cuda::CUDA_SUCCESS) {
    std::swap(block->ready[random.below(block->ready.size())],
              block->ready.back());
    Thread& thread = *block->ready.back();
    block->ready.pop_back();
    block->current = &thread;
    block->waited = &thread.waited;
    threadIdx = thread.index;
    arm(&thread.point);
    thread.fiber->resume();
    arm(nullptr);
  }
  if (block->alive != 0) {
    if (error_of_block == cuda::CUDA_SUCCESS)
      error_of_block = cuda::CUDA_ERROR_LAUNCH_FAILED;  // all wait
    for (unsigned i = 0; i < block->size; ++i)
      if (block->threads[i]->alive) block->threads[i]->fiber->reset();
  }
  return error_of_block;
}

void run_calls(Random& random) {
  Shuffled order(block->size, random);
  for (unsigned i = 0; i < block->size; ++i) {
    threadIdx = delinearised(order.next(), blockDim);
    bool waited = false;
    block->waited = &waited;
    run_kernel();
    block->all_waited &= waited;
  }
}

struct Run {
  const Launch& launch;
  Random& random;
  cuda::CUresult error = cuda::CUDA_SUCCESS;
};

void run_blocks(void* argument) {
  Run& run = *static_cast<Run*>(argument);
  const dim3& grid = run.launch.grid;
  const uint64_t blocks = uint64_t{grid.x} * grid.y * grid.z;
  Shuffled order(blocks, run.random);
  for (uint64_t i = 0; i < blocks && run.error == cuda::CUDA_SUCCESS; ++i) {
    blockIdx = delinearised(order.next(), grid);
    std::memset(block->shared, 0xFF, run.launch.shared_bytes);
    if (block->as_fibers)
      run.error = run_fibers(run.random);
    else
      run_calls(run.random);
  }
}

}  // namespace

void on_first_wait(std::function<void()> waited) {
  if (!block) block = new Block;
  block->first_wait = std::move(waited);
}

cuda::CUresult run_grid(const Launch& launch, Random& random) {
  if (!block) block = new Block;
  block->launch = &launch;
  block->size = launch.block.x * launch.block.y * launch.block.z;
  block->as_fibers = launch.kernel->synchronises;
  block->all_waited = true;
  block->shared = end_of_shared() - ((launch.shared_bytes + 127) & ~127u);
  if (block->as_fibers) make_threads(block->size);
  gridDim = launch.grid;
  blockDim = launch.block;
  Run run{launch, random};
  if (block->as_fibers) {  // each has a point of its own
    run_blocks(&run);
    return run.error;
  }
  return guarded(run_blocks, &run);
}

bool all_waited() {
  return block->all_waited;
}

void wait_for_grids() {
  *block->waited = true;
  if (block->first_wait) std::exchange(block->first_wait, nullptr)();
}

BarrierVote sync_block(bool predicate) {
  wait(Waits::kBlock, [&](Thread& self) {
    self.predicate = predicate;
    ++block->at_barrier;
    try_barrier();
  });
  return block->vote;
}

unsigned sync_warp(unsigned mask, bool predicate) {
  if (block->as_fibers) block->current->predicate = predicate;
  wait_in_warp(Waits::kVote, mask);
  return block->current->ballot;
}

void shuffle(unsigned mask, const void* from, void* to, size_t bytes,
             int source) {
  if (block->as_fibers) {
    std::memcpy(block->current->given, from, bytes);
    block->current->source = source;
    block->current->predicate = false;
  }
  wait_in_warp(Waits::kShuffle, mask);
  std::memcpy(to, block->current->taken, bytes);
}

int lane() {
  const unsigned number =
      threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  return int(number % 32);
}

void* dynamic_shared_bytes() {
  return block->shared;
}

}  // namespace hotaru::soft_gpu
