// Any bytes as a file of weights, and as JSON: rejected with an Error or read
// to the last element.
#include <cstring>
#include <vector>

#include "hotaru/core/error.h"
#include "hotaru/core/host.h"
#include "hotaru/io/json.h"
#include "hotaru/io/weights/weight_file.h"

namespace {

template <class F>
void attempt(F read) {
  try {
    read();
  } catch (const hotaru::Error&) {
  }
}

void touch(const hotaru::Tensor& tensor) {
  const auto* bytes =
      static_cast<const unsigned char*>(hotaru::host_bytes(tensor, "touch"));
  volatile unsigned sum = 0;
  for (size_t i = 0; i < tensor.storage()->nbytes(); ++i) sum = sum + bytes[i];
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::byte> bytes(size);
  if (size > 0) std::memcpy(bytes.data(), data, size);
  attempt([&] {
    const auto file = hotaru::io::open_weights(
        hotaru::io::MappedFile::from_bytes(bytes, "fuzz"));
    for (const hotaru::io::WeightInfo& info : file->tensors())
      attempt([&] { touch(file->read(info)); });
    attempt([&] { file->metadata(); });
  });
  attempt([&] {
    hotaru::io::JsonDocument({reinterpret_cast<const char*>(data), size},
                             "fuzz");
  });
  return 0;
}
