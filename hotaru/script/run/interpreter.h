// Runs compiled functions.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hotaru/core/error.h"
#include "hotaru/core/ref.h"
#include "hotaru/core/value.h"
#include "hotaru/runtime/threads/future.h"

namespace hotaru::script {

class Code;
class Function;
struct AwaitedCall;

/// Runs a function with all its arguments, already of the parameters' types
/// (Function::bind). Thread-safe. Throws ExecutionError, which tells where in
/// the program it happened. Where the program waits for a future, the caller
/// runs queued tasks meanwhile.
Value run(const Code& code, std::vector<Value> arguments);

/// The same on the process's pool: `fork` of TorchScript. Returns at once; the
/// future gets the result or an ExecutionError. Where the program waits for a
/// future it gives its thread back and goes on in a task of its own, so no
/// number of programs that wait for each other blocks the pool. The caller's
/// grad mode and streams hold in the program, too. Thread-safe.
Ref<Future> run_async(Function& function, std::vector<Value> arguments);
/// The same call, made by the first who asks for its result.
Ref<AwaitedCall> make_awaited(Function& function, std::vector<Value> arguments);

/// An error while a TorchScript program ran. what() holds the program's call
/// stack, as TorchScript prints it, and the message.
class ExecutionError : public Error {
 public:
  ExecutionError(const std::string& traceback, std::string class_name,
                 std::string message);

  /// The exception's class: "builtins.ValueError" for `raise ValueError`,
  /// empty for errors of operators.
  const std::string& class_name() const { return class_name_; }
  /// The message alone.
  const std::string& message() const { return message_; }

 private:
  std::string class_name_;
  std::string message_;
};

/// The future that a value holds. TypeError if it is none.
Future& future_of(const Value& value);

/// Where `print` of a TorchScript program goes; standard output unless set.
/// The text ends with a newline. Called from the thread that runs the
/// program.
void set_print_handler(std::function<void(std::string_view)> handler);
void print_text(std::string_view text);

/// The text that str() and format() give for a value.
std::string value_text(const Value& value);

/// PyTorch's aten::format: each "{}" gives way to the next value, all else is
/// literal. Throws ValueError for missing values.
std::string format_text(std::string_view format, const Value* values,
                        size_t count);

}  // namespace hotaru::script
