#include "hotaru/backend/cuda/jit/fused_text.h"

#include <algorithm>

#include "hotaru/backend/cuda/params/pointwise/fused.h"
#include "hotaru/backend/cuda/pointwise/formula.h"
#include "hotaru/core/error.h"

namespace hotaru::cuda::jit {
namespace {

/// As C++ in namespace hotaru::cuda writes it; null for dtypes without code.
const char* type_name(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return "float";
    case DType::kFloat64:
      return "double";
    case DType::kFloat16:
      return "Half";
    case DType::kBFloat16:
      return "BFloat16";
    case DType::kUInt8:
      return "uint8_t";
    case DType::kInt8:
      return "int8_t";
    case DType::kInt16:
      return "int16_t";
    case DType::kInt32:
      return "int32_t";
    case DType::kInt64:
      return "int64_t";
    case DType::kBool:
      return "Bool";
    default:
      return nullptr;
  }
}

bool is_number(const Tensor& t) {
  return t.device().is_cpu();
}

bool same_elements(const Tensor& a, const Tensor& b) {
  return a.storage().get() == b.storage().get() &&
         a.storage_offset() == b.storage_offset() && a.dtype() == b.dtype() &&
         same(a.sizes(), b.sizes()) && same(a.strides(), b.strides());
}

const Kernel& copy_kernel() {
  static const Kernel& copy = kernel("copy_");
  return copy;
}
const Kernel& where_kernel() {
  static const Kernel& where = kernel("where");
  return where;
}

/// Writes both texts while it goes through the calls.
class Writer {
 public:
  explicit Writer(const FusedCalls& calls) : calls_(calls) {}

  FusedText write() {
    for (const KernelCall* call : calls_.calls) add(*call);
    if (out_.operands.size() > FusedParams::kMostOperands ||
        out_.formulas.size() > FusedParams::kMostFormulas ||
        out_.numbers.size() > FusedParams::kMostNumbers) {
      out_.dense.clear();
      out_.strided.clear();
      return std::move(out_);
    }
    out_.dense = dense_text();
    out_.strided = strided_text();
    return std::move(out_);
  }

 private:
  /// A value that a part has computed or read.
  struct Value {
    const Tensor* tensor;
    std::string name;
  };

  size_t operand(const Tensor& t, bool writes) {
    size_t k = 0;
    while (k < out_.operands.size() && !same_elements(*out_.operands[k], t))
      ++k;
    if (k == out_.operands.size()) {
      out_.operands.push_back(&t);
      out_.written.push_back(false);
      read_.push_back(false);
      out_.item = std::max(out_.item, itemsize(t.dtype()));
    }
    out_.written[k] = out_.written[k] || writes;
    return k;
  }

  /// The name of an input's value as arithmetic on `as` takes it.
  std::string input(const Tensor& t, DType as) {
    if (is_number(t)) {
      out_.numbers.push_back({&t, as});
      return concat("number_at<OpMath<", type_name(as), ">>(p, ",
                    out_.numbers.size() - 1, ")");
    }
    for (size_t i = values_.size(); i-- > 0;)
      if (same_elements(*values_[i].tensor, t)) return values_[i].name;
    const size_t k = operand(t, false);
    read_[k] = true;
    const std::string name = concat("x", k);
    body_ += concat("    const auto ", name, " = HOTARU_READ(", k, ", ",
                    type_name(t.dtype()), ");\n");
    values_.push_back({&t, name});
    return name;
  }

  /// What the call computes, as an expression.
  std::string computed(const KernelCall& call) {
    const DType to = call.tensor(0).dtype();
    if (&call.kernel() == &copy_kernel())
      return concat("formulas::convert<OpMath<", type_name(to), ">>(",
                    input(call.tensor(1), call.tensor(1).dtype()), ")");
    if (&call.kernel() == &where_kernel()) {
      const std::string mask = input(call.tensor(1), DType::kBool),
                        x = input(call.tensor(2), to);
      return concat(mask, " ? ", x, " : ", input(call.tensor(3), to));
    }
    const FormulaInfo& info = *formula_of(call.kernel());
    const DType as = call.tensor(1).dtype();
    std::string inputs;
    for (int i = 0; i < info.inputs; ++i)
      inputs += (i ? ", " : "") + input(call.tensor(size_t(i) + 1), as);
    out_.formulas.push_back(&call);
    return concat("formula_at<formulas::", info.name, "<OpMath<", type_name(as),
                  ">>>(p, ", out_.formulas.size() - 1, ")(", inputs, ")");
  }

  void add(const KernelCall& call) {
    const Tensor& result = call.tensor(0);
    const std::string value = computed(call), name = concat("y", count_++);
    body_ += concat("    const auto ", name, " = rounded<",
                    type_name(result.dtype()), ">(", value, ");\n");
    values_.push_back({&result, name});
    if (calls_.inner.contains(result.storage().get())) return;
    body_ += concat("    HOTARU_WRITE(", operand(result, true), ", ",
                    type_name(result.dtype()), ", ", name, ");\n");
  }

  static constexpr const char* kBegin =
      "#include \"hotaru/backend/cuda/device/pointwise/fused.h\"\n"
      "namespace hotaru::cuda {\n";
  static constexpr const char* kEnd = "}  // namespace hotaru::cuda\n";

  /// One element a thread read where the index says; those of one element for
  /// all have strides 0.
  std::string strided_text() const {
    return concat(
        kBegin,
        "#define HOTARU_READ(k, T) element<T>(static_cast<const "
        "char*>(p.address[k]) + at[0][k])\n"
        "#define HOTARU_WRITE(k, T, x) *reinterpret_cast<Stored<T>*>("
        "static_cast<char*>(p.address[k]) + at[0][k]) = narrow<T>(x)\n"
        "__global__ void __launch_bounds__(256) ",
        kFusedName,
        "(const FusedParams p) {\n"
        "  const uint32_t i = blockIdx.x * kBlock + threadIdx.x;\n"
        "  if (i >= p.numel) return;\n"
        "  uint32_t place[1] = {i};\n"
        "  int64_t at[1][FusedParams::kMostOperands];\n"
        "  p.index.find(place, at);\n  {\n",
        body_, "  }\n}\n", kEnd);
  }

  std::string dense_text() const {
    std::string loads, stores, names;
    for (size_t k = 0; k < out_.operands.size(); ++k) {
      const Tensor& t = *out_.operands[k];
      const char* type = type_name(t.dtype());
      const bool one = t.numel() == 1;
      loads += concat("  Vector<", type, ", kLength> v", k, ";\n");
      if (one && read_[k])
        loads += concat("  for (uint32_t j = 0; j < kLength; ++j) v", k,
                        ".at[j] = *static_cast<const Stored<", type,
                        ">*>(p.address[", k, "]);\n");
      else if (read_[k])
        loads += concat("  fetch(v", k, ", p.address[", k, "], i, left);\n");
      if (out_.written[k])
        stores += concat("  put(v", k, ", p.address[", k, "], i, left);\n");
    }
    return concat(
        kBegin, "constexpr uint32_t kLength = ", fused_length(out_.item),
        ";\n"
        "template <class T>\n"
        "__device__ void fetch(Vector<T, kLength>& v, const void* from, "
        "uint32_t i, uint32_t left) {\n"
        "  const auto* x = static_cast<const Stored<T>*>(from) + i;\n"
        "  if (left >= kLength) { v = load_vector<Vector<T, kLength>>(x); "
        "return; }\n"
        "  for (uint32_t j = 0; j < kLength; ++j) v.at[j] = x[j < left ? j : "
        "0];\n}\n"
        "template <class T>\n"
        "__device__ void put(const Vector<T, kLength>& v, void* to, uint32_t "
        "i, uint32_t left) {\n"
        "  auto* x = static_cast<Stored<T>*>(to) + i;\n"
        "  if (left >= kLength) { store_vector(x, v); return; }\n"
        "  for (uint32_t j = 0; j < left; ++j) x[j] = v.at[j];\n}\n"
        "#define HOTARU_READ(k, T) widen<T>(v##k.at[j])\n"
        "#define HOTARU_WRITE(k, T, x) v##k.at[j] = narrow<T>(x)\n"
        "__global__ void __launch_bounds__(256) ",
        kFusedName,
        "(const FusedParams p) {\n"
        "  const uint32_t i = (blockIdx.x * kBlock + threadIdx.x) * kLength;\n"
        "  if (i >= p.numel) return;\n"
        "  const uint32_t left = p.numel - i;\n",
        loads, "  HOTARU_UNROLL\n  for (uint32_t j = 0; j < kLength; ++j) {\n",
        body_, "  }\n", stores, "}\n", kEnd);
  }

  const FusedCalls& calls_;
  FusedText out_;
  std::string body_;
  std::vector<Value> values_;
  std::vector<bool> read_;  // of operands
  size_t count_ = 0;
};

}  // namespace

namespace {

bool have_code(const KernelCall& call) {
  const auto operands = call.operands();
  return std::all_of(operands.begin(), operands.end(), [](const Operand& o) {
    return type_name(o.tensor->dtype()) != nullptr;
  });
}

}  // namespace

bool fits_fused(const KernelCall& call) {
  const auto operands = call.operands();
  if (!have_code(call)) return false;
  if (&call.kernel() == &copy_kernel()) return !is_number(call.tensor(1));
  if (&call.kernel() == &where_kernel()) return !is_number(call.tensor(1));
  const FormulaInfo* info = formula_of(call.kernel());
  if (!info || operands.size() != size_t(info->inputs) + 1) return false;
  const DType as = call.tensor(1).dtype();
  if (!info->has(as)) return false;
  for (size_t i = 1; i < operands.size(); ++i) {
    const Tensor& t = *operands[i].tensor;
    if (!is_number(t) && t.dtype() != as && t.dim() != 0) return false;
  }
  return true;
}

FusedText fused_text(const FusedCalls& calls) {
  return Writer(calls).write();
}

}  // namespace hotaru::cuda::jit
