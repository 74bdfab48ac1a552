#include "hotaru/io/torch_file.h"

#include <filesystem>
#include <utility>

#include "hotaru/core/error.h"
#include "hotaru/io/pickler.h"
#include "hotaru/io/storages.h"
#include "hotaru/io/unpickler.h"
#include "hotaru/io/zip_reader.h"
#include "hotaru/io/zip_writer.h"

namespace hotaru::io {

namespace {

constexpr size_t kMemoryBase = size_t{24} << 20;

class TensorFile : public PickleHost {
 public:
  explicit TensorFile(Ref<MappedFile> file)
      : zip_(std::move(file)), storages_(zip_, "data/") {}

  Value read() {
    if (zip_.find("constants.pkl")) {
      fail(zip_.file_name(),
           ": this file is a TorchScript archive; load it with jit.load");
    }
    check_byte_order(zip_);
    const ZipRecord& record = zip_.get("data.pkl");
    std::string pickle = zip_.read(record);
    return unpickle(pickle, zip_.where(record), *this,
                    {.memory = kMemoryBase + zip_.file()->size()});
  }

  Ref<Storage> storage(const std::string& key, DType dtype,
                       int64_t numel) override {
    return storages_.get(key, dtype, numel);
  }
  Value instance(const std::string&) override { return {}; }
  void set_state(const Value&, Value) override {
    fail("objects of classes are not supported in this file");
  }
  Tensor tensor_by_id(int64_t id) override {
    fail("the file has no tensor constant ", id);
  }

 private:
  ZipReader zip_;
  ArchiveStorages storages_;
};

}  // namespace

Value load_torch_file(const std::string& path) {
  return TensorFile(MappedFile::open(path)).read();
}

Value load_torch_bytes(std::vector<std::byte> bytes, const std::string& name) {
  return TensorFile(MappedFile::from_bytes(std::move(bytes), name)).read();
}

void save_torch_file(const std::string& path, const Value& value) {
  Pickler pickler;
  std::string pickle = pickler.pickle(value);
  std::string stem = std::filesystem::path(path).stem().string();
  ZipWriter writer(path, stem.empty() ? "archive" : stem);
  writer.add("data.pkl", pickle);
  writer.add("byteorder", "little");
  for (size_t i = 0; i < pickler.storages().size(); ++i) {
    const Storage& storage = *pickler.storages()[i].storage;
    writer.add(
        concat("data/", i),
        Bytes(static_cast<const std::byte*>(storage.data()), storage.nbytes()));
  }
  writer.add("version", "3\n");
  writer.finish();
}

}  // namespace hotaru::io
