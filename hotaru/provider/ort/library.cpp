#include "hotaru/provider/ort/library.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/mutex.h"
#include "hotaru/platform/shared_object.h"

namespace hotaru::provider::ort {

namespace {

constexpr const char* kVariable = "HOTARU_ONNXRUNTIME";
constexpr const char* kInstall =
    "install it with `pip install onnxruntime`, or name libonnxruntime.so in "
    "HOTARU_ONNXRUNTIME";

Mutex library_mutex;
constinit std::atomic<const Library*> opened{nullptr};
std::string& known_path() {
  static auto* const path = new std::string;
  return *path;
}

/// The handle and the path it was found by.
std::pair<void*, std::string> open_any() {
  std::string why_not;
  const char* named = std::getenv(kVariable);
  if (named && *named) {
    void* handle = platform::open_library(named, &why_not);
    HOTARU_CHECK(handle, kVariable, " names ", named,
                 ", which is no library that can be loaded: ", why_not);
    return {handle, named};
  }
  if (!known_path().empty()) {
    void* handle = platform::open_library(known_path(), &why_not);
    HOTARU_CHECK(handle, "ONNX Runtime at ", known_path(),
                 " cannot be loaded: ", why_not);
    return {handle, known_path()};
  }
  for (const char* name : {"libonnxruntime.so.1", "libonnxruntime.so"})
    if (void* handle = platform::open_library(name, &why_not))
      return {handle, name};
  fail("ONNX Runtime is not installed; ", kInstall);
}

/// "1.32.0" as 32; -1 for other texts.
int minor_version(const char* version) {
  if (std::strncmp(version, "1.", 2) != 0) return -1;
  return std::atoi(version + 2);
}

void fill(Library& library, const void* const* table) {
#define X(index, name, result, arguments) \
  HOTARU_CHECK(table[index], library.path, \
               ": entry " #index " (" #name \
               ") of ONNX Runtime's table is missing"); \
  std::memcpy(&library.api.name, &table[index], sizeof(void*));
  HOTARU_ORT_ENTRIES(X)
#undef X
}

/// That the table is what we take it for.
void try_calls(const Library& library) {
  constexpr const char* kText = "hotaru";
  const Api& api = library.api;
  OrtStatus* status = api.CreateStatus(kInvalidArgument, kText);
  const bool good = status && api.GetErrorCode(status) == kInvalidArgument &&
                    std::strcmp(api.GetErrorMessage(status), kText) == 0;
  HOTARU_CHECK(good, library.path, ": ONNX Runtime ", library.version,
               " does not answer as its API says");
  api.ReleaseStatus(status);
}

const Library* open_library() {
  const auto [handle, path] = open_any();
  auto library = std::make_unique<Library>();
  library->path = path;
  using GetBase = const ApiBase* (*)();
  const auto get_base =
      reinterpret_cast<GetBase>(platform::symbol_of(handle, "OrtGetApiBase"));
  HOTARU_CHECK(get_base, path,
               " is not ONNX Runtime: it has no symbol OrtGetApiBase");
  const ApiBase* base = get_base();
  const char* version = base && base->version ? base->version() : nullptr;
  HOTARU_CHECK(version, path, ": ONNX Runtime does not say its version");
  library->version = version;
  const int minor = minor_version(version);
  HOTARU_CHECK(minor >= int(kApiVersion), path, ": ONNX Runtime ", version,
               " is too old or unknown; 1.", kApiVersion,
               " and later 1.x are supported");
  const void* const* table = base->get_api(kApiVersion);
  HOTARU_CHECK(table, path, ": ONNX Runtime ", version,
               " has no API of version ", kApiVersion);
  fill(*library, table);
  if (minor >= kHasShapeSince)
    std::memcpy(&library->api.has_shape, &table[kHasShape], sizeof(void*));
  try_calls(*library);
  return library.release();
}

}  // namespace

void Library::refuse(OrtStatus* status, const std::string& what) const {
  const int code = api.GetErrorCode(status);
  const std::string text = concat(what, ": ONNX Runtime ", version, ": ",
                                  api.GetErrorMessage(status));
  api.ReleaseStatus(status);
  if (code == kInvalidArgument) fail<ValueError>(text);
  if (code == kNotImplemented) fail<NotImplementedError>(text);
  fail(text);
}

std::vector<std::string> Library::providers() const {
  char** names = nullptr;
  int count = 0;
  check(api.GetAvailableProviders(&names, &count), path);
  const std::vector<std::string> out(names, names + count);
  check(api.ReleaseAvailableProviders(names, count), path);
  return out;
}

const Library& library() {
  if (const Library* known = opened.load(std::memory_order_acquire))
    return *known;
  const std::lock_guard lock(library_mutex);
  if (!opened.load()) opened.store(open_library(), std::memory_order_release);
  return *opened.load();
}

void set_library_path(std::string path) {
  const std::lock_guard lock(library_mutex);
  known_path() = std::move(path);
}

}  // namespace hotaru::provider::ort
