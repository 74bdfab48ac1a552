// Code that the interpreter runs: a function's graph as instructions over
// registers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hotaru/core/value.h"
#include "hotaru/ops/registry.h"
#include "hotaru/script/ir/ir.h"

namespace hotaru::script {

enum class Opcode : uint8_t {
  kOp,          // result = ops[aux](operands)
  kOpMany,      // result list = ops[aux](operands)
  kMove,        // result = operand
  kDrop,        // operand's register becomes empty
  kJump,        // to aux
  kJumpIfNot,   // to aux unless the operand is true
  kLoopTest,    // to aux unless operand 0 < operand 1
  kLoopNext,    // operand 0 counts up; to aux if it is below operand 1
  kCall,        // result = functions[aux](operands)
  kCallMethod,  // result = operand 0 . names[aux](operands)
  kFork,        // result = future of functions[aux](operands)
  kAwaitable,   // the same call, made when its result is asked for
  kWait,        // result = the operand's value, once it is there
  kReturn,      // operand
  kGetAttr,     // result = operand.slots[aux]
  kSetAttr,     // operand 0 .slots[aux] = operand 1
  kTuple,
  kNamedTuple,
  kList,
  kDict,
  kTupleUnpack,  // result list = operand's elements
  kListUnpack,
  kTupleIndex,  // aux
  kCreate,      // types[aux]
  kCast,        // types[aux]
  kIsInstance,  // any of types[aux], types[aux+1] ... null
  kIs,
  kIsNot,
  kFormat,
  kPrint,
  kRaise,
  kEnter,  // functions[aux] is __exit__
  kExit,
  // Built-ins so frequent that they have instructions of their own.
  kAddInt,
  kSubInt,
  kMulInt,
  kEqInt,
  kNeInt,
  kLtInt,
  kLeInt,
  kGtInt,
  kGeInt,
  kNot,
  kListLength,
  kListItem,
};

/// A register or constant to read. A taken register is left empty, so that
/// the value's last use can reuse its memory.
struct Operand {
  static constexpr uint32_t kConstant = uint32_t{1} << 31;
  static constexpr uint32_t kTake = uint32_t{1} << 30;
  uint32_t bits = 0;

  uint32_t index() const { return bits & ~(kConstant | kTake); }
  bool is_constant() const { return (bits & kConstant) != 0; }
  bool takes() const { return (bits & kTake) != 0; }
};

struct Instruction {
  Opcode op;
  uint16_t operand_count = 0;
  uint32_t operands = 0;  // first in Code::operands
  uint32_t result = 0;    // register, or first in Code::results
  uint32_t aux = 0;
};

static_assert(sizeof(Instruction) == 16);

/// Immutable; runs in any number of threads at once.
class Code {
 public:
  Code(Function& function, const Graph& graph);

  Function& function() const { return function_; }
  /// One line an instruction, for tests and debugging.
  std::string str() const;

  std::vector<Instruction> instructions;
  std::vector<Operand> operands;
  std::vector<uint32_t> results;
  std::vector<Value> constants;
  std::vector<const Operator*> ops;
  std::vector<Function*> functions;
  std::vector<TypePtr> types;
  std::vector<std::string> names;
  /// The node that each instruction came from, for errors; may be null.
  std::vector<const Node*> origins;
  uint32_t params = 0;
  uint32_t registers = 0;
  /// Values that one instruction gathers its operands in.
  uint32_t scratch = 0;

 private:
  Function& function_;
};

}  // namespace hotaru::script
