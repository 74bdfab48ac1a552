// The interpreter's own header: frames, and a run that can be suspended.
#pragma once

#include <string>
#include <vector>

#include "hotaru/runtime/threads/future.h"
#include "hotaru/script/run/code.h"
#include "hotaru/script/run/value_stack.h"

namespace hotaru::script {

/// A function that runs. Its registers lie on a ValueStack.
struct Frame {
  const Code* code;
  const Instruction* next;
  Value* registers;
  uint32_t result;  // the caller's register
};

/// A `with` that is to be left, in the frame of that number.
struct Entered {
  size_t frame;
  Value manager;
  Function* exit;
};

/// State of a run while it waits for a future: the frames, and their registers
/// one after another.
struct Suspended {
  std::vector<Frame> frames;
  std::vector<Value> registers;
  std::vector<Entered> entered;
};

/// The registers of all that runs in this thread.
ValueStack& thread_stack();

/// One run of a program, or a stretch of it.
class Interpreter {
 public:
  explicit Interpreter(ValueStack& stack);
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  /// Makes this a run that may not block: `wait` on an unfinished future ends
  /// it, awaited() tells which, and suspend() takes it off its thread.
  void set_suspends() { suspends_ = true; }
  const Ref<Future>& awaited() const { return awaited_; }

  /// Moves the arguments away. Throws ExecutionError.
  Value run(const Code& code, std::vector<Value>& arguments);
  Suspended suspend();
  /// Goes on where suspend() left off, perhaps in another thread.
  Value resume(Suspended& state);

 private:
  Value run();
  Value loop();
  void enter(const Code& code, uint32_t result, Value* values, size_t count);
  void leave();
  void unwind();
  std::string traceback() const;
  void call_method(const Code& code, const Instruction& instruction,
                   Value* arguments);

  ValueStack& stack_;
  std::vector<Frame> frames_;
  std::vector<Entered> entered_;
  bool suspends_ = false;
  Ref<Future> awaited_;
};

}  // namespace hotaru::script
