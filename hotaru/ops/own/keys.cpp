#include "hotaru/ops/own/keys.h"

#include "hotaru/autograd/grad_mode.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::own {

namespace {

constexpr std::array<std::string_view, kKeys> kNames{
    "CPU",
    "CUDA",
    "Meta",
    "AutogradCPU",
    "AutogradCUDA",
    "AutogradMeta",
    "AutocastCPU",
    "AutocastCUDA",
    "Autograd",
    "ADInplaceOrView",
    "BackendSelect",
    "CompositeExplicitAutogradNonFunctional",
    "CompositeExplicitAutograd",
    "CompositeImplicitAutograd",
};

}  // namespace

std::string_view key_name(Key key) {
  return kNames[size_t(key)];
}

std::optional<Key> find_key(std::string_view name) {
  for (size_t i = 0; i < kKeys; ++i)
    if (kNames[i] == name) return Key(i);
  // As PyTorch's aliases.
  if (name == "Autocast") return Key::kAutocastCUDA;
  return std::nullopt;
}

DeviceKeys keys_of(DeviceType type) {
  switch (type) {
    case DeviceType::kCPU:
      return {Key::kCPU, Key::kAutogradCPU, Key::kAutocastCPU};
    case DeviceType::kCUDA:
      return {Key::kCUDA, Key::kAutogradCUDA, Key::kAutocastCUDA};
    case DeviceType::kMeta:
      return {Key::kMeta, Key::kAutogradMeta, std::nullopt};
    default:
      fail<NotImplementedError>("operators of programs have no kernels for ",
                                Device{type});
  }
}

Skipped& skipped() {
  thread_local Skipped of_thread;
  return of_thread;
}

SkipScope::SkipScope(Skipped more)
    : before_(skipped()), grad_(autograd::grad_enabled()) {
  skipped().autograd |= more.autograd;
  skipped().inplace |= more.inplace;
  if (more.autograd) autograd::set_grad_enabled(false);
}

SkipScope::~SkipScope() {
  skipped() = before_;
  autograd::set_grad_enabled(grad_);
}

}  // namespace hotaru::own
