// Tensors' memory inside an archive.
#pragma once

#include <string>
#include <unordered_map>

#include "hotaru/core/dtype.h"
#include "hotaru/core/storage.h"
#include "hotaru/io/zip_reader.h"

namespace hotaru::io {

/// Gives an archive's records out as storages, each once: tensors that shared
/// memory when they were saved share it again. Storages lie in the mapped
/// file, which they keep alive, unless a record is compressed or misaligned.
class ArchiveStorages {
 public:
  enum class Checksums : uint8_t { kVerify, kSkip };

  /// Records are looked up as folder + key, e.g. "data/" + "0".
  ArchiveStorages(const ZipReader& archive, std::string folder,
                  Checksums checksums = Checksums::kVerify)
      : archive_(archive), folder_(std::move(folder)), checksums_(checksums) {}

  /// Throws Error when the record is missing, damaged or too small.
  Ref<Storage> get(const std::string& key, DType dtype, int64_t numel);
  /// Storage of that key on the meta device, of which there is no record.
  Ref<Storage> meta(const std::string& key, DType dtype, int64_t numel);

 private:
  const ZipReader& archive_;
  std::string folder_;
  Checksums checksums_;
  std::unordered_map<std::string, Ref<Storage>> by_key_;
};

/// The bytes on a device: the storage itself, or a copy.
Ref<Storage> on_device(const Ref<Storage>& storage, Device device);

/// Throws Error unless the archive's bytes are in this machine's order.
void check_byte_order(const ZipReader& archive);

}  // namespace hotaru::io
