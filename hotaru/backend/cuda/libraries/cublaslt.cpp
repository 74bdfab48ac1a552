#include "hotaru/backend/cuda/libraries/cublaslt.h"

#include <array>
#include <bit>
#include <complex>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "hotaru/backend/cuda/graph/recorder.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/libraries/library.h"
#include "hotaru/runtime/library_settings.h"

namespace hotaru::cuda {
namespace {

// Most workspace that a kernel of the library may use besides its operands (the
// library's advice for Hopper).
constexpr size_t kMostWorkspace = size_t{32} << 20;
// Plans kept for a device; a program of more kinds of products plans again.
constexpr size_t kMostPlans = 4096;

struct CublasLt {
  static constexpr const char* kName = "cuBLASLt";
  OpenedLibrary library =
      open_library({"libcublasLt.so.13", "libcublasLt.so.12"});
  size_t (*version)() = nullptr;
#define HOTARU_MEMBER(name, symbol, params) int(*name) params = nullptr;
  HOTARU_CUBLASLT_ENTRIES(HOTARU_MEMBER)
#undef HOTARU_MEMBER

  CublasLt() {
    library.find(version, "cublasLtGetVersion");
#define HOTARU_FIND(name, symbol, params) library.find(name, #symbol);
    HOTARU_CUBLASLT_ENTRIES(HOTARU_FIND)
#undef HOTARU_FIND
  }
  std::string version_text() const {
    return version_text_of(int64_t(version()), 10000);
  }
};

void check_lt(int status, const char* what) {
  check_library(CublasLt::kName, status, what);
}

/// A matrix as the library sees it: by columns, ld apart, perhaps to be
/// transposed.
struct View {
  int64_t rows = 0, columns = 0, ld = 0, batch_stride = 0;
  bool transposed = false;
  bool operator==(const View&) const = default;
};

/// The transposed of rows x columns with those strides; none for strides that
/// are neither rows nor columns.
std::optional<View> transposed_view(int64_t rows, int64_t columns,
                                    const MatrixStrides& s) {
  if (columns == 1 ? rows == 1 || s.row >= 1 : s.column == 1)
    if (rows == 1 || s.row >= columns)
      return View{columns, rows, rows == 1 ? columns : s.row, s.batch, false};
  if ((rows == 1 || s.row == 1) && (columns == 1 || s.column >= rows))
    return View{rows, columns, columns == 1 ? rows : s.column, s.batch, true};
  return {};
}

/// Everything by which the library chooses a kernel.
struct Key {
  DType dtype, out;
  int compute, epilogue;
  View a, b, c, d;  // a and b in the library's order
  int64_t batch;
  std::array<int, 4> alignment;  // bits of the addresses of a, b, c, d
  bool operator==(const Key&) const = default;
};
struct KeyHash {
  size_t operator()(const Key& key) const {
    size_t hash = 0;
    const auto mix = [&](int64_t value) {
      hash = (hash ^ size_t(value)) * 0x9E3779B97F4A7C15u;
      hash ^= hash >> 29;
    };
    mix(int64_t(key.dtype) << 32 | int64_t(key.out) << 24 | key.compute << 16 |
        key.epilogue);
    for (const View* v : {&key.a, &key.b, &key.c, &key.d})
      mix(v->rows), mix(v->columns), mix(v->ld * 2 + v->transposed),
          mix(v->batch_stride);
    mix(key.batch);
    for (const int bits : key.alignment) mix(bits);
    return hash;
  }
};

int type_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return lt::kR64F;
    case DType::kFloat16:
      return lt::kR16F;
    case DType::kBFloat16:
      return lt::kR16BF;
    case DType::kComplex64:
      return lt::kC32F;
    case DType::kComplex128:
      return lt::kC64F;
    default:
      return lt::kR32F;
  }
}
/// Type of alpha and beta.
int scale_type_of(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16 ? lt::kR32F
                                                               : type_of(dtype);
}
int compute_of(DType dtype) {
  if (dtype == DType::kFloat64 || dtype == DType::kComplex128)
    return lt::kCompute64F;
  const bool single = dtype == DType::kFloat32 || dtype == DType::kComplex64;
  return single && allows_tf32(Tf32::kMatmul) ? lt::kComputeTf32
                                              : lt::kCompute32F;
}

/// One kind of product: descriptors and the kernel that was chosen.
class Plan {
 public:
  Plan(const CublasLt& lt, lt::Handle handle, const Key& key)
      : lt_(lt), handle_(handle) {
    check_lt(lt.desc_create(&desc_, key.compute, scale_type_of(key.dtype)),
             "cublasLtMatmulDescCreate");
    set_desc(lt::kTransA, int32_t(key.a.transposed));
    set_desc(lt::kTransB, int32_t(key.b.transposed));
    set_desc(lt::kEpilogue, int32_t(key.epilogue));
    const View* views[] = {&key.a, &key.b, &key.c, &key.d};
    for (size_t i = 0; i < 4; ++i)
      make_layout(i, i < 2 ? key.dtype : key.out, key.batch, *views[i]);
    choose(key);
  }
  ~Plan() {
    for (const lt::Layout layout : layouts_)
      if (layout) lt_.layout_destroy(layout);
    if (desc_) lt_.desc_destroy(desc_);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  /// True if the library has a kernel for it.
  bool serves() const { return serves_; }

  void run(const void* alpha, const void* a, const void* b, const void* beta,
           const void* c, void* d, const void* bias) {
    const Workspace room(choice_.workspace);
    // The bias's address is part of the descriptor.
    std::unique_lock lock(mutex_, std::defer_lock);
    if (bias) {
      lock.lock();
      set_desc(lt::kBiasPointer, bias);
    }
    check_lt(
        lt_.matmul(handle_, desc_, alpha, a, layouts_[0], b, layouts_[1], beta,
                   c, layouts_[2], d, layouts_[3], &choice_.algorithm,
                   choice_.workspace ? room.data() : nullptr, choice_.workspace,
                   launching_timeline().handle()),
        "cublasLtMatmul");
  }

 private:
  template <class T>
  void set_desc(int attribute, T value) {
    check_lt(lt_.desc_set(desc_, attribute, &value, sizeof(value)),
             "cublasLtMatmulDescSetAttribute");
  }
  void make_layout(size_t i, DType dtype, int64_t matrices, const View& view) {
    lt::Layout& layout = layouts_[i];
    check_lt(lt_.layout_create(&layout, type_of(dtype), uint64_t(view.rows),
                               uint64_t(view.columns), view.ld),
             "cublasLtMatrixLayoutCreate");
    if (matrices == 1) return;
    const auto batch = int32_t(matrices);
    check_lt(lt_.layout_set(layout, lt::kBatchCount, &batch, sizeof(batch)),
             "cublasLtMatrixLayoutSetAttribute");
    check_lt(lt_.layout_set(layout, lt::kBatchStride, &view.batch_stride,
                            sizeof(view.batch_stride)),
             "cublasLtMatrixLayoutSetAttribute");
  }
  void choose(const Key& key) {
    lt::Preference preference = nullptr;
    check_lt(lt_.preference_create(&preference),
             "cublasLtMatmulPreferenceCreate");
    const auto set = [&](int attribute, auto value) {
      lt_.preference_set(preference, attribute, &value, sizeof(value));
    };
    set(lt::kMaxWorkspace, uint64_t{kMostWorkspace});
    constexpr int kAlignments[] = {lt::kAlignmentA, lt::kAlignmentB,
                                   lt::kAlignmentC, lt::kAlignmentD};
    for (size_t i = 0; i < 4; ++i)
      set(kAlignments[i], uint32_t{1} << key.alignment[i]);
    int found = 0;
    const int status =
        lt_.choose(handle_, desc_, layouts_[0], layouts_[1], layouts_[2],
                   layouts_[3], preference, 1, &choice_, &found);
    lt_.preference_destroy(preference);
    serves_ =
        status == lt::kSuccess && found > 0 && choice_.status == lt::kSuccess;
  }

  const CublasLt& lt_;
  lt::Handle handle_;
  lt::Desc desc_ = nullptr;
  std::array<lt::Layout, 4> layouts_{};
  lt::Choice choice_{};
  bool serves_ = false;
  std::mutex mutex_;
};

/// A device's handle, made when it is first needed, and the plans made so far.
class Plans {
 public:
  std::shared_ptr<Plan> of(const CublasLt& lt, const Key& key) {
    const std::lock_guard lock(mutex_);
    if (!handle_) {
      use(launching_timeline().device());
      check_lt(lt.create(&handle_), "cublasLtCreate");
    }
    if (const auto at = plans_.find(key); at != plans_.end()) return at->second;
    if (plans_.size() >= kMostPlans) plans_.clear();
    return plans_.emplace(key, std::make_shared<Plan>(lt, handle_, key))
        .first->second;
  }
  /// Plans of the launching stream's device.
  static Plans& here() {
    static auto* const devices = new std::array<Plans, kMostDevices>;
    return (*devices)[size_t(launching_timeline().device())];
  }

 private:
  std::mutex mutex_;
  lt::Handle handle_ = nullptr;
  std::unordered_map<Key, std::shared_ptr<Plan>, KeyHash> plans_;
};

/// Addends of a product: a matrix, and a row.
struct Added {
  const void* matrix = nullptr;
  MatrixStrides at;
  const void* row = nullptr;
  double real = 0, imaginary = 0;  // the matrix's factor
};

/// None if the library can't add it.
std::optional<Added> added_of(const MatmulParams& p) {
  Added out;
  const bool none = !p.bias || (p.beta == 0 && p.imaginary_beta == 0);
  const bool row = !none && p.bias_at.row == 0 && p.bias_at.batch == 0 &&
                   (p.bias_at.column == 1 || p.n == 1) && p.m > 1;
  if (row) {
    if (p.beta != 1 || p.imaginary_beta != 0) return {};
    out.row = p.bias;
  } else if (!none) {
    out = {p.bias, p.bias_at, nullptr, p.beta, p.imaginary_beta};
  }
  if (!p.residual) return out;
  if (out.matrix || p.batch != 1) return {};
  out.matrix = p.residual;
  out.at = {0, p.residual_row, 1};
  out.real = 1;
  return out;
}

std::optional<int> epilogue_of(const MatmulParams& p, bool bias) {
  const int row = bias ? lt::kBias : 0;
  switch (p.activation) {
    case Activation::kNone:
      return bias ? row : int{lt::kNothing};
    case Activation::kRelu:
      return lt::kRelu | row;
    case Activation::kGeluTanh:
      return lt::kGelu | row;
    default:
      return {};
  }
}

/// No load is of more than 16 bytes. What lies better in a graph's memory than
/// elsewhere must not be multiplied by another kernel, which gives other bits.
int alignment_bits(const void* address) {
  constexpr int kMost = 4;
  return std::min(kMost, std::countr_zero(std::bit_cast<uintptr_t>(address)));
}

/// A number as the library reads it, of the scale's type.
using Scale = std::array<double, 2>;
Scale scale_of(DType dtype, double real, double imaginary) {
  Scale out{real, imaginary};
  const auto put = [&](auto value) {
    std::memcpy(out.data(), &value, sizeof(value));
  };
  const int type = scale_type_of(dtype);
  if (type == lt::kC32F)
    put(std::complex<float>(float(real), float(imaginary)));
  else if (type == lt::kR32F)
    put(float(real));
  return out;
}

}  // namespace

bool has_cublaslt() {
  return usable<CublasLt>() != nullptr;
}

bool cublaslt_reads(int64_t rows, int64_t columns, const MatrixStrides& at) {
  return transposed_view(rows, columns, at).has_value();
}

bool multiply_by_cublaslt(const MatmulParams& p, DType dtype, DType out) {
  if (p.k == 0 || p.scale || p.batch > INT32_MAX) return false;
  const CublasLt* lt = usable<CublasLt>();
  if (!lt) return false;
  const auto a = transposed_view(p.m, p.k, p.a_at);
  const auto b = transposed_view(p.k, p.n, p.b_at);
  const auto added = added_of(p);
  if (!a || !b || !added) return false;
  const auto epilogue = epilogue_of(p, added->row);
  const View d{p.n, p.m, p.out_row, p.out_batch, false};
  const auto c = added->matrix ? transposed_view(p.m, p.n, added->at) : d;
  if (!epilogue || !c || c->transposed) return false;
  const void* matrix = added->matrix ? added->matrix : p.out;
  const Key key{dtype,
                out,
                compute_of(dtype),
                *epilogue,
                *b,
                *a,
                *c,
                d,
                p.batch,
                {alignment_bits(p.b), alignment_bits(p.a),
                 alignment_bits(matrix), alignment_bits(p.out)}};
  const std::shared_ptr<Plan> plan = Plans::here().of(*lt, key);
  if (!plan->serves()) return false;
  keep_for_recording(plan);
  const Scale alpha = scale_of(dtype, p.alpha, p.imaginary_alpha);
  const Scale beta = scale_of(dtype, added->real, added->imaginary);
  plan->run(&alpha, p.b, p.a, &beta, matrix, p.out, added->row);
  return true;
}

DeviceLibrary cublaslt_report() {
  return report_of<CublasLt>();
}

}  // namespace hotaru::cuda
