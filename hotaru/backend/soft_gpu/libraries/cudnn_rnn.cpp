// A stand-in for cuDNN's recurrent layers. Besides what NVIDIA's documentation
// asks for it insists that a reserve comes back as it was left. It refuses
// bfloat16, so that there is something that a library does not take.
#include "hotaru/backend/soft_gpu/libraries/cudnn_rnn.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "hotaru/backend/cuda/libraries/cudnn_rnn_entries.h"
#include "hotaru/backend/soft_gpu/libraries/cudnn_context.h"
#include "hotaru/backend/soft_gpu/libraries/queue.h"

#define HOTARU_DECLARE(name, symbol, params) \
  __attribute__((visibility("default"))) int symbol params;
extern "C" {
HOTARU_CUDNN_RNN_ENTRIES(HOTARU_DECLARE)
}
#undef HOTARU_DECLARE

using namespace hotaru::cuda::dnn;
using namespace hotaru::soft_gpu;

namespace {

constexpr size_t kWorkspace = 1 << 12;

struct DropoutState {
  bool set = false;
};
struct TensorState {
  int type = -1;
  std::vector<int> sizes, strides;
};
struct RnnState {
  bool set = false, padded = false;
  RnnNetwork network;
};
struct SequenceState {
  bool set = false;
  int type = 0, width = 0;
  RnnSequences sequences;
};

template <class T>
T& of(Descriptor descriptor) {
  return *static_cast<T*>(descriptor);
}
template <class T>
int make(Descriptor* descriptor) {
  *descriptor = new T;
  return kSuccess;
}
template <class T>
int destroy(Descriptor descriptor) {
  delete static_cast<T*>(descriptor);
  return kSuccess;
}

size_t bytes_of(int type) {
  return type == kDouble ? 8 : type == kFloat ? 4 : 2;
}

template <class F>
void with_type(int type, const F& f) {
  if (type == kDouble)
    f(double());
  else if (type == kFloat)
    f(float());
  else
    f(hotaru::Half());
}

/// Numbers at an address; zeros without one.
std::vector<double> numbers_at(const void* from, size_t count, int type) {
  std::vector<double> out(count, 0);
  if (from)
    with_type(type, [&](auto t) {
      for (size_t i = 0; i < count; ++i)
        out[i] = number_of(static_cast<const decltype(t)*>(from)[i]).real();
    });
  return out;
}
void put(const std::vector<double>& numbers, void* to, int type) {
  if (to)
    with_type(type, [&](auto t) {
      for (size_t i = 0; i < numbers.size(); ++i)
        static_cast<decltype(t)*>(to)[i] = element_of<decltype(t)>(numbers[i]);
    });
}

/// Marks in what training keeps: a tape, and by whom and with what sum it was
/// left.
enum Stage : uint64_t { kForwardDone = 0xF1, kDataDone = 0xF2 };
constexpr size_t kHead = 2 * sizeof(uint64_t);

std::vector<std::vector<double>*> parts(RnnTape& tape) {
  return {&tape.gates, &tape.cells, &tape.inner, &tape.states};
}
size_t reserve_bytes(const RnnNetwork& n, const RnnSequences& s) {
  RnnTape tape(n, s);
  size_t out = kHead;
  for (const auto* part : parts(tape)) out += part->size() * sizeof(double);
  return out;
}
uint64_t sum_of(const void* reserve, size_t bytes) {
  uint64_t sum = 1469598103934665603u;  // FNV-1a
  const auto* at = static_cast<const unsigned char*>(reserve);
  for (size_t i = kHead; i < bytes; ++i) sum = (sum ^ at[i]) * 1099511628211u;
  return sum;
}
void keep(RnnTape& tape, Stage stage, void* reserve, size_t bytes) {
  char* to = static_cast<char*>(reserve) + kHead;
  for (const auto* part : parts(tape)) {
    std::memcpy(to, part->data(), part->size() * sizeof(double));
    to += part->size() * sizeof(double);
  }
  const uint64_t head[] = {stage, sum_of(reserve, bytes)};
  std::memcpy(reserve, head, kHead);
}
/// Numbers that are none where the reserve is not as that stage left it.
RnnTape kept(const RnnNetwork& n, const RnnSequences& s, Stage stage,
             const void* reserve, size_t bytes) {
  RnnTape tape(n, s);
  uint64_t head[2];
  std::memcpy(head, reserve, kHead);
  const bool good = head[0] == stage && head[1] == sum_of(reserve, bytes);
  const char* from = static_cast<const char*>(reserve) + kHead;
  for (auto* part : parts(tape)) {
    std::memcpy(part->data(), from, part->size() * sizeof(double));
    from += part->size() * sizeof(double);
    if (!good)
      part->assign(part->size(), std::numeric_limits<double>::quiet_NaN());
  }
  return tape;
}

/// Arguments that all three passes are given.
struct Pass {
  RnnNetwork n;
  RnnSequences s;
  size_t h_count, c_count, x_count, y_count, weight_count;
};

bool fits_state(Descriptor descriptor, const RnnNetwork& n, int batch,
                int width) {
  const auto& t = of<TensorState>(descriptor);
  return t.type == n.type &&
         t.sizes == std::vector<int>{n.pseudo_layers(), batch, width} &&
         t.strides == std::vector<int>{batch * width, width, 1};
}

/// 0, or what the arguments are refused with.
int begin(Pass& pass, Descriptor rnn, const int32_t* lengths, Descriptor x_type,
          Descriptor y_type, Descriptor h_type, size_t weight_bytes,
          const void* weights, size_t workspace_bytes, const void* workspace) {
  const auto& r = of<RnnState>(rnn);
  const auto& x = of<SequenceState>(x_type);
  const auto& y = of<SequenceState>(y_type);
  const RnnNetwork& n = r.network;
  if (!r.set || !x.set || !y.set || lengths || x.type != n.type ||
      y.type != n.type || x.width != n.input ||
      y.width != n.output * n.directions ||
      x.sequences.packed != y.sequences.packed ||
      x.sequences.steps != y.sequences.steps ||
      x.sequences.lengths != y.sequences.lengths ||
      x.sequences.packed == r.padded ||
      !fits_state(h_type, n, x.sequences.batch(), n.output))
    return kBadParam;
  const auto elements = size_t(rnn_weight_elements(n));
  if (weight_bytes != elements * bytes_of(n.type) || !weights ||
      workspace_bytes < kWorkspace || !workspace)
    return kBadParam;
  const auto states = size_t(n.pseudo_layers() * x.sequences.batch());
  const auto rows = size_t(x.sequences.rows());
  pass = {n,
          x.sequences,
          states * size_t(n.output),
          n.lstm() ? states * size_t(n.hidden) : 0,
          rows * size_t(n.input),
          rows * size_t(y.width),
          elements};
  return kSuccess;
}

bool fits_cells(const Pass& p, Descriptor c_type) {
  return p.n.lstm() ? c_type && fits_state(c_type, p.n, p.s.batch(), p.n.hidden)
                    : !c_type;
}
bool fits_reserve(const Pass& p, size_t bytes, const void* reserve) {
  return reserve && bytes == reserve_bytes(p.n, p.s);
}

}  // namespace

int cudnnCreateDropoutDescriptor(Descriptor* d) {
  return make<DropoutState>(d);
}
int cudnnDestroyDropoutDescriptor(Descriptor d) {
  return destroy<DropoutState>(d);
}
int cudnnSetDropoutDescriptor(Descriptor d, Handle handle, float p,
                              void* states, size_t bytes, unsigned long long) {
  if (!handle || p != 0 || states || bytes) return kBadParam;
  of<DropoutState>(d).set = true;
  return kSuccess;
}
int cudnnCreateTensorDescriptor(Descriptor* d) {
  return make<TensorState>(d);
}
int cudnnDestroyTensorDescriptor(Descriptor d) {
  return destroy<TensorState>(d);
}
int cudnnSetTensorNdDescriptor(Descriptor d, int type, int dims,
                               const int* sizes, const int* strides) {
  if (dims < 3) return kBadParam;
  for (int i = 0; i < dims; ++i)
    if (sizes[i] < 1 || strides[i] < 1) return kBadParam;
  of<TensorState>(d) = {type, {sizes, sizes + dims}, {strides, strides + dims}};
  return kSuccess;
}
int cudnnGetTensorNdDescriptor(Descriptor d, int wanted, int* type, int* dims,
                               int* sizes, int* strides) {
  const auto& t = of<TensorState>(d);
  *type = t.type;
  *dims = int(t.sizes.size());
  for (int i = 0; i < std::min(wanted, *dims); ++i)
    sizes[i] = t.sizes[size_t(i)], strides[i] = t.strides[size_t(i)];
  return kSuccess;
}
int cudnnCreateRNNDescriptor(Descriptor* d) {
  return make<RnnState>(d);
}
int cudnnDestroyRNNDescriptor(Descriptor d) {
  return destroy<RnnState>(d);
}
int cudnnSetRNNDescriptor_v8(Descriptor d, int algorithm, int cell, int bias,
                             int direction, int input, int type,
                             int compute_type, int math, int32_t input_size,
                             int32_t hidden_size, int32_t projected_size,
                             int32_t layers, Descriptor dropout,
                             uint32_t flags) {
  if (algorithm != kStandard || cell < 0 || cell > kGruCell ||
      (bias != kNoBias && bias != kDoubleBias) || direction < 0 ||
      direction > kBothWays || input != kLinearInput || input_size < 1 ||
      hidden_size < 1 || projected_size < 1 || projected_size > hidden_size ||
      (projected_size < hidden_size && cell != kLstmCell) || layers < 1 ||
      !dropout || !of<DropoutState>(dropout).set || flags > kPaddedIo ||
      math < kDefaultMath || math > kFmaMath)
    return kBadParam;
  const bool same = type == compute_type && (type == kFloat || type == kDouble);
  if (!same && !(type == kHalf && compute_type == kFloat)) return kNotSupported;
  RnnNetwork n;
  n.cell = cell, n.bias = bias, n.type = type;
  n.directions = direction + 1, n.layers = layers;
  n.input = input_size, n.hidden = hidden_size, n.output = projected_size;
  of<RnnState>(d) = {true, (flags & kPaddedIo) != 0, n};
  return kSuccess;
}
int cudnnCreateRNNDataDescriptor(Descriptor* d) {
  return make<SequenceState>(d);
}
int cudnnDestroyRNNDataDescriptor(Descriptor d) {
  return destroy<SequenceState>(d);
}
int cudnnSetRNNDataDescriptor(Descriptor d, int type, int layout, int steps,
                              int batch, int width, const int* lengths,
                              void* padding) {
  if (layout < 0 || layout > kStepsPacked || steps < 1 || batch < 1 ||
      width < 1 || !lengths || padding)
    return kBadParam;
  const bool packed = layout == kStepsPacked;
  for (int b = 0; b < batch; ++b)
    if (lengths[b] < 1 || lengths[b] > steps ||
        (packed && b > 0 && lengths[b] > lengths[b - 1]))
      return kBadParam;
  of<SequenceState>(d) = {
      true, type, width, {packed, steps, {lengths, lengths + batch}}};
  return kSuccess;
}
int cudnnGetRNNWeightSpaceSize(Handle, Descriptor rnn, size_t* bytes) {
  const auto& r = of<RnnState>(rnn);
  if (!r.set) return kBadParam;
  *bytes = size_t(rnn_weight_elements(r.network)) * bytes_of(r.network.type);
  return kSuccess;
}
int cudnnGetRNNWeightParams(Handle, Descriptor rnn, int32_t layer, size_t bytes,
                            const void* weights, int32_t which,
                            Descriptor matrix, void** matrix_at,
                            Descriptor bias, void** bias_at) {
  const auto& r = of<RnnState>(rnn);
  const RnnNetwork& n = r.network;
  const int last = 2 * n.gates() - (n.projects() ? 0 : 1);
  const size_t size = bytes_of(n.type);
  if (!r.set || layer < 0 || layer >= n.pseudo_layers() || which < 0 ||
      which > last || !weights ||
      bytes != size_t(rnn_weight_elements(n)) * size)
    return kBadParam;
  const auto tell = [&](bool of_bias, Descriptor type, void** place) {
    const RnnMatrix m = rnn_matrix(n, layer, which, of_bias);
    *place = nullptr;
    if (m.at < 0) return void(of<TensorState>(type) = {});
    *place = const_cast<char*>(static_cast<const char*>(weights)) +
             size_t(m.at) * size;
    of<TensorState>(type) = {
        n.type, {1, m.rows, m.columns}, {m.rows * m.columns, m.columns, 1}};
  };
  tell(false, matrix, matrix_at);
  tell(true, bias, bias_at);
  return kSuccess;
}
int cudnnGetRNNTempSpaceSizes(Handle, Descriptor rnn, int mode, Descriptor x,
                              size_t* workspace, size_t* reserve) {
  const auto& r = of<RnnState>(rnn);
  const auto& s = of<SequenceState>(x);
  if (!r.set || !s.set || s.type != r.network.type ||
      s.width != r.network.input)
    return kBadParam;
  *workspace = kWorkspace;
  *reserve = mode == kTraining ? reserve_bytes(r.network, s.sequences) : 0;
  return kSuccess;
}

int cudnnRNNForward(Handle handle, Descriptor rnn, int mode,
                    const int32_t* lengths, Descriptor x_type, const void* x,
                    Descriptor y_type, void* y, Descriptor h_type,
                    const void* h0, void* hn, Descriptor c_type, const void* c0,
                    void* cn, size_t weight_bytes, const void* weights,
                    size_t workspace_bytes, void* workspace,
                    size_t reserve_room, void* reserve) {
  Pass p;
  const int refused = begin(p, rnn, lengths, x_type, y_type, h_type,
                            weight_bytes, weights, workspace_bytes, workspace);
  if (refused) return refused;
  const bool training = mode == kTraining;
  if (!x || !y || !fits_cells(p, c_type) ||
      (training && !fits_reserve(p, reserve_room, reserve)))
    return kBadParam;
  return enqueue_on(handle->stream,
                    [=] {
                      const int type = p.n.type;
                      const RnnValues v{
                          numbers_at(x, p.x_count, type),
                          numbers_at(h0, p.h_count, type),
                          numbers_at(c0, p.c_count, type),
                          numbers_at(weights, p.weight_count, type)};
                      spoil(workspace, workspace_bytes);
                      RnnTape tape(p.n, p.s);
                      put(rnn_forward(p.n, p.s, v, tape), y, type);
                      put(rnn_last(p.n, p.s, tape, 0), hn, type);
                      if (p.n.lstm())
                        put(rnn_last(p.n, p.s, tape, 1), cn, type);
                      if (training)
                        keep(tape, kForwardDone, reserve, reserve_room);
                    })
             ? kSuccess
             : kExecutionFailed;
}

int cudnnRNNBackwardData_v8(Handle handle, Descriptor rnn,
                            const int32_t* lengths, Descriptor y_type,
                            const void* y, const void* dy, Descriptor x_type,
                            void* dx, Descriptor h_type, const void* h0,
                            const void* dhn, void* dh0, Descriptor c_type,
                            const void* c0, const void* dcn, void* dc0,
                            size_t weight_bytes, const void* weights,
                            size_t workspace_bytes, void* workspace,
                            size_t reserve_room, void* reserve) {
  Pass p;
  const int refused = begin(p, rnn, lengths, x_type, y_type, h_type,
                            weight_bytes, weights, workspace_bytes, workspace);
  if (refused) return refused;
  if (!y || !dy || !dx || !fits_cells(p, c_type) ||
      !fits_reserve(p, reserve_room, reserve))
    return kBadParam;
  return enqueue_on(handle->stream,
                    [=] {
                      const int type = p.n.type;
                      const RnnValues v{
                          std::vector<double>(p.x_count),
                          numbers_at(h0, p.h_count, type),
                          numbers_at(c0, p.c_count, type),
                          numbers_at(weights, p.weight_count, type)};
                      RnnGradients g{numbers_at(dy, p.y_count, type),
                                     numbers_at(dhn, p.h_count, type),
                                     numbers_at(dcn, p.c_count, type),
                                     {},
                                     {},
                                     {}};
                      spoil(workspace, workspace_bytes);
                      RnnTape tape =
                          kept(p.n, p.s, kForwardDone, reserve, reserve_room);
                      rnn_backward(p.n, p.s, v, tape, g);
                      put(g.dx, dx, type), put(g.dh0, dh0, type);
                      put(g.dc0, dc0, type);
                      keep(tape, kDataDone, reserve, reserve_room);
                    })
             ? kSuccess
             : kExecutionFailed;
}

int cudnnRNNBackwardWeights_v8(Handle handle, Descriptor rnn, int gradient,
                               const int32_t* lengths, Descriptor x_type,
                               const void* x, Descriptor h_type, const void* h0,
                               Descriptor y_type, const void* y,
                               size_t weight_bytes, void* dweights,
                               size_t workspace_bytes, void* workspace,
                               size_t reserve_room, void* reserve) {
  Pass p;
  const int refused = begin(p, rnn, lengths, x_type, y_type, h_type,
                            weight_bytes, dweights, workspace_bytes, workspace);
  if (refused) return refused;
  if (gradient != kAdd) return kNotSupported;
  if (!x || !y || !fits_reserve(p, reserve_room, reserve)) return kBadParam;
  return enqueue_on(handle->stream,
                    [=] {
                      const int type = p.n.type;
                      const RnnValues v{numbers_at(x, p.x_count, type),
                                        numbers_at(h0, p.h_count, type),
                                        {},
                                        {}};
                      std::vector<double> sums =
                          numbers_at(dweights, p.weight_count, type);
                      spoil(workspace, workspace_bytes);
                      const RnnTape tape =
                          kept(p.n, p.s, kDataDone, reserve, reserve_room);
                      rnn_weight_sums(p.n, p.s, v, tape, sums);
                      put(sums, dweights, type);
                    })
             ? kSuccess
             : kExecutionFailed;
}
