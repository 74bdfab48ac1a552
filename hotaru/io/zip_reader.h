// Zip archives as PyTorch writes them, read without trusting a byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hotaru/io/mapped_file.h"

namespace hotaru::io {

struct ZipRecord {
  std::string name;            // without the archive's root folder
  uint64_t header_offset = 0;  // of the local header, from the file's start
  uint64_t offset = 0;         // of the payload
  uint64_t stored_size = 0;    // bytes in the file
  uint64_t size = 0;           // bytes once inflated
  uint32_t crc = 0;
  bool deflated = false;
};

/// The directory of an archive. The constructor rejects, with an Error that
/// names file, record and offset: truncated and multi-disk archives, a
/// directory that disagrees with the records' own headers, records beyond the
/// file or over each other, duplicate names, names that leave the archive,
/// more than one root folder, encryption, compression other than deflate, and
/// sizes that deflate cannot reach. Immutable afterwards: any thread may read.
class ZipReader {
 public:
  /// kOptional: the records may lie in no folder at all; root() is "" then.
  enum class Root : uint8_t { kRequired, kOptional };

  explicit ZipReader(Ref<MappedFile> file, Root root = Root::kRequired);

  const std::string& file_name() const { return file_->name(); }
  const Ref<MappedFile>& file() const { return file_; }
  /// The folder that all records lie in; PyTorch names it after the file.
  const std::string& root() const { return root_; }
  const std::vector<ZipRecord>& records() const { return records_; }

  /// The record, or null.
  const ZipRecord* find(std::string_view name) const;
  /// The record; throws Error when the archive has none of that name.
  const ZipRecord& get(std::string_view name) const;

  /// A stored record's payload inside the map, without a copy. Verifies the
  /// CRC; throws Error for deflated records.
  Bytes stored(const ZipRecord& record) const;
  /// The same without looking at the bytes: pages that nobody reads are not
  /// read from the disk.
  Bytes unverified(const ZipRecord& record) const;
  /// The contents, inflated where needed; verifies the CRC.
  std::string read(const ZipRecord& record) const;

  /// "file: record 'name' at offset N", the beginning of every error.
  std::string where(const ZipRecord& record) const;

 private:
  struct Directory {
    uint64_t offset;
    uint64_t size;
    uint64_t entries;
  };

  Directory find_directory() const;
  void read_directory(const Directory& directory);
  void check_local_header(ZipRecord& record, uint16_t flags) const;
  void check_overlaps(uint64_t directory_offset) const;
  void strip_root(Root root);
  void index();
  void check_crc(const ZipRecord& record, Bytes contents) const;

  Ref<MappedFile> file_;
  std::string root_;
  std::vector<ZipRecord> records_;
  std::unordered_map<std::string_view, size_t> by_name_;
};

}  // namespace hotaru::io
