#include "hotaru/script/run/interpreter.h"

#include <algorithm>
#include <atomic>
#include <exception>

#include "hotaru/core/error.h"
#include "hotaru/core/sparse/opaque.h"
#include "hotaru/runtime/threads/admission.h"
#include "hotaru/script/program/class_type.h"
#include "hotaru/script/program/function.h"
#include "hotaru/script/run/foreign.h"
#include "hotaru/script/run/interpreter_impl.h"
#include "hotaru/script/types/python_errors.h"

namespace hotaru::script {

namespace {

constexpr size_t kMaxFrames = 1000;
// Runs inside runs of one thread: __exit__ after errors, handlers of print,
// tasks that a waiting thread helps with.
constexpr int kMaxNesting = 64;

// The memory of the frames of this thread's last run, for the next.
std::vector<Frame>& spare_frames() {
  thread_local std::vector<Frame> frames;
  return frames;
}

// The error that an instruction raises by itself, with its class.
struct Raised : Error {
  Raised(std::string class_name, const std::string& message)
      : Error(message), class_name(std::move(class_name)) {}
  std::string class_name;
};

void add_line(std::string& out, const SourceRange& range,
              const Function* function) {
  std::string text = range.highlight();
  // "  File "x", line 3" gets the function's name behind it.
  size_t newline = text.find('\n');
  if (range.source && function)
    text.insert(newline, concat(", in ", function->short_name()));
  out += text;
}

}  // namespace

ValueStack& thread_stack() {
  thread_local ValueStack stack;
  return stack;
}

Interpreter::Interpreter(ValueStack& stack) : stack_(stack) {
  frames_.swap(spare_frames());
}

Interpreter::~Interpreter() {
  frames_.swap(spare_frames());
}

// Moves `count` values to the new frame's first registers.
inline void Interpreter::enter(const Code& code, uint32_t result, Value* values,
                               size_t count) {
  HOTARU_CHECK(frames_.size() < kMaxFrames, "maximum recursion depth exceeded");
  Value* registers = stack_.push(code.registers + code.scratch);
  frames_.push_back({&code, code.instructions.data(), registers, result});
  for (size_t i = 0; i < count; ++i) registers[i] = std::move(values[i]);
}

inline void Interpreter::leave() {
  const Frame& frame = frames_.back();
  stack_.pop(frame.registers, frame.code->registers + frame.code->scratch);
  frames_.pop_back();
}

Value Interpreter::run(const Code& code, std::vector<Value>& arguments) {
  enter(code, 0, arguments.data(), arguments.size());
  return run();
}

// Between instructions no value is in a frame's scratch space.
Suspended Interpreter::suspend() {
  Suspended state;
  state.entered = std::move(entered_);
  state.frames = frames_;
  for (const Frame& frame : frames_)
    for (uint32_t i = 0; i < frame.code->registers; ++i)
      state.registers.push_back(std::move(frame.registers[i]));
  while (!frames_.empty()) leave();
  return state;
}

Value Interpreter::resume(Suspended& state) {
  entered_ = std::move(state.entered);
  Value* saved = state.registers.data();
  for (const Frame& frame : state.frames) {
    enter(*frame.code, frame.result, saved, frame.code->registers);
    frames_.back().next = frame.next;
    saved += frame.code->registers;
  }
  state = {};
  return run();
}

Value Interpreter::run() {
  try {
    return loop();
  } catch (const Raised& error) {
    std::string where = traceback();
    unwind();
    throw ExecutionError(where, error.class_name, error.what());
  } catch (const std::exception& error) {
    std::string where = traceback();
    unwind();
    throw ExecutionError(where, "", error.what());
  }
}

// Leaves all frames, running the __exit__ of what was entered.
void Interpreter::unwind() {
  std::vector<Entered> entered = std::move(entered_);
  entered_.clear();
  while (!frames_.empty()) leave();
  for (size_t i = entered.size(); i-- > 0;) {
    std::vector<Value> arguments(4);
    arguments[0] = std::move(entered[i].manager);
    try {
      script::run(entered[i].exit->code(), std::move(arguments));
    } catch (const std::exception&) {
      // The first error is the one to tell.
    }
  }
}

std::string Interpreter::traceback() const {
  std::string out;
  for (const Frame& frame : frames_) {
    size_t at = size_t(frame.next - 1 - frame.code->instructions.data());
    const Node* node =
        at < frame.code->origins.size() ? frame.code->origins[at] : nullptr;
    if (!node) continue;
    std::vector<const CallSite*> sites;
    for (const CallSite* s = node->call_site; s; s = s->caller)
      sites.push_back(s);
    for (size_t i = sites.size(); i-- > 0;)
      add_line(out, sites[i]->range, sites[i]->function);
    add_line(out, node->range, node->function);
  }
  return out;
}

namespace {

[[noreturn]] void raise(const Value& message, const Value& class_name) {
  throw Raised(class_name.is_string() ? class_name.as_string() : "",
               message.is_string() ? message.as_string() : "");
}

std::atomic<ForeignOperator> foreign_operator{nullptr};
std::atomic<ForeignName> foreign_name{nullptr};

bool holds_opaque(const Value& value) {
  if (value.is_tensor())
    return value.tensor_ref().defined() && is_opaque(value.tensor_ref());
  return value.is_list() &&
         std::ranges::any_of(value.as_list().items, holds_opaque);
}

[[gnu::noinline]] void call_foreign_operator(const Operator& op, size_t count,
                                             Value* arguments, Value* results) {
  const ForeignOperator call = foreign_operator;
  if (call && std::any_of(arguments, arguments + count, holds_opaque))
    call(op, arguments, results);
  else
    op.call(arguments, results);
}

// One load more than the operator's own call, while there is no such tensor.
inline void call_operator(const Operator& op, size_t count, Value* arguments,
                          Value* results) {
  if (opaque_made()) [[unlikely]]
    call_foreign_operator(op, count, arguments, results);
  else
    op.call(arguments, results);
}

Value make_dict(const Value* items, size_t count) {
  auto dict = make_ref<DictObject>();
  for (size_t i = 0; i + 1 < count; i += 2) dict->set(items[i], items[i + 1]);
  return dict;
}

const Value& list_item(const Value& list, int64_t index) {
  const std::vector<Value>& items = list.as_list().items;
  int64_t size = int64_t(items.size());
  int64_t at = index < 0 ? index + size : index;
  HOTARU_CHECK_AS(IndexError, at >= 0 && at < size, kListIndex);
  return items[size_t(at)];
}

Value& slot_of(const Value& object, uint32_t slot) {
  std::vector<Value>& slots = object.as_instance().slots;
  HOTARU_CHECK(slot < slots.size(), "attribute slot ", slot,
               " is out of range");
  return slots[slot];
}

bool matches_any(const Value& value, const TypePtr* types) {
  for (; *types; ++types)
    if (value_matches(value, *types)) return true;
  return false;
}

}  // namespace

void set_foreign_operator(ForeignOperator call) {
  foreign_operator = call;
}

void set_foreign_name(ForeignName call) {
  foreign_name = call;
}

Value call_foreign(const std::string& name, const ForeignArguments& arguments) {
  const ForeignName call = foreign_name;
  HOTARU_CHECK_AS(NotImplementedError, call, name,
                  ": sparse tensors are Python's, and there is no Python here");
  return call(name, arguments);
}

void Interpreter::call_method(const Code& code, const Instruction& instruction,
                              Value* arguments) {
  ClassType* cls = class_of(arguments[0]);
  const std::string& name = code.names[instruction.aux];
  Function* method = cls ? cls->find_method(name) : nullptr;
  HOTARU_CHECK(method, "'", cls ? cls->name() : arguments[0].type_name(),
               "' has no method '", name, "'");
  std::vector<Value> moved;
  for (uint16_t i = 0; i < instruction.operand_count; ++i)
    moved.push_back(std::move(arguments[i]));
  std::vector<Value> bound = method->bind(std::move(moved), {});
  enter(method->code(), instruction.result, bound.data(), bound.size());
}

Value Interpreter::loop() {
  Frame* frame = &frames_.back();
  const Code* code = frame->code;
  Value* registers = frame->registers;
  Value* scratch = registers + code->registers;
  const Value* sources[2] = {registers, code->constants.data()};
  auto reload = [&] {
    frame = &frames_.back();
    code = frame->code;
    registers = frame->registers;
    scratch = registers + code->registers;
    sources[0] = registers;
    sources[1] = code->constants.data();
  };
  for (;;) {
    const Instruction& in = *frame->next++;
    const Operand* operands = code->operands.data() + in.operands;
    // Which of the two an operand is costs no branch.
    auto read = [&](size_t i) __attribute__((always_inline))->const Value& {
      Operand o = operands[i];
      return sources[o.bits >> 31][o.index()];
    };
    // The operand's value, moved out of its register at its last use.
    auto take = [&](size_t i) __attribute__((always_inline))->Value {
      Operand o = operands[i];
      if (o.takes()) return std::move(registers[o.index()]);
      return sources[o.bits >> 31][o.index()];
    };
    auto gather = [&]() __attribute__((always_inline)) {
      for (size_t i = 0; i < in.operand_count; ++i) scratch[i] = take(i);
    };
    auto clear = [&]() __attribute__((always_inline)) {
      for (size_t i = 0; i < in.operand_count; ++i)
        if (!scratch[i].is_none()) scratch[i] = Value();
    };
    auto taken_list = [&] {
      std::vector<Value> items(in.operand_count);
      for (size_t i = 0; i < in.operand_count; ++i) items[i] = take(i);
      return items;
    };
    auto drop_taken = [&](size_t i) {
      Operand o = operands[i];
      if (o.takes() && !o.is_constant() && o.index() != in.result) {
        registers[o.index()] = Value();
      }
    };
    Value& result = registers[in.result];
    switch (in.op) {
      case Opcode::kOp:
        gather();
        call_operator(*code->ops[in.aux], in.operand_count, scratch, &result);
        clear();
        break;
      case Opcode::kOpMany: {
        gather();
        const uint32_t* list = code->results.data() + in.result;
        uint32_t count = *list++;
        Value* results = scratch + in.operand_count;
        call_operator(*code->ops[in.aux], in.operand_count, scratch, results);
        clear();
        for (uint32_t i = 0; i < count; ++i)
          registers[list[i]] = std::move(results[i]);
        break;
      }
      case Opcode::kMove:
        result = take(0);
        break;
      case Opcode::kDrop:
        registers[operands[0].index()] = Value();
        break;
      case Opcode::kJump:
        frame->next = code->instructions.data() + in.aux;
        break;
      case Opcode::kJumpIfNot:
        if (!read(0).as_bool())
          frame->next = code->instructions.data() + in.aux;
        break;
      case Opcode::kLoopTest:
        if (read(0).as_int() >= read(1).as_int())
          frame->next = code->instructions.data() + in.aux;
        break;
      case Opcode::kLoopNext: {
        int64_t index = read(0).as_int() + 1;
        registers[operands[0].index()] = index;
        if (index < read(1).as_int())
          frame->next = code->instructions.data() + in.aux;
        break;
      }
      case Opcode::kCall: {
        gather();
        const Code& callee = code->functions[in.aux]->code();
        enter(callee, in.result, scratch, in.operand_count);
        reload();
        break;
      }
      case Opcode::kCallMethod:
        gather();
        call_method(*code, in, scratch);
        reload();
        break;
      case Opcode::kFork:
        result = Value::from_object(
            run_async(*code->functions[in.aux], taken_list()));
        break;
      case Opcode::kAwaitable:
        result = Value::from_object(
            make_awaited(*code->functions[in.aux], taken_list()));
        break;
      case Opcode::kWait: {
        Future& future = future_of(read(0));
        if (!future.done() && suspends_) {
          --frame->next;  // the same instruction again, then
          awaited_ = Ref<Future>(&future);
          return {};
        }
        Value value = future.wait();
        drop_taken(0);
        result = std::move(value);
        break;
      }
      case Opcode::kReturn: {
        Value value = take(0);
        uint32_t target = frame->result;
        leave();
        if (frames_.empty()) return value;
        reload();
        registers[target] = std::move(value);
        break;
      }
      case Opcode::kGetAttr: {
        Value value = slot_of(read(0), in.aux);
        drop_taken(0);
        result = std::move(value);
        break;
      }
      case Opcode::kSetAttr: {
        Value value = take(1);
        slot_of(read(0), in.aux) = std::move(value);
        Operand object = operands[0];
        if (object.takes()) registers[object.index()] = Value();
        break;
      }
      case Opcode::kTuple:
      case Opcode::kNamedTuple:
        result = Value::tuple(taken_list());
        break;
      case Opcode::kList:
        result = Value::list(taken_list());
        break;
      case Opcode::kDict:
        gather();
        result = make_dict(scratch, in.operand_count);
        clear();
        break;
      case Opcode::kTupleUnpack:
      case Opcode::kListUnpack: {
        Value whole = take(0);
        const std::vector<Value>& items = in.op == Opcode::kTupleUnpack
                                              ? whole.as_tuple().items
                                              : whole.as_list().items;
        HOTARU_CHECK(items.size() == in.aux, "Expected ", in.aux,
                     " elements in a list but found ", items.size());
        const uint32_t* list = code->results.data() + in.result;
        for (uint32_t i = 0; i < in.aux; ++i) registers[list[i]] = items[i];
        break;
      }
      case Opcode::kTupleIndex: {
        const std::vector<Value>& items = read(0).as_tuple().items;
        HOTARU_CHECK_AS(IndexError, in.aux < items.size(),
                        "tuple index out of range");
        Value value = items[in.aux];
        drop_taken(0);
        result = std::move(value);
        break;
      }
      case Opcode::kCreate:
        result = make_instance(*code->types[in.aux]->cls);
        break;
      case Opcode::kCast: {
        Value value = take(0);
        TypePtr type = code->types[in.aux];
        HOTARU_CHECK_AS(TypeError, value_matches(value, type),
                        "expected value of type ", type->str(),
                        " for return value but instead got value of type ",
                        value.type_name(), ".");
        result = std::move(value);
        break;
      }
      case Opcode::kIsInstance: {
        bool matches = matches_any(read(0), &code->types[in.aux]);
        drop_taken(0);
        result = matches;
        break;
      }
      case Opcode::kIs:
      case Opcode::kIsNot: {
        bool same = read(0).is(read(1)) == (in.op == Opcode::kIs);
        drop_taken(0);
        drop_taken(1);
        result = same;
        break;
      }
      case Opcode::kFormat: {
        gather();
        Value text = format_text(scratch[0].as_string(), scratch + 1,
                                 in.operand_count - size_t{1});
        clear();
        result = std::move(text);
        break;
      }
      case Opcode::kPrint: {
        gather();
        std::string text;
        for (size_t i = 0; i < in.operand_count; ++i) {
          if (i > 0) text += ' ';
          text += value_text(scratch[i]);
        }
        clear();
        print_text(text + "\n");
        break;
      }
      case Opcode::kRaise:
        raise(read(0), in.operand_count > 1 ? read(1) : Value());
      case Opcode::kEnter:
        entered_.push_back({frames_.size(), take(0), code->functions[in.aux]});
        break;
      case Opcode::kExit:
        if (!entered_.empty() && entered_.back().frame == frames_.size())
          entered_.pop_back();
        drop_taken(0);
        break;
      // Integers wrap, as they do in two's complement.
      case Opcode::kAddInt:
        result =
            int64_t(uint64_t(read(0).as_int()) + uint64_t(read(1).as_int()));
        break;
      case Opcode::kSubInt:
        result =
            int64_t(uint64_t(read(0).as_int()) - uint64_t(read(1).as_int()));
        break;
      case Opcode::kMulInt:
        result =
            int64_t(uint64_t(read(0).as_int()) * uint64_t(read(1).as_int()));
        break;
      case Opcode::kEqInt:
        result = read(0).as_int() == read(1).as_int();
        break;
      case Opcode::kNeInt:
        result = read(0).as_int() != read(1).as_int();
        break;
      case Opcode::kLtInt:
        result = read(0).as_int() < read(1).as_int();
        break;
      case Opcode::kLeInt:
        result = read(0).as_int() <= read(1).as_int();
        break;
      case Opcode::kGtInt:
        result = read(0).as_int() > read(1).as_int();
        break;
      case Opcode::kGeInt:
        result = read(0).as_int() >= read(1).as_int();
        break;
      case Opcode::kNot:
        result = !read(0).as_bool();
        break;
      case Opcode::kListLength: {
        int64_t size = int64_t(read(0).as_list().items.size());
        drop_taken(0);
        result = size;
        break;
      }
      case Opcode::kListItem: {
        Value value = list_item(read(0), read(1).as_int());
        drop_taken(0);
        result = std::move(value);
        break;
      }
    }
  }
}

Value run(const Code& code, std::vector<Value> arguments) {
  thread_local int nesting = 0;
  struct Nesting {
    Nesting() { ++nesting; }
    ~Nesting() { --nesting; }
  } level;
  const AdmittedCall turn;
  HOTARU_CHECK(nesting <= kMaxNesting, "maximum recursion depth exceeded");
  return Interpreter(thread_stack()).run(code, arguments);
}

}  // namespace hotaru::script
