#include "hotaru/backend/cuda/jit/fused_text.h"

#include "hotaru/core/error.h"

namespace hotaru::cuda::jit {
namespace {

/// Writes both texts while it goes through the calls.
class ElementWriter final : public FusedWriter {
 public:
  using FusedWriter::FusedWriter;

  FusedText text() {
    FusedText out;
    out.values = std::move(values());
    if (!out.values.fit()) return out;
    out.dense = dense_text(out.values);
    out.strided = strided_text();
    return out;
  }

 protected:
  std::string read(size_t operand) override {
    const std::string name = concat("x", operand);
    body_ += concat("    const auto ", name, " = HOTARU_READ(", operand, ", ",
                    type_name(values().operands[operand]->dtype()), ");\n");
    return name;
  }
  std::string define(const Tensor& result,
                     const std::string& expression) override {
    const std::string name = fresh("y");
    body_ += concat("    const auto ", name, " = rounded<",
                    type_name(result.dtype()), ">(", expression, ");\n");
    return name;
  }
  void write(size_t operand, const std::string& name) override {
    body_ += concat("    HOTARU_WRITE(", operand, ", ",
                    type_name(values().operands[operand]->dtype()), ", ", name,
                    ");\n");
  }

 private:
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
        "(const __grid_constant__ FusedParams p) {\n"
        "  const uint32_t i = blockIdx.x * kBlock + threadIdx.x;\n"
        "  if (i >= p.numel) return;\n"
        "  uint32_t place[1] = {i};\n"
        "  int64_t at[1][FusedParams::kMostOperands];\n"
        "  p.index.find(place, at);\n  {\n",
        body_, "  }\n}\n", kEnd);
  }

  std::string dense_text(const FusedValues& values) const {
    std::string loads, stores, names;
    for (size_t k = 0; k < values.operands.size(); ++k) {
      const Tensor& t = *values.operands[k];
      const char* type = type_name(t.dtype());
      const bool one = t.numel() == 1;
      loads += concat("  Vector<", type, ", kLength> v", k, ";\n");
      if (one && values.read[k])
        loads += concat("  for (uint32_t j = 0; j < kLength; ++j) v", k,
                        ".at[j] = *static_cast<const Stored<", type,
                        ">*>(p.address[", k, "]);\n");
      else if (values.read[k])
        loads += concat("  fetch(v", k, ", p.address[", k, "], i, left);\n");
      if (values.written[k])
        stores += concat("  put(v", k, ", p.address[", k, "], i, left);\n");
    }
    return concat(
        kBegin, "constexpr uint32_t kLength = ", fused_length(values.item),
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
        "(const __grid_constant__ FusedParams p) {\n"
        "  const uint32_t i = (blockIdx.x * kBlock + threadIdx.x) * kLength;\n"
        "  if (i >= p.numel) return;\n"
        "  const uint32_t left = p.numel - i;\n",
        loads, "  HOTARU_UNROLL\n  for (uint32_t j = 0; j < kLength; ++j) {\n",
        body_, "  }\n", stores, "}\n", kEnd);
  }

  std::string body_;
};

}  // namespace

FusedText fused_text(const FusedCalls& calls) {
  ElementWriter writer(calls.inner);
  for (const KernelCall* call : calls.calls) writer.add(*call);
  return writer.text();
}

}  // namespace hotaru::cuda::jit
