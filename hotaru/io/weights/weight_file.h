// Files that hold tensors by name and nothing that runs: safetensors, its
// sharded form, GGUF.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hotaru/core/value.h"
#include "hotaru/io/mapped_file.h"

namespace hotaru::io {

/// Facts that a file tells of one of its tensors.
struct WeightInfo {
  std::string name;
  std::string type;            // the file's own word: "F32", "Q4_K"
  std::optional<DType> dtype;  // of what is read; none: of no type known here
  std::vector<int64_t> shape;  // row-major, last dimension densest
  uint64_t offset = 0;         // from the beginning of its file
  uint64_t nbytes = 0;         // in the file; 0 for types of unknown size
  uint32_t part = 0;           // which of parts(), or 0
};

/// The names and descriptions of a file, all checked when it was opened, and
/// its tensors as they are asked for. Immutable: any thread may read.
class WeightFile : public RefCounted {
 public:
  /// Path of the file, or of the index of its parts.
  const std::string& path() const { return path_; }
  /// "safetensors", "GGUF 3".
  const std::string& format() const { return format_; }
  /// In the order in which the bytes lie.
  const std::vector<WeightInfo>& tensors() const { return tensors_; }
  /// The description, or null.
  const WeightInfo* find(std::string_view name) const;
  /// The description; throws Error when there is none of that name.
  const WeightInfo& get(std::string_view name) const;

  /// A tensor on the CPU. It lies in the private mapping, which it keeps alive,
  /// so writing to it changes memory and never the file; what is packed in
  /// blocks or not aligned to its element is new memory, for each call. Throws
  /// Error when there is none of that name, or of a type unknown here.
  Tensor tensor(std::string_view name) const { return read(get(name)); }
  /// The same for one of tensors().
  virtual Tensor read(const WeightInfo& info) const = 0;
  /// The bytes of one that lies in quantised blocks: uint8, its shape with the
  /// bytes of a row last. They lie in the mapping, as above. Throws Error where
  /// there is none of that name, or it lies in no blocks known here.
  Tensor blocks(std::string_view name) const { return read_blocks(get(name)); }
  virtual Tensor read_blocks(const WeightInfo& info) const;

  /// A new dict of strings to what the format allows: strings in safetensors;
  /// numbers, bools, strings and lists of these in GGUF.
  virtual Value metadata() const = 0;
  /// The files that an index names, in its folder; elsewhere empty.
  virtual std::vector<std::string> parts() const { return {}; }

 protected:
  WeightFile(std::string path, std::string format)
      : path_(std::move(path)), format_(std::move(format)) {}
  /// Takes the descriptions, sorts them by place and indexes their names.
  /// Throws Error for a name that stands twice.
  void set_tensors(std::vector<WeightInfo> tensors);

 private:
  std::string path_, format_;
  std::vector<WeightInfo> tensors_;
  std::unordered_map<std::string_view, size_t> by_name_;
};

/// A tensor over bytes of a file that are known to be there: mapped, or a copy
/// where the address does not suit the dtype.
Tensor mapped_tensor(const Ref<MappedFile>& file, uint64_t offset,
                     uint64_t nbytes, DType dtype, IntSpan shape);

/// "file: tensor 'name'", the beginning of errors about one.
std::string where(const std::string& path, std::string_view name);

/// Tells whether the bytes begin as one of the formats does, or as the index of
/// a sharded file.
bool looks_like_weights(Bytes bytes);

/// Opens a file by what its bytes look like, not by its name; maps it and reads
/// its descriptions only. Throws Error, with file, tensor and offset, for
/// anything else than a complete and consistent file.
Ref<WeightFile> open_weights(const std::string& path);
/// The same for bytes in memory, which cannot be an index.
Ref<WeightFile> open_weights(Ref<MappedFile> file);

/// All tensors of a file, in its order.
std::vector<std::pair<std::string, Tensor>> load_weights(
    const std::string& path);

}  // namespace hotaru::io
