// Functions of another language that a program calls: Python's.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hotaru/core/ref.h"
#include "hotaru/core/value.h"
#include "hotaru/ops/registry.h"

namespace hotaru::script {

/// Stands in a program as a value of type Any; the built-in call_foreign calls
/// it. Implementations may be called from any thread.
struct ForeignFunction : RefCounted {
  /// The result's type is checked by the program. Whatever is thrown becomes
  /// an error of the program.
  virtual Value call(const std::vector<Value>& arguments) const = 0;
  /// The name if it is an operator that a program defined, "lib::op", or "".
  virtual std::string operator_name() const { return {}; }
};

/// A call that is made when its result is first asked for, or a value that is
/// there: Await[T].
struct AwaitedCall : RefCounted {
  /// Whatever the call throws; the next wait makes it anew then.
  virtual Value wait() = 0;
};

/// Calls an operator of whose arguments one is a tensor that another language
/// keeps (core/sparse/opaque.h). Set once by whoever makes such tensors.
using ForeignOperator = void (*)(const Operator&, Value* arguments,
                                 Value* results);
void set_foreign_operator(ForeignOperator call);

/// Arguments by name, or by place where the name is empty.
using ForeignArguments = std::vector<std::pair<std::string, Value>>;
/// Calls what the other language has by that name: a tensor's method, or a
/// function. Arguments by name that are None are not given.
using ForeignName = Value (*)(const std::string& name,
                              const ForeignArguments& arguments);
void set_foreign_name(ForeignName call);
/// Throws NotImplementedError where there is no other language.
Value call_foreign(const std::string& name, const ForeignArguments& arguments);

}  // namespace hotaru::script
