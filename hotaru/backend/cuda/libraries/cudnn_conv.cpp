#include "hotaru/backend/cuda/libraries/cudnn_conv.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "hotaru/backend/cuda/graph/recorder.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/libraries/cudnn_graph.h"
#include "hotaru/core/memory_format.h"
#include "hotaru/runtime/determinism.h"
#include "hotaru/runtime/library_settings.h"
#include "hotaru/runtime/threads/blocking.h"

namespace hotaru::cuda {
namespace {

using dnn::Owned;

// Kernels that the library names, and what they may use: as much as PyTorch
// lets them.
constexpr int64_t kMostKernels = 16;
constexpr int64_t kMostWorkspace = int64_t{1} << 30;
// Plans kept for a device; a program of more kinds plans again.
constexpr size_t kMostPlans = 2048;
// Ids of operands in the library's graphs.
constexpr std::array<int64_t, 3> kIds = {'x', 'w', 'y'};

/// Everything by which the library chooses a kernel, as numbers: kind, dtype,
/// permissions, order, groups, dimensions, sizes, windows, alignments.
using Key = std::vector<int64_t>;

/// One convolution: operands in the order x, w, y.
struct Problem {
  ConvKind kind;
  DType dtype;
  bool tf32, deterministic, benchmark;
  bool channels_last;
  int64_t groups;
  std::array<Dims, 3> sizes;
  Dims stride, padding, dilation;
  std::array<int64_t, 3> alignment;

  Key key() const {
    Key out{int64_t(kind), int64_t(dtype), tf32,   deterministic,
            benchmark,     channels_last,  groups, int64_t(stride.size())};
    const auto add = [&](IntSpan values) {
      out.insert(out.end(), values.begin(), values.end());
    };
    for (const Dims& s : sizes) add(s);
    add(stride), add(padding), add(dilation);
    add(alignment);
    return out;
  }
};

dnn::DataType type_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return dnn::kDouble;
    case DType::kFloat16:
      return dnn::kHalf;
    case DType::kBFloat16:
      return dnn::kBFloat16;
    default:
      return dnn::kFloat;
  }
}

Owned tensor_of(const Problem& p, size_t i) {
  Owned out(dnn::kTensor);
  const Dims& sizes = p.sizes[i];
  const MemoryFormat last = sizes.size() == 4 ? MemoryFormat::kChannelsLast
                                              : MemoryFormat::kChannelsLast3d;
  const Dims strides =
      format_strides(sizes, p.channels_last ? last : MemoryFormat::kContiguous);
  out.set(dnn::kTensorType, dnn::kDataTypeValue, type_of(p.dtype));
  out.set(dnn::kTensorSizes, IntSpan(sizes));
  out.set(dnn::kTensorStrides, IntSpan(strides));
  out.set(dnn::kTensorId, kIds[i]);
  out.set(dnn::kTensorAlignment, p.alignment[i]);
  out.finish("a tensor's descriptor");
  return out;
}

Owned window_of(const Problem& p) {
  Owned out(dnn::kConvolution);
  const bool wide = p.dtype == DType::kFloat64;
  out.set(dnn::kConvType, dnn::kDataTypeValue,
          wide ? dnn::kDouble : dnn::kFloat);
  out.set(dnn::kConvMode, dnn::kConvModeValue, dnn::kCorrelation);
  out.set(dnn::kConvDims, int64_t(p.stride.size()));
  out.set(dnn::kConvDilations, IntSpan(p.dilation));
  out.set(dnn::kConvStrides, IntSpan(p.stride));
  out.set(dnn::kConvPrePaddings, IntSpan(p.padding));
  out.set(dnn::kConvPostPaddings, IntSpan(p.padding));
  out.finish("a convolution's descriptor");
  return out;
}

/// The operation; what it is made of has to live as long.
Owned operation_of(const Problem& p, const Owned& window,
                   const std::array<Owned, 3>& tensors) {
  const auto [type, first] =
      p.kind == ConvKind::kForward
          ? std::pair(dnn::kForward, dnn::kForwardFirst)
      : p.kind == ConvKind::kData
          ? std::pair(dnn::kBackwardData, dnn::kBackwardDataFirst)
          : std::pair(dnn::kBackwardFilter, dnn::kBackwardFilterFirst);
  const auto nth = [first = first](int i) { return dnn::Attribute(first + i); };
  Owned out(type);
  if (p.dtype == DType::kFloat64) {
    const double one = 1, zero = 0;
    out.set(nth(0), dnn::kDoubleValue, 1, &one);
    out.set(nth(1), dnn::kDoubleValue, 1, &zero);
  } else {
    const float one = 1, zero = 0;
    out.set(nth(0), dnn::kFloatValue, 1, &one);
    out.set(nth(1), dnn::kFloatValue, 1, &zero);
  }
  out.set(nth(2), window);
  out.set(nth(3), tensors[1]);
  out.set(nth(4), tensors[0]);
  out.set(nth(5), tensors[2]);
  out.finish("a convolution");
  return out;
}

/// Tells whether a kernel may be taken: what a program forbids is no choice.
bool permitted(const Problem& p, const Owned& config) {
  Owned engine(dnn::kEngine);
  dnn::Descriptor handle = engine.get();
  config.get(dnn::kConfigEngine, dnn::kDescriptorValue, 1, &handle);
  std::array<int, dnn::kMostNotes> notes{};
  const int64_t count = engine.get(dnn::kEngineNotes, dnn::kNoteValue,
                                   dnn::kMostNotes, notes.data());
  const bool exact = p.dtype == DType::kFloat32 && !p.tf32;
  return std::none_of(
      notes.begin(), notes.begin() + std::min<int64_t>(count, notes.size()),
      [&](int note) {
        return (p.deterministic && note == dnn::kNondeterministic) ||
               (exact &&
                (note == dnn::kTensorCore || note == dnn::kDownConverts));
      });
}

/// A kernel of the library that is ready to run, and what it is of.
struct Kernel {
  Owned config, plan;
  int64_t workspace = 0;
};

/// How a kind of convolution is computed; by no kernel if the library has none.
class Plan {
 public:
  Plan(dnn::Handle handle, const Problem& p) : most_(p.benchmark ? 8 : 1) {
    for (size_t i = 0; i < 3; ++i) tensors_[i] = tensor_of(p, i);
    window_ = window_of(p);
    operation_ = operation_of(p, window_, tensors_);
    graph_ = Owned(dnn::kGraph);
    graph_.set(dnn::kGraphHandle, handle);
    graph_.set(dnn::kGraphOperations, operation_);
    if (!graph_.finalize()) return;
    for (const dnn::HeurMode mode : {dnn::kModeA, dnn::kModeFallback})
      if (kernels_.empty()) collect(handle, p, mode);
  }
  bool serves() const { return !kernels_.empty(); }

  void run(const dnn::Cudnn& dnn, dnn::Context& context,
           std::array<void*, 3> pointers) {
    const auto lock = blocking_lock(context.mutex);
    dnn::check_dnn(
        dnn.set_stream(context.handle, launching_timeline().handle()),
        "cudnnSetStream");
    const auto execute = [&](const Kernel& kernel) {
      const Workspace room{size_t(kernel.workspace)};
      const Owned pack =
          pack_of(pointers, kernel.workspace ? room.data() : nullptr);
      dnn::check_dnn(dnn.execute(context.handle, kernel.plan.get(), pack.get()),
                     "cudnnBackendExecute");
    };
    if (kernels_.size() > 1) keep_fastest(execute);
    execute(kernels_.front());
  }

 private:
  static Owned pack_of(const std::array<void*, 3>& pointers, void* workspace) {
    Owned pack(dnn::kPack);
    pack.set(dnn::kPackPointers, dnn::kPointerValue, 3, pointers.data());
    pack.set(dnn::kPackIds, IntSpan(kIds));
    pack.set(dnn::kPackWorkspace, dnn::kPointerValue, 1, &workspace);
    pack.finish("a pack of operands");
    return pack;
  }
  /// Takes the first kernels of the library's list that can be made ready.
  void collect(dnn::Handle handle, const Problem& p, dnn::HeurMode mode) {
    Owned heuristics(dnn::kHeuristics);
    heuristics.set(dnn::kHeurGraph, graph_);
    heuristics.set(dnn::kHeurMode, dnn::kHeurModeValue, mode);
    if (!heuristics.finalize()) return;
    std::vector<Owned> configs;
    std::vector<dnn::Descriptor> handles;
    for (int64_t i = 0; i < kMostKernels; ++i) {
      configs.emplace_back(dnn::kEngineConfig);
      handles.push_back(configs.back().get());
    }
    const int64_t found = heuristics.get(
        dnn::kHeurResults, dnn::kDescriptorValue, kMostKernels, handles.data());
    for (int64_t i = 0; i < std::min(found, kMostKernels); ++i)
      if (kernels_.size() < most_ && permitted(p, configs[size_t(i)]))
        make_ready(handle, std::move(configs[size_t(i)]));
  }
  void make_ready(dnn::Handle handle, Owned config) {
    Owned plan(dnn::kPlan);
    plan.set(dnn::kPlanHandle, handle);
    plan.set(dnn::kPlanConfig, config);
    if (!plan.finalize()) return;
    int64_t bytes = 0;
    plan.get(dnn::kPlanWorkspace, dnn::kInt64Value, 1, &bytes);
    if (bytes <= kMostWorkspace)
      kernels_.push_back({std::move(config), std::move(plan), bytes});
  }
  /// Runs each a few times on the stream, all to the same effect.
  template <class F>
  void keep_fastest(const F& execute) {
    const StreamTimeline& timeline = launching_timeline();
    const DeviceEvent begin(timeline.device(), true),
        end(timeline.device(), true);
    size_t best = 0;
    float least = std::numeric_limits<float>::infinity();
    for (size_t i = 0; i < kernels_.size(); ++i) {
      execute(kernels_[i]);  // what it loads is not counted
      HOTARU_CUDA(cuEventRecord, begin.handle(), timeline.handle());
      for (int n = 0; n < 2; ++n) execute(kernels_[i]);
      HOTARU_CUDA(cuEventRecord, end.handle(), timeline.handle());
      end.wait();
      float milliseconds = 0;
      HOTARU_CUDA(cuEventElapsedTime, &milliseconds, begin.handle(),
                  end.handle());
      if (milliseconds < least) least = milliseconds, best = i;
    }
    std::swap(kernels_[0], kernels_[best]);
    kernels_.resize(1);
  }

  const size_t most_;
  std::array<Owned, 3> tensors_;
  Owned window_, operation_, graph_;
  std::vector<Kernel> kernels_;
};

/// Plans of the launching stream's device.
std::shared_ptr<Plan> plan_of(dnn::Context& context, const Problem& p) {
  struct Plans {
    std::mutex mutex;
    std::map<Key, std::shared_ptr<Plan>> by_key;
  };
  static auto* const all = new std::array<Plans, kMostDevices>;
  Plans& plans = (*all)[size_t(launching_timeline().device())];
  Key key = p.key();
  const auto lock = blocking_lock(plans.mutex);
  if (const auto at = plans.by_key.find(key); at != plans.by_key.end())
    return at->second;
  if (plans.by_key.size() >= kMostPlans) plans.by_key.clear();
  return plans.by_key
      .emplace(std::move(key), std::make_shared<Plan>(context.handle, p))
      .first->second;
}

/// The library's tensors have two spatial dimensions or three: what has one,
/// behind `lead` others, gets another before it.
Dims with_height(IntSpan sizes, size_t lead, int64_t value) {
  Dims out;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (i == lead && sizes.size() == lead + 1) out.push_back(value);
    out.push_back(sizes[i]);
  }
  return out;
}

/// At most 16, the bytes of a load: a graph's memory may lie better than what
/// eager code has, and is to get the same kernel.
int64_t alignment_of(const void* address) {
  constexpr uintptr_t kMost = 16;
  return int64_t(std::min(kMost, uintptr_t{1} << std::countr_zero(
                                     std::bit_cast<uintptr_t>(address))));
}

/// Tells whether y is as large as a convolution of x makes it. That of which
/// another is the transpose with an output padding up to its dilation is
/// smaller, which the library finds out when it runs.
bool is_whole(const Problem& p) {
  const auto& [x, w, y] = p.sizes;
  for (size_t d = 0; d < p.stride.size(); ++d) {
    const int64_t room =
        x[d + 2] + 2 * p.padding[d] - p.dilation[d] * (w[d + 2] - 1) - 1;
    if (room < 0 || room / p.stride[d] + 1 != y[d + 2]) return false;
  }
  return true;
}

}  // namespace

bool convolve_by_cudnn(ConvKind kind, const Tensor& x, const Tensor& w,
                       const Tensor& y, const ConvAttributes& attributes) {
  const CudnnSettings settings = cudnn_settings();
  if (!settings.enabled || !is_floating_point(x.dtype()) || x.numel() == 0 ||
      w.numel() == 0 || y.numel() == 0)
    return false;
  const dnn::Cudnn* library = usable<dnn::Cudnn>();
  if (!library) return false;
  std::array<void*, 3> pointers;
  Problem p{kind,
            x.dtype(),
            allows_tf32(Tf32::kConv),
            settings.deterministic || determinism().required,
            // Kernels that are recorded can't be timed.
            settings.benchmark && !launching_timeline().recorder(),
            !(x.is_contiguous() && w.is_contiguous() && y.is_contiguous()),
            attributes.groups,
            {},
            with_height(attributes.stride, 0, 1),
            with_height(attributes.padding, 0, 0),
            with_height(attributes.dilation, 0, 1),
            {}};
  const Tensor* const operands[] = {&x, &w, &y};
  for (size_t i = 0; i < 3; ++i) {
    p.sizes[i] = with_height(operands[i]->sizes(), 2, 1);
    pointers[i] = device_address(*operands[i]);
    p.alignment[i] = alignment_of(pointers[i]);
  }
  if (!is_whole(p)) return false;
  dnn::Context& context = dnn::context_here(*library);
  const std::shared_ptr<Plan> plan = plan_of(context, p);
  if (!plan->serves()) return false;
  keep_for_recording(plan);
  plan->run(*library, context, pointers);
  return true;
}

DeviceLibrary cudnn_report() {
  return report_of<dnn::Cudnn>();
}

}  // namespace hotaru::cuda
