// Recurrent layers by cuDNN; see common/rnn/rnn_stack.h.
#include "hotaru/backend/common/rnn/rnn_stack.h"

#include "hotaru/backend/cuda/graph/recorder.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/libraries/cudnn_rnn.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/tensor.h"
#include "hotaru/runtime/library_settings.h"
#include "hotaru/runtime/threads/blocking.h"

namespace hotaru::cuda {
namespace {

using dnn::check_dnn;

void* address_of(const Tensor& t) {
  return t.defined() ? device_address(t) : nullptr;
}

/// A call's stack, and the library's handle on the launching stream.
class Session {
 public:
  explicit Session(const RnnStack& stack)
      : library(opened<dnn::Cudnn>()),
        plan(dnn::find_plan(stack, launching_timeline().device())),
        context_(dnn::context_here(library)),
        lock_(blocking_lock(context_.mutex)) {
    HOTARU_CHECK(plan, "rnn: cuDNN does not take such layers");
    check_dnn(library.set_stream(handle(), launching_timeline().handle()),
              "cudnnSetStream");
    keep_for_recording(plan);
  }
  dnn::Handle handle() const { return context_.handle; }

  const dnn::Cudnn& library;
  const std::shared_ptr<const dnn::RnnPlan> plan;

 private:
  dnn::Context& context_;
  const std::unique_lock<std::mutex> lock_;
};

void copy(void* to, size_t to_offset, const void* from, size_t from_offset,
          size_t bytes) {
  HOTARU_CUDA(cuMemcpyDtoDAsync, reinterpret_cast<CUdeviceptr>(to) + to_offset,
              reinterpret_cast<CUdeviceptr>(from) + from_offset, bytes,
              launching_timeline().handle());
}

void clear(void* memory, size_t bytes) {
  HOTARU_CUDA(cuMemsetD8Async, reinterpret_cast<CUdeviceptr>(memory), 0, bytes,
              launching_timeline().handle());
}

void answer(const KernelCall& call) {
  const auto& question = call.attributes<RnnStackQuestion>();
  if (!cudnn_settings().enabled) return;
  const auto plan = dnn::find_plan(question.stack, question.device.index);
  if (plan)
    *question.room = {true, int64_t(plan->weight_bytes),
                      int64_t(plan->reserve_bytes)};
}

void pack(const KernelCall& call) {
  const Session s(call.attributes<RnnStack>());
  void* const weights = device_address(call.tensor(0));
  clear(weights, s.plan->weight_bytes);  // what lies between them, too
  for (const dnn::WeightPlace& place : s.plan->places(s.handle(), weights))
    copy(weights, place.at, device_address(call.tensor(1 + place.param)),
         place.from, place.bytes);
}

void forward(const KernelCall& call) {
  const auto& stack = call.attributes<RnnStack>();
  const Session s(stack);
  const dnn::RnnPlan& p = *s.plan;
  const auto at = [&](size_t i) { return address_of(call.tensor(i)); };
  const Workspace room(p.workspace_bytes);
  const bool lstm = stack.mode == RnnMode::kLstm;
  // From 8.9.1 on lengths on the device are not asked for.
  check_dnn(
      s.library.rnn_forward(
          s.handle(), p.rnn, stack.training ? dnn::kTraining : dnn::kInference,
          nullptr, p.x, at(4), p.y, at(0), p.h, at(5), at(1),
          lstm ? dnn::Descriptor(p.c) : nullptr, at(6), at(2), p.weight_bytes,
          at(7), p.workspace_bytes, room.data(),
          stack.training ? p.reserve_bytes : 0, at(3)),
      "cudnnRNNForward");
}

void data_gradient(const KernelCall& call) {
  const auto& stack = call.attributes<RnnStack>();
  const Session s(stack);
  const dnn::RnnPlan& p = *s.plan;
  const auto at = [&](size_t i) { return address_of(call.tensor(i)); };
  const Workspace room(p.workspace_bytes);
  const bool lstm = stack.mode == RnnMode::kLstm;
  check_dnn(s.library.rnn_data(
                s.handle(), p.rnn, nullptr, p.y, at(4), at(5), p.x, at(0), p.h,
                at(6), at(7), at(1), lstm ? dnn::Descriptor(p.c) : nullptr,
                at(8), at(9), at(2), p.weight_bytes, at(10), p.workspace_bytes,
                room.data(), p.reserve_bytes, at(3)),
            "cudnnRNNBackwardData_v8");
}

void weight_gradient(const KernelCall& call) {
  constexpr size_t kFirst = 4;
  const Session s(call.attributes<RnnStack>());
  const dnn::RnnPlan& p = *s.plan;
  const auto at = [&](size_t i) { return address_of(call.tensor(i)); };
  const Workspace room(p.workspace_bytes), sums(p.weight_bytes);
  clear(sums.data(), p.weight_bytes);  // it adds
  check_dnn(s.library.rnn_weights(s.handle(), p.rnn, dnn::kAdd, nullptr, p.x,
                                  at(0), p.h, at(1), p.y, at(2), p.weight_bytes,
                                  sums.data(), p.workspace_bytes, room.data(),
                                  p.reserve_bytes, at(3)),
            "cudnnRNNBackwardWeights_v8");
  for (const dnn::WeightPlace& place : p.places(s.handle(), sums.data()))
    copy(device_address(call.tensor(kFirst + place.param)), place.from,
         sums.data(), place.at, place.bytes);
}

HOTARU_KERNEL(kCUDA, "rnn_stack_room", answer);
HOTARU_KERNEL(kCUDA, "rnn_stack_pack", pack);
HOTARU_KERNEL(kCUDA, "rnn_stack", forward);
HOTARU_KERNEL(kCUDA, "rnn_stack_data", data_gradient);
HOTARU_KERNEL(kCUDA, "rnn_stack_weights", weight_gradient);

}  // namespace
}  // namespace hotaru::cuda
