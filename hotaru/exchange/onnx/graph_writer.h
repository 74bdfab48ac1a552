// ONNX graphs as TorchScript: a node becomes a call of the function that says
// what its operator does (operators.h), or control flow.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "hotaru/exchange/module_tree.h"
#include "hotaru/exchange/onnx/operand.h"
#include "hotaru/exchange/onnx/operators.h"
#include "hotaru/io/onnx/onnx_file.h"

namespace hotaru::exchange::onnx {

/// Writes one model's forward, and adds the tensors that it reads to a module.
class GraphWriter {
 public:
  GraphWriter(io::onnx::OnnxFile& file, Operators& operators, ModuleTree& tree);

  /// The definition of `forward`. Throws Error naming node and operator, of
  /// operators that are not here all at once.
  std::string forward();

 private:
  using Graph = io::onnx::Graph;
  using Node = io::onnx::Node;
  using Attributes = std::vector<io::onnx::Attribute>;
  using Opsets = std::map<std::string, int64_t>;

  /// Names within a graph, which sees those around it.
  struct Scope {
    const Scope* parent = nullptr;
    /// The function's whose body this is in, or null.
    const Attributes* attributes = nullptr;
    const Opsets* opsets = nullptr;
    std::map<std::string, Operand> values = {};

    const Operand* find(const std::string& name) const;
  };
  /// A graph's text, and what its outputs are in it.
  struct Block {
    std::string text;
    std::vector<Operand> results;
  };
  /// State that a loop carries on by rounds, and lists of what rounds give.
  struct Rounds {
    std::vector<Operand> initial, variables = {};
    std::vector<Kind> kinds = {};
    std::vector<Operand> stacks = {};
  };
  /// Start of a Scan and what it goes along, on which axes, and which way.
  struct ScanPlan {
    std::vector<Operand> initial, sequences;
    std::vector<int64_t> axes, backwards, out_axes, out_backwards;
  };
  /// A function that fits a node.
  struct Choice {
    script::Function* function = nullptr;
    int cost = 0;
    size_t results = 0;
  };

  std::string parameters(Scope& scope);
  std::string device_line(const Scope& scope) const;

  // Checks of what is given (input_checks.cpp).
  std::string input_checks(const Scope& scope) const;
  std::string converted(const Scope& scope) const;

  void add_initializers(const Graph& graph, Scope& scope, bool top);
  void write(const std::vector<Node>& nodes, Scope& scope);
  void write(const Node& node, Scope& scope);
  bool is_known(const Node& node, const Scope& scope);
  /// Operators that are no functions; false for all others.
  bool write_special(const Node& node, Scope& scope);
  bool write_cast(const Node& node, Scope& scope);
  bool write_constant(const Node& node, Scope& scope);
  bool write_function(const Node& node, Scope& scope);

  // Calls (write_call.cpp).
  static int64_t opset_of(const Node& node, const Scope& scope);
  static std::string full_name(const Node& node);
  std::vector<script::Function*> functions_of(const Node& node,
                                              const Scope& scope,
                                              bool known = false);
  void write_call(const Node& node, Scope& scope);
  std::optional<Choice> choose(const Node& node,
                               const std::vector<Operand>& inputs,
                               const std::vector<script::Function*>& functions,
                               std::string& reason);
  bool fits_tensor(const Node& node, const script::Parameter& parameter);
  std::string call_text(const Node& node, const std::vector<Operand>& inputs,
                        script::Function& function, int64_t opset);
  std::string attribute_text(const Node& node,
                             const io::onnx::Attribute& attribute,
                             const script::Parameter& parameter);
  void bind_results(const Node& node, script::Function& function,
                    const std::string& call, Scope& scope, DType numbers);
  /// The small type that a keyword `small_...` of a function asks for: of the
  /// node's attribute of that name, or of the input.
  int64_t small_type(const Node& node, const std::vector<Operand>& inputs,
                     script::Function& function, std::string_view name);
  /// The small type of the first result.
  static int64_t small_result(const Node& node,
                              const std::vector<Operand>& inputs);

  // Numbers of the host that are no int64 (write_call.cpp).
  std::optional<DType> common_dtype(const std::vector<Operand>& inputs) const;
  /// Dtype of the numbers that the operator makes of them; none where it does
  /// not keep them as they are. Constants beside them become such numbers.
  std::optional<DType> other_numbers(const Node& node,
                                     std::vector<Operand>& inputs);
  /// Makes tensors of those that the operator takes as data.
  void to_tensors(const Node& node, std::vector<Operand>& inputs);

  // Control flow (write_flow.cpp).
  Block block(const Graph& graph, Scope& scope);
  void write_if(const Node& node, Scope& scope);
  void write_loop(const Node& node, Scope& scope);
  void write_scan(const Node& node, Scope& scope);
  Rounds write_scan_rounds(const Graph& body, const ScanPlan& plan,
                           const std::string& length, Scope& scope);
  void write_batched_scan(const Node& node, const Graph& body, ScanPlan plan,
                          Scope& scope);
  void write_sequence_map(const Node& node, Scope& scope);
  /// Attention whose scores or probabilities a graph changes; false for one
  /// without such graphs.
  bool write_flex_attention(const Node& node, Scope& scope);
  /// The one result of a graph of one input, which stands here.
  Operand applied(const Node& node, std::string_view graph, Operand value,
                  Scope& scope);
  /// Appends to a block's text what gives variables their next values.
  void assign(const std::vector<Operand>& variables,
              const std::vector<Operand>& values, std::string& text);
  void declare(const Graph& body, size_t first, Rounds& rounds, Scope& scope);
  void begin(Rounds& rounds, size_t gathered);
  void end_round(const Rounds& rounds, std::vector<Operand> results,
                 const std::vector<int64_t>& backwards);
  void finish(const Node& node, const Rounds& rounds, const Graph& body,
              size_t first, const std::vector<int64_t>& axes, Scope& scope);
  Operand new_list();
  Operand stacked(const Operand& list, int64_t axis,
                  const io::onnx::ValueInfo& element);
  /// Compiles a body until the kinds of its variables stay as they are.
  template <class Body>
  Block fixed_block(const std::vector<Operand>& initial,
                    std::vector<Kind>& kinds, const Body& body);

  Operand input(const Node& node, size_t i, const Scope& scope) const;
  void set(const Node& node, size_t i, Operand value, Scope& scope);
  Operand constant(Tensor tensor, std::string name, ModuleTree::Role role);
  /// A tensor of the file, which may hold values of a small type.
  Operand read_constant(const io::onnx::TensorProto& tensor, std::string name,
                        ModuleTree::Role role);
  Operand variable(Kind kind);
  void line(const std::string& text);
  std::string where(const Node& node) const;

  io::onnx::OnnxFile& file_;
  Operators& operators_;
  ModuleTree& tree_;
  std::map<std::pair<std::string, std::string>, const io::onnx::Function*>
      functions_;
  std::set<std::string> statistics_;  // running ones: buffers
  std::map<std::string, int> missing_;
  std::string text_;
  size_t indent_ = 1;
  int64_t names_ = 0;
  size_t written_ = 0;
  size_t letters_ = 0;
  int depth_ = 0;
};

}  // namespace hotaru::exchange::onnx
