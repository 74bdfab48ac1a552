// Copies within a device, between devices and to and from the host; fills and
// selections by a mask.
#include "hotaru/backend/common/create/copy.h"

#include "hotaru/backend/common/pointwise/pointwise.h"
#include "hotaru/backend/cuda/allocator.h"
#include "hotaru/backend/cuda/call_timer.h"
#include "hotaru/backend/cuda/create/move.h"
#include "hotaru/backend/cuda/graph/recorder.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/create.h"
#include "hotaru/backend/cuda/params/types.h"
#include "hotaru/backend/cuda/pinned.h"
#include "hotaru/core/printing/concat.h"

namespace hotaru::cuda {
namespace {

CUdeviceptr pointer(const void* p) {
  return reinterpret_cast<CUdeviceptr>(p);
}

size_t bytes_of(const Tensor& t) {
  return size_t(t.numel()) * itemsize(t.dtype());
}

/// Where one side is the host's: dense, of one dtype, as ops/create/copy.cpp
/// sees to.
void cross_host(const Tensor& to, const Tensor& from, bool non_blocking) {
  refuse_recording("the host's memory is only there when a replay begins");
  StreamTimeline& timeline = launching_timeline();
  const size_t bytes = bytes_of(to);
  const bool to_host = to.device().is_cpu();
  void* host = to_host ? to.address() : from.address();
  const bool pinned = pinned_allocator().holds(host);
  note_copy(to_host  ? pinned ? "Memcpy DtoH (Device -> Pinned)"
                              : "Memcpy DtoH (Device -> Pageable)"
            : pinned ? "Memcpy HtoD (Pinned -> Device)"
                     : "Memcpy HtoD (Pageable -> Device)",
            bytes);
  if (to_host)
    HOTARU_CUDA(cuMemcpyDtoHAsync, host, pointer(from.address()), bytes,
                timeline.handle());
  else  // of memory that is not pinned the driver has taken a copy
    HOTARU_CUDA(cuMemcpyHtoDAsync, pointer(to.address()), host, bytes,
                timeline.handle());
  if (pinned ? !non_blocking : to_host) {
    note_end();
    timeline.synchronize();
  }
}

void cross_devices(const Tensor& to, const Tensor& from) {
  note_copy("Memcpy PtoP (Device -> Device)", bytes_of(to));
  HOTARU_CUDA(cuMemcpyPeerAsync, pointer(to.address()),
              context(to.device().index), pointer(from.address()),
              context(from.device().index), bytes_of(to),
              launching_timeline().handle());
}

constinit const Functions move_functions("Move", "_s");

const Function& copy_function(DType to, DType from, bool strided) {
  const bool moves = to == from && to != DType::kBool;
  if (moves) return move_functions.of_size(itemsize(to));
  if (is_rare(to) || is_rare(from))
    refuse_dtype("copy_", is_rare(to) ? to : from);
  static constinit const FunctionTable<2 * 16 * 16> table;
  return table.at((size_t(to) * 16 + size_t(from)) * 2 + strided, [&] {
    return concat("Copy_", type_suffix(to), "_", type_suffix(from),
                  strided ? "_s" : "");
  });
}

/// Where elements lie side by side along one dimension of the input and another
/// one of the output, a square of them goes through shared memory.
bool transpose(const Geometry<2>& part, size_t item) {
  if (item > 8) return false;
  const auto step = int64_t(item);
  int along_out = -1, along_in = -1;
  for (int d = 0; d < part.dims; ++d) {
    if (part.strides[size_t(d)][0] == step) along_out = d;
    if (part.strides[size_t(d)][1] == step) along_in = d;
  }
  if (along_out < 0 || along_in < 0 || along_out == along_in) return false;
  TransposeParams p;
  p.out = part.address[0];
  p.in = part.address[1];
  p.a = uint32_t(part.sizes[size_t(along_in)]);
  p.b = uint32_t(part.sizes[size_t(along_out)]);
  if (p.a < 8 || p.b < 8) return false;
  p.out_step = part.strides[size_t(along_in)][0];
  p.in_step = part.strides[size_t(along_out)][1];
  for (int d = 0; d < part.dims; ++d) {
    const auto at = size_t(d);
    if (d == along_in || d == along_out) continue;
    p.copies *= uint32_t(part.sizes[at]);
    if (!p.others.add(part.sizes[at],
                      {part.strides[at][0], part.strides[at][1]}))
      return false;
  }
  plan_transpose(p);
  static constinit const Functions functions("Transpose");
  launch(functions.of_size(item), {unsigned(transpose_blocks(p))}, kBlock, p);
  return true;
}

/// Bytes side by side, which a kernel copies where they are part of a graph:
/// its operands may move from one replay to the next.
void copy_dense(void* out, const void* in, size_t bytes) {
  if (!launching_timeline().recorder()) {
    note_copy("Memcpy DtoD (Device -> Device)", bytes);
    return HOTARU_CUDA(cuMemcpyDtoDAsync, pointer(out), pointer(in), bytes,
                       launching_timeline().handle());
  }
  size_t item = 16;
  while ((pointer(out) | pointer(in) | bytes) % item != 0) item /= 2;
  Geometry<2> space;
  space.address = {static_cast<char*>(out),
                   static_cast<char*>(const_cast<void*>(in))};
  space.add(int64_t(bytes / item), {int64_t(item), int64_t(item)});
  move_elements(space, item);
}

void copy_within(const Tensor& to, const Tensor& from) {
  const size_t to_size = itemsize(to.dtype()),
               from_size = itemsize(from.dtype());
  const bool moves = to.dtype() == from.dtype() && to.dtype() != DType::kBool;
  Geometry<2>::of({&to, &from}, to.sizes())
      .for_parts([&](const Geometry<2>& part) {
        const bool dense = part.dense(0, to_size) && part.dense(1, from_size);
        const CopyParams params{part.address[0], part.address[1],
                                uint32_t(part.numel())};
        if (dense && moves)
          copy_dense(params.out, params.in, params.numel * to_size);
        else if (dense &&
                 copies_well(params.out, to_size, params.in, from_size))
          launch(copy_function(to.dtype(), from.dtype(), false),
                 {blocks_for(params.numel, copy_items(to_size, from_size))},
                 kBlock, params);
        else if (!moves || !transpose(part, to_size))
          launch(copy_function(to.dtype(), from.dtype(), true),
                 {blocks_for(params.numel, kStridedItems)}, kBlock,
                 StridedCopyParams{params, part.index()});
      });
}

void copy(const KernelCall& call) {
  const Tensor &to = call.tensor(0), &from = call.tensor(1);
  if (to.numel() == 0) return;
  if (to.device().is_cpu() || from.device().is_cpu())
    return cross_host(to, from, call.attributes<CopyAttributes>().non_blocking);
  if (to.device() != from.device()) return cross_devices(to, from);
  copy_within(to, from);
}

/// Operand: the tensor. Attributes: PointwiseNumbers, the value in a.
void fill(const KernelCall& call) {
  const Tensor& out = call.tensor(0);
  if (out.numel() == 0) return;
  const size_t item = itemsize(out.dtype());
  FillParams params;
  visit_dtype(AllTypes{}, out.dtype(), "fill_", [&]<class T>() {
    const T value = call.attributes<PointwiseNumbers>().a.to<T>();
    std::memcpy(params.value, &value, sizeof(T));
  });
  static constinit const Functions words("Fill"), strided("Fill", "_s");
  device_address(out);
  Geometry<1>::of({&out}, out.sizes()).for_parts([&](const Geometry<1>& part) {
    params.out = part.address[0];
    params.numel = uint32_t(part.numel());
    if (part.dense(0, item) && lies_well_for_words(params.out))
      return launch(words.of_size(item),
                    {blocks_for(params.numel, word_items(item))}, kBlock,
                    params);
    launch(strided.of_size(item), {blocks_for(params.numel, kStridedItems)},
           kBlock, StridedFillParams{params, part.index()});
  });
}

/// Operands: out, mask (bool or uint8), and two of out's dtype.
void where(const KernelCall& call) {
  const Tensor& out = call.tensor(0);
  if (out.numel() == 0) return;
  const size_t item = itemsize(out.dtype());
  WhereParams params;
  std::array<const Tensor*, 4> elements{&out, &call.tensor(1), nullptr,
                                        nullptr};
  device_address(out);
  device_address(call.tensor(1));
  for (size_t i = 2; i < 4; ++i) {
    const Tensor& t = call.tensor(i);
    if (t.device().is_cpu()) {
      std::memcpy(i == 2 ? params.x_value : params.y_value, t.raw_data(), item);
      continue;
    }
    device_address(t);
    elements[i] = &t;
  }
  static constinit const Functions words("Where"), strided("Where", "_s");
  Geometry<4>::of(elements, out.sizes())
      .for_parts([&](const Geometry<4>& part) {
        params.out = part.address[0];
        params.mask = part.address[1];
        params.x = part.address[2];
        params.y = part.address[3];
        params.numel = uint32_t(part.numel());
        bool well =
            part.dense(0, item) && part.dense(1, 1) &&
            lies_well_for_words(params.out) &&
            reinterpret_cast<uintptr_t>(params.mask) % word_length(item) == 0;
        for (size_t i = 2; i < 4; ++i)
          well =
              well && (!elements[i] || (part.dense(i, item) &&
                                        lies_well_for_words(part.address[i])));
        if (well)
          return launch(words.of_size(item),
                        {blocks_for(params.numel, word_items(item))}, kBlock,
                        params);
        launch(strided.of_size(item), {blocks_for(params.numel, kStridedItems)},
               kBlock, StridedWhereParams{params, part.index()});
      });
}

HOTARU_KERNEL(kCUDA, "copy_", copy);
HOTARU_KERNEL(kCUDA, "fill_", fill);
HOTARU_KERNEL(kCUDA, "where", where);

}  // namespace

void move_elements(const Geometry<2>& space, size_t item) {
  const Function& function = move_functions.of_size(item);
  space.for_parts([&](const Geometry<2>& part) {
    const auto n = uint32_t(part.numel());
    launch(
        function, {blocks_for(n, kStridedItems)}, kBlock,
        StridedCopyParams{{part.address[0], part.address[1], n}, part.index()});
  });
}

}  // namespace hotaru::cuda
