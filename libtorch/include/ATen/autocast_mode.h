// Automatic mixed precision of this thread; names without a device mean CUDA.
#pragma once

#include "c10/core/Device.h"
#include "c10/core/ScalarType.h"
#include "hotaru/ops/autocast.h"

namespace at::autocast {

inline bool is_autocast_enabled(c10::DeviceType device) {
  return hotaru::autocast::of(hotaru::DeviceType(device)).enabled;
}
inline void set_autocast_enabled(c10::DeviceType device, bool on) {
  hotaru::autocast::set_enabled(hotaru::DeviceType(device), on);
}
inline c10::ScalarType get_autocast_dtype(c10::DeviceType device) {
  return c10::from_hotaru(
      hotaru::autocast::of(hotaru::DeviceType(device)).dtype);
}
inline void set_autocast_dtype(c10::DeviceType device, c10::ScalarType dtype) {
  hotaru::autocast::set_dtype(hotaru::DeviceType(device),
                              c10::to_hotaru(dtype));
}
inline bool is_enabled() {
  return is_autocast_enabled(c10::DeviceType::CUDA);
}
inline void set_enabled(bool on) {
  set_autocast_enabled(c10::DeviceType::CUDA, on);
}
inline bool is_cpu_enabled() {
  return is_autocast_enabled(c10::DeviceType::CPU);
}
inline void set_cpu_enabled(bool on) {
  set_autocast_enabled(c10::DeviceType::CPU, on);
}
inline c10::ScalarType get_autocast_gpu_dtype() {
  return get_autocast_dtype(c10::DeviceType::CUDA);
}
inline c10::ScalarType get_autocast_cpu_dtype() {
  return get_autocast_dtype(c10::DeviceType::CPU);
}
inline bool is_autocast_cache_enabled() {
  return hotaru::autocast::state().cache;
}
inline void set_autocast_cache_enabled(bool on) {
  hotaru::autocast::set_cache_enabled(on);
}
/// Scopes that this thread is in then.
inline int increment_nesting() {
  return int(hotaru::autocast::add_nesting(1));
}
inline int decrement_nesting() {
  return int(hotaru::autocast::add_nesting(-1));
}
/// Lets go of the casts that this thread keeps.
inline void clear_cache() {
  hotaru::autocast::clear_cache();
}

}  // namespace at::autocast
