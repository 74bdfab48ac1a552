// Zip archives that PyTorch reads: stored records, payloads 64-byte aligned.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "hotaru/io/mapped_file.h"
#include "hotaru/io/new_file.h"

namespace hotaru::io {

/// Writes records one after another; payloads begin at multiples of 64 bytes,
/// so that readers can map them. Equal records give equal bytes.
class ZipWriter {
 public:
  /// Takes the archive's bytes, in order.
  using Sink = std::function<void(std::string_view bytes)>;

  /// Writes a NewFile, whole or not at all. `root` is the folder of all
  /// records, by PyTorch's habit the file's name without its suffix. Throws
  /// Error when the file cannot be made.
  ZipWriter(std::string path, std::string root);
  /// Writes to whatever takes bytes.
  ZipWriter(Sink sink, std::string root);
  ZipWriter(const ZipWriter&) = delete;
  ZipWriter& operator=(const ZipWriter&) = delete;

  /// Throws Error for a name written before or when the disk is full, and what
  /// the sink throws.
  void add(std::string_view name, Bytes contents);
  void add(std::string_view name, std::string_view contents) {
    add(name, std::as_bytes(std::span(contents)));
  }

  /// Writes the directory and moves a file into place.
  void finish();

 private:
  struct Entry {
    std::string name;
    uint64_t offset;
    uint64_t size;
    uint32_t crc;
  };

  void write(std::string_view bytes);
  std::string central_header(const Entry& entry) const;

  std::string path_;
  std::string root_;
  std::optional<NewFile> file_;  // none: the sink is the caller's
  Sink sink_;
  uint64_t position_ = 0;
  std::vector<Entry> entries_;
  std::unordered_set<std::string> names_;
};

}  // namespace hotaru::io
