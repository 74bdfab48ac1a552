#include "hotaru/comm/group/collective_kernel.h"

#include "hotaru/comm/group/collectives.h"
#include "hotaru/core/printing/concat.h"

namespace hotaru::comm {

using Kind = CollectiveKind;

namespace {

struct NamedKind {
  Kind kind;
  const char* name;
};
constexpr NamedKind kNamedKinds[] = {{Kind::kAllReduce, "all_reduce"},
                                     {Kind::kReduce, "reduce"},
                                     {Kind::kBroadcast, "broadcast"},
                                     {Kind::kAllGather, "all_gather"},
                                     {Kind::kGather, "gather"},
                                     {Kind::kScatter, "scatter"},
                                     {Kind::kReduceScatter, "reduce_scatter"},
                                     {Kind::kAllToAll, "all_to_all"},
                                     {Kind::kBarrier, "barrier"},
                                     {Kind::kSend, "send"},
                                     {Kind::kReceive, "recv"},
                                     {Kind::kExchange, "exchange"}};

}  // namespace

const char* name_of(Kind kind) {
  return kNamedKinds[size_t(kind)].name;
}
Kernel& kernel_of(Kind kind) {
  return kernel(concat("c10d::", name_of(kind)));
}

bool is_message(Kind kind) {
  return kind == Kind::kSend || kind == Kind::kReceive;
}
bool has_root(Kind kind) {
  return kind == Kind::kReduce || kind == Kind::kBroadcast ||
         kind == Kind::kGather || kind == Kind::kScatter;
}
bool reduces(Kind kind) {
  return kind == Kind::kAllReduce || kind == Kind::kReduce ||
         kind == Kind::kReduceScatter;
}

std::string text_of(std::span<const Operand> tensors,
                    const IssuedCollective& issued) {
  if (issued.kind == Kind::kBarrier) return "barrier";
  std::string out = name_of(issued.kind);
  // Each rank has messages of its own.
  if (issued.kind == Kind::kExchange) return out;
  if (issued.kind == Kind::kSend)
    out += concat(" to rank ", issued.root);
  else if (issued.kind == Kind::kReceive)
    out +=
        issued.root < 0 ? " from any rank" : concat(" from rank ", issued.root);
  if (reduces(issued.kind)) out += concat("(", issued.reduction.name(), ")");
  const Tensor& any = *tensors[0].tensor;
  out += " of ";
  int64_t count = any.numel();
  const bool all = issued.kind == Kind::kAllReduce;
  if (all || issued.kind == Kind::kReduceScatter)  // whose lengths may differ
    for (size_t i = 1; i < (all ? tensors.size() : issued.inputs); ++i)
      count += tensors[i].tensor->numel();
  if (issued.kind != Kind::kAllToAll) out += concat(count, " ");
  out += dtype_name(any.dtype());
  if (has_root(issued.kind)) out += concat(", root ", issued.root);
  return out;
}

namespace {

Elements elements_of(const Tensor& tensor) {
  return {tensor.dtype(), static_cast<char*>(tensor.raw_data()),
          tensor.numel()};
}

Steps steps_of(Operation& operation, const KernelCall& call,
               const IssuedCollective& issued) {
  std::vector<Elements> in, out;
  for (size_t i = 0; i < call.operands().size(); ++i)
    (i < issued.inputs ? in : out).push_back(elements_of(call.tensor(i)));
  switch (issued.kind) {
    case Kind::kAllReduce:
      return all_reduce(operation, std::move(out), issued.reduction);
    case Kind::kReduce:
      return reduce(operation, out[0], issued.reduction, issued.root);
    case Kind::kBroadcast:
      return broadcast(operation, (in.empty() ? out : in)[0], issued.root);
    case Kind::kAllGather:
      return all_gather(operation, in[0], std::move(out));
    case Kind::kGather:
      return gather(operation, in[0], std::move(out), issued.root);
    case Kind::kScatter:
      return scatter(operation, std::move(in), out[0], issued.root);
    case Kind::kReduceScatter:
      return reduce_scatter(operation, std::move(in), out[0], issued.reduction);
    case Kind::kAllToAll:
      return all_to_all(operation, std::move(in), std::move(out));
    case Kind::kBarrier:
      return barrier(operation);
    case Kind::kSend:
      return send(operation, in[0], issued.root);
    case Kind::kReceive:
      return receive(
          operation, out[0], issued.root,
          [group = issued.group, any = issued.root == kAnyRank,
           tag = issued.message.tag, source = issued.source](int rank) {
            if (source) *source = rank;
            if (any) group->note_message(rank, tag);
          });
    case Kind::kExchange:
      break;  // of devices only
  }
  return {};
}

/// The one kernel behind all names.
void run_collective(const KernelCall& call) {
  const auto& issued = call.attributes<IssuedCollective>();
  ProcessGroup& group = *issued.group;
  Mesh& mesh = *group.mesh();
  const std::string what = text_of(call.operands(), issued);
  auto operation =
      is_message(issued.kind)
          ? make_ref<Operation>(mesh, group.channel(), what, issued.timeout,
                                issued.message)
          : make_ref<Operation>(mesh, group.channel(), what, issued.timeout);
  operation->steps = steps_of(*operation, call, issued);
  if (Ref<LateCall> late = end_later(call))
    mesh.start(operation, std::move(late));
  else
    mesh.run(*operation);
}

const bool kRegistered = [] {
  for (const NamedKind& row : kNamedKinds)
    if (row.kind != Kind::kExchange)
      kernel_of(row.kind).set(DeviceType::kCPU, &run_collective);
  return true;
}();

}  // namespace

}  // namespace hotaru::comm
