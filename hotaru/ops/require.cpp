#include "hotaru/ops/require.h"

#include <utility>

#include "hotaru/autograd/grad_mode.h"
#include "hotaru/backend/common/reduce/require.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/registry.h"
#include "hotaru/runtime/streams/enqueue.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru {

namespace {
const Kernel& kRequire = kernel("require");

constexpr const char* kNotTrue =
    "Expected Tensor with single nonzero value, but got zero";
}  // namespace

void require(const Tensor& condition, std::string text) {
  HOTARU_CHECK(condition.numel() != 0,
               "Boolean value of Tensor with no values is ambiguous");
  HOTARU_CHECK(condition.numel() == 1,
               "Boolean value of Tensor with more than one value is ambiguous");
  const autograd::NoGrad no_grad;
  const Tensor holds =
      condition.dtype() == DType::kBool ? condition : ne(condition, Scalar(0));
  enqueue(kRequire, {read(holds)}, RequireAttributes{std::move(text)});
}

bool requires_later(const Tensor& t) {
  return !t.device().is_cpu() || current_stream(t.device()).diverted();
}

HOTARU_OP(
    "_assert_async(Tensor self) -> ()",
    +[](const Tensor& self) { require(self, kNotTrue); });
HOTARU_OP(
    "_assert_async.msg(Tensor self, str assert_msg) -> ()",
    +[](const Tensor& self, const std::string& text) { require(self, text); });

}  // namespace hotaru
