// Values to pickles (protocol 2), as torch.save writes them.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hotaru/core/tensor.h"
#include "hotaru/core/value.h"

namespace hotaru {
class SparseStorage;
}

namespace hotaru::io {

/// Writes one pickle. Tensors become references to storages, which the caller
/// stores as records: storages()[i] under the key "i". What else a file may
/// hold is a derived class's business.
class Pickler {
 public:
  struct StoredTensor {
    Ref<Storage> storage;
    DType dtype;
  };
  /// Classes that a tensor's storage may be an instance of. torch.load knows
  /// classes for the dtypes that PyTorch 1 had, and reads the others (uint16,
  /// float8, ...) as bytes with a dtype; TorchScript's reader knows a class of
  /// each dtype, and no bytes.
  enum class StorageClasses : uint8_t { kOfPyTorch1, kOfEveryDType };

  explicit Pickler(StorageClasses classes = StorageClasses::kOfPyTorch1)
      : classes_(classes) {}

  /// Throws TypeError for values that have no form in a file (instances,
  /// futures) and Error for values that contain themselves.
  std::string pickle(const Value& value);

  const std::vector<StoredTensor>& storages() const { return storages_; }

 protected:
  static constexpr int kMaxDepth = 600;

  void begin() { out_ = "\x80\x02"; }
  std::string end();
  void write(const Value& value, int depth);
  void text(std::string_view text);
  void global(std::string_view module, std::string_view name);
  void op(char opcode) { out_.push_back(opcode); }
  /// Writes a reference if the object was written before.
  bool recall(const void* object);
  /// Gives the object on the stack a number, keeping `value` alive.
  void remember(const void* object, const Value& value);

 private:
  void tensor(const Tensor& tensor);
  void sparse(const Tensor& tensor, const SparseStorage& storage);
  void list(const Value& value, int depth);
  void tuple(const std::vector<Value>& items, int depth);
  void dict(const Value& dict, int depth);
  void integer(int64_t value);
  void real(double value);
  void sizes(IntSpan sizes);
  template <class T>
  void put(T value);

  const StorageClasses classes_;
  std::string out_;
  std::vector<StoredTensor> storages_;
  std::unordered_map<const void*, uint32_t> memo_;
  std::vector<Value> kept_;  // so that addresses in memo_ stay taken
};

}  // namespace hotaru::io
