#include "hotaru/io/pickle_global.h"

#include <optional>
#include <utility>

#include "hotaru/autograd/node.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/rare.h"
#include "hotaru/core/shape.h"
#include "hotaru/io/sparse_parts.h"

namespace hotaru::io {

namespace {

struct KnownGlobal {
  std::string_view name;
  GlobalKind kind;
};

constexpr KnownGlobal kGlobals[] = {
    {"torch._utils._rebuild_tensor_v2", GlobalKind::kRebuildTensor},
    {"torch._utils._rebuild_tensor", GlobalKind::kRebuildTensor},
    {"torch._utils._rebuild_tensor_v3", GlobalKind::kRebuildTyped},
    {"torch._utils._rebuild_parameter", GlobalKind::kRebuildParameter},
    {"torch._utils._rebuild_sparse_tensor", GlobalKind::kRebuildSparse},
    {"collections.OrderedDict", GlobalKind::kOrderedDict},
    {"torch.jit._pickle.build_intlist", GlobalKind::kBuildList},
    {"torch.jit._pickle.build_tensorlist", GlobalKind::kBuildList},
    {"torch.jit._pickle.build_doublelist", GlobalKind::kBuildList},
    {"torch.jit._pickle.build_boollist", GlobalKind::kBuildList},
    {"torch.jit._pickle.restore_type_tag", GlobalKind::kRestoreTypeTag},
    {"torch.jit._pickle.build_tensor_from_id", GlobalKind::kTensorFromId},
    {"__main__.IntList", GlobalKind::kBuildList},
    {"__main__.TensorID", GlobalKind::kTensorFromId},
    {"torch.device", GlobalKind::kDevice},
    {"builtins.complex", GlobalKind::kComplex},
    {"__builtin__.complex", GlobalKind::kComplex},
    {"torch.Size", GlobalKind::kSize},
};

/// The dtype whose name by `name_of` is `name`.
std::optional<DType> dtype_of(std::string_view name,
                              const char* (*name_of)(DType)) {
  for (const DType dtype : kAllDTypes)
    if (name == name_of(dtype)) return dtype;
  return {};
}

/// The dtype of the storages of a class of the module torch. An untyped one
/// counts bytes.
std::optional<DType> storage_dtype(std::string_view name) {
  constexpr std::string_view kEnd = "Storage";
  if (!name.ends_with(kEnd)) return {};
  name.remove_suffix(kEnd.size());
  return name == "Untyped" ? DType::kUInt8 : dtype_of(name, scalar_type_name);
}

void expect_arguments(const PickleGlobal& global,
                      const std::vector<Value>& arguments, size_t least) {
  HOTARU_CHECK(arguments.size() >= least, global.name, " needs ", least,
               " arguments, but the pickle gives ", arguments.size());
}

Dims read_dims(const Value& value, const char* what) {
  HOTARU_CHECK(value.is_tuple() || value.is_list(), "a tensor's ", what,
               " must be a tuple, not ", value.type_name());
  const std::vector<Value>& items =
      value.is_tuple() ? value.as_tuple().items : value.as_list().items;
  constexpr size_t kMaxDims = 64;
  HOTARU_CHECK(items.size() <= kMaxDims, "a tensor of ", items.size(),
               " dimensions");
  Dims dims;
  for (const Value& item : items) {
    HOTARU_CHECK(item.is_int() && item.as_int() >= 0, "a tensor's ", what,
                 " must hold non-negative integers");
    dims.push_back(item.as_int());
  }
  return dims;
}

// The last argument of (storage, offset, size, stride, requires_grad, hooks,
// dtype).
DType dtype_argument(const PickleGlobal& global,
                     const std::vector<Value>& arguments) {
  expect_arguments(global, arguments, 7);
  const PickleGlobal* dtype = as_global(arguments[6]);
  HOTARU_CHECK(dtype && dtype->kind == GlobalKind::kDType, global.name,
               " needs a dtype");
  return dtype->dtype;
}

// (storage, offset, size, stride, requires_grad, hooks), and a dtype if the
// storage has none.
Value rebuild_tensor(const PickleGlobal& global,
                     const std::vector<Value>& arguments) {
  expect_arguments(global, arguments, 4);
  auto* storage = arguments[0].is_object()
                      ? dynamic_cast<PickleStorage*>(arguments[0].as_object())
                      : nullptr;
  HOTARU_CHECK(storage, global.name, " needs a storage");
  HOTARU_CHECK(arguments[1].is_int(), "a tensor's offset must be an integer");
  Dims sizes = read_dims(arguments[2], "size");
  Dims strides = read_dims(arguments[3], "stride");
  HOTARU_CHECK(sizes.size() == strides.size(), "a tensor has ", sizes.size(),
               " sizes, but ", strides.size(), " strides");
  // make_tensor checks the reach against the storage.
  const DType dtype = global.kind == GlobalKind::kRebuildTyped
                          ? dtype_argument(global, arguments)
                          : storage->dtype;
  Tensor tensor = make_tensor(storage->storage, dtype, sizes, strides,
                              arguments[1].as_int());
  if (arguments.size() > 4 && arguments[4].is_bool() && arguments[4].as_bool())
    autograd::set_requires_grad(tensor, true);
  return tensor;
}

Value rebuild_parameter(const PickleGlobal& global,
                        const std::vector<Value>& arguments) {
  expect_arguments(global, arguments, 2);
  HOTARU_CHECK(arguments[0].is_tensor() && arguments[1].is_bool(), global.name,
               " needs a tensor and a bool");
  if (arguments[1].as_bool())
    autograd::set_requires_grad(arguments[0].tensor_ref(), true);
  return arguments[0];
}

// (layout, sizes, requires_grad, indices, values, hooks), or with two indices
// of the compressed layout.
Value rebuild_sparse(const PickleGlobal& global,
                     const std::vector<Value>& arguments) {
  expect_arguments(global, arguments, 6);
  HOTARU_CHECK(arguments[0].is_int() && arguments[2].is_bool(), global.name,
               " needs a layout, sizes and a bool");
  std::vector<Tensor> parts;
  for (size_t i = 3; i < arguments.size() && arguments[i].is_tensor(); ++i)
    parts.push_back(arguments[i].as_tensor());
  Tensor tensor = sparse_of_parts(arguments[0].as_int(),
                                  read_dims(arguments[1], "size"), parts);
  if (arguments[2].as_bool()) autograd::set_requires_grad(tensor, true);
  return tensor;
}

Value ordered_dict(const std::vector<Value>& arguments) {
  auto dict = make_ref<DictObject>();
  if (arguments.empty()) return dict;
  HOTARU_CHECK(arguments[0].is_list(), "OrderedDict needs a list of pairs");
  for (const Value& pair : arguments[0].as_list().items) {
    HOTARU_CHECK(pair.is_tuple() || pair.is_list(),
                 "OrderedDict needs a list of pairs");
    const std::vector<Value>& items =
        pair.is_tuple() ? pair.as_tuple().items : pair.as_list().items;
    HOTARU_CHECK(
        items.size() == 2 && (items[0].is_string() || items[0].is_int()),
        "OrderedDict needs pairs with a string or an integer first");
    dict->set(items[0], items[1]);
  }
  return dict;
}

Value device_of(const std::vector<Value>& arguments) {
  HOTARU_CHECK(!arguments.empty() && arguments[0].is_string(),
               "torch.device needs a string");
  std::string text = arguments[0].as_string();
  if (arguments.size() > 1 && arguments[1].is_int())
    text += concat(":", arguments[1].as_int());
  return Device::parse(text);
}

}  // namespace

Value find_global(std::string_view module, std::string_view name) {
  auto global = make_ref<PickleGlobal>();
  global->name = concat(module, ".", name);
  auto found = [&](GlobalKind kind) {
    global->kind = kind;
    return Value::from_object(global);
  };
  for (const KnownGlobal& known : kGlobals)
    if (global->name == known.name) return found(known.kind);
  const auto found_of = [&](GlobalKind kind, DType dtype) {
    global->dtype = dtype;
    return found(kind);
  };
  if (module == "torch" || module == "torch.storage") {
    if (const auto dtype = storage_dtype(name))
      return found_of(GlobalKind::kStorageType, *dtype);
  }
  if (module == "torch") {
    if (const auto dtype = dtype_of(name, dtype_name))
      return found_of(GlobalKind::kDType, *dtype);
  }
  if (module == "__torch__" || module.starts_with("__torch__."))
    return found(GlobalKind::kClass);
  fail("the pickle names '", std::string_view(global->name).substr(0, 120),
       "', which is not allowed in a file of tensors");
}

const PickleGlobal* as_global(const Value& value) {
  return value.is_object()
             ? dynamic_cast<const PickleGlobal*>(value.as_object())
             : nullptr;
}

Value call_global(const PickleGlobal& global,
                  const std::vector<Value>& arguments, PickleHost& host) {
  switch (global.kind) {
    case GlobalKind::kRebuildTensor:
    case GlobalKind::kRebuildTyped:
      return rebuild_tensor(global, arguments);
    case GlobalKind::kRebuildParameter:
      return rebuild_parameter(global, arguments);
    case GlobalKind::kRebuildSparse:
      return rebuild_sparse(global, arguments);
    case GlobalKind::kOrderedDict:
      return ordered_dict(arguments);
    case GlobalKind::kBuildList:
    case GlobalKind::kRestoreTypeTag:
      // The declared types of attributes say what the tag would.
      expect_arguments(global, arguments, 1);
      HOTARU_CHECK(arguments[0].is_list() || arguments[0].is_dict(),
                   global.name, " needs a list or a dict");
      return arguments[0];
    case GlobalKind::kTensorFromId:
      expect_arguments(global, arguments, 1);
      HOTARU_CHECK(arguments[0].is_int(), global.name, " needs an integer");
      return host.tensor_by_id(arguments[0].as_int());
    case GlobalKind::kDevice:
      return device_of(arguments);
    case GlobalKind::kComplex:
      expect_arguments(global, arguments, 2);
      HOTARU_CHECK(arguments[0].is_double() && arguments[1].is_double(),
                   "complex needs two floats");
      return std::complex<double>(arguments[0].as_double(),
                                  arguments[1].as_double());
    case GlobalKind::kSize:
      expect_arguments(global, arguments, 1);
      HOTARU_CHECK(arguments[0].is_tuple(), "torch.Size needs a tuple");
      return arguments[0];
    case GlobalKind::kStorageType:
    case GlobalKind::kDType:
    case GlobalKind::kClass:
      break;
  }
  fail("'", global.name, "' cannot be called here");
}

Value load_persistent(const Value& id, PickleHost& host) {
  HOTARU_CHECK(id.is_tuple() && id.as_tuple().items.size() >= 5,
               "a persistent id must be a tuple of five");
  const std::vector<Value>& items = id.as_tuple().items;
  const PickleGlobal* type = as_global(items[1]);
  HOTARU_CHECK(items[0].is_string() && items[0].as_string() == "storage" &&
                   type && type->kind == GlobalKind::kStorageType &&
                   items[2].is_string() && items[3].is_string() &&
                   items[4].is_int() && items[4].as_int() >= 0,
               "a persistent id must be ('storage', type, key, device, "
               "number of elements)");
  auto storage = make_ref<PickleStorage>();
  storage->dtype = type->dtype;
  storage->storage = host.storage(items[2].as_string(), type->dtype,
                                  items[4].as_int(), items[3].as_string());
  return Value::from_object(storage);
}

}  // namespace hotaru::io
