#include "hotaru/runtime/result_place.h"

#include <algorithm>
#include <utility>

namespace hotaru {
namespace {

constinit thread_local const Tensor* place = nullptr;

/// The tensor that takes a result like that, or null.
const Tensor* place_for(IntSpan sizes, DType dtype, Device device) {
  const bool fits = place && place->dtype() == dtype &&
                    place->device() == device &&
                    std::ranges::equal(place->sizes(), sizes);
  return fits ? place : nullptr;
}

/// Another tensor over its memory, so that what an operator says of its result
/// is not said of the caller's tensor.
Tensor take_place() {
  return Tensor(make_ref<TensorImpl>(*std::exchange(place, nullptr)->impl()));
}

}  // namespace

ResultPlace::ResultPlace(const Tensor& out)
    : previous_(std::exchange(place, &out)) {
  detail::places.store(true, std::memory_order_relaxed);
}

ResultPlace::~ResultPlace() {
  place = previous_;
}

namespace detail {

constinit std::atomic<bool> places{false};

Tensor place_result(IntSpan sizes, DType dtype, Device device) {
  const Tensor* out = place_for(sizes, dtype, device);
  if (out && out->is_contiguous()) [[unlikely]]
    return take_place();
  return allocate(sizes, dtype, device);
}

Tensor place_result(IntSpan sizes, IntSpan strides, DType dtype,
                    Device device) {
  const Tensor* out = place_for(sizes, dtype, device);
  if (out && std::ranges::equal(out->strides(), strides)) [[unlikely]]
    return take_place();
  return allocate(sizes, strides, dtype, device);
}

}  // namespace detail

}  // namespace hotaru
