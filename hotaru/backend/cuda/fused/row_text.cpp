#include "hotaru/backend/cuda/fused/row_text.h"

#include <algorithm>

#include "hotaru/backend/common/norm/norm.h"
#include "hotaru/backend/cuda/fused/element_text.h"
#include "hotaru/backend/cuda/params/reduce.h"
#include "hotaru/backend/cuda/reduce/formula.h"
#include "hotaru/core/printing/concat.h"

namespace hotaru::cuda::fused {
namespace {

/// How many of the last dimensions are `columns` elements together.
size_t row_dims_of(const Tensor& t, int64_t columns) {
  size_t dims = 0;
  for (int64_t row = 1; row < columns; ++dims)
    row *= t.sizes()[size_t(t.dim()) - dims - 1];
  return dims;
}

/// Values of elements are arrays "y0[s]", s a thread's slots; those of rows are
/// single variables.
class RowWriter final : public FusedWriter {
 public:
  RowWriter(const std::unordered_set<const Storage*>& inner, size_t row_dims,
            uint32_t slots)
      : FusedWriter(inner), row_dims_(row_dims), slots_(slots) {}

  void add_part(const KernelCall& call, const RowPart& part) {
    if (part.kind == RowPart::kReduce) return reduce(call);
    if (part.kind == RowPart::kNorm) return norm(call);
    softmax(call, part.kind == RowPart::kLogSoftmax);
  }

  std::string body() {
    end_loop();
    return head_ + body_ + tail_;
  }

 protected:
  std::string read(size_t operand) override {
    const Tensor& t = *values().operands[operand];
    const std::string name = concat("x", operand), type = type_name(t.dtype());
    if (one_a_row(t, row_dims_)) {
      head_ += concat("  const auto ", name, " = row.one<", type, ">(", operand,
                      ");\n");
      return name;
    }
    head_ += concat("  ", array(type, name), "  row.read<", type, ">(", operand,
                    ", ", name, ");\n");
    return name + "[s]";
  }

  std::string define(const Tensor& result,
                     const std::string& expression) override {
    const std::string name = fresh("y"), type = type_name(result.dtype());
    if (one_a_row(result, row_dims_)) {
      body_ += concat("  const auto ", name, " = rounded<", type, ">(",
                      expression, ");\n");
      return name;
    }
    head_ += "  " + array(type, name);
    loop_ +=
        concat("    ", name, "[s] = rounded<", type, ">(", expression, ");\n");
    return name + "[s]";
  }

  void write(size_t operand, const std::string& name) override {
    const char* const type = type_name(values().operands[operand]->dtype());
    tail_ += concat("  row.", name.ends_with("[s]") ? "write<" : "put<", type,
                    ">(", operand, ", ", whole(name), ");\n");
  }

 private:
  std::string array(const std::string& type, const std::string& name) const {
    return concat("OpMath<", type, "> ", name, "[", slots_, "];\n");
  }
  static std::string whole(const std::string& name) {
    return name.substr(0, name.find('['));
  }

  /// The elements so far are there for what follows.
  void end_loop() {
    if (loop_.empty()) return;
    body_ += concat("  HOTARU_UNROLL\n  for (uint32_t s = 0; s < ", slots_,
                    "; ++s) {\n", loop_, "  }\n");
    loop_.clear();
  }
  /// An input's array.
  std::string row_of(const Tensor& t) {
    const std::string name = input(t, t.dtype());
    end_loop();
    return whole(name);
  }

  void reduce(const KernelCall& call) {
    const Tensor &out = call.tensor(0), &in = call.tensor(1);
    const ReduceFormula formula = reduce_formula(call);
    const std::string type = type_name(in.dtype()), x = row_of(in);
    const size_t attributes = object({&call, formula.attributes});
    name(out,
         define(out, concat("row.template reduce<Reducer<formulas::",
                            formula.name, ", ", type, ">, ", type, ">(", x,
                            ", formula_at<formulas::", formula.name, "<OpMath<",
                            type, ">>::Attributes>(p, ", attributes, "))")));
  }

  void softmax(const KernelCall& call, bool log) {
    const Tensor& out = call.tensor(0);
    const std::string type = type_name(out.dtype()), x = row_of(call.tensor(1)),
                      y = fresh("y");
    head_ += "  " + array(type, y);
    body_ += concat("  row.template softmax<", type, ", ",
                    log ? "true" : "false", ">(", x, ", ", y, ");\n");
    name(out, define(out, y + "[s]"));
  }

  void norm(const KernelCall& call) {
    const Tensor& out = call.tensor(0);
    const std::string type = type_name(out.dtype()), m = fresh("m"),
                      x = row_of(call.tensor(3));
    body_ += concat("  const auto ", m, " = row.template moments<", type, ">(",
                    x, ", ", eps<RowNormAttributes>(call), ");\n");
    const auto weight = [&](const Tensor& t, const char* missing) {
      return concat("OpMath<", type, ">(",
                    t.defined() ? input(t, t.dtype()) : missing, ")");
    };
    const std::string w = weight(call.tensor(4), "1"),
                      b = weight(call.tensor(5), "0");
    name(out, define(out, concat("normalised(", x, "[s], ", m, ".mean, ", m,
                                 ".rstd, ", w, ", ", b, ")")));
    name(call.tensor(1), m + ".mean");
    name(call.tensor(2), m + ".rstd");
  }

  const size_t row_dims_;
  const uint32_t slots_;
  // Texts of what is declared and read, of what is done, what of that is a loop
  // over the slots and not closed, of what is written.
  std::string head_, body_, loop_, tail_;
};

std::string kernel_of(const std::string& body, uint32_t length,
                      uint32_t pieces) {
  return concat(
      "#include \"hotaru/backend/cuda/device/pointwise/fused_row.h\"\n"
      "namespace hotaru::cuda {\n"
      "// Threads of a block synchronise.\n"
      "__global__ void __launch_bounds__(256) ",
      kFusedName,
      "(const __grid_constant__ FusedRowParams p) {\n"
      "  begin_kernel();\n"
      "  __shared__ RowMemory memory;\n"
      "  const FusedRow<",
      length, ", ", pieces, "> row(p, memory);\n", body,
      "}\n}  // namespace hotaru::cuda\n");
}

}  // namespace

bool one_a_row(const Tensor& t, size_t row_dims) {
  const IntSpan last = t.sizes().last(std::min(row_dims, size_t(t.dim())));
  return std::all_of(last.begin(), last.end(),
                     [](int64_t size) { return size == 1; });
}

RowText row_text(const FusedCalls& calls) {
  RowText out;
  out.elements = fused_role(*calls.calls.front()).elements;
  out.row_dims = row_dims_of(*out.elements, calls.columns);
  size_t item = 0;
  for (const KernelCall* call : calls.calls)
    if (const RowPart part = row_part(*call); part.kind != RowPart::kNone) {
      out.parts.push_back(part);
      item = itemsize(part.in->dtype());
    }
  const uint32_t length = reduce_length(item);
  const auto pieces = uint32_t(
      ceil_divide(calls.columns, int64_t{row_lanes(calls.columns)} * length));
  RowWriter writer(calls.inner, out.row_dims, length * pieces);
  for (const KernelCall* call : calls.calls) {
    const RowPart part = row_part(*call);
    if (part.kind == RowPart::kNone)
      writer.add(*call);
    else
      writer.add_part(*call, part);
  }
  out.values = std::move(writer.values());
  if (out.values.fit()) out.text = kernel_of(writer.body(), length, pieces);
  return out;
}

}  // namespace hotaru::cuda::fused
