#include "hotaru/comm/group/collective_check.h"

#include "hotaru/comm/group/collective_kernel.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::comm {

using Kind = CollectiveKind;

namespace {

void check_root(const ProcessGroup& group, const Collective& c,
                const char* name) {
  const bool any = c.kind == Kind::kReceive && c.root == kAnyRank;
  if (has_root(c.kind) || is_message(c.kind))
    HOTARU_CHECK(any || (0 <= c.root && c.root < group.size()), name,
                 ": invalid root rank: ", c.root, " (the group has ",
                 group.size(), " ranks)");
  if (is_message(c.kind))
    HOTARU_CHECK_AS(ValueError, c.root != group.rank(), name, ": rank ", c.root,
                    " is this process");
}

void check_tensor(const Tensor& tensor, const Tensor& first, size_t index,
                  bool mixed, const char* name) {
  HOTARU_CHECK(tensor.device().is_cpu() || tensor.device().is_cuda(), name,
               ": unsupported device type: takes tensors of the CPU or of "
               "CUDA, not of ",
               tensor.device().str());
  HOTARU_CHECK(tensor.device() == first.device(), name,
               ": tensors of one device are wanted, got ", first.device().str(),
               " and ", tensor.device().str());
  HOTARU_CHECK_AS(ValueError, tensor.is_contiguous(), name,
                  ": Tensors must be contiguous");
  HOTARU_CHECK(mixed || tensor.dtype() == first.dtype(), name,
               ": invalid tensor type at index ", index, " (expected ",
               dtype_name(first.dtype()), ", got ", dtype_name(tensor.dtype()),
               ")");
}

/// A tensor for each rank, of one length where it is given.
void check_list(const std::vector<Tensor>& many, const Tensor* one, int size,
                const char* which, const char* name) {
  HOTARU_CHECK(int(many.size()) == size, name, ": invalid ", which,
               " tensor list (expected length ", size, ", got ", many.size(),
               ")");
  if (!one) return;
  for (size_t i = 0; i < many.size(); ++i)
    HOTARU_CHECK(many[i].numel() == one->numel(), name,
                 ": invalid tensor size at index ", i, " (expected ",
                 one->numel(), " elements, got ", many[i].numel(), ")");
}

/// Messages together: a rank for each, none of them this one's.
void check_peers(const ProcessGroup& group, const Collective& c,
                 const char* name) {
  HOTARU_CHECK(c.peers.size() == c.inputs.size() + c.outputs.size(), name,
               ": a rank is wanted for each tensor");
  for (const int peer : c.peers)
    HOTARU_CHECK(0 <= peer && peer < group.size() && peer != group.rank(), name,
                 ": invalid rank: ", peer, " (the group has ", group.size(),
                 " ranks, this is rank ", group.rank(), ")");
}

void check_lists(const ProcessGroup& group, const Collective& c,
                 const char* name) {
  const bool at_root = c.root == group.rank();
  const int size = group.size();
  switch (c.kind) {
    case Kind::kAllGather:
      return check_list(c.outputs, &c.inputs.at(0), size, "output", name);
    case Kind::kGather:
      if (at_root) check_list(c.outputs, &c.inputs.at(0), size, "output", name);
      return;
    case Kind::kScatter:
      if (at_root) check_list(c.inputs, &c.outputs.at(0), size, "input", name);
      return;
    case Kind::kReduceScatter: {
      check_list(c.inputs, nullptr, size, "input", name);
      const int64_t mine = c.inputs[size_t(group.rank())].numel();
      HOTARU_CHECK(mine == c.outputs.at(0).numel(), name,
                   ": invalid tensor size at index ", group.rank(),
                   " (expected ", c.outputs[0].numel(), " elements, got ", mine,
                   ")");
      return;
    }
    case Kind::kAllToAll:
      check_list(c.inputs, nullptr, size, "input", name);
      return check_list(c.outputs, nullptr, size, "output", name);
    case Kind::kExchange:
      return check_peers(group, c, name);
    default:
      return;
  }
}

}  // namespace

void check_collective(const ProcessGroup& group, const Collective& c) {
  const char* name = name_of(c.kind);
  check_root(group, c, name);
  const Tensor* first = nullptr;
  for (const std::vector<Tensor>* tensors : {&c.inputs, &c.outputs})
    for (size_t i = 0; i < tensors->size(); ++i) {
      if (!first) first = &(*tensors)[i];
      check_tensor((*tensors)[i], *first, i, c.kind == Kind::kExchange, name);
    }
  if (first && reduces(c.kind)) c.reduction.check(first->dtype(), name);
  check_lists(group, c, name);
}

}  // namespace hotaru::comm
