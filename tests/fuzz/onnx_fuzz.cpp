// Any bytes as an ONNX model: rejected with an Error or loaded and compiled.
#include <cstring>
#include <vector>

#include "hotaru/core/error.h"
#include "hotaru/exchange/onnx/load_onnx.h"
#include "hotaru/script/program/function.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::byte> bytes(size);
  if (size > 0) std::memcpy(bytes.data(), data, size);
  try {
    hotaru::script::Module module =
        hotaru::exchange::load_onnx(std::move(bytes), "fuzz.onnx");
    module.method("forward").code();
  } catch (const hotaru::Error&) {
  }
  return 0;
}
