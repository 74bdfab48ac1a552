#include "hotaru/runtime/determinism.h"

#include <atomic>
#include <limits>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/rare.h"
#include "hotaru/runtime/warning.h"

namespace hotaru {
namespace {

constexpr uint8_t kRequired = 1, kWarnOnly = 2, kFills = 4;
constinit std::atomic<uint8_t> state{kFills};
constinit std::atomic<bool> always{false};

}  // namespace

Determinism determinism() {
  const uint8_t s = state.load(std::memory_order_relaxed);
  return {bool(s & kRequired), bool(s & kWarnOnly), bool(s & kFills)};
}

void set_determinism(Determinism wanted) {
  state.store(
      uint8_t((wanted.required ? kRequired : 0) |
              (wanted.warn_only ? kWarnOnly : 0) | (wanted.fills ? kFills : 0)),
      std::memory_order_relaxed);
}

bool warns_always() {
  return always.load(std::memory_order_relaxed);
}

void set_warns_always(bool wanted) {
  always.store(wanted, std::memory_order_relaxed);
}

void require_deterministic(const char* op) {
  const Determinism wanted = determinism();
  if (!wanted.required) return;
  const std::string lacking =
      concat(op,
             " does not have a deterministic implementation, but you set "
             "'torch.use_deterministic_algorithms(True");
  const char* issue =
      "file an issue at https://github.com/pytorch/pytorch/issues to help us "
      "prioritize adding deterministic support for this operation.";
  if (wanted.warn_only)
    return warn(lacking + ", warn_only=True)'. You can " + issue);
  fail(lacking,
       ")'. You can turn off determinism just for this operation, or you can "
       "use the 'warn_only=True' option, if that's acceptable for your "
       "application. You can also ",
       issue);
}

bool fills_memory() {
  const uint8_t s = state.load(std::memory_order_relaxed);
  return (s & (kRequired | kFills)) == (kRequired | kFills);
}

Scalar filling(DType dtype) {
  if (is_differentiable(dtype)) return std::numeric_limits<double>::quiet_NaN();
  if (dtype == DType::kBool) return true;
  // All ones but the sign; of uint64 all ones, as int64 wraps.
  if (dtype == DType::kUInt64) return int64_t{-1};
  const auto bits = int64_t(itemsize(dtype) * 8) - (is_signed(dtype) ? 1 : 0);
  return int64_t((uint64_t{1} << bits) - 1);
}

}  // namespace hotaru
