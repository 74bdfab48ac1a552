#include "hotaru/core/ordered.h"

namespace hotaru::detail {
constinit std::atomic<void (*)(const Ordered&)> host_watch{nullptr};
}
