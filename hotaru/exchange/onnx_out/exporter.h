// Programs as ONNX graphs: runs a program with symbols in place of values.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hotaru/core/error.h"
#include "hotaru/exchange/onnx_out/emitter.h"
#include "hotaru/exchange/onnx_out/lowering.h"
#include "hotaru/exchange/onnx_out/symbol.h"
#include "hotaru/script/ir/ir.h"
#include "hotaru/script/program/function.h"

namespace hotaru::exchange::onnx_out {

/// An operator that no row writes.
struct Missing {
  int count = 0;
  std::string where;  // the first call's source
};

/// Error that says what cannot be written, and where it stands in the source.
class ExportError : public NotImplementedError {
 public:
  using NotImplementedError::NotImplementedError;
};
/// The walk cannot go on behind an operator that no row writes.
struct Incomplete {};

class Exporter;
/// How a program writes an operator itself: adds nodes for a call with these
/// arguments, and gives its results' names in the graph.
using Symbolic =
    std::function<Names(Exporter&, const std::vector<Symbol>& arguments)>;
/// By the operator's name, "aten::relu", of all overloads, in place or not.
using Symbolics = std::map<std::string, Symbolic>;

/// Follows a program from its first node to its return. What is known is
/// computed at once, the rest becomes nodes; a condition that is not known
/// becomes an If, a loop whose number of rounds is not known a Loop.
class Exporter {
 public:
  Exporter(Emitter& emitter, const Symbolics& symbolics)
      : emitter_(emitter), symbolics_(symbolics) {}

  /// Names of parameters and buffers, by tensor.
  void name_tensor(const Tensor& tensor, const std::string& name);

  Symbol call(script::Function& function, std::vector<Symbol> arguments);
  const std::map<std::string, Missing>& missing() const { return missing_; }
  Emitter& emitter() { return emitter_; }

  /// A value of the program that is known as a symbol.
  Symbol symbol_of(const Value& value);
  Symbol new_tensor(std::string name, Example example);
  /// A value's name in the graph, which is added to it where it must be.
  std::string read(Cell& cell);
  std::string name_of(const Symbol& symbol, std::optional<DType> dtype);
  /// Gives a tensor a new value, as an operator in place does.
  void write(Cell& cell, const std::string& name);
  /// To be called before a list changes.
  void touch(const std::shared_ptr<List>& list);
  void touch(const std::shared_ptr<Cell>& cell);

 private:
  using Node = script::Node;
  using Block = script::Block;
  using Var = script::Var;
  using Frame = std::unordered_map<const Var*, Symbol>;

  /// How a block was left. kEnd: of a loop's round, with whether there is
  /// another one and the carried values.
  struct Exit {
    enum class Kind : uint8_t { kYield, kReturn, kEnd, kRaise };
    Kind kind = Kind::kYield;
    std::vector<Symbol> values = {};
    Symbol again = Value(true);
    std::string message = {};
  };
  /// Continuation after a branch's end: the nodes behind its If.
  struct Rest {
    const Node* branch;
    const Rest* outer;
  };
  /// Values that a subgraph changed of what was made outside of it.
  struct Scope {
    std::map<std::shared_ptr<Cell>, Cell> cells;
    std::map<std::shared_ptr<List>, List> lists;
  };
  /// A subgraph in the making, or made, with what it changed.
  struct Branch {
    std::shared_ptr<io::onnx::Graph> graph;
    Exit exit;
    Scope after;
  };

  // The walk (exporter.cpp).
  Exit run(const Node* node, Frame& frame, const Rest* rest);
  void step(const Node& node, Frame& frame);
  void get_attribute(const Node& node, Frame& frame);
  void set_attribute(const Node& node, Frame& frame);
  Symbol call_method(const Node& node, std::vector<Symbol> arguments);
  const Symbol& at(const Frame& frame, const Var* var) const;
  std::vector<Symbol> inputs(const Node& node, const Frame& frame) const;

  // Operators (call_operator.cpp).
  void call_operator(const Node& node, Frame& frame);
  std::vector<Symbol> results(const Node& node, std::vector<Symbol> inputs);
  bool evaluate(const Operator& op, const std::vector<Symbol>& inputs,
                std::vector<Value> (&out)[2], std::string& why);
  // Result of an operator in place where that is of another dtype than the
  // tensor, to whose dtype it is rounded: truths of comparisons; else nothing.
  std::vector<Example> before_rounding(const Operator& op,
                                       const std::vector<Symbol>& inputs);
  std::optional<std::vector<Symbol>> folded(const Node& node,
                                            const std::vector<Symbol>& inputs);
  std::vector<Symbol> lowered(const Node& node, std::vector<Symbol> inputs);
  void link_view(const Node& node, const std::vector<Symbol>& inputs,
                 std::vector<Symbol>& outputs);
  std::string put_back(const Node& node, const std::vector<Symbol>& inputs,
                       size_t base, size_t output, const std::string& old,
                       const std::string& value);
  const Symbolic* symbolic_of(const Operator& op, std::string name) const;
  std::vector<Symbol> symbolic_results(const Node& node,
                                       const Symbolic& symbolic,
                                       const std::vector<Symbol>& inputs,
                                       const std::vector<Value> (&out)[2]);
  std::vector<Symbol> missing_results(const Node& node,
                                      const std::vector<Value> (&out)[2],
                                      const std::string& why);

  // Control flow (flow.cpp, loop.cpp).
  std::optional<Exit> branch(const Node& node, Frame& frame, const Rest* rest,
                             const Node*& next, bool& inside);
  std::optional<Exit> joined_exit(const Node& node,
                                  const std::string& condition, Branch& yes,
                                  Branch& no, Frame& frame, const Node*& next);
  std::optional<Exit> loop(const Node& node, Frame& frame);
  std::vector<Symbol> graph_loop(const Node& node, const Symbol& count,
                                 const Symbol& test,
                                 std::vector<Symbol> initial, Frame& frame);
  Symbol condition(const Node& node, const std::vector<Symbol>& carried,
                   Frame& frame);

  // Subgraphs (scope.cpp).
  Branch in_subgraph(const std::string& name,
                     const std::function<Exit()>& body);
  void restore(const Scope& scope);
  Symbol pinned(const Symbol& symbol);

  Emitter& emitter_;
  const Symbolics& symbolics_;
  std::unordered_map<const TensorImpl*, std::shared_ptr<Cell>> by_tensor_;
  // So that no address is used twice.
  std::vector<Tensor> kept_;
  std::vector<Value> objects_;
  std::map<std::pair<const InstanceObject*, size_t>, Symbol> slots_;
  std::vector<Scope> scopes_;
  std::map<std::string, Missing> missing_;
  std::map<const Node*, bool> counted_;
  int calls_ = 0;
  int64_t steps_ = 0;
};

/// PyTorch's name of an operator's overload: "aten::add.Tensor".
std::string qualified_name(const Operator& op);

}  // namespace hotaru::exchange::onnx_out
