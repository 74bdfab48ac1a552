// Any bytes as an archive, a file of tensors and a bare pickle: rejected with
// an Error or loaded.
#include <cstring>
#include <vector>

#include "hotaru/core/error.h"
#include "hotaru/io/torch_file.h"
#include "hotaru/io/unpickler.h"
#include "hotaru/script/archive/archive.h"
#include "hotaru/script/program/function.h"

namespace {

// A pickle that stands alone: storages of zeros, no classes.
class Host : public hotaru::io::PickleHost {
 public:
  hotaru::Ref<hotaru::Storage> storage(const std::string&, hotaru::DType dtype,
                                       int64_t numel,
                                       const std::string&) override {
    constexpr int64_t kMax = 1024;
    HOTARU_CHECK(numel <= kMax, "too large");
    static std::byte zeros[kMax * 16];
    return hotaru::make_ref<hotaru::Storage>(
        zeros, static_cast<size_t>(numel) * hotaru::itemsize(dtype),
        hotaru::Device(), nullptr);
  }
  hotaru::Value instance(const std::string&) override { return {}; }
  void set_state(const hotaru::Value&, hotaru::Value) override {}
  hotaru::Tensor tensor_by_id(int64_t) override { hotaru::fail("no tensors"); }
};

template <class F>
void attempt(F load) {
  try {
    load();
  } catch (const hotaru::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::byte> bytes(size);
  if (size > 0) std::memcpy(bytes.data(), data, size);
  attempt([&] {
    hotaru::script::Module module = hotaru::script::load(bytes, "fuzz.pt");
    for (const auto& named : module.named_modules())
      for (const std::string& method : named.second.method_names())
        attempt([&] { named.second.method(method).code(); });
  });
  attempt([&] { hotaru::io::load_torch_bytes(bytes, "fuzz.pt"); });
  attempt([&] {
    Host host;
    hotaru::io::unpickle({reinterpret_cast<const char*>(data), size},
                         "fuzz.pkl", host, {.memory = size_t{1} << 24});
  });
  return 0;
}
