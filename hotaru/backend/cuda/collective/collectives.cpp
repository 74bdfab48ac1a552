// Launchers of collectives: the door's calls as NCCL's.
#include "hotaru/backend/cuda/collective/communicator.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/comm/group/collective_kernel.h"
#include "hotaru/core/error.h"
#include "hotaru/core/half.h"

namespace hotaru::cuda {
namespace {

using comm::IssuedCollective;
using comm::ReduceKind;
using comm::Reduction;
using Kind = comm::CollectiveKind;

/// Elements as NCCL counts them: numbers that it knows, or bytes.
struct Elements {
  char* data;
  size_t count;
  int type;
};

constexpr int kUnknown = -1;

/// kUnknown for what NCCL does no arithmetic with. Booleans are bytes.
int type_of(DType dtype) {
  switch (dtype) {
    case DType::kInt8:
      return nccl::kInt8;
    case DType::kUInt8:
    case DType::kBool:
      return nccl::kUInt8;
    case DType::kInt32:
      return nccl::kInt32;
    case DType::kInt64:
      return nccl::kInt64;
    case DType::kFloat16:
      return nccl::kFloat16;
    case DType::kBFloat16:
      return nccl::kBFloat16;
    case DType::kFloat32:
    case DType::kComplex64:
      return nccl::kFloat32;
    case DType::kFloat64:
    case DType::kComplex128:
      return nccl::kFloat64;
    default:
      return kUnknown;
  }
}

Elements numbers_of(const Tensor& t) {
  const size_t parts = is_complex(t.dtype()) ? 2 : 1;
  return {static_cast<char*>(device_address(t)), size_t(t.numel()) * parts,
          type_of(t.dtype())};
}
size_t size_of(const Tensor& t) {
  return size_t(t.numel()) * itemsize(t.dtype());
}
/// For what only travels.
Elements bytes_of(const Tensor& t) {
  return {static_cast<char*>(device_address(t)), size_of(t), nccl::kInt8};
}

/// Bits of booleans: 0 and 1 stay so.
int op_of_bools(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::kSum:
    case ReduceKind::kMax:
    case ReduceKind::kBitOr:
      return nccl::kMax;
    case ReduceKind::kProduct:
    case ReduceKind::kMin:
    case ReduceKind::kBitAnd:
      return nccl::kMin;
    default:
      return kUnknown;
  }
}
int op_of(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::kSum:
      return nccl::kSum;
    case ReduceKind::kAverage:
      return nccl::kAvg;
    case ReduceKind::kProduct:
      return nccl::kProd;
    case ReduceKind::kMin:
      return nccl::kMin;
    case ReduceKind::kMax:
      return nccl::kMax;
    default:
      return kUnknown;
  }
}

/// Throws for what NCCL cannot reduce, before a call is queued.
void check_reduction(const KernelCall& call) {
  const auto& issued = call.attributes<IssuedCollective>();
  if (!comm::reduces(issued.kind)) return;
  const DType dtype = call.tensor(0).dtype();
  const ReduceKind kind = issued.reduction.kind;
  const char* const name = comm::name_of(issued.kind);
  if (type_of(dtype) == kUnknown)
    throw NotImplementedError(
        concat(name, ": NCCL does not reduce ", dtype_name(dtype)));
  const bool scaled = kind == ReduceKind::kScaledSum;
  if (dtype == DType::kBool ? op_of_bools(kind) == kUnknown
                            : !scaled && op_of(kind) == kUnknown)
    throw ValueError(
        concat("Cannot use ReduceOp.", issued.reduction.name(), " with NCCL",
               dtype == DType::kBool ? " and boolean tensors" : ""));
  if (scaled && !is_floating_point(dtype))
    throw ValueError(
        "Cannot use ReduceOp.PREMUL_SUM with NCCL and other than real "
        "floating point tensors");
  HOTARU_CHECK_AS(ValueError,
                  !is_complex(dtype) || kind == ReduceKind::kSum ||
                      kind == ReduceKind::kAverage,
                  name, ": complex tensors are only added up, not ",
                  issued.reduction.name());
}

/// NCCL's operation, for as long as a call is put on a stream.
class ReduceOp {
 public:
  ReduceOp(const Nccl& library, nccl::Comm comm, const Reduction& reduction,
           DType dtype)
      : library_(library), comm_(comm) {
    if (reduction.kind != ReduceKind::kScaledSum) {
      op_ = dtype == DType::kBool ? op_of_bools(reduction.kind)
                                  : op_of(reduction.kind);
      return;
    }
    scaled_ = true;
    const auto narrow = float(reduction.factor);
    if (dtype == DType::kFloat16)
      create(Half(narrow), dtype);
    else if (dtype == DType::kBFloat16)
      create(BFloat16(narrow), dtype);
    else if (dtype == DType::kFloat64)
      create(reduction.factor, dtype);
    else
      create(narrow, dtype);
  }
  ~ReduceOp() {
    if (scaled_) library_.destroy_op(op_, comm_);
  }
  ReduceOp(const ReduceOp&) = delete;
  ReduceOp& operator=(const ReduceOp&) = delete;
  int value() const { return op_; }

 private:
  template <class T>
  void create(T factor, DType dtype) {
    library_.check(library_.create_scaled(&op_, &factor, type_of(dtype),
                                          nccl::kHostImmediate, comm_),
                   "ncclRedOpCreatePreMulSum");
  }
  const Nccl& library_;
  nccl::Comm comm_;
  int op_ = 0;
  bool scaled_ = false;
};

/// One call's course.
class Course {
 public:
  Course(const KernelCall& call, const IssuedCollective& issued,
         const NcclCommunicator& communicator, const Nccl& library,
         nccl::Comm comm)
      : call_(call),
        issued_(issued),
        communicator_(communicator),
        library_(library),
        comm_(comm),
        stream_(launching_timeline().handle()) {}

  void run() const {
    switch (issued_.kind) {
      case Kind::kAllReduce:
        return all_reduce();
      case Kind::kReduce:
        return reduce();
      case Kind::kBroadcast:
        return broadcast();
      case Kind::kAllGather:
        return all_gather();
      case Kind::kReduceScatter:
        return reduce_scatter();
      case Kind::kGather:
        return gather();
      case Kind::kScatter:
        return scatter();
      case Kind::kAllToAll:
        return all_to_all();
      case Kind::kSend:
        return send(input(0), 1 - communicator_.rank());
      case Kind::kReceive:
        return receive(output(0), 1 - communicator_.rank());
      case Kind::kExchange:
        return exchange();
      case Kind::kBarrier:
        return;
    }
  }

 private:
  size_t tensors() const { return call_.operands().size() - 1; }
  size_t outputs() const { return tensors() - issued_.inputs; }
  const Tensor& input(size_t i) const { return call_.tensor(i); }
  const Tensor& output(size_t i) const {
    return call_.tensor(issued_.inputs + i);
  }
  bool at_root() const { return communicator_.rank() == issued_.root; }

  /// Tells whether tensors lie behind each other, all of one length.
  bool one_row(size_t first, size_t count) const {
    const Tensor& begin = call_.tensor(first);
    const char* expected = static_cast<char*>(device_address(begin));
    for (size_t i = first; i < first + count; ++i) {
      const Tensor& t = call_.tensor(i);
      if (t.numel() != begin.numel() || device_address(t) != expected)
        return false;
      expected += size_of(t);
    }
    return true;
  }

  void all_reduce() const {
    const ReduceOp op(library_, comm_, issued_.reduction,
                      call_.tensor(0).dtype());
    for (size_t i = 0; i < tensors(); ++i) {
      const Elements e = numbers_of(call_.tensor(i));
      check(library_.all_reduce(e.data, e.data, e.count, e.type, op.value(),
                                comm_, stream_),
            "ncclAllReduce");
    }
  }
  void reduce() const {
    const ReduceOp op(library_, comm_, issued_.reduction, output(0).dtype());
    const Elements e = numbers_of(output(0));
    check(library_.reduce(e.data, e.data, e.count, e.type, op.value(),
                          issued_.root, comm_, stream_),
          "ncclReduce");
  }
  void broadcast() const {
    const Elements e = bytes_of(call_.tensor(0));
    broadcast_from(issued_.root, e, e);
  }
  void broadcast_from(int root, const Elements& from,
                      const Elements& to) const {
    check(library_.broadcast(from.data, to.data, to.count, to.type, root, comm_,
                             stream_),
          "ncclBroadcast");
  }
  void all_gather() const {
    const Elements mine = bytes_of(input(0));
    if (one_row(issued_.inputs, outputs()))
      return check(library_.all_gather(mine.data, bytes_of(output(0)).data,
                                       mine.count, mine.type, comm_, stream_),
                   "ncclAllGather");
    for (size_t i = 0; i < outputs(); ++i) {
      const Elements to = bytes_of(output(i));
      broadcast_from(int(i), int(i) == communicator_.rank() ? mine : to, to);
    }
  }
  void reduce_scatter() const {
    const ReduceOp op(library_, comm_, issued_.reduction, output(0).dtype());
    const Elements to = numbers_of(output(0));
    if (one_row(0, issued_.inputs))
      return check(
          library_.reduce_scatter(numbers_of(input(0)).data, to.data, to.count,
                                  to.type, op.value(), comm_, stream_),
          "ncclReduceScatter");
    for (size_t i = 0; i < issued_.inputs; ++i) {
      const Elements from = numbers_of(input(i));
      const bool mine = int(i) == communicator_.rank();
      check(library_.reduce(from.data, mine ? to.data : from.data, from.count,
                            from.type, op.value(), int(i), comm_, stream_),
            "ncclReduce");
    }
  }
  void gather() const {
    send(input(0), issued_.root);
    if (at_root())
      for (size_t i = 0; i < outputs(); ++i) receive(output(i), int(i));
  }
  void scatter() const {
    if (at_root())
      for (size_t i = 0; i < issued_.inputs; ++i) send(input(i), int(i));
    receive(output(0), issued_.root);
  }
  void all_to_all() const {
    for (size_t i = 0; i < issued_.inputs; ++i) {
      send(input(i), int(i));
      receive(output(i), int(i));
    }
  }
  void exchange() const {
    for (size_t i = 0; i < tensors(); ++i)
      if (i < issued_.inputs)
        send(call_.tensor(i), issued_.peers[i]);
      else
        receive(call_.tensor(i), issued_.peers[i]);
  }
  void send(const Tensor& tensor, int to) const {
    const Elements e = bytes_of(tensor);
    check(library_.send(e.data, e.count, e.type, to, comm_, stream_),
          "ncclSend");
  }
  void receive(const Tensor& tensor, int from) const {
    const Elements e = bytes_of(tensor);
    check(library_.receive(e.data, e.count, e.type, from, comm_, stream_),
          "ncclRecv");
  }
  void check(int status, const char* what) const {
    library_.check(status, what);
  }

  const KernelCall& call_;
  const IssuedCollective& issued_;
  const NcclCommunicator& communicator_;
  const Nccl& library_;
  const nccl::Comm comm_;
  const CUstream stream_;
};

/// The one launcher behind all names. The communicator is the last operand.
void launch_collective(const KernelCall& call) {
  const auto& issued = call.attributes<IssuedCollective>();
  auto& communicator =
      call.object<NcclCommunicator>(call.operands().size() - 1);
  communicator.together(
      comm::name_of(issued.kind), [&](const Nccl& library, nccl::Comm comm) {
        Course(call, issued, communicator, library, comm).run();
      });
}

const bool kRegistered = [] {
  for (int kind = 0; kind <= int(Kind::kExchange); ++kind)
    if (Kind(kind) != Kind::kBarrier)
      comm::kernel_of(Kind(kind))
          .set(DeviceType::kCUDA, &launch_collective, &check_reduction);
  return true;
}();

}  // namespace
}  // namespace hotaru::cuda
