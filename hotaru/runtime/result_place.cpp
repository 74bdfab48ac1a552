#include "hotaru/runtime/result_place.h"

#include <algorithm>
#include <utility>

namespace hotaru {
namespace {

constinit thread_local const detail::Place* place = nullptr;

bool fits(IntSpan sizes, DType dtype, Device device) {
  return place && place->out->dtype() == dtype &&
         place->out->device() == device &&
         std::ranges::equal(place->out->sizes(), sizes);
}

/// Another tensor over its memory, so that what an operator says of its result
/// is not said of the caller's tensor.
Tensor take_place() {
  const Tensor& out = *std::exchange(place, nullptr)->out;
  return Tensor(make_ref<TensorImpl>(*out.impl()));
}

/// True if a kernel is all that an operator does.
bool is_kernel_of(std::string_view op, std::string_view kernel) {
  return op == kernel || (op == "sub" && kernel == "add");
}

}  // namespace

ResultPlace::ResultPlace(const Tensor& out, For what, std::string_view op)
    : previous_(place), place_{&out, what == For::kElements, op} {
  place = &place_;
  detail::places.store(true, std::memory_order_relaxed);
}

ResultPlace::~ResultPlace() {
  place = previous_;
}

namespace detail {

constinit std::atomic<bool> places{false};

Tensor place_result(IntSpan sizes, DType dtype, Device device) {
  if (fits(sizes, dtype, device) && !place->elements &&
      place->out->is_contiguous()) [[unlikely]]
    return take_place();
  return allocate(sizes, dtype, device);
}

Tensor place_result(IntSpan sizes, IntSpan strides, DType dtype,
                    Device device) {
  if (fits(sizes, dtype, device) && !place->elements &&
      std::ranges::equal(place->out->strides(), strides)) [[unlikely]]
    return take_place();
  return allocate(sizes, strides, dtype, device);
}

Tensor place_elements(std::string_view kernel, IntSpan sizes, DType dtype,
                      Device device) {
  if (fits(sizes, dtype, device) && is_kernel_of(place->op, kernel))
      [[unlikely]]
    return take_place();
  return {};
}

}  // namespace detail

}  // namespace hotaru
