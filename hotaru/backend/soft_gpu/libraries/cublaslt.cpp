// A stand-in for cuBLASLt.
#include <cmath>
#include <cstring>
#include <map>
#include <vector>

#include "hotaru/backend/cuda/libraries/cublaslt_entries.h"
#include "hotaru/backend/soft_gpu/libraries/queue.h"

namespace hotaru::cuda::lt {

struct Context {};
struct DescOpaque {
  int compute, scale;
  int transposed[2] = {0, 0};
  int epilogue = kNothing;
  const void* bias = nullptr;
};
struct LayoutOpaque {
  int type;
  int64_t rows, columns, ld;
  int64_t batch = 1, stride = 0;
};
struct PreferenceOpaque {
  uint64_t workspace = 0;
  uint32_t alignment[4] = {256, 256, 256, 256};
};

}  // namespace hotaru::cuda::lt

#define HOTARU_DECLARE(name, symbol, params) \
  __attribute__((visibility("default"))) int symbol params;
extern "C" {
HOTARU_CUBLASLT_ENTRIES(HOTARU_DECLARE)
__attribute__((visibility("default"))) size_t cublasLtGetVersion();
}
#undef HOTARU_DECLARE

using namespace hotaru::cuda::lt;
using namespace hotaru::soft_gpu;

namespace {

constexpr int kInvalidValue = 7, kExecutionFailed = 13;
constexpr size_t kWorkspace = 1 << 12;

template <class T>
bool read_into(T& to, const void* value, size_t bytes) {
  if (bytes != sizeof(to)) return false;
  std::memcpy(&to, value, sizeof(to));
  return true;
}

struct Product {
  DescOpaque desc;
  LayoutOpaque a, b, c, d;
  const void *pa = nullptr, *pb = nullptr, *pc = nullptr;
  void* pd = nullptr;
  Number alpha{}, beta{};

  /// True if sizes fit, as the real one would insist.
  bool fits() const {
    const auto rows = [](const LayoutOpaque& x, int t) {
      return t ? x.columns : x.rows;
    };
    const auto columns = [](const LayoutOpaque& x, int t) {
      return t ? x.rows : x.columns;
    };
    const int ta = desc.transposed[0], tb = desc.transposed[1];
    const auto sound = [&](const LayoutOpaque& x) {
      return x.ld >= x.rows && x.batch == d.batch;
    };
    const bool widens =
        (a.type == kR16F || a.type == kR16BF) && d.type == kR32F;
    return sound(a) && sound(b) && sound(c) && sound(d) && a.type == b.type &&
           c.type == d.type && (a.type == d.type || widens) &&
           rows(a, ta) == d.rows && columns(b, tb) == d.columns &&
           columns(a, ta) == rows(b, tb) && c.rows == d.rows &&
           c.columns == d.columns && (d.batch == 1 || d.stride != 0);
  }

  template <class T, class Out = T>
  void run() const {
    const int64_t depth = desc.transposed[0] ? a.rows : a.columns;
    const auto at = [](const LayoutOpaque& x, int transposed, int64_t i,
                       int64_t j, int64_t batch) {
      return (transposed ? j + i * x.ld : i + j * x.ld) + batch * x.stride;
    };
    for (int64_t n = 0; n < d.batch; ++n)
      for (int64_t j = 0; j < d.columns; ++j)
        for (int64_t i = 0; i < d.rows; ++i) {
          Number sum = 0;
          for (int64_t k = 0; k < depth; ++k)
            sum += number_of(static_cast<const T*>(
                       pa)[at(a, desc.transposed[0], i, k, n)]) *
                   number_of(static_cast<const T*>(
                       pb)[at(b, desc.transposed[1], k, j, n)]);
          sum *= alpha;
          if (beta != Number(0))
            sum += beta *
                   number_of(static_cast<const Out*>(pc)[at(c, 0, i, j, n)]);
          if (desc.epilogue & kBias)
            sum += number_of(static_cast<const Out*>(desc.bias)[i]);
          static_cast<Out*>(pd)[at(d, 0, i, j, n)] =
              element_of<Out>(activated(sum));
        }
  }

  Number activated(Number x) const {
    const double v = x.real();
    if (desc.epilogue & kRelu) return v < 0 ? 0 : v;
    if (desc.epilogue & kGelu)
      return 0.5 * v *
             (1 + std::tanh(0.7978845608028654 * (v + 0.044715 * v * v * v)));
    return x;
  }

  void run() const {
    if (a.type == kR16F && d.type == kR32F) return run<hotaru::Half, float>();
    if (a.type == kR16BF && d.type == kR32F)
      return run<hotaru::BFloat16, float>();
    switch (d.type) {
      case kR32F:
        return run<float>();
      case kR64F:
        return run<double>();
      case kR16F:
        return run<hotaru::Half>();
      case kR16BF:
        return run<hotaru::BFloat16>();
      case kC32F:
        return run<std::complex<float>>();
      default:
        return run<std::complex<double>>();
    }
  }
};

Number scale_of(int type, const void* p) {
  switch (type) {
    case kR64F:
      return *static_cast<const double*>(p);
    case kC32F:
      return number_of(*static_cast<const std::complex<float>*>(p));
    case kC64F:
      return *static_cast<const std::complex<double>*>(p);
    default:
      return double(*static_cast<const float*>(p));
  }
}

}  // namespace

long hotaru::soft_gpu::hotaru_softgpu_library_calls() {
  return library_calls;
}

size_t cublasLtGetVersion() {
  return 130002;
}
int cublasLtCreate(Handle* handle) {
  static Context context;
  *handle = &context;
  return kSuccess;
}
int cublasLtMatmulDescCreate(Desc* desc, int compute, int scale) {
  *desc = new DescOpaque{compute, scale};
  return kSuccess;
}
int cublasLtMatmulDescDestroy(Desc desc) {
  delete desc;
  return kSuccess;
}
int cublasLtMatmulDescSetAttribute(Desc desc, int attribute, const void* value,
                                   size_t bytes) {
  const auto set = [&](auto& to) {
    return read_into(to, value, bytes) ? kSuccess : kInvalidValue;
  };
  switch (attribute) {
    case kTransA:
      return set(desc->transposed[0]);
    case kTransB:
      return set(desc->transposed[1]);
    case kEpilogue:
      return set(desc->epilogue);
    case kBiasPointer:
      return set(desc->bias);
  }
  return kInvalidValue;
}
int cublasLtMatrixLayoutCreate(Layout* layout, int type, uint64_t rows,
                               uint64_t columns, int64_t ld) {
  *layout = new LayoutOpaque{type, int64_t(rows), int64_t(columns), ld};
  return kSuccess;
}
int cublasLtMatrixLayoutDestroy(Layout layout) {
  delete layout;
  return kSuccess;
}
int cublasLtMatrixLayoutSetAttribute(Layout layout, int attribute,
                                     const void* value, size_t bytes) {
  int32_t batch = 0;
  if (attribute == kBatchCount && read_into(batch, value, bytes)) {
    layout->batch = batch;
    return kSuccess;
  }
  return attribute == kBatchStride && read_into(layout->stride, value, bytes)
             ? kSuccess
             : kInvalidValue;
}
int cublasLtMatmulPreferenceCreate(Preference* preference) {
  *preference = new PreferenceOpaque;
  return kSuccess;
}
int cublasLtMatmulPreferenceDestroy(Preference preference) {
  delete preference;
  return kSuccess;
}
int cublasLtMatmulPreferenceSetAttribute(Preference preference, int attribute,
                                         const void* value, size_t bytes) {
  if (attribute == kMaxWorkspace)
    return read_into(preference->workspace, value, bytes) ? kSuccess
                                                          : kInvalidValue;
  if (attribute < kAlignmentA || attribute > kAlignmentD) return kInvalidValue;
  return read_into(preference->alignment[attribute - kAlignmentA], value, bytes)
             ? kSuccess
             : kInvalidValue;
}
int cublasLtMatmulAlgoGetHeuristic(Handle, Desc desc, Layout a, Layout b,
                                   Layout c, Layout d, Preference preference,
                                   int wanted, Choice* found, int* count) {
  *count = 0;
  const Product product{*desc, *a, *b, *c, *d};
  if (wanted < 1 || !product.fits()) return kInvalidValue;
  *found = Choice{};
  found->workspace = std::min<size_t>(kWorkspace, preference->workspace);
  // Promises about the addresses, for the call to hold against them.
  for (int i = 0; i < 4; ++i)
    found->algorithm.data[i] = preference->alignment[i];
  *count = 1;
  return kSuccess;
}
int cublasLtMatmul(Handle, Desc desc, const void* alpha, const void* a,
                   Layout a_layout, const void* b, Layout b_layout,
                   const void* beta, const void* c, Layout c_layout, void* d,
                   Layout d_layout, const Algorithm* algorithm, void* workspace,
                   size_t bytes, hotaru::cuda::CUstream stream) {
  const Product product{*desc,
                        *a_layout,
                        *b_layout,
                        *c_layout,
                        *d_layout,
                        a,
                        b,
                        c,
                        d,
                        scale_of(desc->scale, alpha),
                        scale_of(desc->scale, beta)};
  const void* const addresses[] = {a, b, c, d};
  for (int i = 0; i < 4; ++i)
    if (reinterpret_cast<uintptr_t>(addresses[i]) % algorithm->data[i])
      return kInvalidValue;
  if (!product.fits() || bytes < kWorkspace || !workspace) return kInvalidValue;
  if (bool(desc->epilogue & kBias) != bool(desc->bias)) return kInvalidValue;
  return enqueue_on(stream,
                    [product, workspace, bytes] {
                      spoil(workspace, bytes);
                      product.run();
                    })
             ? kSuccess
             : kExecutionFailed;
}
