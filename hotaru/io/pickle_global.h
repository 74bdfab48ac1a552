// The globals that a pickle may name, and what calling them gives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "hotaru/core/value.h"
#include "hotaru/io/unpickler.h"

namespace hotaru::io {

enum class GlobalKind : uint8_t {
  kRebuildTensor,
  kRebuildTyped,  // of an untyped storage, with a dtype
  kRebuildParameter,
  kRebuildSparse,
  kOrderedDict,
  kBuildList,  // build_intlist and its like
  kRestoreTypeTag,
  kTensorFromId,
  kDevice,
  kComplex,
  kSize,
  kStorageType,
  kDType,
  kClass,
};

/// A global on the unpickler's stack. Never part of a result.
struct PickleGlobal : RefCounted {
  GlobalKind kind = GlobalKind::kClass;
  std::string name;  // "module.name"
  DType dtype = DType::kFloat32;
};

/// A storage on the unpickler's stack, with the dtype of its type.
struct PickleStorage : RefCounted {
  Ref<Storage> storage;
  DType dtype = DType::kFloat32;
};

/// The global of that name; throws Error unless it is on the list.
Value find_global(std::string_view module, std::string_view name);

/// The global behind a value, or null.
const PickleGlobal* as_global(const Value& value);

/// Returns what global(*arguments) gives. Throws Error for wrong arguments.
Value call_global(const PickleGlobal& global,
                  const std::vector<Value>& arguments, PickleHost& host);

/// The storage that a persistent id names.
Value load_persistent(const Value& id, PickleHost& host);

}  // namespace hotaru::io
