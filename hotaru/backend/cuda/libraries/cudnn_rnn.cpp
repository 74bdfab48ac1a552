#include "hotaru/backend/cuda/libraries/cudnn_rnn.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <mutex>

#include "hotaru/backend/cuda/devices.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/runtime/streams/stream.h"
#include "hotaru/runtime/threads/blocking.h"

namespace hotaru::cuda::dnn {
namespace {

// Stacks kept for a device; a program of more lengths plans again.
constexpr size_t kMostPlans = 256;

/// Arithmetic of a dtype: what it is called, what it is multiplied and summed
/// in, and how.
struct Arithmetic {
  DataType type, compute;
  MathType math;
};
Arithmetic arithmetic_of(DType dtype, bool tf32) {
  switch (dtype) {
    case DType::kFloat64:
      return {kDouble, kDouble, kDefaultMath};
    case DType::kFloat16:
      return {kHalf, kFloat, kTensorMath};
    case DType::kBFloat16:
      return {kBFloat16, kFloat, kTensorMath};
    default:
      return {kFloat, kFloat, tf32 ? kDefaultMath : kFmaMath};
  }
}

RnnCell cell_of(RnnMode mode) {
  switch (mode) {
    case RnnMode::kLstm:
      return kLstmCell;
    case RnnMode::kGru:
      return kGruCell;
    case RnnMode::kTanh:
      return kTanhCell;
    case RnnMode::kRelu:
      return kReluCell;
  }
  fail("rnn: unknown mode");
}

/// The library counts in 32 bits.
bool fits(const RnnStack& s) {
  const int64_t batch = int64_t(s.lengths.size());
  const int64_t width =
      std::max({s.input, s.directions() * s.cells, s.layers * s.directions()});
  return s.steps > 0 && batch > 0 && s.input > 0 && s.cells > 0 &&
         s.output > 0 && s.output <= s.cells &&
         width <= std::numeric_limits<int>::max() / s.steps / batch;
}

std::vector<int64_t> key_of(const RnnStack& s) {
  std::vector<int64_t> key{int64_t(s.mode),
                           int64_t(s.dtype),
                           s.bidirectional,
                           s.has_biases,
                           s.training,
                           s.packed,
                           s.tf32,
                           s.layers,
                           s.input,
                           s.cells,
                           s.output,
                           s.steps,
                           int64_t(s.lengths.size())};
  if (s.packed) key.insert(key.end(), s.lengths.begin(), s.lengths.end());
  return key;
}

int64_t elements_of(const Cudnn& dnn, const Described& tensor) {
  constexpr int kMost = 8;
  int type = 0, dims = 0, sizes[kMost] = {}, strides[kMost] = {};
  check_dnn(dnn.get_tensor(tensor, kMost, &type, &dims, sizes, strides),
            "cudnnGetTensorNdDescriptor");
  int64_t out = 1;
  for (int d = 0; d < std::min(dims, kMost); ++d) out *= sizes[d];
  return out;
}

/// Adds a place to the last one, if it goes on there.
void join(std::vector<WeightPlace>& places, const WeightPlace& next) {
  if (!places.empty()) {
    WeightPlace& last = places.back();
    if (last.param == next.param && last.from + last.bytes == next.from &&
        last.at + last.bytes == next.at)
      return void(last.bytes += next.bytes);
  }
  places.push_back(next);
}

}  // namespace

RnnPlan::RnnPlan(const Cudnn& dnn, Handle handle, const RnnStack& stack)
    : rnn(dnn.create_rnn, dnn.destroy_rnn),
      x(dnn.create_sequence, dnn.destroy_sequence),
      y(dnn.create_sequence, dnn.destroy_sequence),
      h(dnn.create_tensor, dnn.destroy_tensor),
      c(dnn.create_tensor, dnn.destroy_tensor),
      dnn_(dnn),
      stack_(stack),
      dropout_(dnn.create_dropout, dnn.destroy_dropout),
      serves_(set(handle)) {}

bool RnnPlan::set(Handle handle) {
  const RnnStack& s = stack_;
  const Arithmetic a = arithmetic_of(s.dtype, s.tf32);
  const int layers = int(s.layers), directions = int(s.directions());
  const int batch = int(s.lengths.size());
  const auto set_sequence = [&](const Described& sequence, int64_t width) {
    return dnn_.set_sequence(sequence, a.type,
                             s.packed ? kStepsPacked : kStepsUnpacked,
                             int(s.steps), batch, int(width), s.lengths.data(),
                             nullptr) == kSuccess;
  };
  const auto set_state = [&](const Described& state, int width) {
    const int sizes[] = {layers * directions, batch, width};
    const int strides[] = {batch * width, width, 1};
    return dnn_.set_tensor(state, a.type, 3, sizes, strides) == kSuccess;
  };
  // The standard algorithm takes every stack. Whoever draws dropout between
  // layers does so himself: it needs no memory of states here.
  return dnn_.set_dropout(dropout_, handle, 0, nullptr, 0, 0) == kSuccess &&
         dnn_.set_rnn(rnn, kStandard, cell_of(s.mode),
                      s.has_biases ? kDoubleBias : kNoBias,
                      s.bidirectional ? kBothWays : kOneWay, kLinearInput,
                      a.type, a.compute, a.math, int(s.input), int(s.cells),
                      int(s.output), layers, dropout_,
                      s.packed ? 0 : kPaddedIo) == kSuccess &&
         set_sequence(x, s.input) &&
         set_sequence(y, s.output * s.directions()) &&
         set_state(h, int(s.output)) && set_state(c, int(s.cells)) &&
         dnn_.rnn_weight_bytes(handle, rnn, &weight_bytes) == kSuccess &&
         dnn_.rnn_room(handle, rnn, s.training ? kTraining : kInference, x,
                       &workspace_bytes, &reserve_bytes) == kSuccess;
}

const std::vector<WeightPlace>& RnnPlan::places(Handle handle,
                                                void* weights) const {
  if (places_.empty()) places_ = find_places(handle, weights);
  return places_;
}

std::vector<WeightPlace> RnnPlan::find_places(Handle handle,
                                              void* weights) const {
  const Described matrix(dnn_.create_tensor, dnn_.destroy_tensor);
  const Described bias(dnn_.create_tensor, dnn_.destroy_tensor);
  std::vector<WeightPlace> out;
  // `block`: which part of as many elements of the parameter.
  const auto add = [&](int64_t param, int block, const Described& type,
                       const void* place, int64_t elements) {
    const auto at =
        static_cast<const char*>(place) - static_cast<const char*>(weights);
    const size_t bytes = size_t(elements) * itemsize(stack_.dtype);
    HOTARU_CHECK(place && elements_of(dnn_, type) == elements &&
                     size_t(at) + bytes <= weight_bytes,
                 "cuDNN's weights of recurrent layers are not as large as the "
                 "layers' own");
    join(out, {size_t(param), size_t(block) * bytes, size_t(at), bytes});
  };
  const int gates = int(rnn_gates(stack_.mode));
  const int64_t each = stack_.params_each(), cells = stack_.cells;
  for (int64_t i = 0; i < stack_.layers * stack_.directions(); ++i) {
    const int64_t width = i < stack_.directions()
                              ? stack_.input
                              : stack_.output * stack_.directions();
    const auto look = [&](int which, bool biases) {
      void *matrix_at = nullptr, *bias_at = nullptr;
      check_dnn(dnn_.rnn_weight(handle, rnn, int32_t(i), weight_bytes, weights,
                                which, matrix, &matrix_at, bias, &bias_at),
                "cudnnGetRNNWeightParams");
      return biases ? bias_at : matrix_at;
    };
    // Gates have PyTorch's order (i f g o; r z n): those of the input, then
    // those of the state.
    for (int which = 0; which < 2 * gates; ++which)
      add(i * each + which / gates, which % gates, matrix, look(which, false),
          cells * (which < gates ? width : stack_.output));
    for (int which = 0; stack_.has_biases && which < 2 * gates; ++which)
      add(i * each + 2 + which / gates, which % gates, bias, look(which, true),
          cells);
    if (stack_.projects())
      add((i + 1) * each - 1, 0, matrix, look(2 * gates, false),
          stack_.output * cells);
  }
  return out;
}

std::shared_ptr<const RnnPlan> find_plan(const RnnStack& stack, int device) {
  struct Plans {
    std::mutex mutex;
    std::map<std::vector<int64_t>, std::shared_ptr<const RnnPlan>> by_key;
  };
  static auto* const all = new std::array<Plans, kMostDevices>;
  if (!is_floating_point(stack.dtype) || !fits(stack)) return nullptr;
  const Cudnn* library = usable<Cudnn>();
  if (!library) return nullptr;
  const DeviceScope scope(device);
  Context& context = context_of(*library, device);
  Plans& plans = (*all)[size_t(device)];
  std::vector<int64_t> key = key_of(stack);
  const auto lock = blocking_lock(plans.mutex);
  auto at = plans.by_key.find(key);
  if (at == plans.by_key.end()) {
    if (plans.by_key.size() >= kMostPlans) plans.by_key.clear();
    const auto use_of_handle = blocking_lock(context.mutex);
    at = plans.by_key
             .emplace(std::move(key), std::make_shared<RnnPlan>(
                                          *library, context.handle, stack))
             .first;
  }
  return at->second->serves() ? at->second : nullptr;
}

}  // namespace hotaru::cuda::dnn
