// Pickles as PyTorch writes them (protocol 2 and below), read without
// executing anything: a fixed list of opcodes and of globals.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hotaru/core/tensor.h"
#include "hotaru/core/value.h"
#include "hotaru/io/mapped_file.h"

namespace hotaru::io {

/// Meaning of a pickle's references to the outside. Methods throw Error to
/// reject; the unpickler adds file, record and offset.
class PickleHost {
 public:
  virtual ~PickleHost() = default;
  /// The storage that ("storage", type, key, device, numel) names, of at
  /// least numel elements. The device is the one that it was saved on.
  virtual Ref<Storage> storage(const std::string& key, DType dtype,
                               int64_t numel, const std::string& device) = 0;
  /// A new instance of a class whose module begins with "__torch__"; null
  /// Value when there is none.
  virtual Value instance(const std::string& qualified_name) = 0;
  /// The member of an Enum class whose module begins with "__torch__"; null
  /// Value when there is no such class.
  virtual Value enum_member(const std::string& /*qualified_name*/,
                            const Value& /*value*/) {
    return {};
  }
  /// Gives an instance what BUILD brings, a dict or a tuple for __setstate__.
  virtual void set_state(const Value& instance, Value state) = 0;
  /// True if what the instance holds is none of the pickle's values, but an
  /// object of the program's.
  virtual bool is_opaque(const Value& /*instance*/) { return false; }
  /// The tensor that torch.jit._pickle.build_tensor_from_id(i) stands for.
  virtual Tensor tensor_by_id(int64_t id) = 0;
};

struct PickleLimits {
  /// Nesting of the containers in the result.
  int depth = 640;
  /// Estimated bytes of everything that is built, tensors' elements left out.
  size_t memory = size_t{64} << 20;
};

/// Limit of what may be built of a file of so many bytes, in bytes. An item of
/// a vocabulary takes some 20 bytes of a pickle and 300 of memory; 240 MiB are
/// there for small files, which may be packed.
constexpr size_t memory_for(size_t file_bytes) {
  return (size_t{240} << 20) + 32 * file_bytes;
}

/// Reads one pickle and returns its value: None, bool, int, float, complex,
/// str, device, tensor, list, tuple, dict (OrderedDict too) and instances.
/// `where` names file and record in errors. Throws Error, with the offset,
/// for anything that is not such a pickle; results never contain themselves.
Value unpickle(std::string_view bytes, const std::string& where,
               PickleHost& host, const PickleLimits& limits = {});

}  // namespace hotaru::io
