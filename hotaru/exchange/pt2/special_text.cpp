// Nodes that are no call of an operator of the same name: sizes and what is
// computed of them, checks, numbers out of tensors, and operators that are said
// otherwise here.
#include <algorithm>
#include <iterator>

#include "hotaru/core/checks/check.h"
#include "hotaru/exchange/pt2/graph_text.h"

namespace hotaru::exchange::pt2 {

using Kind = Argument::Kind;

namespace {

struct Form {
  std::string_view target;
  // {0}, {1}: the inputs.
  std::string_view text;
};

// Forms of what Python computes of sizes and other numbers.
constexpr Form kSymbolic[] = {
    {"_operator.add", "({0} + {1})"},
    {"_operator.sub", "({0} - {1})"},
    {"_operator.mul", "({0} * {1})"},
    {"_operator.truediv", "({0} / {1})"},
    {"_operator.floordiv", "({0} // {1})"},
    {"_operator.mod", "({0} % {1})"},
    {"_operator.pow", "({0} ** {1})"},
    {"_operator.neg", "(-{0})"},
    {"_operator.pos", "{0}"},
    {"_operator.abs", "abs({0})"},
    {"_operator.eq", "({0} == {1})"},
    {"_operator.ne", "({0} != {1})"},
    {"_operator.lt", "({0} < {1})"},
    {"_operator.le", "({0} <= {1})"},
    {"_operator.gt", "({0} > {1})"},
    {"_operator.ge", "({0} >= {1})"},
    {"_operator.and_", "({0} & {1})"},
    {"_operator.or_", "({0} | {1})"},
    {"_operator.xor", "({0} ^ {1})"},
    {"_operator.lshift", "({0} << {1})"},
    {"_operator.rshift", "({0} >> {1})"},
    {"_operator.not_", "(not {0})"},
    {"torch.sym_not", "(not {0})"},
    {"torch.sym_max", "max({0}, {1})"},
    {"torch.sym_min", "min({0}, {1})"},
    {"torch.sym_float", "float({0})"},
    {"torch.sym_int", "int({0})"},
    {"torch.sym_ite", "({1} if {0} else {2})"},
    {"torch._sym_sqrt", "math.sqrt({0})"},
    {"torch._sym_cos", "math.cos({0})"},
    {"torch._sym_sin", "math.sin({0})"},
    {"torch._sym_exp", "math.exp({0})"},
    {"torch._sym_log2", "math.log2({0})"},
    {"math.ceil", "math.ceil({0})"},
    {"math.floor", "math.floor({0})"},
    {"math.trunc", "int({0})"},
    {"math.sqrt", "math.sqrt({0})"},
    {"math.exp", "math.exp({0})"},
    {"math.log", "math.log({0})"},
    {"math.log2", "math.log2({0})"},
    {"math.cos", "math.cos({0})"},
    {"math.sin", "math.sin({0})"},
    {"math.tanh", "math.tanh({0})"},
    {"math.pow", "math.pow({0}, {1})"},
    {"builtins.round", "round({0})"},
    {"builtins.max", "max({0}, {1})"},
    {"builtins.min", "min({0}, {1})"},
};

// Operators that the text says otherwise, by the names of their arguments.
// "name?other": an argument that may be missing.
constexpr Form kForms[] = {
    {"sym_size.int", "torch.size({self}, {dim})"},
    {"sym_size.default", "torch.size({self})"},
    {"sym_stride.int", "torch.stride({self}, {dim})"},
    {"sym_numel.default", "torch.numel({self})"},
    {"sym_storage_offset.default", "torch.storage_offset({self})"},
    // Strides may be others here: a copy where a view cannot be.
    {"view.default", "torch.reshape({self}, {size})"},
    {"lift.default", "{self}"},
    {"lift_fresh.default", "{self}"},
    {"lift_fresh_copy.default", "torch.clone({self})"},
    {"copy.default", "torch.copy_(torch.empty_like({self}), {src})"},
    {"_cdist_forward.default", "torch.cdist({x1}, {x2}, {p}, {compute_mode})"},
    {"_pdist_forward.default", "torch.pdist({self}, {p?2.})"},
    {"_adaptive_avg_pool2d.default",
     "torch.adaptive_avg_pool2d({self}, {output_size})"},
    {"_adaptive_avg_pool3d.default",
     "torch.adaptive_avg_pool3d({self}, {output_size})"},
    {"sym_is_contiguous.default", "torch.is_contiguous({self})"},
    // Results of these that nothing uses are not computed.
    {"_linalg_det.default",
     "(torch.linalg_det({A}), torch.linalg_lu_factor({A})[0], "
     "torch.linalg_lu_factor({A})[1])"},
    {"_linalg_slogdet.default",
     "(torch.linalg_slogdet({A})[0], torch.linalg_slogdet({A})[1], "
     "torch.linalg_lu_factor({A})[0], torch.linalg_lu_factor({A})[1])"},
    {"_linalg_solve_ex.default",
     "(torch.linalg_solve_ex({A}, {B}, left={left?True})[0], "
     "torch.linalg_lu_factor({A})[0], torch.linalg_lu_factor({A})[1], "
     "torch.linalg_solve_ex({A}, {B}, left={left?True})[1])"},
    {"_linalg_eigh.default", "torch.linalg_eigh({A}, {UPLO?\"L\"})"},
    {"_linalg_svd.default", "torch.linalg_svd({A}, {full_matrices?False})"},
    {"__and__.Tensor", "torch.bitwise_and({self}, {other})"},
    {"__and__.Scalar", "torch.bitwise_and({self}, {other})"},
    {"__or__.Tensor", "torch.bitwise_or({self}, {other})"},
    {"__or__.Scalar", "torch.bitwise_or({self}, {other})"},
    {"__xor__.Tensor", "torch.bitwise_xor({self}, {other})"},
    {"__xor__.Scalar", "torch.bitwise_xor({self}, {other})"},
    {"__lshift__.Scalar", "torch.bitwise_left_shift({self}, {other})"},
    {"__lshift__.Tensor", "torch.bitwise_left_shift({self}, {other})"},
    {"__rshift__.Scalar", "torch.bitwise_right_shift({self}, {other})"},
    {"__rshift__.Tensor", "torch.bitwise_right_shift({self}, {other})"},
    {"normal_functional.default",
     "torch.normal_(torch.empty_like({self}), {mean?0.}, {std?1.})"},
};

const Form* find_form(std::string_view target) {
  auto found =
      std::find_if(std::begin(kForms), std::end(kForms),
                   [&](const Form& form) { return form.target == target; });
  return found == std::end(kForms) ? nullptr : found;
}

// `text` with what `meaning` says of each {name}.
template <class Meaning>
std::string filled(std::string_view text, const Meaning& meaning) {
  std::string out;
  while (true) {
    const size_t begin = text.find('{');
    out += text.substr(0, begin);
    if (begin == std::string_view::npos) return out;
    const size_t end = text.find('}');
    out += meaning(text.substr(begin + 1, end - begin - 1));
    text.remove_prefix(end + 1);
  }
}

}  // namespace

bool GraphText::write_symbolic(const Node& node) {
  auto form = std::find_if(
      std::begin(kSymbolic), std::end(kSymbolic),
      [&](const Form& known) { return known.target == node.target; });
  if (form == std::end(kSymbolic)) return false;
  std::string text = filled(form->text, [&](std::string_view index) {
    const size_t i = size_t(index[0] - '0');
    HOTARU_CHECK(i < node.inputs.size(), node.target, " has ",
                 node.inputs.size(), " arguments");
    return expression(node.inputs[i].value);
  });
  // A power of integers is a float in TorchScript.
  const bool to_int = node.outputs.size() == 1 &&
                      node.outputs[0].kind == Kind::kSymInt &&
                      form->target == "_operator.pow";
  write_call(node, to_int ? concat("int(", text, ")") : text);
  return true;
}

// The argument of that name, or what stands for it.
std::string GraphText::given(const Node& node, std::string_view name,
                             std::string_view otherwise) const {
  for (const NamedArgument& input : node.inputs)
    if (input.name == name) return expression(input.value);
  HOTARU_CHECK(!otherwise.empty(), node.target, ": the argument '", name,
               "' is missing");
  return std::string(otherwise);
}

void GraphText::write_check(const std::string& condition,
                            const Argument& message) {
  open(concat("if not (", condition, "):"));
  line(concat("raise RuntimeError(", expression(message), ")"));
  close();
}

// Windows of signals, but for those that are operators here.
bool GraphText::write_window(const Node& node, std::string_view name) {
  const bool hann = name == "hann_window", hamming = name == "hamming_window";
  if (!hann && !hamming && name != "blackman_window") return false;
  auto argument = [&](std::string_view key, std::string_view otherwise = {}) {
    return given(node, key, otherwise);
  };
  const std::string size = fresh("size"), angle = fresh("angle"),
                    window = fresh("window");
  const std::string options =
      concat("dtype=", argument("dtype", "6"),
             ", device=", argument("device", "torch.device(\"cpu\")"));
  line(concat(size, " = ", argument("window_length")));
  // A window of one element is 1.
  open(concat("if ", size, " == 1:"));
  line(concat(window, " = torch.ones([1], ", options, ")"));
  close();
  open("else:");
  const bool periodic = argument("periodic", "True") == "True";
  line(concat(angle, " = torch.arange(", size, ", ", options,
              ") * (6.283185307179586 / (", size, periodic ? "" : " - 1",
              "))"));
  if (hann || hamming) {
    line(concat(window, " = ", hann ? "0.5" : argument("alpha", "0.54"),
                " - torch.cos(", angle, ") * ",
                hann ? "0.5" : argument("beta", "0.46")));
  } else {
    line(concat(window, " = 0.42 - torch.cos(", angle, ") * 0.5 + torch.cos(",
                angle, " * 2.) * 0.08"));
  }
  close();
  write_call(node, window);
  return true;
}

// Sums of products of three tensors, whose missing axes are named.
void GraphText::write_trilinear(const Node& node) {
  std::string product;
  for (int i = 1; i <= 3; ++i) {
    std::string factor = given(node, concat("i", i), {});
    for (const NamedArgument& input : node.inputs) {
      if (input.name != concat("expand", i)) continue;
      for (const Argument& axis : input.value.items) {
        factor =
            concat("torch.unsqueeze(", factor, ", ", expression(axis), ")");
      }
    }
    product += concat(i > 1 ? " * " : "", factor);
  }
  write_call(node, concat("torch.sum(", product, ", ",
                          given(node, "sumdim", {}), ")"));
}

bool GraphText::write_special(const Node& node, std::string_view name,
                              std::string_view overload) {
  auto argument = [&](std::string_view key, std::string_view otherwise = {}) {
    return given(node, key, otherwise);
  };
  if (const Form* form = find_form(concat(name, ".", overload))) {
    write_call(node, filled(form->text, [&](std::string_view key) {
                 const size_t mark = key.find('?');
                 return mark == std::string_view::npos
                            ? argument(key)
                            : argument(key.substr(0, mark),
                                       key.substr(mark + 1));
               }));
    return true;
  }
  if (name == "item" || name == "_local_scalar_dense") {
    HOTARU_CHECK(node.outputs.size() == 1, node.target, " has ",
                 node.outputs.size(), " results");
    const Kind kind = node.outputs[0].kind;
    const std::string_view to = kind == Kind::kSymBool    ? "bool"
                                : kind == Kind::kSymFloat ? "float"
                                                          : "int";
    write_call(node, concat(to, "(", argument("self"), ")"));
    return true;
  }
  if (name == "_assert_scalar") {
    HOTARU_CHECK(node.inputs.size() == 2, node.target, " takes two arguments");
    write_check(expression(node.inputs[0].value), node.inputs[1].value);
    return true;
  }
  if (name == "_assert_async" && node.inputs.size() <= 2) {
    const Argument message =
        node.inputs.size() == 2
            ? node.inputs[1].value
            : Argument{.kind = Kind::kString,
                       .text = "Expected Tensor with single nonzero value"};
    write_check(concat("bool(", argument("self"), ")"), message);
    return true;
  }
  // Their statements on dtypes and ranges follow from checks of the inputs.
  if (name == "_assert_tensor_metadata" ||
      name.starts_with("sym_constrain_range"))
    return true;
  if (name == "_to_copy") {
    const std::string self = argument("self");
    const std::string dtype = argument("dtype", "None");
    const std::string format = argument("memory_format", "None");
    write_call(node, concat("torch.to(", self, ", device=",
                            argument("device", "None"), ", dtype=", dtype,
                            ", copy=True, memory_format=", format, ")"));
    return true;
  }
  if (name == "_linalg_check_errors") {
    HOTARU_CHECK(node.inputs.size() == 3, node.target,
                 " takes three arguments");
    const std::string info = expression(node.inputs[0].value);
    write_check(concat("not bool(torch.any(torch.ne(", info, ", 0)))"),
                {.kind = Kind::kString,
                 .text = concat(node.inputs[1].value.text,
                                ": the computation could not be completed: a "
                                "matrix is singular, not positive-definite or "
                                "does not converge")});
    return true;
  }
  if (name.ends_with("_window")) return write_window(node, name);
  if (name == "_trilinear") {
    write_trilinear(node);
    return true;
  }
  if (name == "_native_batch_norm_legit_functional") {
    const std::string mean = fresh("mean"), var = fresh("var");
    line(concat(mean, " = torch.clone(", argument("running_mean"), ")"));
    line(concat(var, " = torch.clone(", argument("running_var"), ")"));
    const std::string out = fresh("_");
    line(concat(out, " = torch.native_batch_norm(", argument("input"), ", ",
                argument("weight", "None"), ", ", argument("bias", "None"),
                ", ", mean, ", ", var, ", ", argument("training"), ", ",
                argument("momentum"), ", ", argument("eps"), ")"));
    write_call(node, concat("(", out, "[0], ", out, "[1], ", out, "[2], ", mean,
                            ", ", var, ")"));
    return true;
  }
  // A program that was exported in training counts batches only there.
  if (name == "add_" && options_.training && *options_.training &&
      !node.inputs.empty() && node.inputs[0].value.kind == Kind::kTensor &&
      options_.counters.contains(node.inputs[0].value.text)) {
    const std::string counter = expression(node.inputs[0].value);
    open("if self.training:");
    line(concat("torch.add_(", counter, ", ", argument("other"), ")"));
    close();
    write_call(node, counter);
    return true;
  }
  return false;
}

}  // namespace hotaru::exchange::pt2
