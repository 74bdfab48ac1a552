// A stand-in for cuDNN's graph interface, for single convolutions. Of the
// kernels that it names the first rounds, the second is not deterministic, the
// third can't be made ready, the fourth serves; double has the last two only.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <vector>

#include "hotaru/backend/soft_gpu/libraries/cudnn_context.h"
#include "hotaru/backend/soft_gpu/libraries/queue.h"

#define HOTARU_DECLARE(name, symbol, params) \
  __attribute__((visibility("default"))) int symbol params;
extern "C" {
HOTARU_CUDNN_ENTRIES(HOTARU_DECLARE)
__attribute__((visibility("default"))) size_t cudnnGetVersion();
}
#undef HOTARU_DECLARE

using namespace hotaru::cuda::dnn;
using namespace hotaru::soft_gpu;

namespace {

constexpr int64_t kWorkspace = 1 << 12;
constexpr int kKernels = 4;

size_t bytes_of(int type) {
  switch (type) {
    case kDataTypeValue:
    case kFloatValue:
    case kConvModeValue:
    case kHeurModeValue:
    case kNoteValue:
      return 4;
    default:
      return 8;
  }
}

struct Value {
  int type = 0;
  std::vector<char> bytes;

  template <class T>
  std::vector<T> as() const {
    std::vector<T> out(bytes.size() / sizeof(T));
    std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
    return out;
  }
};

struct Object {
  int type;
  bool final = false;
  int kernel = -1;  // of a configuration or an engine
  std::map<int, Value> values{};

  template <class T>
  std::vector<T> list(int attribute) const {
    const auto at = values.find(attribute);
    return at == values.end() ? std::vector<T>() : at->second.as<T>();
  }
  template <class T>
  T one(int attribute, T otherwise = {}) const {
    const auto all = list<T>(attribute);
    return all.empty() ? otherwise : all[0];
  }
  const Object* object(int attribute) const {
    return static_cast<const Object*>(one<void*>(attribute));
  }
};

/// x, w and y with their places in memory, and the window.
struct Convolution {
  struct Tensor {
    std::vector<int64_t> sizes, strides;
    int64_t id = 0, alignment = 1;
    int type = 0;
    void* data = nullptr;

    explicit Tensor(const Object* o)
        : sizes(o->list<int64_t>(kTensorSizes)),
          strides(o->list<int64_t>(kTensorStrides)),
          id(o->one<int64_t>(kTensorId)),
          alignment(o->one<int64_t>(kTensorAlignment)),
          type(o->one<int>(kTensorType)) {}
  };

  explicit Convolution(const Object* operation)
      : kind(operation->type),
        first(kind == kForward        ? kForwardFirst
              : kind == kBackwardData ? kBackwardDataFirst
                                      : kBackwardFilterFirst),
        x(operation->object(first + 4)),
        w(operation->object(first + 3)),
        y(operation->object(first + 5)) {
    const Object* window = operation->object(first + 2);
    strides = window->list<int64_t>(kConvStrides);
    paddings = window->list<int64_t>(kConvPrePaddings);
    dilations = window->list<int64_t>(kConvDilations);
    dims = size_t(window->one<int64_t>(kConvDims));
    alpha = scalar(operation, first);
    beta = scalar(operation, first + 1);
  }
  static double scalar(const Object* operation, int attribute) {
    const auto& value = operation->values.at(attribute);
    return value.type == kDoubleValue ? value.as<double>()[0]
                                      : value.as<float>()[0];
  }
  /// True if sizes fit, as the real one would insist.
  bool fits() const {
    if (dims < 2 || dims > 3 || x.sizes.size() != dims + 2 ||
        w.sizes.size() != dims + 2 || y.sizes.size() != dims + 2 ||
        strides.size() != dims || paddings.size() != dims ||
        dilations.size() != dims || alpha != 1 || beta != 0)
      return false;
    const int64_t groups = x.sizes[1] / w.sizes[1];
    if (x.sizes[0] != y.sizes[0] || groups * w.sizes[1] != x.sizes[1] ||
        y.sizes[1] != w.sizes[0] || w.sizes[0] % groups != 0)
      return false;
    for (size_t d = 0; d < dims; ++d) {
      const int64_t room = x.sizes[d + 2] + 2 * paddings[d] -
                           dilations[d] * (w.sizes[d + 2] - 1) - 1;
      if (room / strides[d] + 1 != y.sizes[d + 2]) return false;
    }
    return x.type == w.type && w.type == y.type;
  }
  /// True if all operands have their channels last. With dilations this one has
  /// no kernel for them.
  bool is_last() const {
    const auto last = [](const Tensor& t) {
      return t.strides[1] == 1 && t.strides[3] != 1;
    };
    return last(x) && last(w) && last(y);
  }
  bool is_served() const {
    return fits() &&
           (!is_last() || std::all_of(dilations.begin(), dilations.end(),
                                      [](int64_t d) { return d == 1; }));
  }

  /// f(offsets of x, w and y) for every product.
  template <class F>
  void for_products(const F& f) const {
    const int64_t groups = x.sizes[1] / w.sizes[1];
    const int64_t each = w.sizes[0] / groups;
    int64_t positions = 1, taps = 1;
    for (size_t d = 0; d < dims; ++d)
      positions *= y.sizes[d + 2], taps *= w.sizes[d + 2];
    for (int64_t n = 0; n < y.sizes[0]; ++n)
      for (int64_t o = 0; o < y.sizes[1]; ++o)
        for (int64_t p = 0; p < positions; ++p)
          for (int64_t c = 0; c < w.sizes[1]; ++c)
            for (int64_t t = 0; t < taps; ++t) {
              int64_t ix =
                  n * x.strides[0] + (o / each * w.sizes[1] + c) * x.strides[1];
              int64_t iw = o * w.strides[0] + c * w.strides[1];
              int64_t iy = n * y.strides[0] + o * y.strides[1];
              bool inside = true;
              int64_t rest = p, tap = t;
              for (size_t d = dims; d-- > 0;) {
                const int64_t at = rest % y.sizes[d + 2];
                const int64_t k = tap % w.sizes[d + 2];
                rest /= y.sizes[d + 2], tap /= w.sizes[d + 2];
                const int64_t i =
                    at * strides[d] - paddings[d] + k * dilations[d];
                inside &= i >= 0 && i < x.sizes[d + 2];
                ix += i * x.strides[d + 2];
                iw += k * w.strides[d + 2];
                iy += at * y.strides[d + 2];
              }
              if (inside) f(ix, iw, iy);
            }
  }

  template <class T>
  void run() const {
    const Tensor& out = kind == kForward ? y : kind == kBackwardData ? x : w;
    size_t numel = 1;
    for (const int64_t size : out.sizes) numel *= size_t(size);
    std::vector<double> sums(numel, 0);  // ours are row-major
    const auto at = [](const Tensor& t, int64_t i) {
      return number_of(static_cast<const T*>(t.data)[i]).real();
    };
    for_products([&](int64_t ix, int64_t iw, int64_t iy) {
      if (kind == kForward)
        sums[size_t(iy)] += at(x, ix) * at(w, iw);
      else if (kind == kBackwardData)
        sums[size_t(ix)] += at(y, iy) * at(w, iw);
      else
        sums[size_t(iw)] += at(y, iy) * at(x, ix);
    });
    for (size_t i = 0; i < numel; ++i)
      static_cast<T*>(out.data)[i] = element_of<T>(sums[i]);
  }
  void run() const {
    switch (x.type) {
      case kDouble:
        return run<double>();
      case kHalf:
        return run<hotaru::Half>();
      case kBFloat16:
        return run<hotaru::BFloat16>();
      default:
        return run<float>();
    }
  }

  int kind, first;
  Tensor x, w, y;
  std::vector<int64_t> strides, paddings, dilations;
  size_t dims = 0;
  double alpha = 0, beta = 0;
};

const Object* graph_of(const Object* plan) {
  const Object* config = plan->object(kPlanConfig);
  return config ? config->object(kHeurGraph) : nullptr;
}

/// Configurations in the caller's hands become those of the list's kernels.
int64_t fill_results(const Object& heuristics, int64_t wanted, void* values) {
  const Object* graph = heuristics.object(kHeurGraph);
  const Convolution c(graph->object(kGraphOperations));
  const int first = c.x.type == kDouble ? 2 : 0;
  if (heuristics.one<int>(kHeurMode) != kModeA) return 0;
  auto* const configs = static_cast<Object**>(values);
  int64_t count = 0;
  for (int kernel = first; kernel < kKernels; ++kernel, ++count) {
    if (count >= wanted) continue;
    Object& config = *configs[count];
    config.final = true;
    config.kernel = kernel;
    config.values[kHeurGraph] = heuristics.values.at(kHeurGraph);
  }
  return count;
}

bool is_ready(Object& object) {
  switch (object.type) {
    case kTensor:
      return !object.list<int64_t>(kTensorSizes).empty() &&
             object.list<int64_t>(kTensorSizes).size() ==
                 object.list<int64_t>(kTensorStrides).size();
    case kGraph:
      return object.object(kGraphOperations) &&
             object.object(kGraphOperations)->final &&
             Convolution(object.object(kGraphOperations)).is_served();
    case kPlan:
      return object.object(kPlanConfig) && object.object(kPlanConfig)->final &&
             object.object(kPlanConfig)->kernel != 2;
    default:
      return true;
  }
}

}  // namespace

/// How many convolutions had operands whose channels come last.
extern "C" __attribute__((visibility("default"))) long
hotaru_softgpu_convolutions_last();
static std::atomic<long> convolutions_last{0};
long hotaru_softgpu_convolutions_last() {
  return convolutions_last;
}

size_t cudnnGetVersion() {
  return 91900;
}
int cudnnCreate(Handle* handle) {
  *handle = new Context;
  return kSuccess;
}
int cudnnSetStream(Handle handle, hotaru::cuda::CUstream stream) {
  handle->stream = stream;
  return kSuccess;
}
int cudnnBackendCreateDescriptor(int type, Descriptor* descriptor) {
  *descriptor = new Object{type};
  return kSuccess;
}
int cudnnBackendDestroyDescriptor(Descriptor descriptor) {
  delete static_cast<Object*>(descriptor);
  return kSuccess;
}
int cudnnBackendFinalize(Descriptor descriptor) {
  auto& object = *static_cast<Object*>(descriptor);
  if (object.final || !is_ready(object)) return kNotSupported;
  object.final = true;
  return kSuccess;
}
int cudnnBackendSetAttribute(Descriptor descriptor, int attribute, int type,
                             int64_t count, const void* values) {
  auto& object = *static_cast<Object*>(descriptor);
  if (object.final || count < 1) return kBadParam;
  const auto* from = static_cast<const char*>(values);
  object.values[attribute] = {
      type, std::vector<char>(from, from + size_t(count) * bytes_of(type))};
  return kSuccess;
}
int cudnnBackendGetAttribute(Descriptor descriptor, int attribute, int type,
                             int64_t wanted, int64_t* count, void* values) {
  auto& object = *static_cast<Object*>(descriptor);
  if (!object.final && object.type != kEngine) return kBadParam;
  if (attribute == kHeurResults && type == kDescriptorValue) {
    *count = fill_results(object, wanted, values);
  } else if (attribute == kConfigEngine && type == kDescriptorValue) {
    static_cast<Object**>(values)[0]->kernel = object.kernel;
    *count = 1;
  } else if (attribute == kEngineNotes && type == kNoteValue) {
    constexpr int kNotes[kKernels] = {kTensorCore, kNondeterministic, 9, 9};
    *static_cast<int*>(values) = kNotes[object.kernel];
    *count = 1;
  } else if (attribute == kPlanWorkspace && type == kInt64Value) {
    *static_cast<int64_t*>(values) = kWorkspace;
    *count = 1;
  } else {
    return kBadParam;
  }
  return kSuccess;
}
int cudnnBackendExecute(Handle handle, Descriptor plan, Descriptor pack) {
  const auto& object = *static_cast<const Object*>(plan);
  const auto& operands = *static_cast<const Object*>(pack);
  if (!object.final || !operands.final) return kBadParam;
  Convolution c(graph_of(&object)->object(kGraphOperations));
  const auto ids = operands.list<int64_t>(kPackIds);
  const auto pointers = operands.list<void*>(kPackPointers);
  for (Convolution::Tensor* t : {&c.x, &c.w, &c.y})
    for (size_t i = 0; i < ids.size(); ++i)
      if (ids[i] == t->id) t->data = pointers[i];
  for (const Convolution::Tensor* t : {&c.x, &c.w, &c.y})
    if (!t->data || uint64_t(t->data) % uint64_t(t->alignment))
      return kBadParam;
  void* const room = operands.one<void*>(kPackWorkspace);
  if (!room) return kBadParam;
  convolutions_last += c.is_last();
  return enqueue_on(handle->stream,
                    [c, room] {
                      spoil(room, kWorkspace);
                      c.run();
                    })
             ? kSuccess
             : kExecutionFailed;
}
