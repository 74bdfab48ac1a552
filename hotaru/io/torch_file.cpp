#include "hotaru/io/torch_file.h"

#include <filesystem>
#include <unordered_map>
#include <utility>

#include "hotaru/core/checks/check.h"
#include "hotaru/io/pickler.h"
#include "hotaru/io/storages.h"
#include "hotaru/io/unpickler.h"
#include "hotaru/io/zip_reader.h"
#include "hotaru/io/zip_writer.h"
#include "hotaru/runtime/backend.h"

namespace hotaru::io {

namespace {

class TensorFile : public PickleHost {
 public:
  TensorFile(Ref<MappedFile> file, const Place& place)
      : zip_(std::move(file)), storages_(zip_, "data/"), place_(place) {}

  Value read() {
    if (zip_.find("constants.pkl")) {
      fail(zip_.file_name(),
           ": this file is a TorchScript archive; load it with jit.load");
    }
    check_byte_order(zip_);
    const ZipRecord& record = zip_.get("data.pkl");
    std::string pickle = zip_.read(record);
    return unpickle(pickle, zip_.where(record), *this,
                    {.memory = memory_for(zip_.file()->size())});
  }

  Ref<Storage> storage(const std::string& key, DType dtype, int64_t numel,
                       const std::string& saved_on) override {
    const Ref<Storage> stored = storages_.get(key, dtype, numel);
    Ref<Storage>& placed = placed_[key];
    if (!placed) placed = place_(saved_on, stored);
    return placed;
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
  const Place& place_;
  // Each is placed once: tensors that shared memory share it again.
  std::unordered_map<std::string, Ref<Storage>> placed_;
};

}  // namespace

bool is_old_torch_file(const MappedFile& file) {
  // A pickle of protocol 2 that begins with a long number.
  const std::string_view bytes(reinterpret_cast<const char*>(file.data()),
                               file.size());
  return bytes.starts_with("\x80\x02\x8a\x0a");
}

Ref<Storage> place_as_saved(const std::string& saved_on,
                            const Ref<Storage>& storage) {
  const Device device = Device::parse(saved_on);
  if (!device.is_cuda()) return storage;
  const int count = device_count(DeviceType::kCUDA);
  HOTARU_CHECK(count > 0,
               "Attempting to deserialize object on a CUDA device but "
               "torch.cuda.is_available() is False. If you are running on a "
               "CPU-only machine, please use torch.load with "
               "map_location=torch.device('cpu') to map your storages to the "
               "CPU.");
  HOTARU_CHECK(device.index < count,
               "Attempting to deserialize object on CUDA device ",
               int(device.index), " but torch.cuda.device_count() is ", count,
               ". Please use torch.load with map_location to map your "
               "storages to an existing device.");
  return on_device(storage, device);
}

Value load_torch_file(const std::string& path, const Place& place) {
  return TensorFile(MappedFile::open(path), place).read();
}

Value load_torch_bytes(std::vector<std::byte> bytes, const std::string& name,
                       const Place& place) {
  return TensorFile(MappedFile::from_bytes(std::move(bytes), name), place)
      .read();
}

namespace {

void write(ZipWriter& writer, const Value& value) {
  Pickler pickler;
  writer.add("data.pkl", pickler.pickle(value));
  writer.add("byteorder", "little");
  for (size_t i = 0; i < pickler.storages().size(); ++i) {
    const Ref<Storage> host = on_device(pickler.storages()[i].storage, {});
    writer.add(
        concat("data/", i),
        Bytes(static_cast<const std::byte*>(host->data()), host->nbytes()));
  }
  writer.add("version", "3\n");
  writer.finish();
}

}  // namespace

void save_torch_file(const std::string& path, const Value& value) {
  const std::string stem = std::filesystem::path(path).stem().string();
  ZipWriter writer(path, stem.empty() ? "archive" : stem);
  write(writer, value);
}

std::string save_torch_bytes(const Value& value) {
  std::string out;
  ZipWriter writer([&](std::string_view bytes) { out += bytes; }, "archive");
  write(writer, value);
  return out;
}

}  // namespace hotaru::io
