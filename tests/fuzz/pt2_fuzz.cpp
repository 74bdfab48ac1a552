// Any bytes as an exported program, and as the text of one's graph: rejected
// with an Error or loaded and compiled.
#include <cstring>
#include <vector>

#include "hotaru/core/error.h"
#include "hotaru/exchange/pt2/load_pt2.h"
#include "hotaru/script/program/function.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::byte> bytes(size);
  if (size > 0) std::memcpy(bytes.data(), data, size);
  try {
    hotaru::script::Module module =
        hotaru::exchange::load_pt2(std::move(bytes), "fuzz.pt2");
    for (const std::string& method : module.method_names())
      module.method(method).code();
  } catch (const hotaru::Error&) {
  }
  return 0;
}
