// Files of named tensors, values and archives within archives: TorchScript
// archives without code, which Python's torch.jit.load reads.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "torch/jit.h"

namespace torch::serialize {

/// Collects what a file will hold. Movable, not copyable.
class OutputArchive final {
 public:
  OutputArchive() = default;
  OutputArchive(OutputArchive&&) = default;
  OutputArchive& operator=(OutputArchive&&) = default;
  OutputArchive(OutputArchive&) = delete;
  OutputArchive& operator=(OutputArchive&) = delete;

  /// Throw for a key that is taken.
  void write(const std::string& key, const c10::IValue& value);
  void write(const std::string& key, const Tensor& tensor,
             bool is_buffer = false);
  void write(const std::string& key, OutputArchive& nested);
  template <class... Ts>
  void operator()(Ts&&... ts) {
    write(std::forward<Ts>(ts)...);
  }

  void save_to(const std::string& path);
  void save_to(std::ostream& out);
  void save_to(const std::function<size_t(const void*, size_t)>& write);

 private:
  enum class Kind : uint8_t { kParameter, kBuffer, kAttribute };
  struct Entry {
    std::string key;
    Kind kind;
    c10::IValue value;
    std::shared_ptr<OutputArchive> nested;
  };

  void add(Entry entry);
  jit::Module module(
      const std::shared_ptr<hotaru::script::CompilationUnit>& unit) const;

  std::vector<Entry> entries_;
};

/// Reads them. Keys of archives within are theirs.
class InputArchive final {
 public:
  InputArchive() = default;
  InputArchive(InputArchive&&) = default;
  InputArchive& operator=(InputArchive&&) = default;
  InputArchive(InputArchive&) = delete;
  InputArchive& operator=(InputArchive&) = delete;

  /// Throw PyTorch's texts for a key that is not there, which try_read answers
  /// with false. A defined tensor gets the values that were read, converted to
  /// its device; an undefined one becomes what was read.
  void read(const std::string& key, c10::IValue& value);
  bool try_read(const std::string& key, c10::IValue& value);
  void read(const std::string& key, Tensor& tensor, bool is_buffer = false);
  bool try_read(const std::string& key, Tensor& tensor, bool is_buffer = false);
  void read(const std::string& key, InputArchive& nested);
  bool try_read(const std::string& key, InputArchive& nested);
  template <class... Ts>
  void operator()(Ts&&... ts) {
    read(std::forward<Ts>(ts)...);
  }

  void load_from(const std::string& path, std::optional<Device> device = {});
  void load_from(std::istream& in, std::optional<Device> device = {});
  void load_from(const char* data, size_t size,
                 std::optional<Device> device = {});
  void load_from(const std::function<size_t(uint64_t, void*, size_t)>& read_at,
                 const std::function<size_t()>& size,
                 std::optional<Device> device = {});
  std::vector<std::string> keys();

 private:
  std::string where(const std::string& key) const { return prefix_ + key; }

  jit::Module module_;
  std::string prefix_;
};

}  // namespace torch::serialize
