#include "hotaru/backend/cuda/fused/reduce_text.h"

#include "hotaru/backend/cuda/fused/element_text.h"
#include "hotaru/backend/cuda/params/reduce.h"
#include "hotaru/backend/cuda/reduce/formula.h"
#include "hotaru/core/printing/concat.h"

namespace hotaru::cuda::fused {
namespace {

/// Tells whether an element is as far from t's first as from that of `like`,
/// counted in elements.
bool lies_as(const Tensor& t, const Tensor& like) {
  if (!same(t.sizes(), like.sizes())) return false;
  for (size_t d = 0; d < size_t(t.dim()); ++d)
    if (t.sizes()[d] > 1 && t.strides()[d] != like.strides()[d]) return false;
  return true;
}

/// Elements may be computed twice, so that nothing may be read that is written.
bool fits(const FusedValues& values, const Tensor& in) {
  if (!values.fit()) return false;
  for (size_t k = 0; k < values.operands.size(); ++k) {
    const Tensor& t = *values.operands[k];
    if (values.read[k] && values.written[k]) return false;
    if (t.numel() != 1 && !lies_as(t, in)) return false;
  }
  return true;
}

std::string text_of(const FusedValues& values, const std::string& body,
                    const std::string& value, const KernelCall& call) {
  const Tensor& in = call.tensor(1);
  const std::string type = type_name(in.dtype());
  std::string steps;
  for (const Tensor* t : values.operands)
    steps += t->numel() == 1 ? "0, " : "1, ";
  const VectorText vectors = vector_text(values);
  return concat(
      "#include \"hotaru/backend/cuda/device/pointwise/fused_reduce.h\"\n"
      "namespace hotaru::cuda {\n"
      "constexpr uint32_t kLength = ",
      reduce_length(itemsize(in.dtype())),
      ", left = kLength;\n"
      "constexpr int64_t kStep[] = {",
      steps,
      "};\n"
      "template <class V>\n"
      "__device__ void fetch(V& v, const void* from, int64_t i, uint32_t) {\n"
      "  v = load_vector<V>(static_cast<const V*>(from) + i / kLength);\n}\n"
      "template <class V>\n"
      "__device__ void put(const V& v, void* to, int64_t i, uint32_t) {\n"
      "  store_vector(static_cast<V*>(to) + i / kLength, v);\n}\n"
      "struct Source {\n"
      "  const FusedReduceParams& p;\n"
      "#define HOTARU_READ(k, T) element<T>(static_cast<const Stored<T>*>("
      "p.address[k]) + i * kStep[k])\n"
      "#define HOTARU_WRITE(k, T, x) static_cast<Stored<T>*>("
      "p.address[k])[i] = narrow<T>(x)\n"
      "  __device__ OpMath<",
      type,
      "> one(int64_t at) const {\n  const int64_t i = at / int64_t(sizeof(",
      type, "));\n", body, "    return ", value,
      ";\n  }\n"
      "#undef HOTARU_READ\n"
      "#undef HOTARU_WRITE\n"
      "#define HOTARU_READ(k, T) widen<T>(v##k.at[j])\n"
      "#define HOTARU_WRITE(k, T, x) v##k.at[j] = narrow<T>(x)\n"
      "  template <class V>\n"
      "  __device__ V vector(int64_t at) const {\n"
      "  const int64_t i = at / int64_t(sizeof(",
      type, "));\n  V out;\n", vectors.loads,
      "  HOTARU_UNROLL\n  for (uint32_t j = 0; j < kLength; ++j) {\n", body,
      "    out.at[j] = narrow<", type, ">(", value, ");\n  }\n", vectors.stores,
      "  return out;\n  }\n};\n"
      "// Threads of a block synchronise.\n"
      "__global__ void __launch_bounds__(256) ",
      kFusedName,
      "(const __grid_constant__ FusedReduceParams p) {\n"
      "  begin_kernel();\n"
      "  reduce_from<Reducer<formulas::",
      reduce_formula(call).name, ", ", type, ">, ", type,
      ">(p.reduce, Source{p});\n}\n}  // namespace hotaru::cuda\n");
}

}  // namespace

ReduceText reduce_text(const FusedCalls& calls) {
  const KernelCall& reduction = *calls.calls.back();
  ElementWriter writer(calls.inner);
  for (const KernelCall* call : calls.calls)
    if (call != &reduction) writer.add(*call);
  const std::string value = writer.value(reduction.tensor(1));
  ReduceText out;
  out.values = std::move(writer.values());
  if (fits(out.values, reduction.tensor(1)))
    out.text = text_of(out.values, writer.body(), value, reduction);
  return out;
}

}  // namespace hotaru::cuda::fused
