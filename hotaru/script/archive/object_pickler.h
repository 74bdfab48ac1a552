// Values to the pickles of TorchScript archives: instances, and containers
// with their types.
#pragma once

#include <string>

#include "hotaru/io/pickler.h"
#include "hotaru/script/types/type.h"

namespace hotaru::script {

class CompilationUnit;

/// Pickles as PyTorch's unpickler takes them: lists and dicts carry their
/// types, which their elements alone don't tell.
class ObjectPickler : public io::Pickler {
 public:
  /// All instances must be of this unit's classes.
  explicit ObjectPickler(CompilationUnit& unit)
      : Pickler(StorageClasses::kOfEveryDType), unit_(unit) {}

  /// `type` is the value's declared type, or null if there is none. Throws
  /// TypeError for values that have no form in a file and ValueError for
  /// values that contain themselves.
  std::string pickle(const Value& value, TypePtr type);

 private:
  void write(const Value& value, TypePtr type, int depth);
  void list(const Value& value, TypePtr item, int depth);
  void dict(const Value& value, TypePtr type, int depth);
  void instance(const Value& value, int depth);
  void enum_member(const Value& value);
  void type_tag(TypePtr type);

  CompilationUnit& unit_;
};

}  // namespace hotaru::script
