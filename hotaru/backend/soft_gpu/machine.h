// The devices, their streams and the one thread that executes what the streams
// hold. It is lazy: it begins when somebody waits or asks, when many operations
// are pending, or after a while, and picks among the streams at random.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "hotaru/backend/cuda/driver_types.h"
#include "hotaru/backend/soft_gpu/activity.h"
#include "hotaru/backend/soft_gpu/memory.h"
#include "hotaru/backend/soft_gpu/random.h"

namespace hotaru::soft_gpu {

/// One recording of an event; events that are recorded again get a new one.
struct Recording {
  bool done = false;
  Clock::time_point time;
};

struct Operation {
  uint64_t number = 0;  // rises with every operation of the process
  std::function<cuda::CUresult()> run;  // may be empty
  // In its place: called with the device's error, if there is one.
  std::function<void(cuda::CUresult)> callback;
  // Tells whether it may run: other processes decide. Asked again and again,
  // under the machine's lock. Empty: it may.
  std::function<bool()> ready;
  int opens = kNobodys;  // whose memory it works on
  std::shared_ptr<Recording> awaits;
  std::shared_ptr<Recording> records;
  // Set for one kernel, whose parameters a graph may change.
  bool launches = false;
  // All of its threads have to wait for the grids before it by themselves.
  bool must_wait = false;
  std::optional<Activity> does;        // what profiles are told of it
  std::shared_ptr<Activity> activity;  // null: nobody wants to know
};

/// Where a stream's operations go while it is captured (graph.h).
struct Capture;

}  // namespace hotaru::soft_gpu

namespace hotaru::cuda {

struct CUctx_st {
  int device;
};

struct CUstream_st {
  int device = 0;
  unsigned flags = 0;
  int priority = 0;
  bool legacy = false;
  uint32_t number = 7;  // what profiles call it
  std::deque<soft_gpu::Operation> operations;
  std::shared_ptr<soft_gpu::Capture> capture;  // null: not captured

  bool blocking() const { return !legacy && !(flags & CU_STREAM_NON_BLOCKING); }
};

struct CUevent_st {
  int device;
  unsigned flags;
  std::shared_ptr<soft_gpu::Recording> last;  // null: never recorded
};

}  // namespace hotaru::cuda

namespace hotaru::soft_gpu {

using StreamPtr = std::shared_ptr<cuda::CUstream_st>;

struct Device {
  cuda::CUctx_st context;
  int retained = 0;
  unsigned peers = 0;                         // whose memory it may see
  cuda::CUresult error = cuda::CUDA_SUCCESS;  // stays until the context goes
  StreamPtr legacy;
};

class Machine {
 public:
  using Lock = std::unique_lock<std::mutex>;

  Machine();  // as the environment says

  std::mutex mutex;  // over all that follows
  std::vector<Device> devices;
  Memory memory;
  std::unordered_map<cuda::CUstream, StreamPtr> streams;
  std::unordered_map<cuda::CUevent, std::unique_ptr<cuda::CUevent_st>> events;

  /// The stream of this handle, device's own for the legacy one; or null.
  StreamPtr find(cuda::CUstream handle, int device) const;

  /// Puts an operation at the stream's end, or into what captures it.
  void enqueue(const StreamPtr& stream, Operation operation);

  /// Lets the executor work until done() holds.
  void wait(Lock& lock, const std::function<bool()>& done);
  void wait_for_stream(Lock& lock, const StreamPtr& stream);
  void wait_for_device(Lock& lock, int device);
  /// Somebody asks whether something is done: a few operations may run.
  void nudge();

  bool idle(const StreamPtr& stream) const;

  /// Random numbers for whatever runs on the executor's thread.
  Random& random() { return random_; }

 private:
  void start();
  void execute();
  bool wanted() const;
  StreamPtr pick();
  bool runnable(const cuda::CUstream_st& stream) const;
  bool waits_for_others() const;
  void run_one(Lock& lock, const StreamPtr& stream);

  Random random_;
  std::chrono::microseconds delay_;
  bool started_ = false;
  std::condition_variable work_, progress_;
  std::vector<StreamPtr> active_;  // those with operations
  uint64_t last_number_ = 0;
  uint64_t pending_ = 0;
  uint64_t allowed_ = 0;  // operations that may run though nobody waits
  std::vector<const std::function<bool()>*> waiting_;
  std::optional<Clock::time_point>
      alarm_;  // when the executor begins by itself
};

/// The process's machine, made by cuInit; null before, and in a process that
/// was forked from one that had it.
Machine* machine();
/// False in such a child.
bool make_machine();

/// Tells whether the caller is a host function, which may not call the driver.
bool on_executor();

}  // namespace hotaru::soft_gpu
