// Programs in static single assignment form: a graph is a tree of blocks of
// nodes, and every variable is written once.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "hotaru/core/value.h"
#include "hotaru/ops/registry.h"
#include "hotaru/script/source/source.h"
#include "hotaru/script/types/type.h"

namespace hotaru::script {

class Function;
class Graph;
struct Block;
struct Node;

enum class NodeKind : uint8_t {
  kConstant,    // value
  kOp,          // op(inputs): a registered operator or built-in
  kCall,        // callee(inputs), self included
  kCallMethod,  // name of inputs[0]'s class, found when it runs
  kFork,        // callee(inputs) as a future; with an index, when it is asked
  kGetAttr,     // inputs[0].name, slot index
  kSetAttr,     // inputs[0].name = inputs[1]
  kIf,          // inputs[0]; blocks: true, false
  kLoop,        // inputs: count, carried...; body(index, carried...)
  kWhile,       // inputs: carried...; blocks: condition, body
  kTuple,
  kTupleUnpack,
  kTupleIndex,  // index
  kList,
  kListUnpack,
  kDict,        // key, value, key, value, ...
  kCreate,      // an instance of type
  kCast,        // inputs[0] as type, checked when it runs
  kIsInstance,  // inputs[0]; types
  kIs,          // inputs[0] is inputs[1]; index 1 negates
  kFormat,      // str.format: template, values...
  kPrint,
  kRaise,  // inputs: message, optional exception class
  kEnter,  // with inputs[0]: callee is __enter__
  kExit,   // callee is __exit__
  // Every block ends with one of these.
  kYield,        // values of the enclosing node's outputs
  kReturn,       // leaves the function
  kBreak,        // leaves the innermost loop; inputs: carried...
  kContinue,     // its next round; inputs: carried...
  kUnreachable,  // follows kRaise
};

/// A variable: an output of a node or a parameter of a block.
struct Var {
  struct Use {
    Node* node;
    uint32_t index;
    bool operator==(const Use&) const = default;
  };

  TypePtr type = nullptr;
  Node* producer = nullptr;  // null for parameters
  Block* block = nullptr;    // where it is defined
  std::string_view name;     // of the source's variable; may be empty
  uint32_t id = 0;
  std::vector<Use> uses;
};

/// Where inlined code was called from, innermost call first.
struct CallSite {
  SourceRange range;
  const Function* function;
  const CallSite* caller;
};

struct Node {
  NodeKind kind;
  Block* block = nullptr;
  Node* previous = nullptr;
  Node* next = nullptr;
  std::vector<Var*> inputs;
  std::vector<Var*> outputs;
  std::vector<Block*> blocks;
  SourceRange range;
  /// The function that the node was written in, and how it was inlined.
  const Function* function = nullptr;
  const CallSite* call_site = nullptr;

  // Members that the kind needs.
  const Operator* op = nullptr;
  Function* callee = nullptr;
  Value value;
  std::string name;
  int64_t index = 0;
  TypePtr type = nullptr;
  std::vector<TypePtr> types;

  Var* in(size_t i) const { return inputs[i]; }
  Var* out(size_t i = 0) const { return outputs[i]; }
  bool is_terminator() const { return kind >= NodeKind::kYield; }
  /// The constant's value if input i is one, else null.
  const Value* constant(size_t i) const;
};

struct Block {
  Node* owner = nullptr;  // null for a graph's top block
  std::vector<Var*> params;
  Node* first = nullptr;
  Node* last = nullptr;

  /// The node that ends the block, or null while it is being built.
  Node* terminator() const {
    return last && last->is_terminator() ? last : nullptr;
  }
};

/// TorchScript's name of the node's kind, "prim::If"; null for operators.
const char* kind_name(const Node& node);
/// A type as graphs show it: a NamedTuple by its fields and their defaults.
std::string ir_text(TypePtr type);
/// An operator's name with its namespace: "aten::add", "torchvision::nms".
std::string qualified(std::string_view name);

/// Owns the nodes, variables and blocks of one function.
class Graph {
 public:
  Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  Block& top() { return *top_; }
  const Block& top() const { return *top_; }
  size_t node_count() const { return node_count_; }

  Block* make_block(Node* owner);
  /// A node that stands nowhere yet.
  Node* make_node(NodeKind kind, const SourceRange& range);
  Var* add_output(Node* node, TypePtr type, std::string_view name = {});
  Var* add_param(Block* block, TypePtr type, std::string_view name = {});
  void add_input(Node* node, Var* var);
  void set_input(Node* node, size_t i, Var* var);
  void remove_input(Node* node, size_t i);
  void replace_uses(Var* from, Var* to);

  void append(Block* block, Node* node);
  void insert_before(Node* node, Node* where);
  /// Takes the node out of its block, keeping it.
  void unlink(Node* node);
  /// Removes a node and its blocks for good; its outputs must have no uses.
  void erase(Node* node);

  const CallSite* add_call_site(const CallSite& site);
  /// A copy of `text` that lives as long as the graph.
  std::string_view intern(std::string_view text);

  /// TorchScript's textual form.
  std::string str() const;

 private:
  static void remove_use(Var* var, const Var::Use& use);
  void drop_uses(Node* node);

  std::deque<Node> nodes_;
  std::deque<Var> vars_;
  std::deque<Block> blocks_;
  std::deque<CallSite> call_sites_;
  std::deque<std::string> names_;
  Block* top_;
  size_t node_count_ = 0;
};

}  // namespace hotaru::script
