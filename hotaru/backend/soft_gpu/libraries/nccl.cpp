// A stand-in for NCCL: ranks are processes of one machine, which share memory.
// Every rank reduces what all ranks show, in the order of ranks. As with the
// real one, ranks that do not do the same wait until somebody aborts, and short
// messages leave before they are received (here long ones, too).
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <tuple>

#include "hotaru/backend/cuda/libraries/nccl_entries.h"
#include "hotaru/backend/soft_gpu/libraries/queue.h"
#include "hotaru/backend/soft_gpu/libraries/shared_ranks.h"

#define HOTARU_DECLARE(name, symbol, params) \
  __attribute__((visibility("default"))) int symbol params;
#define HOTARU_DECLARE_TEXT(name, symbol, params) \
  __attribute__((visibility("default"))) const char* symbol params;
extern "C" {
HOTARU_NCCL_ENTRIES(HOTARU_DECLARE)
HOTARU_NCCL_TEXT_ENTRIES(HOTARU_DECLARE_TEXT)
}
#undef HOTARU_DECLARE
#undef HOTARU_DECLARE_TEXT

using namespace hotaru::cuda::nccl;
using namespace hotaru::soft_gpu;
using hotaru::BFloat16;
using hotaru::Half;

namespace {

constexpr int kUnhandledCudaError = 1, kSystemError = 2, kInvalidArgument = 4,
              kInvalidUsage = 5;
constexpr int kOwnOps = 5;  // numbers of operations that a program made

enum class Kind : uint8_t {
  kAllReduce,
  kReduce,
  kBroadcast,
  kAllGather,
  kReduceScatter,
  kSend,
  kReceive,
};

struct Op {
  int op = kSum;
  double factor = 1;
};

struct Part {
  Kind kind;
  const void* from = nullptr;
  void* to = nullptr;
  size_t count = 0;
  int type = kInt8;
  Op op;
  int other = 0;  // root, or the other side

  size_t item() const {
    constexpr size_t kItems[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
    return kItems[type];
  }
  size_t bytes() const { return count * item(); }
  bool message() const { return kind >= Kind::kSend; }
  /// How much a rank shows.
  size_t shown(int rank, int size) const {
    if (message() || (kind == Kind::kBroadcast && rank != other)) return 0;
    return kind == Kind::kReduceScatter ? bytes() * size_t(size) : bytes();
  }
  uint64_t what() const {
    return (((uint64_t(kind) * 31 + count) * 31 + uint64_t(type)) * 31 +
            uint64_t(op.op)) *
               31 +
           uint64_t(other);
  }
};

template <class T>
T combine(T a, T b, int op) {
  if (op == kProd) return T(a * b);
  if (op == kMax) return std::max(a, b);
  if (op == kMin) return std::min(a, b);
  return T(a + b);
}

/// In W, rounded to T at the end.
template <class T, class W>
void reduce(const SharedRanks& ranks, const Part& part,
            const std::vector<size_t>& at, size_t skipped) {
  std::vector<W> sum(part.count);
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const std::vector<char> bytes =
        ranks.bytes_of(rank, at[size_t(rank)] + skipped, part.bytes());
    std::vector<T> own(part.count);
    std::memcpy(own.data(), bytes.data(), bytes.size());
    for (size_t i = 0; i < part.count; ++i) {
      W x = W(own[i]);
      if (part.op.op >= kOwnOps) x = W(double(x) * part.op.factor);
      sum[i] = rank == 0 ? x : combine(sum[i], x, part.op.op);
    }
  }
  T* const to = static_cast<T*>(part.to);
  for (size_t i = 0; i < part.count; ++i)
    to[i] = T(part.op.op == kAvg ? W(sum[i] / W(ranks.size())) : sum[i]);
}

void reduce(const SharedRanks& ranks, const Part& part,
            const std::vector<size_t>& at, size_t skipped = 0) {
  switch (part.type) {
    case kInt8:
      return reduce<int8_t, int8_t>(ranks, part, at, skipped);
    case kUInt8:
      return reduce<uint8_t, uint8_t>(ranks, part, at, skipped);
    case kInt32:
      return reduce<int32_t, int32_t>(ranks, part, at, skipped);
    case kUInt32:
      return reduce<uint32_t, uint32_t>(ranks, part, at, skipped);
    case kInt64:
      return reduce<int64_t, int64_t>(ranks, part, at, skipped);
    case kUInt64:
      return reduce<uint64_t, uint64_t>(ranks, part, at, skipped);
    case kFloat16:
      return reduce<Half, float>(ranks, part, at, skipped);
    case kBFloat16:
      return reduce<BFloat16, float>(ranks, part, at, skipped);
    case kFloat32:
      return reduce<float, float>(ranks, part, at, skipped);
    default:
      return reduce<double, double>(ranks, part, at, skipped);
  }
}

}  // namespace

namespace hotaru::cuda::nccl {

struct Comm_st {
  Comm_st(const std::string& name, int rank, int size)
      : ranks(name, rank, size) {}
  SharedRanks ranks;
  std::atomic<bool> aborted{false};
  uint64_t number = 0;  // of the collective that runs; the executor's
  std::map<int, double> factors;
  int next_op = kOwnOps;
};

}  // namespace hotaru::cuda::nccl

namespace {

using Parts = std::vector<Part>;
using CommPtr = std::shared_ptr<Comm_st>;

bool has_collective(const Parts& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [](const Part& p) { return !p.message(); });
}
uint64_t what_of(const Parts& parts) {
  uint64_t out = 1;
  for (const Part& p : parts)
    if (!p.message()) out = out * 1000003 + p.what();
  return out;
}

void show(Comm_st& comm, const Parts& parts) {
  SharedRanks& ranks = comm.ranks;
  std::vector<char> bytes;
  for (const Part& p : parts) {
    const char* const from = static_cast<const char*>(p.from);
    if (p.kind == Kind::kSend) ranks.send(p.other, p.from, p.bytes());
    bytes.insert(bytes.end(), from, from + p.shown(ranks.rank(), ranks.size()));
  }
  if (has_collective(parts)) ranks.arrive(++comm.number, what_of(parts), bytes);
}

bool all_is_there(const Comm_st& comm, const Parts& parts) {
  std::map<int, size_t> wanted;
  for (const Part& p : parts)
    if (p.kind == Kind::kReceive) wanted[p.other] += p.bytes();
  for (const auto& [from, bytes] : wanted)
    if (!comm.ranks.came(from, bytes)) return false;
  return !has_collective(parts) ||
         comm.ranks.all_arrived(comm.number, what_of(parts));
}

/// `at`: where each rank's bytes of the part begin.
void take(SharedRanks& ranks, const Part& p, const std::vector<size_t>& at) {
  const auto copy = [&](int rank, size_t begin, size_t to) {
    const auto bytes = ranks.bytes_of(rank, begin, p.bytes());
    std::memcpy(static_cast<char*>(p.to) + to, bytes.data(), bytes.size());
  };
  switch (p.kind) {
    case Kind::kReceive:
      return ranks.receive(p.other, p.to, p.bytes());
    case Kind::kSend:
      return;
    case Kind::kBroadcast:
      return copy(p.other, at[size_t(p.other)], 0);
    case Kind::kAllGather:
      for (int rank = 0; rank < ranks.size(); ++rank)
        copy(rank, at[size_t(rank)], size_t(rank) * p.bytes());
      return;
    case Kind::kReduceScatter:
      return reduce(ranks, p, at, size_t(ranks.rank()) * p.bytes());
    case Kind::kReduce:
      if (ranks.rank() != p.other) return;
      [[fallthrough]];
    case Kind::kAllReduce:
      return reduce(ranks, p, at);
  }
}

void take_all(Comm_st& comm, const Parts& parts) {
  std::vector<size_t> at(size_t(comm.ranks.size()), 0);
  for (const Part& p : parts) {
    take(comm.ranks, p, at);
    for (int rank = 0; rank < comm.ranks.size(); ++rank)
      at[size_t(rank)] += p.shown(rank, comm.ranks.size());
  }
  if (has_collective(parts)) comm.ranks.depart(comm.number);
}

/// Two operations of a stream: neither holds up others while it waits.
int enqueue_parts(const CommPtr& comm, hotaru::cuda::CUstream stream,
                  const Parts& parts) {
  const bool waits = has_collective(parts);
  const bool queued =
      enqueue_on(
          stream,
          [=] {
            if (!comm->aborted) show(*comm, parts);
          },
          [=] {
            return comm->aborted || !waits ||
                   comm->ranks.all_departed(comm->number);
          }) &&
      enqueue_on(
          stream,
          [=] {
            if (!comm->aborted) take_all(*comm, parts);
          },
          [=] { return comm->aborted || all_is_there(*comm, parts); });
  return queued ? kSuccess : kUnhandledCudaError;
}

std::mutex comms_mutex;
std::map<Comm, CommPtr>& comms() {
  static auto* const all = new std::map<Comm, CommPtr>;
  return *all;
}
CommPtr find(Comm comm) {
  const std::lock_guard lock(comms_mutex);
  const auto at = comms().find(comm);
  return at == comms().end() ? nullptr : at->second;
}
int forget(Comm comm, bool abort) {
  CommPtr gone;
  {
    const std::lock_guard lock(comms_mutex);
    const auto at = comms().find(comm);
    if (at == comms().end()) return kInvalidArgument;
    gone = at->second;
    comms().erase(at);
  }
  if (abort) gone->aborted = true;
  return kSuccess;
}

// Group of the thread.
struct Group {
  int depth = 0;
  std::vector<std::tuple<CommPtr, hotaru::cuda::CUstream, Parts>> calls;

  int end() {
    for (const auto& [comm, stream, parts] : std::exchange(calls, {}))
      if (const int status = enqueue_parts(comm, stream, parts)) return status;
    return kSuccess;
  }
};
thread_local Group group;

int add(Comm handle, hotaru::cuda::CUstream stream, Part part) {
  const CommPtr comm = find(handle);
  const int size = comm ? comm->ranks.size() : 0;
  if (!comm || part.other < 0 || part.other >= size || part.type < kInt8 ||
      part.type > kBFloat16)
    return kInvalidArgument;
  if (part.op.op >= kOwnOps) {
    const auto factor = comm->factors.find(part.op.op);
    if (factor == comm->factors.end()) return kInvalidArgument;
    part.op = {kOwnOps, factor->second};
  }
  for (auto& [c, s, parts] : group.calls)
    if (c == comm && s == stream) {
      parts.push_back(part);
      return kSuccess;
    }
  group.calls.push_back({comm, stream, {part}});
  return group.depth > 0 ? kSuccess : group.end();
}

}  // namespace

int ncclGetVersion(int* version) {
  *version = 22800;
  return kSuccess;
}
const char* ncclGetErrorString(int status) {
  return status == kSuccess ? "no error" : "unhandled soft error";
}
const char* ncclGetLastError(Comm) {
  return "";
}
int ncclGetUniqueId(UniqueId* id) {
  std::memset(id, 0, sizeof *id);
  std::random_device random;
  std::snprintf(id->internal, sizeof id->internal, "%08x%08x%08x", random(),
                random(), random());
  return kSuccess;
}
int ncclCommInitRank(Comm* comm, int size, UniqueId id, int rank) {
  if (size < 1 || rank < 0 || rank >= size) return kInvalidArgument;
  const auto made = std::make_shared<Comm_st>(id.internal, rank, size);
  if (!made->ranks.serves()) return kSystemError;
  const std::lock_guard lock(comms_mutex);
  comms()[made.get()] = made;
  *comm = made.get();
  return kSuccess;
}
int ncclCommDestroy(Comm comm) {
  return forget(comm, false);
}
int ncclCommAbort(Comm comm) {
  return forget(comm, true);
}
int ncclCommGetAsyncError(Comm comm, int* error) {
  *error = kSuccess;
  return find(comm) ? kSuccess : kInvalidArgument;
}
int ncclRedOpCreatePreMulSum(int* op, void* factor, int type, int residence,
                             Comm handle) {
  const CommPtr comm = find(handle);
  if (!comm || residence != kHostImmediate) return kInvalidArgument;
  double value = 0;
  if (type == kFloat64)
    value = *static_cast<double*>(factor);
  else if (type == kFloat32)
    value = *static_cast<float*>(factor);
  else if (type == kFloat16)
    value = float(*static_cast<Half*>(factor));
  else if (type == kBFloat16)
    value = float(*static_cast<BFloat16*>(factor));
  else
    return kInvalidArgument;
  *op = comm->next_op++;
  comm->factors[*op] = value;
  return kSuccess;
}
int ncclRedOpDestroy(int op, Comm handle) {
  const CommPtr comm = find(handle);
  return comm && comm->factors.erase(op) ? kSuccess : kInvalidArgument;
}
int ncclAllReduce(const void* from, void* to, size_t count, int type, int op,
                  Comm comm, hotaru::cuda::CUstream stream) {
  return add(comm, stream,
             {Kind::kAllReduce, from, to, count, type, {op, 1}, 0});
}
int ncclReduce(const void* from, void* to, size_t count, int type, int op,
               int root, Comm comm, hotaru::cuda::CUstream stream) {
  return add(comm, stream,
             {Kind::kReduce, from, to, count, type, {op, 1}, root});
}
int ncclBroadcast(const void* from, void* to, size_t count, int type, int root,
                  Comm comm, hotaru::cuda::CUstream stream) {
  return add(comm, stream, {Kind::kBroadcast, from, to, count, type, {}, root});
}
int ncclAllGather(const void* from, void* to, size_t count, int type, Comm comm,
                  hotaru::cuda::CUstream stream) {
  return add(comm, stream, {Kind::kAllGather, from, to, count, type, {}, 0});
}
int ncclReduceScatter(const void* from, void* to, size_t count, int type,
                      int op, Comm comm, hotaru::cuda::CUstream stream) {
  return add(comm, stream,
             {Kind::kReduceScatter, from, to, count, type, {op, 1}, 0});
}
int ncclSend(const void* from, size_t count, int type, int peer, Comm comm,
             hotaru::cuda::CUstream stream) {
  return add(comm, stream, {Kind::kSend, from, nullptr, count, type, {}, peer});
}
int ncclRecv(void* to, size_t count, int type, int peer, Comm comm,
             hotaru::cuda::CUstream stream) {
  return add(comm, stream,
             {Kind::kReceive, nullptr, to, count, type, {}, peer});
}
int ncclGroupStart() {
  ++group.depth;
  return kSuccess;
}
int ncclGroupEnd() {
  if (group.depth == 0) return kInvalidUsage;
  return --group.depth > 0 ? kSuccess : group.end();
}
