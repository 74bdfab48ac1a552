#include "hotaru/ops/host_value.h"

#include <algorithm>

#include "hotaru/autograd/grad_mode.h"
#include "hotaru/core/error.h"
#include "hotaru/core/host.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/reduce/extremum.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

/// Lets a capture refuse the look with the reason in its error.
void check_capture(const Tensor& t, const char* why) {
  const auto watch = detail::host_watch.load(std::memory_order_relaxed);
  if (!watch) [[likely]]
    return;
  try {
    watch(*t.storage());
  } catch (const Error& error) {
    fail(error.what(), "; it is needed on the host for ", why);
  }
}

}  // namespace

Scalar host_value(const Tensor& t, const char* why) {
  check_capture(t, why);
  return item(t);
}

std::vector<int64_t> host_integers(const Tensor& t, const char* why) {
  check_capture(t, why);
  const autograd::NoGrad no_grad;
  const Tensor host = contiguous(to(t, DType::kInt64, Device{}));
  const auto* begin = host_data<int64_t>(host, "host_integers");
  return std::vector<int64_t>(begin, begin + host.numel());
}

Tensor integers_on(const std::vector<int64_t>& values, Device device) {
  const Tensor out = empty(Dims{int64_t(values.size())}, DType::kInt64);
  std::copy(values.begin(), values.end(),
            host_data<int64_t>(out, "integers_on"));
  return to(out, device);
}

ValueRange host_range(const Tensor& t, const char* why) {
  const autograd::NoGrad no_grad;
  const auto [lowest, highest] = aminmax(detach(t));
  if (t.device().is_cpu())
    return {host_value(lowest, why), host_value(highest, why)};
  // One wait for both.
  const Tensor both = stack({lowest, highest});
  check_capture(both, why);
  const Tensor host = to(both, Device{});
  return {item(select(host, 0, 0)), item(select(host, 0, 1))};
}

}  // namespace hotaru
