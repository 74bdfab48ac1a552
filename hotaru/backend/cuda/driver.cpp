#include "hotaru/backend/cuda/driver.h"

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

#include "hotaru/core/printing/concat.h"
#include "hotaru/core/special_errors.h"
#include "hotaru/platform/shared_object.h"

namespace hotaru::cuda {
namespace {

constexpr const char* kSystemDriver = "libcuda.so.1";
constexpr const char* kSoftDriver = "libhotaru_softgpu.so";
constexpr int kMostSoftDevices = 16;

std::string beside_this_library(const char* name) {
  return (std::filesystem::path(
              platform::library_of(reinterpret_cast<const void*>(&open_driver)))
              .parent_path() /
          name)
      .string();
}

bool is_soft(std::string_view choice) {
  return choice == "soft" || choice.starts_with("soft:");
}

bool is_device_count(std::string_view text) {
  int count = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), count);
  return error == std::errc() && end == text.data() + text.size() &&
         count >= 1 && count <= kMostSoftDevices;
}

std::string version_text(int version) {
  return concat(version / 1000, ".", version % 1000 / 10);
}

/// Fills the table; the names of needed symbols that the library lacks.
std::string resolve(void* library, Driver& driver) {
  std::string missing;
  const auto find = [&](auto& entry, const char* symbol) {
    void* address = platform::symbol_of(library, symbol);
    if (!address)
      missing += (missing.empty() ? "" : ", ") + std::string(symbol);
    entry = reinterpret_cast<std::remove_reference_t<decltype(entry)>>(address);
  };
#define HOTARU_CUDA_FIND(name, symbol, params) find(driver.name, #symbol);
  HOTARU_CUDA_GRAPH_ENTRIES(HOTARU_CUDA_FIND)
  driver.has_graphs = missing.empty();
  missing.clear();
  HOTARU_CUDA_EDGE_ENTRIES(HOTARU_CUDA_FIND)
  driver.has_edges = missing.empty();
  missing.clear();
  HOTARU_CUDA_ENTRIES(HOTARU_CUDA_FIND)
#undef HOTARU_CUDA_FIND
  return missing;
}

/// Driver that the process uses, or why it uses none.
struct Loaded {
  std::unique_ptr<const Driver> driver;
  std::string why_not;

  Loaded() { driver = open_driver(std::getenv("HOTARU_CUDA_DRIVER"), why_not); }
};

const Loaded& loaded() {
  // Never destroyed: threads may ask for the driver until the process is gone.
  static const Loaded* const once = new Loaded;
  return *once;
}

}  // namespace

std::unique_ptr<const Driver> open_driver(const char* choice,
                                          std::string& why_not) {
  const std::string_view wanted = choice ? choice : "";
  auto driver = std::make_unique<Driver>();
  driver->in_software = is_soft(wanted);
  driver->path = driver->in_software ? beside_this_library(kSoftDriver)
                 : wanted.empty()    ? kSystemDriver
                                     : std::string(wanted);
  if (wanted.starts_with("soft:") && !is_device_count(wanted.substr(5))) {
    why_not = concat("HOTARU_CUDA_DRIVER='", wanted, "': expected soft:N with ",
                     "N from 1 to ", kMostSoftDevices);
    return nullptr;
  }
  // Never closed, as its threads may be anywhere.
  std::string reason;
  void* library = platform::open_library(driver->path, &reason);
  if (!library) {
    why_not = concat("no CUDA driver: ", reason);
    return nullptr;
  }
  const std::string missing = resolve(library, *driver);
  if (driver->cuDriverGetVersion &&
      driver->cuDriverGetVersion(&driver->version) == CUDA_SUCCESS &&
      driver->version < kOldestDriver) {
    why_not = concat("the CUDA driver ", driver->path, " is too old: it ",
                     "supports CUDA ", version_text(driver->version),
                     ", needed is ", version_text(kOldestDriver));
    return nullptr;
  }
  if (!missing.empty()) {
    why_not = concat("the CUDA driver ", driver->path, " lacks ", missing);
    return nullptr;
  }
  return driver;
}

const Driver* load_driver(std::string& why_not) {
  const Loaded& answer = loaded();
  if (!answer.driver) why_not = answer.why_not;
  return answer.driver.get();
}

void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) [[likely]]
    return;
  const char* text = nullptr;
  const Driver* driver = loaded().driver.get();
  if (driver) driver->cuGetErrorString(result, &text);
  throw AcceleratorError(
      concat("CUDA error: ", text ? text : concat("unknown error ", result),
             "\nReported by ", what, "."),
      result);
}

}  // namespace hotaru::cuda
