// Graph to instructions: registers, last uses, jumps.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "hotaru/core/checks/check.h"
#include "hotaru/script/builtins/builtins.h"
#include "hotaru/script/program/function.h"
#include "hotaru/script/run/code.h"

namespace hotaru::script {

namespace {

using Vars = std::unordered_set<const Var*>;

struct FastOp {
  std::string_view name;
  std::string_view overload;
  Opcode code;
};

constexpr FastOp kFastOps[] = {
    {"add", "int", Opcode::kAddInt},   {"sub", "int", Opcode::kSubInt},
    {"mul", "int", Opcode::kMulInt},   {"eq", "int", Opcode::kEqInt},
    {"ne", "int", Opcode::kNeInt},     {"lt", "int", Opcode::kLtInt},
    {"le", "int", Opcode::kLeInt},     {"gt", "int", Opcode::kGtInt},
    {"ge", "int", Opcode::kGeInt},     {"__not__", "", Opcode::kNot},
    {"len", "t", Opcode::kListLength}, {"__getitem__", "t", Opcode::kListItem},
    {"wait", "", Opcode::kWait},
};

const std::unordered_map<const Operator*, Opcode>& fast_ops() {
  // Never destroyed: workers may compile while the process exits.
  static const auto& table = *[] {
    std::unordered_map<const Operator*, Opcode> out;
    for (const FastOp& fast : kFastOps) {
      for (const Operator* op : find_builtins(fast.name))
        if (op->schema().overload == fast.overload) out[op] = fast.code;
    }
    return new auto(std::move(out));
  }();
  return table;
}

// True if leaving a dead value in a register costs more than its 16 bytes.
bool holds_memory(TypePtr type) {
  switch (type->kind) {
    case TypeKind::kNone:
    case TypeKind::kBool:
    case TypeKind::kInt:
    case TypeKind::kFloat:
    case TypeKind::kDevice:
      return false;
    default:
      return true;
  }
}

/// The variables from outside that the blocks of each node use. Every block is
/// read once, so that deep nests take no more time than long code.
class UsedInside {
 public:
  const Vars& operator[](const Node& node) {
    const auto known = found_.find(&node);
    if (known != found_.end()) return known->second;
    Vars used;
    for (const Block* block : node.blocks)
      for (const Node* inner = block->first; inner; inner = inner->next)
        each(*inner, [&](const Var* var) {
          if (var->block != block) used.insert(var);
        });
    return found_[&node] = std::move(used);
  }

  /// Calls f for what a node uses, itself or in its blocks.
  template <class F>
  void each(const Node& node, const F& f) {
    for (const Var* var : node.inputs) f(var);
    if (node.blocks.empty()) return;
    for (const Var* var : (*this)[node]) f(var);
  }

 private:
  std::unordered_map<const Node*, Vars> found_;  // references stay valid
};

class Lowering {
 public:
  Lowering(Code& code, const Graph& graph) : code_(code) {
    const Block& top = graph.top();
    Vars owned;
    for (const Var* param : top.params) {
      locations_[param] = {new_register()};
      owned.insert(param);
    }
    code_.params = uint32_t(top.params.size());
    block(top, owned);
  }

 private:
  struct LoopFrame {
    std::vector<uint32_t> carried;
    std::vector<size_t> breaks;     // jumps to the end
    std::vector<size_t> continues;  // jumps to the next round
  };

  // Vars that die at each node of a block.
  using Deaths = std::unordered_map<const Node*, std::vector<const Var*>>;

  uint32_t new_register() {
    if (free_.empty()) return code_.registers++;
    uint32_t index = free_.back();
    free_.pop_back();
    return index;
  }

  void release(const Var* var) {
    Operand location = locations_.at(var);
    if (!location.is_constant() && !pinned_.contains(location.index()))
      free_.push_back(location.index());
  }

  Operand read(const Var* var, Vars& dying) {
    Operand operand = locations_.at(var);
    if (!operand.is_constant() && !pinned_.contains(operand.index()) &&
        dying.erase(var) > 0)
      operand.bits |= Operand::kTake;
    return operand;
  }

  // Reads in order, but takes a variable only at its last occurrence.
  std::vector<Operand> read_all(const std::vector<Var*>& vars, Vars& dying) {
    std::vector<Operand> out(vars.size());
    for (size_t i = vars.size(); i-- > 0;) out[i] = read(vars[i], dying);
    return out;
  }

  size_t add(Opcode op, const std::vector<Operand>& operands,
             uint32_t result = 0, uint32_t aux = 0) {
    HOTARU_CHECK(operands.size() < UINT16_MAX, "a TorchScript instruction has ",
                 operands.size(), " operands");
    Instruction instruction{op};
    instruction.operand_count = uint16_t(operands.size());
    instruction.operands = uint32_t(code_.operands.size());
    instruction.result = result;
    instruction.aux = aux;
    code_.operands.insert(code_.operands.end(), operands.begin(),
                          operands.end());
    code_.instructions.push_back(instruction);
    code_.origins.push_back(origin_);
    code_.scratch = std::max(code_.scratch, uint32_t(operands.size()));
    return code_.instructions.size() - 1;
  }

  uint32_t here() const { return uint32_t(code_.instructions.size()); }
  void land(const std::vector<size_t>& jumps) {
    for (size_t jump : jumps) code_.instructions[jump].aux = here();
  }

  template <class T>
  static uint32_t push(std::vector<T>& table, T item) {
    table.push_back(std::move(item));
    return uint32_t(table.size() - 1);
  }

  Deaths find_deaths(const Block& block, const Vars& owned) {
    std::unordered_map<const Var*, const Node*> last;
    for (const Node* node = block.first; node; node = node->next) {
      inside_.each(*node, [&](const Var* var) {
        if (owned.contains(var) || (var->block == &block && var->producer))
          last[var] = node;
      });
    }
    Deaths deaths;
    for (const auto& [var, node] : last) deaths[node].push_back(var);
    return deaths;
  }

  // Sets have no order, but the same graph shall give the same code.
  static std::vector<const Var*> sorted(std::vector<const Var*> vars) {
    std::sort(vars.begin(), vars.end(),
              [](const Var* a, const Var* b) { return a->id < b->id; });
    return vars;
  }

  // Registers as they were before a region, and those that it added: nothing
  // made inside lives on.
  void leave_region(const std::vector<uint32_t>& free_before,
                    uint32_t registers_before) {
    free_ = free_before;
    for (uint32_t r = registers_before; r < code_.registers; ++r)
      free_.push_back(r);
  }

  void drop(const Var* var) {
    Operand location = locations_.at(var);
    if (!location.is_constant() && holds_memory(var->type) &&
        !pinned_.contains(location.index()))
      add(Opcode::kDrop, {location});
  }

  void block(const Block& block, const Vars& owned) {
    Deaths deaths = find_deaths(block, owned);
    Vars used_somewhere;
    for (const auto& [node, vars] : deaths)
      used_somewhere.insert(vars.begin(), vars.end());
    for (const Var* var : sorted({owned.begin(), owned.end()})) {
      if (used_somewhere.contains(var)) continue;
      drop(var);
      release(var);
    }
    for (const Node* node = block.first; node; node = node->next) {
      origin_ = node;
      auto found = deaths.find(node);
      this->node(*node, found == deaths.end() ? std::vector<const Var*>()
                                              : sorted(found->second));
      for (const Var* out : node->outputs) {
        if (!out->uses.empty() || locations_.at(out).is_constant()) continue;
        drop(out);
        release(out);
      }
    }
  }

  void define_outputs(const Node& node) {
    for (const Var* out : node.outputs) locations_[out] = {new_register()};
  }

  uint32_t result_of(const Node& node) const {
    return locations_.at(node.outputs[0]).bits;
  }

  void node(const Node& node, const std::vector<const Var*>& dead) {
    switch (node.kind) {
      case NodeKind::kConstant:
        locations_[node.outputs[0]] = {Operand::kConstant |
                                       push(code_.constants, node.value)};
        return;
      case NodeKind::kIf:
        return branch(node, dead);
      case NodeKind::kLoop:
      case NodeKind::kWhile:
        return loop(node, dead);
      case NodeKind::kYield:
      case NodeKind::kUnreachable:
        return;  // the owner of the block handles them
      case NodeKind::kBreak:
      case NodeKind::kContinue: {
        Vars dying(dead.begin(), dead.end());
        move_all(node.inputs, loops_.back()->carried, dying);
        size_t jump = add(Opcode::kJump, {});
        (node.kind == NodeKind::kBreak ? loops_.back()->breaks
                                       : loops_.back()->continues)
            .push_back(jump);
        return;
      }
      default:
        return plain(node, dead);
    }
  }

  void plain(const Node& node, const std::vector<const Var*>& dead) {
    Vars dying(dead.begin(), dead.end());
    std::vector<Operand> operands = read_all(node.inputs, dying);
    // Taken registers are free for the results: operands are read first.
    for (const Var* var : dead) release(var);
    define_outputs(node);
    uint32_t result = node.outputs.empty() ? 0 : result_of(node);
    uint32_t many = uint32_t(code_.results.size());
    auto list_results = [&] {
      for (const Var* out : node.outputs)
        code_.results.push_back(locations_.at(out).bits);
      code_.scratch = std::max(
          code_.scratch, uint32_t(operands.size() + node.outputs.size() + 1));
    };
    uint32_t slot = uint32_t(node.index);
    switch (node.kind) {
      case NodeKind::kOp: {
        auto fast = fast_ops().find(node.op);
        if (fast != fast_ops().end()) {
          add(fast->second, operands, result);
        } else if (node.outputs.size() == 1) {
          add(Opcode::kOp, operands, result, push(code_.ops, node.op));
        } else {
          // How many results there are stands before them.
          code_.results.push_back(uint32_t(node.outputs.size()));
          list_results();
          add(Opcode::kOpMany, operands, many, push(code_.ops, node.op));
        }
        return;
      }
      case NodeKind::kCall:
        add(Opcode::kCall, operands, result,
            push(code_.functions, node.callee));
        return;
      case NodeKind::kCallMethod:
        add(Opcode::kCallMethod, operands, result,
            push(code_.names, node.name));
        return;
      case NodeKind::kFork:
        add(node.index ? Opcode::kAwaitable : Opcode::kFork, operands, result,
            push(code_.functions, node.callee));
        return;
      case NodeKind::kReturn:
        add(Opcode::kReturn, operands);
        return;
      case NodeKind::kGetAttr:
        add(Opcode::kGetAttr, operands, result, slot);
        return;
      case NodeKind::kSetAttr:
        add(Opcode::kSetAttr, operands, 0, slot);
        return;
      case NodeKind::kTuple:
        add(Opcode::kTuple, operands, result);
        return;
      case NodeKind::kList:
        add(Opcode::kList, operands, result);
        return;
      case NodeKind::kDict:
        add(Opcode::kDict, operands, result);
        return;
      case NodeKind::kTupleUnpack:
      case NodeKind::kListUnpack:
        list_results();
        add(node.kind == NodeKind::kListUnpack ? Opcode::kListUnpack
                                               : Opcode::kTupleUnpack,
            operands, many, uint32_t(node.outputs.size()));
        return;
      case NodeKind::kTupleIndex:
        add(Opcode::kTupleIndex, operands, result, slot);
        return;
      case NodeKind::kCreate:
        add(Opcode::kCreate, operands, result, push(code_.types, node.type));
        return;
      case NodeKind::kCast:
        if (is_subtype(node.inputs[0]->type, node.type))
          add(Opcode::kMove, operands, result);
        else
          add(Opcode::kCast, operands, result, push(code_.types, node.type));
        return;
      case NodeKind::kIsInstance: {
        uint32_t first = uint32_t(code_.types.size());
        for (TypePtr type : node.types) code_.types.push_back(type);
        code_.types.push_back(nullptr);
        add(Opcode::kIsInstance, operands, result, first);
        return;
      }
      case NodeKind::kIs:
        add(node.index ? Opcode::kIsNot : Opcode::kIs, operands, result);
        return;
      case NodeKind::kFormat:
        add(Opcode::kFormat, operands, result);
        return;
      case NodeKind::kPrint:
        add(Opcode::kPrint, operands);
        return;
      case NodeKind::kRaise:
        add(Opcode::kRaise, operands);
        return;
      case NodeKind::kEnter:
        add(Opcode::kEnter, operands, 0, push(code_.functions, node.callee));
        return;
      case NodeKind::kExit:
        add(Opcode::kExit, operands);
        return;
      default:
        fail("internal error: a node that cannot be lowered");
    }
  }

  // Moves values to registers as if at once.
  void move_all(const std::vector<Var*>& from, const std::vector<uint32_t>& to,
                Vars& dying) {
    std::vector<Operand> sources = read_all(from, dying);
    bool crossing = false;
    for (size_t i = 0; i < from.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        crossing |= !sources[i].is_constant() && sources[i].index() == to[j];
    std::vector<uint32_t> temporaries;
    if (crossing) {
      for (Operand& source : sources) {
        uint32_t temporary = new_register();
        temporaries.push_back(temporary);
        add(Opcode::kMove, {source}, temporary);
        source = {temporary | Operand::kTake};
      }
    }
    for (size_t i = 0; i < from.size(); ++i) {
      if (!sources[i].is_constant() && sources[i].index() == to[i]) continue;
      add(Opcode::kMove, {sources[i]}, to[i]);
    }
    free_.insert(free_.end(), temporaries.begin(), temporaries.end());
  }

  void branch(const Node& node, const std::vector<const Var*>& dead) {
    const Vars& inside = inside_[node];
    Vars owned;
    Vars dying;
    for (const Var* var : dead)
      (inside.contains(var) ? owned : dying).insert(var);
    Vars at_test = dying;
    std::vector<Operand> test = read_all(node.inputs, at_test);
    define_outputs(node);
    std::vector<uint32_t> outputs;
    for (const Var* out : node.outputs)
      outputs.push_back(locations_.at(out).bits);
    size_t skip = add(Opcode::kJumpIfNot, test);
    std::vector<uint32_t> free_before = free_;
    uint32_t registers_before = code_.registers;
    std::vector<size_t> to_end;
    for (size_t i = 0; i < 2; ++i) {
      const Block& inner = *node.blocks[i];
      if (i == 1) {
        land({skip});
        leave_region(free_before, registers_before);
      }
      block(inner, owned);
      origin_ = &node;
      const Node* last = inner.terminator();
      if (last && last->kind == NodeKind::kYield) {
        // Values that the yield itself uses last can be taken.
        Vars last_uses;
        for (const Var* var : last->inputs) {
          bool local =
              (var->block == &inner && var->producer) || owned.contains(var);
          if (local) last_uses.insert(var);
        }
        std::vector<Operand> sources = read_all(last->inputs, last_uses);
        for (size_t k = 0; k < outputs.size(); ++k)
          add(Opcode::kMove, {sources[k]}, outputs[k]);
        if (i == 0) to_end.push_back(add(Opcode::kJump, {}));
      }
    }
    land(to_end);
    leave_region(free_before, registers_before);
    for (const Var* var : dead) release(var);
  }

  void loop(const Node& node, const std::vector<const Var*>& dead) {
    bool counted = node.kind == NodeKind::kLoop;
    const Vars& inside = inside_[node];
    Vars dying;
    for (const Var* var : dead)
      if (!inside.contains(var)) dying.insert(var);
    std::vector<Operand> initial = read_all(node.inputs, dying);
    define_outputs(node);
    LoopFrame frame;
    for (const Var* out : node.outputs)
      frame.carried.push_back(locations_.at(out).bits);
    std::vector<uint32_t> newly_pinned = frame.carried;
    uint32_t index = 0;
    uint32_t count = 0;
    if (counted) {
      index = new_register();
      count = new_register();
      newly_pinned.insert(newly_pinned.end(), {index, count});
      add(Opcode::kMove, {initial[0]}, count);
      add(Opcode::kMove,
          {{Operand::kConstant | push(code_.constants, Value(0))}}, index);
    }
    for (size_t i = 0; i < frame.carried.size(); ++i)
      add(Opcode::kMove, {initial[i + (counted ? 1 : 0)]}, frame.carried[i]);
    for (uint32_t reg : newly_pinned) pinned_.insert(reg);

    loops_.push_back(&frame);
    std::vector<uint32_t> free_before = free_;
    uint32_t registers_before = code_.registers;
    uint32_t top = here();
    size_t leave;
    const Block& body = *node.blocks[counted ? 0 : 1];
    if (counted) {
      leave = add(Opcode::kLoopTest, {{index}, {count}});
      locations_[body.params[0]] = {index};
    } else {
      const Block& test = *node.blocks[0];
      for (size_t i = 0; i < test.params.size(); ++i)
        locations_[test.params[i]] = {frame.carried[i]};
      block(test, {});
      origin_ = &node;
      Vars nothing;
      leave =
          add(Opcode::kJumpIfNot, read_all(test.terminator()->inputs, nothing));
      leave_region(free_before, registers_before);
    }
    size_t first = counted ? 1 : 0;
    for (size_t i = first; i < body.params.size(); ++i)
      locations_[body.params[i]] = {frame.carried[i - first]};
    block(body, {});
    origin_ = &node;
    land(frame.continues);
    if (counted)
      add(Opcode::kLoopNext, {{index}, {count}}, 0, top + 1);
    else
      add(Opcode::kJump, {}, 0, top);
    land({leave});
    land(frame.breaks);
    loops_.pop_back();
    for (uint32_t reg : newly_pinned) pinned_.erase(reg);
    leave_region(free_before, registers_before);
    if (counted) {
      free_.push_back(index);
      free_.push_back(count);
    }
    for (const Var* var : dead) {
      if (inside.contains(var)) drop(var);
      release(var);
    }
  }

  Code& code_;
  UsedInside inside_;
  std::unordered_map<const Var*, Operand> locations_;
  std::vector<uint32_t> free_;
  std::unordered_set<uint32_t> pinned_;
  std::vector<LoopFrame*> loops_;
  const Node* origin_ = nullptr;
};

}  // namespace

Code::Code(Function& function, const Graph& graph) : function_(function) {
  Lowering(*this, graph);
}

}  // namespace hotaru::script
