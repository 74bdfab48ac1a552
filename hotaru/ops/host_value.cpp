#include "hotaru/ops/host_value.h"

#include <algorithm>

#include "hotaru/autograd/grad_mode.h"
#include "hotaru/core/error.h"
#include "hotaru/core/host.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/pointwise/complex.h"
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

template <class T>
std::vector<T> host_elements(const Tensor& t, DType dtype, const char* why) {
  check_capture(t, why);
  const autograd::NoGrad no_grad;
  const Tensor host = contiguous(to(t, dtype, Device{}));
  const T* begin = host_data<T>(host, "host_elements");
  return std::vector<T>(begin, begin + host.numel());
}

}  // namespace

Scalar host_value(const Tensor& t, const char* why) {
  check_capture(t, why);
  return item(t);
}

Scalar as_number(DType dtype, const Scalar& element) {
  if (dtype != DType::kUInt64 || element.to_int() >= 0) return element;
  return double(uint64_t(element.to_int()));
}

std::vector<int64_t> host_integers(const Tensor& t, const char* why) {
  return host_elements<int64_t>(t, DType::kInt64, why);
}

std::vector<double> host_numbers(const Tensor& t, const char* why) {
  const autograd::NoGrad no_grad;
  return host_elements<double>(t.is_complex() ? real(t) : t, DType::kFloat64,
                               why);
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
