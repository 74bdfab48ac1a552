#include "hotaru/backend/cuda/fused/attention_text.h"

#include "hotaru/backend/common/attention/attention.h"
#include "hotaru/backend/cuda/fused/element_text.h"
#include "hotaru/core/printing/concat.h"

namespace hotaru::cuda::fused {
namespace {

/// Operands are vectors v<k> of neighbours.
class EpilogueWriter final : public FusedWriter {
 public:
  using FusedWriter::FusedWriter;

  /// The value that the kernel itself computes.
  void begin(const Tensor& result) { name(result, define(result, "x[j]")); }
  const std::string& statements() const { return statements_; }

 protected:
  std::string read(size_t operand) override {
    const std::string name = concat("x", operand);
    statements_ += concat("      const auto ", name, " = widen<",
                          type_of(operand), ">(v", operand, ".at[j]);\n");
    return name;
  }
  std::string define(const Tensor& result,
                     const std::string& expression) override {
    const std::string name = fresh("y");
    statements_ += concat("      const auto ", name, " = rounded<",
                          type_name(result.dtype()), ">(", expression, ");\n");
    return name;
  }
  void write(size_t operand, const std::string& name) override {
    statements_ += concat("      v", operand, ".at[j] = narrow<",
                          type_of(operand), ">(", name, ");\n");
  }

 private:
  const char* type_of(size_t operand) {
    return type_name(values().operands[operand]->dtype());
  }

  std::string statements_;
};

}  // namespace

bool has_epilogue(const KernelCall& call) {
  static const Kernel& attention = kernel("attention");
  return &call.kernel() == &attention && call.tensor(0).numel() > 0;
}

AttentionEpilogue attention_epilogue(const FusedCalls& calls) {
  AttentionEpilogue out;
  EpilogueWriter writer(calls.inner);
  writer.begin(calls.calls[0]->tensor(0));
  for (size_t i = 1; i < calls.calls.size(); ++i) writer.add(*calls.calls[i]);
  if (writer.values().fit()) out.statements = writer.statements();
  out.values = std::move(writer.values());
  return out;
}

std::string attention_text(const AttentionEpilogue& epilogue, DType dtype,
                           bool tensor_cores, uint32_t width) {
  const FusedValues& values = epilogue.values;
  std::string loads, stores;
  for (size_t k = 0; k < values.operands.size(); ++k) {
    loads += concat("    Vector<", type_name(values.operands[k]->dtype()),
                    ", kLength> v", k, ";\n");
    if (values.read[k]) loads += concat("    at.fetch(v", k, ", ", k, ");\n");
    if (values.written[k]) stores += concat("    at.put(v", k, ", ", k, ");\n");
  }
  const char* space = tensor_cores ? "tensor_attention::" : "";
  return concat(
      "#include \"hotaru/backend/cuda/device/attention/",
      tensor_cores ? "tensor_attention.h" : "attention.h",
      "\"\n"
      "#include \"hotaru/backend/cuda/device/attention/fused.h\"\n"
      "namespace hotaru::cuda {\n"
      "struct Epilogue {\n"
      "  const FusedAttentionParams& p;\n"
      "  template <uint32_t kLength>\n"
      "  __device__ void operator()(uint32_t batch, uint32_t head, uint32_t "
      "row, uint32_t column, const float (&x)[kLength]) const {\n"
      "    const Neighbours at{p, batch, head, row, column};\n"
      "    if (at.count<kLength>() == 0) return;\n",
      loads,
      "    HOTARU_UNROLL\n    for (uint32_t j = 0; j < kLength; ++j) {\n",
      epilogue.statements, "    }\n", stores,
      "  }\n};\n"
      "// Its threads wait for each other: __syncthreads().\n"
      "__global__ void __launch_bounds__(256, 2) ",
      kFusedName,
      "(const __grid_constant__ FusedAttentionParams p) {\n"
      "  begin_kernel();\n"
      "  using Finish = ",
      space, "FinishRuns<", width, ", Epilogue>;\n  ", space, "attention<",
      type_name(dtype), ", ", width,
      ">(p.attention, Finish{{p}});\n}\n}  // namespace hotaru::cuda\n");
}

}  // namespace hotaru::cuda::fused
