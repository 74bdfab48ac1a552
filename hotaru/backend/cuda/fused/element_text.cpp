#include "hotaru/backend/cuda/fused/element_text.h"

#include "hotaru/core/printing/concat.h"

namespace hotaru::cuda::fused {
namespace {

/// Writes both texts.
class TextMaker {
 public:
  explicit TextMaker(const std::string& body) : body_(body) {}

  void make(FusedText& out) const {
    out.dense = dense_text(out.values);
    out.strided = strided_text();
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
        "  begin_kernel();\n"
        "  const uint32_t i = blockIdx.x * kBlock + threadIdx.x;\n"
        "  if (i >= p.numel) return;\n"
        "  uint32_t place[1] = {i};\n"
        "  int64_t at[1][FusedParams::kMostOperands];\n"
        "  p.index.find(place, at);\n  {\n",
        body_, "  }\n}\n", kEnd);
  }

  std::string dense_text(const FusedValues& values) const {
    const VectorText vectors = vector_text(values);
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
        "  begin_kernel();\n"
        "  const uint32_t i = (blockIdx.x * kBlock + threadIdx.x) * kLength;\n"
        "  if (i >= p.numel) return;\n"
        "  const uint32_t left = p.numel - i;\n",
        vectors.loads,
        "  HOTARU_UNROLL\n  for (uint32_t j = 0; j < kLength; ++j) {\n", body_,
        "  }\n", vectors.stores, "}\n", kEnd);
  }

  const std::string& body_;
};

}  // namespace

std::string ElementWriter::read(size_t operand) {
  const std::string name = concat("x", operand);
  body_ += concat("    const auto ", name, " = HOTARU_READ(", operand, ", ",
                  type_name(values().operands[operand]->dtype()), ");\n");
  return name;
}

std::string ElementWriter::define(const Tensor& result,
                                  const std::string& expression) {
  const std::string name = fresh("y");
  body_ += concat("    const auto ", name, " = rounded<",
                  type_name(result.dtype()), ">(", expression, ");\n");
  return name;
}

void ElementWriter::write(size_t operand, const std::string& name) {
  body_ += concat("    HOTARU_WRITE(", operand, ", ",
                  type_name(values().operands[operand]->dtype()), ", ", name,
                  ");\n");
}

VectorText vector_text(const FusedValues& values) {
  VectorText out;
  for (size_t k = 0; k < values.operands.size(); ++k) {
    const Tensor& t = *values.operands[k];
    const char* type = type_name(t.dtype());
    out.loads += concat("  Vector<", type, ", kLength> v", k, ";\n");
    if (t.numel() == 1 && values.read[k])
      out.loads += concat("  for (uint32_t j = 0; j < kLength; ++j) v", k,
                          ".at[j] = *static_cast<const Stored<", type,
                          ">*>(p.address[", k, "]);\n");
    else if (values.read[k])
      out.loads += concat("  fetch(v", k, ", p.address[", k, "], i, left);\n");
    if (values.written[k])
      out.stores += concat("  put(v", k, ", p.address[", k, "], i, left);\n");
  }
  return out;
}

FusedText fused_text(std::span<const KernelCall* const> calls,
                     const std::unordered_set<const Storage*>& inner) {
  ElementWriter writer(inner);
  for (const KernelCall* call : calls) writer.add(*call);
  FusedText out;
  out.values = std::move(writer.values());
  if (out.values.fit()) TextMaker(writer.body()).make(out);
  return out;
}

}  // namespace hotaru::cuda::fused
