#include "hotaru/backend/common/reduce/require.h"

#include "hotaru/core/checks/check.h"
#include "hotaru/core/tensor.h"
#include "hotaru/runtime/kernel.h"

namespace hotaru::cpu {
namespace {

void require(const KernelCall& call) {
  const auto* holds =
      static_cast<const unsigned char*>(call.tensor(0).address());
  HOTARU_CHECK(*holds != 0, call.attributes<RequireAttributes>().text);
}

HOTARU_KERNEL(kCPU, "require", require);

}  // namespace
}  // namespace hotaru::cpu
