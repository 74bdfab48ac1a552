// Classes that programs define in C++ (torch::class_): every compilation unit
// knows them, as "__torch__.torch.classes.<space>.<name>".
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hotaru/core/value.h"
#include "hotaru/ops/own/own_operator.h"

namespace hotaru::script {

/// Method of an object, which comes first among the arguments, or of the class.
struct OwnMethod {
  std::string name;
  /// "(Any self, int n=1) -> Tensor", in the language of operators' schemas.
  Schema schema;
  own::BoxedKernel call;
  bool is_static = false;
  /// Set for a property "x", whose method is "x_getter" and setter "x_setter".
  bool is_property = false;
  std::string doc;
};

/// Lives as long as the process. Methods are added before anybody else knows
/// the class.
class OwnClass {
 public:
  OwnClass(std::string name, std::string doc)
      : name_(std::move(name)), doc_(std::move(doc)) {}

  /// Qualified: "__torch__.torch.classes.mine.Stack".
  const std::string& name() const { return name_; }
  const std::string& doc() const { return doc_; }
  const std::vector<std::unique_ptr<OwnMethod>>& methods() const {
    return methods_;
  }
  /// Null if there is none.
  const OwnMethod* find(std::string_view method) const;
  /// Throws Error for a name that is taken.
  void add(OwnMethod method);

 private:
  const std::string name_, doc_;
  std::vector<std::unique_ptr<OwnMethod>> methods_;
};

/// The class of a named range that has begun, which is always there.
inline constexpr const char* kRangeClass =
    "__torch__.torch.classes.profiler._RecordFunction";

/// Target of an instance's `type`. The instance's one slot holds the program's
/// object, None until it is constructed.
struct OwnHandle : RefCounted {
  explicit OwnHandle(const OwnClass* cls) : cls(cls) {}
  const OwnClass* const cls;
};

/// Throws Error with PyTorch's text for a name that is taken.
OwnClass& define_own_class(std::string qualified_name, std::string doc);
/// Null if there is none. Thread-safe, as are the following.
const OwnClass* find_own_class(std::string_view qualified_name);
/// The names of all, sorted.
std::vector<std::string> own_class_names();

/// A new instance that holds the object, or nothing yet.
Ref<InstanceObject> own_instance(const OwnClass& cls, Value object = {});
/// The class of an instance, or null for other values.
const OwnClass* own_class_of(const Value& value);
/// Calls a method with arguments in the schema's order, all present; several
/// results as a tuple, none as None.
Value call_own_method(const OwnMethod& method, std::vector<Value> arguments);
/// Positional and keyword arguments in order, with defaults. Throws TypeError
/// where they do not fit.
std::vector<Value> bind_own_method(
    const OwnMethod& method, std::vector<Value> arguments,
    std::vector<std::pair<std::string, Value>> keywords);

}  // namespace hotaru::script
