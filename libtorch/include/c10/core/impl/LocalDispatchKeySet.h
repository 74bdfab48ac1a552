// Guards that leave layers of a program's operators out, in this thread.
#pragma once

#include <optional>

#include "c10/core/DispatchKeySet.h"
#include "hotaru/ops/autocast.h"
#include "hotaru/ops/own/keys.h"

namespace c10::impl {

/// Leaves derivatives, ADInplaceOrView and autocast out, as far as the keys
/// name them; NotImplementedError for others, which hotaru has no layer for.
class ExcludeDispatchKeyGuard {
 public:
  explicit ExcludeDispatchKeyGuard(DispatchKey key)
      : ExcludeDispatchKeyGuard(DispatchKeySet(key)) {}
  explicit ExcludeDispatchKeyGuard(const DispatchKeySet& keys);

 private:
  std::optional<hotaru::own::SkipScope> skip_;
  std::optional<hotaru::autocast::Off> autocast_;
};

}  // namespace c10::impl
