// Runs compiled functions.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hotaru/core/error.h"
#include "hotaru/core/ref.h"
#include "hotaru/core/value.h"

namespace hotaru::script {

class Code;

/// Runs a function with all its arguments, already of the parameters' types
/// (Function::bind). Thread-safe. Throws ExecutionError, which tells where in
/// the program it happened.
Value run(const Code& code, std::vector<Value> arguments);

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

/// The result of fork. The forked function has already run when fork
/// returns, in the same thread; an exception waits for wait().
struct FutureObject : RefCounted {
  Value value;
  std::exception_ptr error;
};

/// Where `print` of a TorchScript program goes; standard output unless set.
/// The text ends with a newline. Called from the thread that runs the
/// program.
void set_print_handler(std::function<void(std::string_view)> handler);
void print_text(std::string_view text);

/// Who hears the warnings of a TorchScript program; nobody unless set.
void set_warning_handler(std::function<void(std::string_view)> handler);
void warn(std::string_view message);

/// The text that str() and format() give for a value.
std::string value_text(const Value& value);

/// str.format with {} and {N} fields. Throws ValueError for other fields and
/// for missing values.
std::string format_text(std::string_view format, const Value* values,
                        size_t count);

}  // namespace hotaru::script
