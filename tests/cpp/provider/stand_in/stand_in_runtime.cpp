// A library with ONNX Runtime's one symbol, which does something else than
// that. HOTARU_STAND_IN says what is wrong with it.
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

constexpr int kEntries = 217;
const void* entries[kEntries];

std::string_view wrong() {
  const char* text = std::getenv("HOTARU_STAND_IN");
  return text ? text : "";
}

char status;
void* create_status(int, const char*) {
  return &status;
}
int code_of(const void*) {
  return 0;
}
const char* message_of(const void*) {
  return "something else";
}

const void* const* get_api(uint32_t) {
  if (wrong() == "api") return nullptr;
  for (const void*& entry : entries)
    entry = reinterpret_cast<const void*>(&message_of);
  entries[0] = reinterpret_cast<const void*>(&create_status);
  entries[1] = reinterpret_cast<const void*>(&code_of);
  if (wrong() == "entry") entries[216] = nullptr;
  return entries;
}

const char* version() {
  if (wrong() == "version") return nullptr;
  return wrong() == "old" ? "1.9.0" : wrong() == "major" ? "2.0.0" : "1.30.0";
}

struct Base {
  const void* const* (*get_api)(uint32_t);
  const char* (*version)();
} base{&get_api, &version};

}  // namespace

extern "C" __attribute__((visibility("default"))) const Base* OrtGetApiBase() {
  return wrong() == "base" ? nullptr : &base;
}
