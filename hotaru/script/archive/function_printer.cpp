// One function's graph as source: a statement a node, constants in their
// places.
#include <algorithm>
#include <iterator>
#include <utility>

#include "hotaru/core/checks/check.h"
#include "hotaru/runtime/threads/stack_room.h"
#include "hotaru/script/archive/elif_chain.h"
#include "hotaru/script/archive/literal.h"
#include "hotaru/script/archive/op_spelling.h"
#include "hotaru/script/archive/source_printer.h"
#include "hotaru/script/run/foreign.h"
#include "hotaru/script/source/parser.h"

namespace hotaru::script {

namespace {

// Names that the text itself uses.
constexpr std::string_view kTaken[] = {
    "torch",          "ops",      "CONSTANTS",
    "__torch__",      "annotate", "fork",
    "getattr",        "int",      "float",
    "bool",           "str",      "sorted",
    "isinstance",     "inf",      "nan",
    "range",          "print",    "uninitialized",
    "unchecked_cast",
};

class FunctionPrinter {
 public:
  explicit FunctionPrinter(SourcePrinter& program) : program_(program) {
    used_.insert(std::begin(kTaken), std::end(kTaken));
  }

  // Prints a function as `forward` of a class (self is added), or a method.
  std::string print(Function& function, const Graph* graph, int indent,
                    std::string_view forward_of, std::string_view self_type) {
    indent_ = indent;
    if (!forward_of.empty()) used_.insert("self");
    result_ = function.result_type();
    header(function, graph, forward_of, self_type);
    indent_ += 2;
    if (graph)
      block(graph->top());
    else
      line("pass");
    return std::move(out_);
  }

 private:
  void line(std::string_view text) {
    out_.append(size_t(indent_), ' ');
    out_ += text;
    out_ += '\n';
  }

  std::string fresh(std::string_view wanted) {
    std::string stem(is_identifier(wanted) ? wanted : "_");
    bool numbered = stem == "_";
    for (int& next = next_number_[stem];; numbered = true) {
      std::string name = numbered ? concat(stem, next++) : stem;
      if (used_.insert(name).second) return name;
    }
  }

  const std::string& name(const Var* var) {
    auto [found, added] = texts_.try_emplace(var);
    if (added) found->second = fresh(var->name);
    return found->second;
  }

  const std::string& text(const Var* var) const {
    auto found = texts_.find(var);
    HOTARU_CHECK(found != texts_.end(),
                 "internal error: a variable is printed before its value");
    return found->second;
  }

  template <class Each>
  static std::string joined(size_t count, const Each& each) {
    std::string out;
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) out += ", ";
      out += each(i);
    }
    return out;
  }
  std::string inputs(const Node& node, size_t first = 0) const {
    return joined(node.inputs.size() - first,
                  [&](size_t i) { return text(node.in(first + i)); });
  }

  // A list's items; whole numbers among floats are spelled as such, which
  // PyTorch asks for.
  std::string items(const Node& node) const {
    const TypePtr item = node.out()->type->item();
    return joined(node.inputs.size(), [&](size_t i) {
      const Var* value = node.in(i);
      if (item->kind != TypeKind::kFloat || value->type->kind != TypeKind::kInt)
        return text(value);
      const Value* known = node.constant(i);
      return known ? program_.constant_text(*known, item)
                   : concat("float(", text(value), ")");
    });
  }

  void header(Function& function, const Graph* graph,
              std::string_view method_of, std::string_view self_type) {
    std::string out = concat(
        "def ", method_of.empty() ? function.short_name() : "forward", "(");
    if (!method_of.empty()) out += concat("self: ", method_of);
    const std::vector<Parameter>& params = function.params();
    bool keywords = false;
    for (size_t i = 0; i < params.size(); ++i) {
      const Parameter& param = params[i];
      if (i > 0 || !method_of.empty()) out += ",\n    ";
      if (param.keyword_only && !keywords) {
        out += "*,\n    ";
        keywords = true;
      }
      out += graph ? name(graph->top().params[i]) : param.name;
      bool plain_self = i == 0 && !graph;
      if (i == 0 && !self_type.empty())
        out += concat(": ", self_type);
      else if (!plain_self)
        out += concat(": ", program_.type_text(param.type));
      // Calls of an interface's methods name all arguments.
      if (param.has_default && graph) {
        out += concat("=",
                      program_.constant_text(param.default_value, param.type));
      }
    }
    line(concat(out, ") -> ", program_.type_text(function.result_type()), ":"));
  }

  // `target = value`, where the target's type is wider: `target : T = value`.
  void assign(const std::string& target, TypePtr type, const Var* value) {
    if (target == text(value)) return;
    bool declares = value->type != type && !declared_.contains(target);
    line(concat(target, declares ? concat(" : ", program_.type_text(type)) : "",
                " = ", text(value)));
    declared_.insert(target);
  }

  // Several at once: no target is overwritten before it is read.
  void assign_all(const std::vector<Var*>& targets,
                  const std::vector<Var*>& values) {
    std::vector<size_t> changed;
    for (size_t i = 0; i < targets.size(); ++i)
      if (name(targets[i]) != text(values[i])) changed.push_back(i);
    bool crossing = false;
    for (size_t i : changed)
      for (size_t j : changed)
        crossing |= i != j && text(targets[i]) == text(values[j]);
    if (!crossing) {
      for (size_t i : changed)
        assign(text(targets[i]), targets[i]->type, values[i]);
      return;
    }
    std::string left, right;
    for (size_t i : changed) {
      left += text(targets[i]) + ", ";
      right += text(values[i]) + ", ";
    }
    line(concat(left, "= (", right, ")"));
  }

  void block(const Block& block) {
    int outer = indent_;
    size_t before = out_.size();
    for (const Node* node = block.first; node; node = node->next)
      node = print_node(*node);
    if (out_.size() == before) line("pass");
    indent_ = outer;
  }

  void inner_block(const Block& inner) {
    check_depth(inner);
    indent_ += 2;
    block(inner);
    indent_ -= 2;
  }

  // Checks the depth: what could not be read back is not written.
  void check_depth(const Block& inner) const {
    constexpr int kDeepest = ParseLimits::kArchiveDepth - 10;
    if (indent_ > 2 * kDeepest || stack_is_low()) {
      fail_at(inner.first->range, "code that is nested more than ",
              std::min(indent_ / 2, kDeepest), " levels deep cannot be saved");
    }
  }

  // Defines the outputs by an expression.
  void define(const Node& node, const std::string& value) {
    if (inlines_) {
      texts_[node.out()] = value;
      return;
    }
    if (node.outputs.empty()) return line(value);
    if (node.outputs.size() == 1)
      return line(concat(name(node.out()), " = ", value));
    std::string left;
    for (const Var* out : node.outputs) left += name(out) + ", ";
    line(concat(left, "= ", value));
  }

  static bool is_method(const Function* function, std::string_view name) {
    return function && function->owner() && function->short_name() == name;
  }

  std::string arguments(const Node& node, Function& callee, size_t first) {
    const std::vector<Parameter>& params = callee.params();
    return joined(node.inputs.size() - first, [&](size_t i) {
      const Parameter& param = params[first + i];
      std::string prefix =
          param.keyword_only ? concat(param.name, "=") : std::string();
      return prefix + text(node.in(first + i));
    });
  }

  std::string call(const Node& node) {
    Function& callee = *node.callee;
    ClassType* owner = callee.owner();
    // PyTorch knows hooks as functions; frozen programs as methods.
    bool is_hook = owner && owner->is_hook(&callee);
    if (owner && (!is_hook || program_.leaves_out_modules())) {
      if (!owner->is_module()) program_.add(owner->type());
      return concat("(", text(node.in(0)), ").", callee.short_name(), "(",
                    arguments(node, callee, 1), ")");
    }
    return concat(program_.function_text(callee), "(",
                  arguments(node, callee, 0), ")");
  }

  // A number that stands for a tensor: as itself where PyTorch has an overload
  // for numbers, which gives the same result.
  std::string operand(const Node& node, size_t i) {
    auto number = numbers_.find(node.in(i));
    if (number == numbers_.end()) return text(node.in(i));
    // PyTorch 1.13 takes no bool for a number.
    bool plain = node.in(i)->producer->in(0)->type->kind != TypeKind::kBool;
    if (plain && takes_number(*node.op, i)) return number->second;
    return wants_dtype(*node.op)
               ? concat("torch.tensor(", number->second,
                        ", dtype=ops.prim.dtype(", text(node.in(0)), "))")
               : concat("torch.tensor(", number->second, ")");
  }

  // Without the trailing arguments that are their defaults, which overloads
  // for numbers don't have, nor older versions.
  std::string op(const Node& node) {
    if (std::optional<DType> dtype = cast_target(*node.op))
      return concat("torch.to(", text(node.in(0)), ", ", int(*dtype), ")");
    const std::vector<Argument>& schema = node.op->schema().arguments;
    auto is_default = [&](size_t i) {
      const Value* value = node.constant(i);
      const std::optional<Value>& normal = schema[i].default_value;
      return value && normal && value->is(*normal);
    };
    size_t positional = 0;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      bool needed = !schema[i].keyword_only && !is_default(i);
      if (needed) positional = i + 1;
    }
    std::vector<std::string> arguments;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (i >= positional && is_default(i)) continue;
      bool named = i > 0 && (schema[i].keyword_only || names_all(*node.op));
      arguments.push_back((named ? schema[i].name + "=" : std::string()) +
                          operand(node, i));
    }
    return concat(
        op_spelling(*node.op), "(",
        joined(arguments.size(), [&](size_t i) { return arguments[i]; }), ")");
  }

  void number_as_tensor(const Node& node) {
    const std::string& number = text(node.in(0));
    numbers_[node.out()] = number;
    bool all = std::all_of(
        node.out()->uses.begin(), node.out()->uses.end(),
        [](const Var::Use& use) { return use.node->kind == NodeKind::kOp; });
    if (!all) define(node, concat("torch.tensor(", number, ")"));
  }

  void fork(const Node& node) {
    std::string function = fresh("__forked_function");
    line(concat("def ", function, "():"));
    const Block& top = node.callee->graph().top();
    for (size_t i = 0; i < top.params.size(); ++i)
      texts_[top.params[i]] = text(node.in(i));
    TypePtr outer = std::exchange(result_, node.callee->result_type());
    inner_block(top);
    result_ = outer;
    define(node, concat(node.index ? "awaitable(" : "fork(", function, ")"));
  }

  void branch(const Node& node) {
    line(concat("if ", text(node.in(0)), ":"));
    for (const Var* out : node.outputs) name(out);
    // Each branch declares what it widens.
    const std::set<std::string> before = declared_;
    BranchTargets targets(node.outputs);
    const Node* part = &node;
    inner_block_yielding(*part->blocks[0], targets);
    while (const Node* next = elif_of(*part->blocks[1])) {
      line(concat("elif ", condition(*part->blocks[1], *next), ":"));
      targets.enter(*next);
      part = next;
      declared_ = before;
      inner_block_yielding(*part->blocks[0], targets);
    }
    line("else:");
    declared_ = before;
    inner_block_yielding(*part->blocks[1], targets);
    for (const Var* out : node.outputs) declared_.insert(text(out));
  }

  // Expression of what stands before the end in the block: its input.
  std::string condition(const Block& block, const Node& end) {
    const bool outer = std::exchange(inlines_, true);
    for (const Node* node = block.first; node != &end; node = node->next)
      print_node(*node);
    inlines_ = outer;
    return text(end.in(0));
  }

  void short_circuit(const Node& node) {
    const Block& side = *evaluated_side(node);
    const char* word = &side == node.blocks[0] ? " and " : " or ";
    const std::string right = condition(side, *side.terminator());
    define(node, concat("(", text(node.in(0)), word, right, ")"));
  }

  void inner_block_yielding(const Block& inner, const BranchTargets& targets) {
    yields_.push_back(targets);
    inner_block(inner);
    yields_.pop_back();
  }

  // Carried variables keep their names from round to round, and after it.
  void start_loop(const Node& node, size_t first,
                  const std::vector<const std::vector<Var*>*>& params) {
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      assign(name(node.out(i)), node.out(i)->type, node.in(first + i));
      for (const std::vector<Var*>* list : params) {
        size_t offset = list->size() - node.outputs.size();
        texts_[(*list)[offset + i]] = text(node.out(i));
      }
    }
    loops_.push_back(&node.outputs);
  }

  void counted_loop(const Node& node) {
    const Block& body = *node.blocks[0];
    start_loop(node, 1, {&body.params});
    line(concat("for ", name(body.params[0]), " in range(", text(node.in(0)),
                "):"));
    inner_block_yielding(body, BranchTargets(node.outputs));
    loops_.pop_back();
  }

  void while_loop(const Node& node) {
    const Block& test = *node.blocks[0];
    const Block& body = *node.blocks[1];
    const Node* last = test.terminator();
    HOTARU_CHECK(last, "internal error: a loop's test yields nothing");
    start_loop(node, 0, {&test.params, &body.params});
    if (test.first == last) {
      line(concat("while ", text(last->in(0)), ":"));
      inner_block_yielding(body, BranchTargets(node.outputs));
      loops_.pop_back();
      return;
    }
    line("while True:");
    indent_ += 2;
    for (const Node* inner = test.first; inner != last;)
      inner = print_node(*inner)->next;
    line(concat("if ", text(last->in(0)), ":"));
    line("  pass");
    line("else:");
    line("  break");
    yields_.push_back(BranchTargets(node.outputs));
    block(body);
    yields_.pop_back();
    indent_ -= 2;
    loops_.pop_back();
  }

  // The call of __enter__, and kEnter behind it, open a with block.
  const Node* enter(const Node& node) {
    const Node* entered = node.next;
    std::string as;
    if (!node.out()->uses.empty()) as = concat(" as ", name(node.out()));
    line(concat("with ", text(node.in(0)), as, ":"));
    check_depth(*node.block);
    indent_ += 2;
    withs_.push_back({entered->block, entered->in(0), out_.size()});
    return entered;
  }

  // kExit closes it and the call of __exit__ follows from that. Where a block
  // leaves early, the block that entered is still open.
  const Node* exit(const Node& node) {
    if (!withs_.empty() && withs_.back().block == node.block &&
        withs_.back().manager == node.in(0) && !leaves(node)) {
      if (out_.size() == withs_.back().begin) line("pass");
      withs_.pop_back();
      indent_ -= 2;
    }
    const Node* next = node.next;
    while (!is_method(next->callee, "__exit__")) next = next->next;
    return next;
  }

  // Tells whether a block's own return, break or continue is what exits here.
  static bool leaves(const Node& exit) {
    for (const Node* node = exit.next; node; node = node->next) {
      bool plain = node->kind == NodeKind::kConstant ||
                   node->kind == NodeKind::kExit ||
                   is_method(node->callee, "__exit__");
      if (!plain) {
        return node->kind == NodeKind::kReturn ||
               node->kind == NodeKind::kBreak ||
               node->kind == NodeKind::kContinue;
      }
    }
    return false;
  }

  // tolist takes its result's type from the annotation around it.
  static bool is_tolist(const Node* node) {
    return node && node->kind == NodeKind::kOp && node->op->name() == "tolist";
  }

  void get_attr(const Node& node) {
    const std::string& object = text(node.in(0));
    define(node, is_identifier(node.name) ? concat(object, ".", node.name)
                                          : concat("getattr(", object, ", ",
                                                   quoted(node.name), ")"));
  }

  void cast(const Node& node) {
    const Var* from = node.in(0);
    if (node.out()->uses.empty()) return;  // what a test has shown already
    if (is_tolist(from->producer)) {
      define(node, concat("annotate(", program_.type_text(node.type), ", ",
                          text(from), ")"));
    } else if (is_subtype(from->type, node.type)) {
      assign(name(node.out()), node.type, from);
    } else {
      define(node, concat("unchecked_cast(", program_.type_text(node.type),
                          ", ", text(from), ")"));
    }
  }

  std::string isinstance(const Node& node) {
    std::string types = joined(node.types.size(), [&](size_t i) {
      return program_.type_text(node.types[i]);
    });
    if (node.types.size() != 1) types = concat("(", types, ")");
    return concat("isinstance(", text(node.in(0)), ", ", types, ")");
  }

  void constant(const Node& node) {
    const Var* out = node.out();
    bool foreign = node.value.is_object() &&
                   dynamic_cast<ForeignFunction*>(node.value.as_object());
    if (foreign) {
      fail_at(node.range,
              "Could not export a call of a Python function. Remove calls of "
              "Python functions before saving, or mark them with jit.unused");
    }
    texts_[out] =
        value_matches(node.value, out->type)
            ? program_.constant_text(node.value, out->type)
            : concat("uninitialized(", program_.type_text(out->type), ")");
  }

  // Returns the last node that was printed.
  const Node* print_node(const Node& node) {
    switch (node.kind) {
      case NodeKind::kConstant:
        constant(node);
        break;
      case NodeKind::kOp:
        if (node.op->name() == "scalar_to_tensor")
          number_as_tensor(node);
        else if (is_tolist(&node))
          texts_[node.out()] = concat("(", text(node.in(0)), ").tolist()");
        else
          define(node, op(node));
        break;
      case NodeKind::kCall:
        if (node.next && node.next->kind == NodeKind::kEnter &&
            is_method(node.callee, "__enter__"))
          return enter(node);
        define(node, call(node));
        break;
      case NodeKind::kCallMethod:
        define(node, concat("(", text(node.in(0)), ").", node.name, "(",
                            inputs(node, 1), ")"));
        break;
      case NodeKind::kFork:
        fork(node);
        break;
      case NodeKind::kGetAttr:
        get_attr(node);
        break;
      case NodeKind::kSetAttr:
        line(concat(text(node.in(0)), ".", node.name, " = ", text(node.in(1))));
        break;
      case NodeKind::kIf:
        inlines_ ? short_circuit(node) : branch(node);
        break;
      case NodeKind::kLoop:
        counted_loop(node);
        break;
      case NodeKind::kWhile:
        while_loop(node);
        break;
      case NodeKind::kTuple: {
        TypePtr type = node.out()->type;
        std::string items = inputs(node);
        if (!type->name.empty()) {
          define(node, concat(program_.type_text(type), "(", items, ")"));
        } else {
          define(node,
                 concat("(", items, node.inputs.size() == 1 ? ",)" : ")"));
        }
        break;
      }
      case NodeKind::kTupleUnpack:
      case NodeKind::kListUnpack:
        if (node.outputs.size() == 1)
          line(concat(name(node.out()), ", = ", text(node.in(0))));
        else if (!node.outputs.empty())
          define(node, text(node.in(0)));
        break;
      case NodeKind::kTupleIndex:
        define(node, concat("(", text(node.in(0)), ")[", node.index, "]"));
        break;
      case NodeKind::kList:
        define(node, concat("annotate(", program_.type_text(node.out()->type),
                            ", [", items(node), "])"));
        break;
      case NodeKind::kDict:
        define(node,
               concat("annotate(", program_.type_text(node.out()->type), ", {",
                      joined(node.inputs.size() / 2,
                             [&](size_t i) {
                               return concat(text(node.in(2 * i)), ": ",
                                             text(node.in(2 * i + 1)));
                             }),
                      "})"));
        break;
      case NodeKind::kCreate: {
        std::string type = program_.type_text(node.type);
        define(node, concat(type, ".__new__(", type, ")"));
        break;
      }
      case NodeKind::kCast:
        cast(node);
        break;
      case NodeKind::kIsInstance:
        define(node, isinstance(node));
        break;
      case NodeKind::kIs:
        define(node, concat(node.index ? "torch.__isnot__(" : "torch.__is__(",
                            inputs(node), ")"));
        break;
      case NodeKind::kFormat:
        define(node, concat("torch.format(", inputs(node), ")"));
        break;
      case NodeKind::kPrint:
        line(concat("print(", inputs(node), ")"));
        break;
      case NodeKind::kRaise:
        line(concat("ops.prim.RaiseException(", inputs(node), ")"));
        break;
      case NodeKind::kExit:
        return exit(node);
      case NodeKind::kYield:
        assign_all(yields_.back().targets(), yields_.back().values(node));
        break;
      case NodeKind::kReturn:
        line(concat("return ", text(node.in(0))));
        break;
      case NodeKind::kBreak:
        unreachable_outputs(*node.block);
        assign_all(*loops_.back(), node.inputs);
        line("break");
        break;
      case NodeKind::kContinue: {
        assign_all(*loops_.back(), node.inputs);
        NodeKind owner = node.block->owner->kind;
        bool at_end = owner == NodeKind::kLoop || owner == NodeKind::kWhile;
        if (!at_end) {
          unreachable_outputs(*node.block);
          line("continue");
        }
        break;
      }
      case NodeKind::kUnreachable:
        unreachable(*node.block);
        break;
      case NodeKind::kEnter:
        fail("internal error: __enter__ is not called where a with begins");
    }
    return &node;
  }

  // PyTorch does not know that what comes before never ends, or that what
  // leaves a loop doesn't.
  void unreachable(const Block& block) {
    unreachable_outputs(block);
    if (!block.owner) {
      line(result_->kind == TypeKind::kNone
               ? "return None"
               : concat("return uninitialized(", program_.type_text(result_),
                        ")"));
    }
  }

  void unreachable_outputs(const Block& block) {
    if (!block.owner || block.owner->kind != NodeKind::kIf) return;
    for (const Var* out : yields_.back().targets()) {
      line(concat(text(out), " = uninitialized(", program_.type_text(out->type),
                  ")"));
    }
  }

  struct With {
    const Block* block;
    const Var* manager;
    size_t begin;
  };

  SourcePrinter& program_;
  std::string out_;
  int indent_ = 0;
  TypePtr result_ = nullptr;
  std::set<std::string, std::less<>> used_;
  std::map<std::string, int> next_number_;
  std::set<std::string> declared_;
  // A name, or the text of a constant.
  std::unordered_map<const Var*, std::string> texts_;
  std::unordered_map<const Var*, std::string> numbers_;
  std::vector<BranchTargets> yields_;
  std::vector<const std::vector<Var*>*> loops_;
  std::vector<With> withs_;
  // Set if values are parts of an expression rather than lines.
  bool inlines_ = false;
};

}  // namespace

std::string print_function(Function& function, SourcePrinter& program,
                           int indent, std::string_view method_of) {
  bool interface = function.owner() && function.owner()->is_interface();
  std::unique_ptr<Graph> graph = interface ? nullptr : function.compile_again();
  return FunctionPrinter(program).print(function, graph.get(), indent,
                                        method_of, {});
}

std::string print_graph(Function& method, const Graph& graph,
                        const std::string& class_name, SourcePrinter& program,
                        int indent) {
  return FunctionPrinter(program).print(method, &graph, indent, {}, class_name);
}

}  // namespace hotaru::script
