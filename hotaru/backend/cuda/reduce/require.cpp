// Launching checks of values.
#include "hotaru/backend/common/reduce/require.h"

#include <memory>

#include "hotaru/backend/cuda/kernel_errors.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/errors.h"
#include "hotaru/backend/cuda/params/index.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::cuda {
namespace {

void raise(const FailureText& text, int64_t, const int64_t*) {
  fail(*text.message);
}

void require(const KernelCall& call) {
  static const auto* const function = new Function("Require");
  RequireParams p;
  p.holds = static_cast<const unsigned char*>(device_address(call.tensor(0)));
  FailureText text{&raise};
  text.message = std::make_shared<const std::string>(
      call.attributes<RequireAttributes>().text);
  p.errors = watch_errors(call, text);
  launch(*function, {1}, kBlock, p);
}

HOTARU_KERNEL(kCUDA, "require", require);

}  // namespace
}  // namespace hotaru::cuda
