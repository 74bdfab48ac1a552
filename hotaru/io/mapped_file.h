// The bytes of a file or of a caller's buffer, kept alive by reference count.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "hotaru/core/ref.h"

namespace hotaru::io {

using Bytes = std::span<const std::byte>;

/// Bytes that tensors may point into for as long as they hold the object.
/// A file is mapped privately and writable: writing to a tensor that lies in
/// it changes memory (a copied page), never the file. Truncating the file
/// while it is mapped is outside what a process can defend against.
class MappedFile : public RefCounted {
 public:
  /// Maps a file. Throws Error naming path and reason, ValueError for what is
  /// no regular file.
  static Ref<MappedFile> open(const std::string& path);
  /// Takes over a buffer; `name` stands for the path in errors.
  static Ref<MappedFile> from_bytes(std::vector<std::byte> bytes,
                                    std::string name);

  ~MappedFile() override;

  const std::string& name() const { return name_; }
  Bytes bytes() const { return {data_, size_}; }
  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  MappedFile() = default;

  std::string name_;
  std::byte* data_ = nullptr;
  size_t size_ = 0;
  bool mapped_ = false;
  std::vector<std::byte> owned_;
};

}  // namespace hotaru::io
