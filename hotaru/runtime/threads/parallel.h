// Loops over index ranges on the process's pool, with the meaning of
// ATen/Parallel.h. The only way in which kernels use threads, whatever back end
// (parallel_backend.h) these come from.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace hotaru {

/// Elements below which a pointwise kernel is not worth a second thread.
inline constexpr int64_t kGrainSize = 32768;

/// Threads one parallel loop may use, the caller included. Initially
/// MKL_NUM_THREADS, else OMP_NUM_THREADS, else the physical cores this process
/// may use.
int get_num_threads();

/// Sets it for the whole process; throws Error unless count > 0.
void set_num_threads(int count);

/// Launched tasks (scheduler.h: streams, forks, futures) that may run at a
/// time. They share the one pool with parallel loops: at most as many workers
/// as this process may use cores run them, whatever the number; those that wait
/// for others do not count. Initially that number of cores.
int get_num_interop_threads();

/// PyTorch's rule: once, and before the first task, or else Error. With force
/// it may be changed at any time; a smaller number holds back further tasks and
/// stops none. Throws Error unless count > 0.
void set_num_interop_threads(int count, bool force = false);

/// Index of the running chunk in its loop, in [0, get_num_threads()); 0
/// outside of loops. No two chunks that run at the same time share it.
int get_thread_num();

/// True if the caller is a chunk of a parallel loop (then loops run inline).
bool in_parallel_region();

/// Lines that PyTorch prints about threads, and below them what only hotaru
/// knows. parallel_info.cpp.
std::string parallel_info();

namespace detail {

/// Back end: fn(context, chunk) for each chunk in [0, chunks), concurrently.
void run_chunks(int64_t chunks, void (*fn)(void*, int64_t), void* context);

/// Per-thread values behind get_thread_num() and in_parallel_region().
struct ThreadPosition {
  int thread_num = 0;
  bool in_region = false;
};
extern constinit thread_local ThreadPosition thread_position;

/// Gives the scope another position; restores the old one at its end.
class PositionGuard {
 public:
  explicit PositionGuard(ThreadPosition position) : saved_(thread_position) {
    thread_position = position;
  }
  ~PositionGuard() { thread_position = saved_; }
  PositionGuard(const PositionGuard&) = delete;
  PositionGuard& operator=(const PositionGuard&) = delete;

 private:
  ThreadPosition saved_;
};

/// How a range is cut. It depends on n, grain and the thread count only, and
/// is the one of ATen's OpenMP back end.
struct Chunking {
  int64_t chunks;
  int64_t size;
};

/// The smallest integer that is not less than a / b, for any a and b > 0.
inline int64_t divide_up(int64_t a, int64_t b) {
  return a / b + (a % b > 0);
}

inline Chunking chunking(int64_t n, int64_t grain, bool nested = false) {
  if (n <= 1 || n <= grain) return {1, n};
  if (thread_position.in_region && !nested) return {1, n};
  int64_t threads = get_num_threads();
  if (grain > 0) threads = std::min(threads, divide_up(n, grain));
  if (threads <= 1) return {1, n};
  int64_t size = divide_up(n, threads);
  return {divide_up(n, size), size};
}

/// f(chunk, chunk_begin, chunk_end) for each chunk.
template <class F>
void for_chunks(int64_t begin, int64_t end, Chunking cut, const F& f) {
  if (cut.chunks == 1) {
    PositionGuard guard({0, thread_position.in_region});
    f(int64_t{0}, begin, end);
    return;
  }
  struct Context {
    int64_t begin, end, size;
    const F& f;
  } context{begin, end, cut.size, f};
  run_chunks(
      cut.chunks,
      [](void* opaque, int64_t chunk) {
        const auto& c = *static_cast<const Context*>(opaque);
        int64_t first = c.begin + chunk * c.size;
        c.f(chunk, first, std::min(c.end, first + c.size));
      },
      &context);
}

}  // namespace detail

/// Calls f(chunk_begin, chunk_end) over disjoint chunks that cover
/// [begin, end). Runs as one inline call if the range holds at most grain
/// elements, or one thread is set, or the caller is itself a chunk; grain 0
/// always divides. Rethrows the first exception when all chunks have finished.
template <class F>
void parallel_for(int64_t begin, int64_t end, int64_t grain, const F& f) {
  if (begin >= end) return;
  detail::for_chunks(begin, end, detail::chunking(end - begin, grain),
                     [&](int64_t, int64_t b, int64_t e) { f(b, e); });
}

/// The same, but divided also if the caller is itself a chunk: for long loops
/// inside of loops with fewer chunks than threads. Where all threads are busy
/// the caller runs the chunks itself. How the range is cut depends on its
/// length, the grain and the thread count, never on who is idle. f must not
/// count on running in the calling thread.
template <class F>
void nested_parallel_for(int64_t begin, int64_t end, int64_t grain,
                         const F& f) {
  if (begin >= end) return;
  detail::for_chunks(begin, end, detail::chunking(end - begin, grain, true),
                     [&](int64_t, int64_t b, int64_t e) { f(b, e); });
}

/// reduce(...reduce(reduce(ident, r0), r1)...) over the chunks' results
/// r = f(chunk_begin, chunk_end, ident) in order of position, so equal for
/// equal thread counts. An empty range gives ident.
template <class T, class F, class R>
T parallel_reduce(int64_t begin, int64_t end, int64_t grain, const T& ident,
                  const F& f, const R& reduce) {
  if (begin >= end) return ident;
  detail::Chunking cut = detail::chunking(end - begin, grain);
  if (cut.chunks == 1) {
    detail::PositionGuard guard({0, detail::thread_position.in_region});
    return f(begin, end, ident);
  }
  struct Result {  // keeps vector<bool> away: chunks write concurrently
    T value;
  };
  std::vector<Result> results(cut.chunks, Result{ident});
  detail::for_chunks(begin, end, cut, [&](int64_t i, int64_t b, int64_t e) {
    results[i].value = f(b, e, ident);
  });
  T total = ident;
  for (const Result& r : results) total = reduce(total, r.value);
  return total;
}

}  // namespace hotaru
