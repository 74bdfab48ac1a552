#include "hotaru/io/storages.h"

#include <cstring>
#include <utility>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/dtype.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"

namespace hotaru::io {

namespace {

constexpr size_t kMaxItemsize = 16;

// A copy that the storage owns, aligned for any dtype.
Ref<Storage> copied(const void* data, size_t size) {
  std::vector<std::byte> bytes(size);
  if (size > 0) std::memcpy(bytes.data(), data, size);
  Ref<MappedFile> owner = MappedFile::from_bytes(std::move(bytes), "");
  return make_ref<Storage>(owner->data(), size, Device(), owner, false);
}

}  // namespace

Ref<Storage> ArchiveStorages::get(const std::string& key, DType dtype,
                                  int64_t numel) {
  auto [found, added] = by_key_.try_emplace(key);
  if (added) {
    const ZipRecord& record = archive_.get(folder_ + key);
    if (record.deflated) {
      std::string contents = archive_.read(record);
      found->second = copied(contents.data(), contents.size());
    } else {
      Bytes contents = checksums_ == Checksums::kVerify
                           ? archive_.stored(record)
                           : archive_.unverified(record);
      auto address = reinterpret_cast<uintptr_t>(contents.data());
      if (address % kMaxItemsize != 0) {
        found->second = copied(contents.data(), contents.size());
      } else {
        found->second = make_ref<Storage>(
            archive_.file()->data() + record.offset, contents.size(), Device(),
            archive_.file(), false);
      }
    }
  }
  const Ref<Storage>& storage = found->second;
  HOTARU_CHECK(uint64_t(numel) <= storage->nbytes() / itemsize(dtype),
               "a storage of ", numel, " elements of ", dtype_name(dtype),
               " does not fit record '", folder_, key, "' of ",
               storage->nbytes(), " bytes");
  return storage;
}

Ref<Storage> ArchiveStorages::meta(const std::string& key, DType dtype,
                                   int64_t numel) {
  Ref<Storage>& storage = by_key_[key];
  if (!storage) {
    HOTARU_CHECK(numel <= INT64_MAX / int64_t(kMaxItemsize), "a storage of ",
                 numel, " elements of ", dtype_name(dtype));
    storage = empty(Dims{numel}, {dtype, Device{DeviceType::kMeta}}).storage();
  }
  return storage;
}

Ref<Storage> on_device(const Ref<Storage>& storage, Device device) {
  if (storage->device() == device) return storage;
  const Dims size{int64_t(storage->nbytes())}, stride{1};
  const Tensor bytes = make_tensor(storage, DType::kUInt8, size, stride, 0);
  return to(bytes, device).storage();
}

void check_byte_order(const ZipReader& archive) {
  const ZipRecord* record = archive.find("byteorder");
  if (!record) return;
  std::string order = archive.read(*record);
  HOTARU_CHECK(order == "little", archive.where(*record), ": byte order '",
               order.substr(0, 16), "' is not supported, only 'little'");
}

}  // namespace hotaru::io
