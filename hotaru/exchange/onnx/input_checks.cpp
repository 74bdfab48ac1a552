// Checks at each call of what an ONNX graph declares of its inputs.
#include "hotaru/core/dtype.h"
#include "hotaru/exchange/onnx/graph_writer.h"
#include "hotaru/script/archive/literal.h"

namespace hotaru::exchange::onnx {

using io::onnx::ValueInfo;

namespace {

// A size of 0 is what some exporters write for one that they do not know.
bool is_fixed(const ValueInfo::Dim& dim) {
  return dim.size > 0;
}

// "[n, 4]", as a literal part of what format() takes.
std::string sizes_text(const std::vector<ValueInfo::Dim>& dims) {
  std::string out = "[";
  for (const ValueInfo::Dim& dim : dims) {
    out += out.size() > 1 ? ", " : "";
    out += is_fixed(dim) ? concat(dim.size) : dim.name.empty() ? "?" : dim.name;
  }
  return script::escape_format(out + "]");
}

// Writes the condition that a tensor has other sizes than these.
std::string other_sizes(const std::string& tensor,
                        const std::vector<ValueInfo::Dim>& dims) {
  std::string out = concat(tensor, ".dim() != ", dims.size());
  for (size_t d = 0; d < dims.size(); ++d) {
    if (!is_fixed(dims[d])) continue;
    out += concat(" or ", tensor, ".size(", d, ") != ", dims[d].size);
  }
  return out;
}

}  // namespace

// A module's tensor whose type tells whether it is still that of the file: one
// that was converted takes inputs of its new type.
std::string GraphWriter::converted(const Scope& scope) const {
  for (const auto& [name, value] : scope.values) {
    if (!value.constant || value.constant->expression.empty()) continue;
    const Tensor& tensor = value.constant->tensor;
    if (!tensor.is_floating_point()) continue;
    return concat(value.constant->expression,
                  ".dtype != ", int(tensor.dtype()));
  }
  return "";
}

std::string GraphWriter::input_checks(const Scope& scope) const {
  std::string out;
  auto refuse_if = [&](const std::string& condition, const std::string& message,
                       const std::string& values) {
    out += concat("  if ", condition, ":\n    raise RuntimeError(",
                  script::quoted(message), values, ")\n");
  };
  for (const ValueInfo& each : file_.model().graph.inputs) {
    const Operand* value = scope.find(each.name);
    if (!value || value->constant || value->kind != Kind::kTensor) continue;
    const std::string& tensor = value->text;
    const std::string input = concat(file_.name(), ": input '", each.name, "'");
    if (auto dtype = io::onnx::held_dtype(each.elem_type)) {
      std::string condition = concat(tensor, ".dtype != ", int(*dtype));
      const std::string other =
          is_floating_point(*dtype) ? converted(scope) : "";
      if (!other.empty()) {
        condition += concat(" and not (", other,
                            " and torch.is_floating_point(", tensor, "))");
      }
      const std::string holds =
          io::onnx::is_small(each.elem_type)
              ? concat(", which holds ",
                       io::onnx::data_type_name(each.elem_type))
              : "";
      refuse_if(condition,
                concat(input, " should be of type ", dtype_name(*dtype), holds),
                "");
    }
    // As in ONNX Runtime, no sizes are no statement.
    if (!each.dims || each.dims->empty()) continue;
    refuse_if(other_sizes(tensor, *each.dims),
              concat(script::escape_format(input), " should have the sizes ",
                     sizes_text(*each.dims), ", but has {}"),
              concat(".format(", tensor, ".size())"));
  }
  return out;
}

}  // namespace hotaru::exchange::onnx
