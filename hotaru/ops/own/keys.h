// Dispatch keys: the layers and devices that a kernel of a program's operator
// can be for.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hotaru/core/device.h"

namespace hotaru::own {

/// Keys that calls reach. PyTorch has more, for devices and layers that are not
/// here.
enum class Key : uint8_t {
  kCPU,
  kCUDA,
  kMeta,
  kAutogradCPU,
  kAutogradCUDA,
  kAutogradMeta,
  kAutocastCPU,
  kAutocastCUDA,
  kAutograd,
  kADInplaceOrView,
  kBackendSelect,
  kCompositeExplicitNonFunctional,
  kCompositeExplicit,
  kCompositeImplicit,
};
inline constexpr size_t kKeys = 14;

/// As PyTorch spells them: "AutogradCPU", "CompositeImplicitAutograd".
std::string_view key_name(Key key);
/// The key of that name, or none.
std::optional<Key> find_key(std::string_view name);

/// The keys of a device: its kernel's, its derivative's, its autocast's.
struct DeviceKeys {
  Key kernel, autograd;
  std::optional<Key> autocast;
};
/// Throws NotImplementedError for a device type without kernels here.
DeviceKeys keys_of(DeviceType type);

/// Layers that calls of a thread leave out.
struct Skipped {
  bool autograd = false;
  bool inplace = false;
};
/// This thread's.
Skipped& skipped();

/// Leaves out derivatives, and ADInplaceOrView if told so, for a scope. Nothing
/// is recorded in it: gradients are disabled, too.
class SkipScope {
 public:
  explicit SkipScope(Skipped more);
  ~SkipScope();
  SkipScope(const SkipScope&) = delete;
  SkipScope& operator=(const SkipScope&) = delete;

 private:
  const Skipped before_;
  const bool grad_;
};

}  // namespace hotaru::own
