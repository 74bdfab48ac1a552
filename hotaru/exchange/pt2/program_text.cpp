#include "hotaru/exchange/pt2/program_text.h"

#include <algorithm>
#include <optional>
#include <set>

#include "hotaru/core/checks/check.h"
#include "hotaru/exchange/module_tree.h"
#include "hotaru/exchange/pt2/graph_text.h"
#include "hotaru/exchange/pt2/input_checks.h"
#include "hotaru/exchange/pt2/tree_text.h"

namespace hotaru::exchange::pt2 {

using Kind = Argument::Kind;

namespace {

constexpr std::string_view kFlat = "_flat_forward";
constexpr std::string_view kChecks = "_check_inputs";

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i)
    out += concat(i > 0 ? ", " : "", parts[i]);
  return out;
}

bool is_modal_flag(const NamedArgument& input) {
  return (input.name == "train" || input.name == "training") &&
         input.value.kind == Kind::kBool;
}

// Finds whether a layer says that it was exported in training; nothing if no
// layer says what mode it was in.
void find_mode(const Graph& graph, std::optional<bool>& mode) {
  for (const Node& node : graph.nodes) {
    for (const NamedArgument& input : node.inputs) {
      if (input.value.graph) find_mode(*input.value.graph, mode);
      // Decomposed programs keep what they say.
      if (is_modal_flag(input) &&
          node.target.find("native") == std::string::npos)
        mode = mode.value_or(false) || input.value.flag;
    }
  }
}

void find_devices(const Graph& graph, std::set<std::string>& devices) {
  for (const auto& [name, meta] : graph.tensors) devices.insert(meta.device);
  for (const Node& node : graph.nodes) {
    for (const NamedArgument& input : node.inputs)
      if (input.value.graph) find_devices(*input.value.graph, devices);
  }
}

bool is_user(const InputSpec& spec) {
  return spec.kind == InputSpec::Kind::kUser ||
         spec.kind == InputSpec::Kind::kConstant;
}

bool is_result(const OutputSpec& spec) {
  return spec.kind == OutputSpec::Kind::kUser ||
         spec.kind == OutputSpec::Kind::kLoss;
}

class Writer {
 public:
  explicit Writer(const File& file) : file_(file) {
    HOTARU_CHECK(file.inputs.size() == file.graph.inputs.size(),
                 "the signature has ", file.inputs.size(),
                 " inputs, the graph ", file.graph.inputs.size());
    HOTARU_CHECK(file.outputs.size() == file.graph.outputs.size(),
                 "the signature has ", file.outputs.size(),
                 " outputs, the graph ", file.graph.outputs.size());
  }

  ProgramText write() {
    find_mode(file_.graph, mode_);
    out_.training = mode_.value_or(false);
    write_flat();
    write_forward();
    return std::move(out_);
  }

 private:
  GraphText::Options options() {
    GraphText::Options options{.training = mode_, .device = {}, .counters = {}};
    for (const InputSpec& spec : file_.inputs) {
      const bool counts = spec.kind == InputSpec::Kind::kBuffer &&
                          spec.target.ends_with("num_batches_tracked");
      if (counts) options.counters.insert(spec.argument.text);
    }
    std::set<std::string> devices;
    find_devices(file_.graph, devices);
    if (devices.size() <= 1) options.device = device_of_inputs();
    return options;
  }

  // A program of one device runs where its parameters, or else its inputs are.
  std::string device_of_inputs() const {
    for (const InputSpec& spec : file_.inputs) {
      if (spec.kind == InputSpec::Kind::kParameter) {
        return concat("ops.prim.device(", ModuleTree::expression(spec.target),
                      ")");
      }
    }
    for (size_t i = 0; i < leaves_.size(); ++i)
      if (leaves_[i].type == "Tensor")
        return concat("ops.prim.device(", leaves_[i].name, ")");
    return {};
  }

  void write_flat() {
    GraphText names({}, 0);  // gives parameters their names
    std::vector<std::string> inputs;
    for (const InputSpec& spec : file_.inputs) {
      if (spec.kind == InputSpec::Kind::kToken) {
        inputs.push_back("None");
        continue;
      }
      if (!is_user(spec)) {
        inputs.push_back(ModuleTree::expression(spec.target));
        continue;
      }
      std::string name = names.fresh(spec.kind == InputSpec::Kind::kConstant
                                         ? spec.target
                                         : spec.argument.text);
      leaves_.push_back({.name = name,
                         .type = leaf_type(spec.argument),
                         .argument = &spec.argument});
      inputs.push_back(std::move(name));
    }
    HOTARU_CHECK(leaf_count(file_.in_tree) == leaves_.size(),
                 "the containers of the arguments have ",
                 leaf_count(file_.in_tree), " leaves for ", leaves_.size(),
                 " inputs");
    GraphText body(options(), 2);
    std::vector<std::string> arguments;
    for (const Leaf& leaf : leaves_) {
      body.fresh(leaf.name);
      arguments.push_back(leaf.name);
    }
    const InputChecks checks = input_checks(file_, leaves_);
    if (!checks.fail.empty()) {
      body.open(concat("if ", checks.fail, ":"));
      body.line(concat("self.", kChecks, "(", joined(arguments), ")"));
      // The method has done so; this says that nothing comes after it.
      body.line("raise RuntimeError(\"an input is not as expected\")");
      body.close();
    }
    const std::vector<std::string> outputs = body.write(file_.graph, inputs);
    refuse_missing(body.missing());
    std::vector<std::string> values, types;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const OutputSpec& spec = file_.outputs[i];
      if (is_result(spec)) {
        values.push_back(outputs[i]);
        types.push_back(leaf_type(spec.argument));
      } else if (spec.kind != OutputSpec::Kind::kToken) {
        body.line(concat("torch.copy_(torch.detach(", written(spec, inputs),
                         "), torch.detach(", outputs[i], "))"));
      }
    }
    result_types_ = types;
    const bool one = values.size() == 1;
    std::string type = "NoneType", value = "None";
    if (!values.empty()) {
      type = one ? types[0] : concat("Tuple[", joined(types), "]");
      value = one ? values[0] : concat("(", joined(values), ")");
    }
    body.line(concat("return ", value));
    out_.uses_modes = body.uses_modes();
    out_.flat_method = simple() ? "forward" : kFlat;
    out_.methods = concat(
        checks.fail.empty()
            ? std::string()
            : header(kChecks, "NoneType") + checks.raise + "  return None\n",
        header(out_.flat_method, type), body.text());
  }

  std::string header(std::string_view method, std::string_view type) const {
    std::string out = concat("def ", method, "(self");
    for (const Leaf& leaf : leaves_)
      out += concat(", ", leaf.name, ": ", leaf.type);
    return concat(out, ") -> ", type, ":\n");
  }

  // Target that an output other than a result is written to.
  std::string written(const OutputSpec& spec,
                      const std::vector<std::string>& inputs) const {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const InputSpec& input = file_.inputs[i];
      const std::string& name = spec.kind == OutputSpec::Kind::kInput
                                    ? input.argument.text
                                    : input.target;
      const bool kind =
          is_user(input) == (spec.kind == OutputSpec::Kind::kInput);
      if (kind && name == spec.target) return inputs[i];
    }
    fail("an output is written to '", spec.target.substr(0, 80),
         "', which is no input");
  }

  static void refuse_missing(const std::map<std::string, int>& missing) {
    if (missing.empty()) return;
    std::string list;
    for (const auto& [name, count] : missing) {
      list += concat(list.empty() ? "" : ", ", name);
      if (count > 1) list += concat(" (", count, " times)");
    }
    fail<NotImplementedError>(
        "the program needs operators that are not implemented: ", list);
  }

  // True if the leaves are the arguments, and the flat result the result.
  bool simple() const {
    const TreeSpec& in = file_.in_tree;
    if (!is_call(in)) return false;
    auto leaf = [](const TreeSpec& tree) {
      return tree.kind == TreeSpec::Kind::kLeaf;
    };
    for (const TreeSpec& arguments : in.children)
      if (!std::all_of(arguments.children.begin(), arguments.children.end(),
                       leaf))
        return false;
    const TreeSpec& out = file_.out_tree;
    return leaf(out) ||
           (out.type == "builtins.tuple" && out.children.size() > 1 &&
            std::all_of(out.children.begin(), out.children.end(), leaf));
  }

  // A tuple of arguments and a dict of keywords.
  static bool is_call(const TreeSpec& tree) {
    return tree.kind == TreeSpec::Kind::kTuple && tree.children.size() == 2 &&
           tree.children[0].kind == TreeSpec::Kind::kTuple &&
           tree.children[1].kind == TreeSpec::Kind::kDict;
  }

  void write_forward() {
    if (out_.flat_method == "forward") return;
    std::optional<std::string> text;
    if (is_call(file_.in_tree)) text = structured();
    if (text) {
      out_.methods += *text;
      return;
    }
    out_.flat_only = true;
    const size_t at = out_.methods.find(concat("def ", kFlat, "("));
    out_.methods.replace(at + 4, kFlat.size(), "forward");
    out_.flat_method = "forward";
  }

  // forward with containers, or nothing if TorchScript lacks types for them.
  std::optional<std::string> structured() const {
    std::vector<std::string> types, leaves;
    for (const Leaf& leaf : leaves_) types.push_back(leaf.type);
    GraphText body({}, 2);
    std::string header = "def forward(self";
    size_t next = 0;
    size_t position = 0;
    auto add = [&](const TreeSpec& tree, const std::string& name) {
      const std::optional<std::string> type = tree_type(tree, types, next);
      if (!type) return false;
      const std::string parameter = body.fresh(name);
      header += concat(", ", parameter, ": ", *type);
      unpack(tree, parameter, body, leaves);
      return true;
    };
    const std::vector<std::string>& names = file_.argument_names;
    for (const TreeSpec& tree : file_.in_tree.children[0].children) {
      const bool named = position < names.size();
      if (!add(tree, named ? names[position] : concat("arg", position)))
        return {};
      ++position;
    }
    const TreeSpec& keywords = file_.in_tree.children[1];
    for (size_t i = 0; i < keywords.children.size(); ++i)
      if (!add(keywords.children[i], keywords.keys[i])) return {};
    size_t result = 0;
    if (leaf_count(file_.out_tree) != result_types_.size()) return {};
    const std::optional<std::string> type =
        tree_type(file_.out_tree, result_types_, result);
    if (!type) return {};
    const std::string value = body.fresh("result");
    body.line(concat(value, " = self.", kFlat, "(", joined(leaves), ")"));
    std::vector<std::string> results;
    for (size_t i = 0; i < result_types_.size(); ++i) {
      results.push_back(result_types_.size() == 1 ? value
                                                  : concat(value, "[", i, "]"));
    }
    size_t packed = 0;
    body.line(concat("return ", pack(file_.out_tree, results, packed)));
    return concat(header, ") -> ", *type, ":\n", body.text());
  }

  const File& file_;
  ProgramText out_;
  std::optional<bool> mode_;
  std::vector<Leaf> leaves_;
  std::vector<std::string> result_types_;
};

}  // namespace

ProgramText program_text(const File& file) {
  return Writer(file).write();
}

}  // namespace hotaru::exchange::pt2
