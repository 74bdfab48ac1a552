#include "hotaru/core/printing/print_options.h"

#include <limits>
#include <mutex>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/mutex.h"

namespace hotaru {
namespace {

constinit Mutex options_mutex;
constinit PrintOptions current_options;

}  // namespace

PrintOptions PrintOptions::profile(std::string_view name) {
  PrintOptions options;
  if (name == "short") {
    options.precision = 2;
    options.edgeitems = 2;
  } else if (name == "full") {
    options.threshold = std::numeric_limits<double>::infinity();
  } else {
    HOTARU_CHECK_AS(ValueError, name == "default",
                    "set_printoptions: unknown profile '", name,
                    "', expected 'default', 'short' or 'full'");
  }
  return options;
}

void PrintOptions::check() const {
  HOTARU_CHECK_AS(ValueError, precision >= 0 && precision <= kMaxPrecision,
                  "set_printoptions: precision must lie in [0, ", kMaxPrecision,
                  "], got ", precision);
  HOTARU_CHECK_AS(ValueError, edgeitems >= 0,
                  "set_printoptions: edgeitems must not be negative, got ",
                  edgeitems);
}

PrintOptions print_options() {
  std::lock_guard lock(options_mutex);
  return current_options;
}

void set_print_options(const PrintOptions& options) {
  options.check();
  std::lock_guard lock(options_mutex);
  current_options = options;
}

}  // namespace hotaru
